// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "core/options/idle.hpp"
#include "core/options/nearest_name.hpp"
#include "core/options/slots.hpp"
#include "parallel/transfer/block_plan.hpp"
#include "parallel/transfer/said_values.hpp"
#include "preload/trace/path_pattern.hpp"

namespace neve::pmpi {
namespace {

std::string text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::string() : text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

Status read_variable(const char* variable, uint64_t least, uint64_t most, uint64_t& number) {
  const std::string text = text_of(variable);
  return text.empty() ? Status() : options::read_whole(variable, text, least, most, number);
}

// Of collective calls, by their kinds' numbers.
constexpr std::array<std::string_view, 5> call_names = {"gather", "allgather", "alltoall", "bcast",
                                                        "scatter"};

// Of collective calls, gathers alone find the bound of a ratio.
constexpr unsigned with_a_ratio = 1U << static_cast<int>(Kind::gather);

Status read_calls(Settings& settings) {
  const std::vector<std::string> calls = split(text_of("NEVE_MPI_CALLS"), ',');
  if (calls.empty()) {
    const bool is_ratio = settings.transfer.values.bound.mode == BoundMode::ratio;
    const unsigned all = is_ratio ? with_a_ratio : (1U << call_names.size()) - 1;
    settings.calls = settings.compresses ? all : 0;
    settings.files = settings.compresses;
  }
  for (const std::string& call : calls) {
    const auto name = std::find(call_names.begin(), call_names.end(), call);
    if (name != call_names.end()) {
      settings.calls |= settings.compresses ? 1U << (name - call_names.begin()) : 0;
    } else if (call == "file") {
      settings.files = settings.compresses;
    } else {
      return usage_error(
          fmt::format("NEVE_MPI_CALLS holds '{}'; allowed are {}, file", call, fmt::join(call_names, ", ")));
    }
  }
  return {};
}

constexpr std::string_view prefix = "NEVE_MPI_";
// Beside those of the table of options; the last two are read elsewhere.
constexpr const char* other_variables[] = {"NEVE_MPI_CALLS",  "NEVE_MPI_FILES",   "NEVE_MPI_MIN_BYTES",
                                           "NEVE_MPI_LAYER",  "NEVE_MPI_REPORT",  "NEVE_MPI_BLOCK_BYTES",
                                           "NEVE_MPI_ALWAYS", "NEVE_MPI_LIBRARY", "NEVE_MPI_HINTS"};
// Those that mean something to a program that only reads frames.
constexpr const char* without_bound[] = {"NEVE_MPI_BOUND", "NEVE_MPI_THREADS", "NEVE_MPI_REPORT",
                                         "NEVE_MPI_LIBRARY", "NEVE_MPI_HINTS"};
constexpr uint64_t most_value_bytes = sizeof(double);  // a block has a value at least

std::vector<std::string> known_variables() {
  std::vector<std::string> known(std::begin(other_variables), std::end(other_variables));
  for (const options::Option& option : options::table()) {
    if ((option.targets & options::transfer) != 0) known.push_back(options::variable_of(option));
  }
  return known;
}

std::vector<std::string> short_names(std::vector<std::string> names) {
  for (std::string& name : names) name.erase(0, prefix.size());
  return names;
}

Status refuse_unknown_variables() {
  const std::vector<std::string> known = known_variables();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string name(text.substr(0, text.find('=')));
    if (!name.starts_with(prefix) || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string like = options::nearest_name(name.substr(prefix.size()), short_names(known));
    return usage_error(fmt::format("unknown variable {}; {}", name,
                                   like.empty() ? fmt::format("allowed are {}", fmt::join(known, ", "))
                                                : fmt::format("did you mean {}{}?", prefix, like)));
  }
  return {};
}

// As `neve mpi run` does, for job scripts that set the variables themselves.
Status refuse_idle_options(const ArrayOptions& values) {
  const auto is_given = [](std::string_view key) {
    return !text_of(options::variable_of(*options::find(key)).c_str()).empty();
  };
  const auto name_of = [](std::string_view key) { return options::variable_of(*options::find(key)); };
  return refuse_idle_codec_options({is_given, name_of}, options::codec_uses(values));
}

// Options of the table, each in a variable of its name. What is said of values goes on to gathers as text.
Status read_options(Settings& settings) {
  options::ArraySlots slots;
  options::Slots of_values = slots.slots();
  of_values.bound_use = BoundUse::array;
  for (const options::Option& option : options::table()) {
    if ((option.targets & options::transfer) == 0) continue;
    const std::string variable = options::variable_of(option);
    const std::string text = text_of(variable.c_str());
    if (text.empty()) continue;
    NEVE_TRY(options::naming(option.read(text, of_values), option, variable));
    NEVE_TRY(options::naming(check_tuning(*of_values.tuning), option, variable));
    settings.compresses = settings.compresses || option.key == "bound";
    const bool is_of_call = option.key == "bound" || option.key == "threads";
    if (!is_of_call) settings.options += fmt::format("{}={};", option.key, option.print(of_values));
    if (option.key == "bound") settings.bound = text;
  }
  settings.transfer.values = slots.take();
  return settings.compresses ? refuse_idle_options(settings.transfer.values) : Status();
}

// Gathers and files find the bound of a ratio anew for each call; nothing else does.
Status refuse_searched_bound(const Settings& settings) {
  const Bound& bound = settings.transfer.values.bound;
  if (bound.mode != BoundMode::ratio) return check_bound(bound).in("NEVE_MPI_BOUND");
  if ((settings.calls & ~with_a_ratio) == 0) return {};
  return usage_error(
      fmt::format("NEVE_MPI_BOUND is {}, which is for gathers and files; set NEVE_MPI_CALLS to gather,file "
                  "or one of them",
                  to_string(bound)));
}

// Without a bound nothing is compressed: frame files are read, whatever else is asked for.
Status refuse_idle_variables(const Settings& settings) {
  const auto refusal = [](const std::string& variable, const char* why_not) {
    return usage_error(fmt::format("{} has no meaning {}", variable, why_not));
  };
  if (settings.compresses) {
    const bool is_idle = !settings.files && !text_of("NEVE_MPI_FILES").empty();
    return is_idle ? refusal("NEVE_MPI_FILES", "with NEVE_MPI_CALLS that are not file") : Status();
  }
  for (const std::string& variable : known_variables()) {
    const bool is_for_all =
        std::find(std::begin(without_bound), std::end(without_bound), variable) != std::end(without_bound);
    if (is_for_all || text_of(variable.c_str()).empty()) continue;
    return refusal(variable, "without NEVE_MPI_BOUND: nothing is compressed");
  }
  return {};
}

Status read_environment(Settings& settings) {
  NEVE_TRY(refuse_unknown_variables());
  NEVE_TRY(read_options(settings));
  const std::string reports = text_of("NEVE_MPI_REPORT");
  if (!reports.empty()) NEVE_TRY(options::parse_value(reports, settings.reports).in("NEVE_MPI_REPORT"));
  const std::string always = text_of("NEVE_MPI_ALWAYS");
  if (!always.empty()) NEVE_TRY(options::parse_value(always, settings.always).in("NEVE_MPI_ALWAYS"));
  const std::string min_bytes = text_of("NEVE_MPI_MIN_BYTES");
  if (!min_bytes.empty()) {
    NEVE_TRY(mpi::read_min_bytes("NEVE_MPI_MIN_BYTES", min_bytes, settings.min_bytes));
  }
  NEVE_TRY(read_variable("NEVE_MPI_BLOCK_BYTES", most_value_bytes, mpi::max_block_bytes,
                         settings.transfer.block_bytes));
  NEVE_TRY(mpi::read_layer("NEVE_MPI_LAYER", split(text_of("NEVE_MPI_LAYER"), ','),
                           settings.transfer.layer_shape));
  settings.patterns = split(text_of("NEVE_MPI_FILES"), ':');
  NEVE_TRY(read_calls(settings));
  if (settings.compresses) NEVE_TRY(refuse_searched_bound(settings));
  return refuse_idle_variables(settings);
}

}  // namespace

bool Settings::wants(const std::string& path) const {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
           return trace::path_matches(pattern.c_str(), path.c_str());
         });
}

const Settings& settings() {
  static const Settings read = [] {
    Settings found;
    const Status status = read_environment(found);
    if (!status.ok()) {
      say(status.message());
      _exit(2);
    }
    return found;
  }();
  return read;
}

void say(const std::string& text) {
  const std::string line = "neve mpi: " + text + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace neve::pmpi
