// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/c/last_error.hpp"
#include "core/bits/utf8.hpp"
#include "neve/limits.hpp"
#include "neve/options.hpp"
#include "neve/plotfile.h"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"

struct neve_hierarchy {
  neve::Hierarchy description;
  std::vector<neve::LocalBox> owned;
  bool owns_last_box = false;
};

namespace {

using neve::Status;
using neve::usage_error;
using neve::capi::reported;

Status check_live(const neve_hierarchy* hierarchy) {
  return hierarchy != nullptr ? Status() : usage_error("hierarchy is NULL");
}

neve::Result<neve::Box> read_box(const neve::Hierarchy& hierarchy, const int* lo, const int* hi) {
  if (lo == nullptr || hi == nullptr) return usage_error("corners of a box are NULL");
  neve::Box box;
  for (size_t d = 0; d < static_cast<size_t>(hierarchy.dims); ++d) {
    box.lo[d] = lo[d];
    box.hi[d] = hi[d];
  }
  if (box.empty()) return usage_error("a box's upper corner lies below its lower corner");
  return box;
}

Status create(int dims, int value_bytes, int components, const char* const* names, neve::Hierarchy& out) {
  if (dims < 1 || dims > neve::max_dims) {
    return usage_error("dims is " + std::to_string(dims) + "; allowed are 1, 2, 3");
  }
  if (value_bytes != 4 && value_bytes != 8) {
    return usage_error("value_bytes is " + std::to_string(value_bytes) + "; allowed are 4 and 8");
  }
  if (components < 1 || components > neve::max_components || names == nullptr) {
    return usage_error(std::to_string(components) + " components" +
                       (names == nullptr ? " without names" : "") + "; 1 to " +
                       std::to_string(neve::max_components) + " with names are allowed");
  }
  out.dims = dims;
  out.dtype = value_bytes == 4 ? neve::DType::f32 : neve::DType::f64;
  for (int c = 0; c < components; ++c) {
    if (names[c] == nullptr) return usage_error("name of component " + std::to_string(c) + " is NULL");
    NEVE_TRY(neve::check_utf8("component " + std::to_string(c), names[c]));
    out.components.emplace_back(names[c]);
  }
  return {};
}

Status add_level(neve::Hierarchy& hierarchy, const int* lo, const int* hi, int ref_ratio) {
  neve::Level level;
  NEVE_ASSIGN(level.domain, read_box(hierarchy, lo, hi));
  if (!hierarchy.levels.empty()) {
    if (ref_ratio < 2)
      return usage_error("ref_ratio is " + std::to_string(ref_ratio) + "; at least 2 is needed");
    for (size_t d = 0; d < static_cast<size_t>(hierarchy.dims); ++d) {
      hierarchy.levels.back().ref_ratio[d] = ref_ratio;
    }
  }
  hierarchy.levels.push_back(level);
  return {};
}

// The layout of a box that is held with its ghosts, component after component. Level and number are left
// open.
neve::Result<neve::LocalBox> local_box(const neve::Hierarchy& hierarchy, const neve::Box& box,
                                       const void* values, int ghosts) {
  neve::LocalBox local;
  const auto value_bytes = static_cast<int64_t>(neve::dtype_bytes(hierarchy.dtype));
  int64_t first_valid = 0;
  int64_t stride = 1;
  int64_t bytes = value_bytes;
  for (int d = 0; d < hierarchy.dims; ++d) {
    const int64_t held = box.size(d) + 2 * int64_t{ghosts};
    if (__builtin_mul_overflow(bytes, held, &bytes)) {
      return usage_error("a box has more values than memory can hold");
    }
    local.ghosts[static_cast<size_t>(d)] = ghosts;
    local.data.stride[static_cast<size_t>(d)] = stride;
    first_valid += stride * ghosts;
    stride *= held;
  }
  local.data.component_stride = stride;
  local.data.data = static_cast<const std::byte*>(values) + first_valid * value_bytes;
  return local;
}

Status add_box(neve_hierarchy& hierarchy, const int* lo, const int* hi, const void* values, int ghosts) {
  neve::Hierarchy& description = hierarchy.description;
  if (description.levels.empty()) return usage_error("a box needs a level; add one first");
  if (ghosts < 0 || ghosts > neve::max_ghosts) {
    return usage_error("ghosts is " + std::to_string(ghosts) + "; 0 to " + std::to_string(neve::max_ghosts) +
                       " are allowed");
  }
  NEVE_ASSIGN(const neve::Box box, read_box(description, lo, hi));
  neve::Level& level = description.levels.back();
  std::optional<neve::LocalBox> local;
  if (values != nullptr) {
    NEVE_ASSIGN(local, local_box(description, box, values, ghosts));
    local->level = static_cast<int>(description.levels.size()) - 1;
    local->box = static_cast<int>(level.boxes.size());
    hierarchy.owned.reserve(hierarchy.owned.size() + 1);  // what follows fails whole, or not at all
  }
  level.boxes.push_back(box);
  if (local) hierarchy.owned.push_back(*local);
  hierarchy.owns_last_box = local.has_value();
  return {};
}

// Cell sizes follow from the domain and its index space.
void settle_cell_sizes(neve::Hierarchy& hierarchy) {
  for (neve::Level& level : hierarchy.levels) {
    level.time = hierarchy.time;
    for (int d = 0; d < hierarchy.dims; ++d) {
      const auto i = static_cast<size_t>(d);
      level.dx[i] = (hierarchy.prob_hi[i] - hierarchy.prob_lo[i]) / static_cast<double>(level.domain.size(d));
    }
  }
}

}  // namespace

