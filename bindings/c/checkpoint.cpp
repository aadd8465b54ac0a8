// SPDX-License-Identifier: BSD-3-Clause
// neve/checkpoint.h.
#include "neve/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bindings/c/bound_text.hpp"
#include "bindings/c/box_memory.hpp"
#include "bindings/c/hierarchy.hpp"
#include "bindings/c/last_error.hpp"
#include "bindings/c/open_flags.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/report.hpp"
#include "core/catalog/refusals.hpp"
#include "neve/checkpoint.hpp"
#include "neve/limits.hpp"
#include "neve/options.hpp"
#include "parallel/comm/agree.hpp"

struct neve_checkpoint {
  std::unique_ptr<neve::Checkpoint> source;
  neve_hierarchy hierarchy;
};

namespace {

using neve::Status;
using neve::usage_error;
using neve::Variable;
using neve::WriteOptions;
using neve::capi::reported;

// What write_checkpoint is to be given.
struct Arguments {
  std::string path;
  neve::Hierarchy hierarchy;
  std::vector<Variable> variables;
  std::vector<std::vector<neve::LocalBox>> boxes;
  WriteOptions options;
};

// The caller's structs: all of them are as long as the first says.
neve::Result<std::vector<neve_variable>> read_variables(int count, const neve_variable* given) {
  if (count < 1) return usage_error(fmt::format("count is {}; at least 1 variable is needed", count));
  if (given == nullptr) return usage_error("variables is NULL");
  std::vector<neve_variable> variables(static_cast<size_t>(count));
  const auto* next = reinterpret_cast<const std::byte*>(given);
  for (size_t v = 0; v < variables.size(); ++v, next += given->struct_bytes) {
    const auto* const one = reinterpret_cast<const neve_variable*>(next);
    NEVE_TRY(
        neve::capi::read_struct("neve_variable", "checkpoint.h", one, sizeof(neve_variable), variables[v])
            .in(fmt::format("variable {}", v)));
    if (variables[v].struct_bytes == given->struct_bytes) continue;
    return usage_error(fmt::format("variable {}: struct_bytes is {}, and {} of the first one", v,
                                   variables[v].struct_bytes, given->struct_bytes));
  }
  return variables;
}

bool have_same_boxes(const neve::Hierarchy& a, const neve::Hierarchy& b) {
  return a.dims == b.dims && a.dtype == b.dtype &&
         std::equal(a.levels.begin(), a.levels.end(), b.levels.begin(), b.levels.end(),
                    [](const neve::Level& x, const neve::Level& y) {
                      return x.domain == y.domain && x.ref_ratio == y.ref_ratio && x.boxes == y.boxes;
                    });
}

Status add_variable(const neve_variable& given, const WriteOptions& options, Arguments& to) {
  if (given.name == nullptr) return usage_error("its name is NULL");
  NEVE_TRY(neve::capi::check_live(given.values));
  const neve::Hierarchy& h = given.values->description;
  if (!have_same_boxes(h, to.hierarchy)) {
    return usage_error("its hierarchy has other levels, boxes or values than that of the first variable");
  }
  if (given.ghosts < 0 || given.ghosts > neve::max_ghosts) {
    return neve::out_of_range("ghosts", given.ghosts, 0, neve::max_ghosts);
  }
  Variable variable;
  variable.name = given.name;
  variable.components = h.components;
  std::fill_n(variable.ghosts.begin(), h.dims, given.ghosts);
  variable.compress = options.compress && given.uncompressed == 0;
  variable.bound = options.bound;
  variable.codec = options.codec;
  const auto rule = options.fields.find(variable.name);
  if (rule != options.fields.end()) {
    if (given.uncompressed != 0) return usage_error("it is uncompressed, and the options have a rule for it");
    variable.bound = rule->second.bound.value_or(variable.bound);
    variable.codec = rule->second.codec.value_or(variable.codec);
  }
  to.variables.push_back(std::move(variable));
  to.boxes.push_back(given.values->owned);
  return {};
}

Status check_rules(const WriteOptions& options, const std::vector<Variable>& variables) {
  for (const auto& [name, rule] : options.fields) {
    const bool is_known = std::any_of(variables.begin(), variables.end(),
                                      [&](const Variable& variable) { return variable.name == name; });
    if (!is_known) return usage_error("option field:" + name + ": there is no such variable");
  }
  return {};
}

Status read_arguments(const char* path, int count, const neve_variable* given, const char* options,
                      Arguments& to) {
  if (path == nullptr) return usage_error("the path to write is NULL");
  to.path = path;
  NEVE_ASSIGN(const std::vector<neve_variable> variables, read_variables(count, given));
  NEVE_TRY(neve::capi::check_live(variables.front().values));
  to.hierarchy = variables.front().values->description;
  NEVE_ASSIGN(to.options, neve::parse_checkpoint_options(options == nullptr ? "" : options));
  for (size_t v = 0; v < variables.size(); ++v) {
    const char* const name = variables[v].name;
    NEVE_TRY(add_variable(variables[v], to.options, to)
                 .in(name == nullptr ? fmt::format("variable {}", v) : fmt::format("variable {}", name)));
  }
  NEVE_TRY(check_rules(to.options, to.variables));
  to.options.fields.clear();  // they are the variables' now
  return {};
}

Status write(MPI_Comm comm, const char* path, int count, const neve_variable* variables, const char* options,
             neve_report** report) {
  neve::capi::WantedReport wanted(report);
  Arguments read;
  // What is wrong on one rank must not leave the others waiting.
  const Status given = neve::mpi::guarded("neve", [&]() -> Status {
    NEVE_TRY(read_arguments(path, count, variables, options, read));
    wanted.make();
    return {};
  });
  return wanted.take(neve::write_checkpoint_if(comm, given, read.path, read.hierarchy, read.variables,
                                               read.boxes, read.options));
}

Status check_open(const neve_checkpoint* checkpoint) {
  return checkpoint != nullptr ? Status() : usage_error("checkpoint is NULL");
}

Status open(const char* path, int flags, neve_checkpoint** out) {
  if (out == nullptr) return usage_error("checkpoint is NULL");
  *out = nullptr;
  NEVE_ASSIGN(const neve::OpenOptions options, neve::capi::read_open_flags(path, flags));
  auto opened = std::make_unique<neve_checkpoint>();
  NEVE_ASSIGN(opened->source, neve::open_checkpoint(path, options));
  opened->hierarchy.description = opened->source->hierarchy();
  *out = opened.release();
  return {};
}

neve::Result<const Variable*> variable_of(const neve_checkpoint* checkpoint, int number) {
  NEVE_TRY(check_open(checkpoint));
  const std::vector<Variable>& all = checkpoint->source->variables();
  if (number < 0 || static_cast<size_t>(number) >= all.size()) {
    return usage_error(fmt::format("variable {} asked for; the checkpoint has {}", number, all.size()));
  }
  return &all[static_cast<size_t>(number)];
}

Status describe(const neve_checkpoint* checkpoint, int number, neve_variable_description* out) {
  NEVE_ASSIGN(const Variable* const variable, variable_of(checkpoint, number));
  if (out == nullptr) return usage_error("description is NULL");
  neve_variable_description d{};
  d.name = variable->name.c_str();
  d.components = static_cast<int>(variable->components.size());
  std::copy(variable->ghosts.begin(), variable->ghosts.end(), d.ghosts);
  d.is_compressed = variable->compress ? 1 : 0;
  d.bound_mode = neve::capi::mode_name(variable->bound.mode);
  d.bound_value = variable->bound.mode == neve::BoundMode::lossless ? 0 : variable->bound.value;
  return neve::capi::fill_struct("neve_variable_description", "checkpoint.h", d, out);
}

Status find(const neve_checkpoint* checkpoint, const char* name, int& number) {
  NEVE_TRY(check_open(checkpoint));
  if (name == nullptr) return usage_error("name is NULL");
  const std::vector<Variable>& all = checkpoint->source->variables();
  for (size_t v = 0; v < all.size(); ++v) {
    if (all[v].name == name) number = static_cast<int>(v);
  }
  if (number >= 0) return {};
  std::string names;
  for (const Variable& variable : all) names += (names.empty() ? "" : ", ") + variable.name;
  return neve::not_a_name("variable", name, names);
}

Status read_box(neve_checkpoint* checkpoint, int number, int level, int box, int component,
                const neve::capi::BoxMemory& memory) {
  NEVE_ASSIGN(const Variable* const variable, variable_of(checkpoint, number));
  return neve::capi::fill_box(
      checkpoint->hierarchy.description, level, box, variable->ghosts, memory,
      [&](std::byte* out) { return checkpoint->source->read_box(number, level, box, component, out); });
}

}  // namespace