neve_hierarchy* neve_hierarchy_create(int dims, int value_bytes, int components, const char* const* names) {
  std::unique_ptr<neve_hierarchy> hierarchy;
  const int code = reported([&] {
    hierarchy = std::make_unique<neve_hierarchy>();
    return create(dims, value_bytes, components, names, hierarchy->description);
  });
  return code == 0 ? hierarchy.release() : nullptr;
}

void neve_hierarchy_free(neve_hierarchy* hierarchy) { delete hierarchy; }

int neve_hierarchy_set_time(neve_hierarchy* hierarchy, double time) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    hierarchy->description.time = time;
    return {};
  });
}

int neve_hierarchy_set_domain(neve_hierarchy* hierarchy, const double* prob_lo, const double* prob_hi) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    if (prob_lo == nullptr || prob_hi == nullptr) return usage_error("corners of the domain are NULL");
    for (size_t d = 0; d < static_cast<size_t>(hierarchy->description.dims); ++d) {
      hierarchy->description.prob_lo[d] = prob_lo[d];
      hierarchy->description.prob_hi[d] = prob_hi[d];
    }
    return {};
  });
}

int neve_hierarchy_add_level(neve_hierarchy* hierarchy, const int* lo, const int* hi, int ref_ratio) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    hierarchy->owns_last_box = false;
    return add_level(hierarchy->description, lo, hi, ref_ratio);
  });
}

int neve_hierarchy_add_box(neve_hierarchy* hierarchy, const int* lo, const int* hi, const void* values,
                           int ghosts) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    return add_box(*hierarchy, lo, hi, values, ghosts);
  });
}

int neve_hierarchy_set_box_strides(neve_hierarchy* hierarchy, long long stride_y, long long stride_z,
                                   long long component_stride) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    // On the other ranks there is no layout to replace, and the call is the same on all.
    if (!hierarchy->owns_last_box) return {};
    neve::BoxData& data = hierarchy->owned.back().data;
    data.stride = {1, stride_y, stride_z, 0};
    data.component_stride = component_stride;
    return {};
  });
}

int neve_write_plotfile(MPI_Comm comm, const char* path, const neve_hierarchy* hierarchy,
                        const char* options) {
  return reported([&]() -> Status {
    neve::Hierarchy settled;
    neve::WriteOptions parsed;
    std::string target;
    // NULL on one rank must not leave the others waiting.
    const Status given = neve::mpi::guarded("neve", [&]() -> Status {
      NEVE_TRY(check_live(hierarchy));
      if (path == nullptr) return usage_error("the path to write is NULL");
      target = path;
      settled = hierarchy->description;
      settle_cell_sizes(settled);
      NEVE_ASSIGN(parsed, neve::parse_write_options(options == nullptr ? "" : options));
      for (int d = settled.dims; d < neve::max_dims; ++d) parsed.ghosts[static_cast<size_t>(d)] = 0;
      return {};
    });
    neve::Span<const neve::LocalBox> owned;
    if (given.ok()) owned = hierarchy->owned;
    return neve::write_plotfile_if(comm, given, target, settled, owned, parsed).status();
  });
}

int neve_wait_for_writes(MPI_Comm comm) {
  return reported([&] { return neve::wait_for_writes(comm); });
}

const char* neve_mpi_last_error(void) { return neve_last_error(); }