int neve_write_checkpoint(MPI_Comm comm, const char* path, int count, const neve_variable* variables,
                          const char* options, neve_report** report) {
  return reported([&] { return write(comm, path, count, variables, options, report); });
}

int neve_checkpoint_open(const char* path, int flags, neve_checkpoint** checkpoint) {
  return reported([&] { return open(path, flags, checkpoint); });
}

void neve_checkpoint_close(neve_checkpoint* checkpoint) { delete checkpoint; }

const neve_hierarchy* neve_checkpoint_hierarchy(const neve_checkpoint* checkpoint) {
  return reported([&] { return check_open(checkpoint); }) == 0 ? &checkpoint->hierarchy : nullptr;
}

int neve_checkpoint_variables(const neve_checkpoint* checkpoint) {
  return reported([&] { return check_open(checkpoint); }) == 0
             ? static_cast<int>(checkpoint->source->variables().size())
             : -1;
}

int neve_checkpoint_find(const neve_checkpoint* checkpoint, const char* name) {
  int number = -1;
  (void)reported([&] { return find(checkpoint, name, number); });
  return number;
}

int neve_checkpoint_variable(const neve_checkpoint* checkpoint, int variable,
                             neve_variable_description* description) {
  return reported([&] { return describe(checkpoint, variable, description); });
}

const char* neve_checkpoint_component(const neve_checkpoint* checkpoint, int variable, int component) {
  const char* name = nullptr;
  (void)reported([&]() -> Status {
    NEVE_ASSIGN(const Variable* const of, variable_of(checkpoint, variable));
    NEVE_TRY(neve::capi::check_component(of->components, component));
    name = of->components[static_cast<size_t>(component)].c_str();
    return {};
  });
  return name;
}

int neve_checkpoint_read_box(neve_checkpoint* checkpoint, int variable, int level, int box, int component,
                             void* values, int ghosts, long long stride_y, long long stride_z) {
  return reported([&] {
    return read_box(checkpoint, variable, level, box, component, {values, ghosts, stride_y, stride_z});
  });
}

int neve_checkpoint_expect_all(neve_checkpoint* checkpoint) {
  return reported([&]() -> Status {
    NEVE_TRY(check_open(checkpoint));
    checkpoint->source->expect_all();
    return {};
  });
}

int neve_checkpoint_place(const neve_checkpoint* checkpoint, int variable, int level, int box,
                          uint64_t* place) {
  return reported([&]() -> Status {
    NEVE_TRY(variable_of(checkpoint, variable).status());
    NEVE_TRY(neve::capi::box_of(checkpoint->hierarchy.description, level, box).status());
    if (place == nullptr) return usage_error("place is NULL");
    *place = checkpoint->source->place(variable, level, box);
    return {};
  });
}
