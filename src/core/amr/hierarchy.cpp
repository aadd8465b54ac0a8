// SPDX-License-Identifier: BSD-3-Clause
#include "neve/hierarchy.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <unordered_set>

#include "core/amr/box_index.hpp"
#include "core/amr/box_text.hpp"
#include "core/status/guarded.hpp"
#include "neve/limits.hpp"

namespace neve {
namespace {

// Room above every index for ghosts, refinement and the +1 of half-open ranges, so that no sum of ours
// overflows.
constexpr int32_t max_index = int32_t{1} << 30;
// Elements of a level, so that byte counts and offsets stay within 63 bits.
constexpr int64_t max_level_elements = int64_t{1} << 58;
constexpr int32_t max_ref_ratio = 1024;

// Cells, or max_level_elements + 1 when there are more than max_level_elements.
int64_t saturated_cells(const Box& b) {
  int64_t cells = 1;
  for (int d = 0; d < max_dims; ++d) {
    if (b.size(d) > max_level_elements / cells) return max_level_elements + 1;
    cells *= b.size(d);
  }
  return cells;
}

// `name()` says which box it is; asked only when something is wrong, as levels may have millions of boxes.
template <class Name>
Status check_box(const Box& b, int dims, Name&& name) {
  if (b.empty())
    return usage_error(
        fmt::format("{} is {}: hi below lo; a box holds at least one cell", name(), amr::to_string(b, dims)));
  for (int d = 0; d < max_dims; ++d) {
    if (d >= dims && (b.lo[d] != 0 || b.hi[d] != 0)) {
      return usage_error(
          fmt::format("{} spans {}..{} in direction {}; with {} dimensions only 0..0 is allowed there",
                      name(), b.lo[d], b.hi[d], d, dims));
    }
    if (b.lo[d] < -max_index || b.hi[d] > max_index) {
      return usage_error(
          fmt::format("{} is {}; indices must lie within +-{}", name(), amr::to_string(b, dims), max_index));
    }
  }
  return {};
}

Status check_components(const Hierarchy& h) {
  if (h.components.empty() || h.components.size() > max_components) {
    return usage_error(
        fmt::format("hierarchy has {} components; 1 to {} are allowed", h.components.size(), max_components));
  }
  std::unordered_set<std::string> seen;
  for (size_t c = 0; c < h.components.size(); ++c) {
    const std::string& name = h.components[c];
    if (name.empty()) return usage_error(fmt::format("component {} has an empty name", c));
    if (name.find_first_of(std::string("\n\r\0", 3)) != std::string::npos) {
      return usage_error(fmt::format("name of component {} holds a line break or a zero byte", c));
    }
    if (!seen.insert(name).second) {
      return usage_error(
          fmt::format("component {} is called '{}' as an earlier one; names must differ", c, name));
    }
  }
  return {};
}

Status check_geometry(const Hierarchy& h) {
  for (int d = 0; d < h.dims; ++d) {
    if (!std::isfinite(h.prob_lo[d]) || !std::isfinite(h.prob_hi[d])) {
      return usage_error(fmt::format("prob_lo..prob_hi in direction {} is {}..{}; it must be finite", d,
                                     h.prob_lo[d], h.prob_hi[d]));
    }
    for (size_t l = 0; l < h.levels.size(); ++l) {
      const double dx = h.levels[l].dx[d];
      if (!std::isfinite(dx) || dx <= 0) {
        return usage_error(
            fmt::format("dx of level {} in direction {} is {}; it must be finite and above 0", l, d, dx));
      }
    }
  }
  return {};
}

Status check_ratio(const Hierarchy& h, size_t l) {
  const Level& level = h.levels[l];
  const bool is_finest = l + 1 == h.levels.size();
  for (int d = 0; d < max_dims; ++d) {
    const int32_t ratio = level.ref_ratio[d];
    const int32_t allowed_max = is_finest || d >= h.dims ? 1 : max_ref_ratio;
    if (ratio < 1 || ratio > allowed_max) {
      return usage_error(fmt::format("ref_ratio of level {} in direction {} is {}; 1 to {} is allowed{}", l,
                                     d, ratio, allowed_max, is_finest ? " on the finest level" : ""));
    }
    if (is_finest) continue;
    const Box& finer = h.levels[l + 1].domain;
    const int64_t lo = int64_t{level.domain.lo[d]} * ratio;
    const int64_t hi = (int64_t{level.domain.hi[d]} + 1) * ratio - 1;
    if (finer.lo[d] != lo || finer.hi[d] != hi) {
      return usage_error(
          fmt::format("domain of level {} spans {}..{} in direction {}; level {} refined by {} spans {}..{}",
                      l + 1, finer.lo[d], finer.hi[d], d, l, ratio, lo, hi));
    }
  }
  return {};
}

Status check_level_boxes(const Hierarchy& h, size_t l) {
  const Level& level = h.levels[l];
  if (level.boxes.empty())
    return usage_error(fmt::format("level {} has no boxes; at least one is needed", l));
  if (level.boxes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return usage_error(
        fmt::format("level {} has {} boxes; at most 2147483647 are allowed", l, level.boxes.size()));
  }
  const int64_t max_cells = max_level_elements / static_cast<int64_t>(h.components.size());
  int64_t cells = 0;
  for (size_t i = 0; i < level.boxes.size(); ++i) {
    const Box& b = level.boxes[i];
    const auto name = [i, l] { return fmt::format("box {} of level {}", i, l); };
    NEVE_TRY(check_box(b, h.dims, name));
    if (!level.domain.contains(b)) {
      return usage_error(fmt::format("{} is {}, outside the level's domain {}", name(),
                                     amr::to_string(b, h.dims), amr::to_string(level.domain, h.dims)));
    }
    const int64_t of_box = saturated_cells(b);
    if (of_box > max_cells - cells) {
      return usage_error(
          fmt::format("level {} has more than {} cells from box {} on; its {} components allow no more", l,
                      max_cells, i, h.components.size()));
    }
    cells += of_box;
  }
  const amr::BoxIndex::Pair overlap = amr::BoxIndex(level.boxes).find_overlap();
  if (overlap.first >= 0) {
    return usage_error(fmt::format("boxes {} and {} of level {} overlap: {} and {}", overlap.first,
                                   overlap.second, l,
                                   amr::to_string(level.boxes[static_cast<size_t>(overlap.first)], h.dims),
                                   amr::to_string(level.boxes[static_cast<size_t>(overlap.second)], h.dims)));
  }
  return {};
}

Status check_all(const Hierarchy& h) {
  if (h.dims < 1 || h.dims > max_dims) {
    return usage_error(fmt::format("hierarchy has {} dimensions; 1 to {} are allowed", h.dims, max_dims));
  }
  if (h.dtype != DType::f32 && h.dtype != DType::f64) {
    return usage_error(fmt::format("element type is {}; f32 and f64 are allowed", dtype_name(h.dtype)));
  }
  if (h.levels.empty()) return usage_error("hierarchy has no levels; at least one is needed");
  NEVE_TRY(check_components(h));
  NEVE_TRY(check_geometry(h));
  for (size_t l = 0; l < h.levels.size(); ++l) {
    NEVE_TRY(check_box(h.levels[l].domain, h.dims, [l] { return fmt::format("domain of level {}", l); }));
  }
  for (size_t l = 0; l < h.levels.size(); ++l) {
    NEVE_TRY(check_ratio(h, l));
    NEVE_TRY(check_level_boxes(h, l));
  }
  return {};
}

}  // namespace

Status PlotfileSource::read_components(int level, int box, int first, int count, std::byte* out) {
  for (int i = 0; i < count; ++i) {
    NEVE_TRY(read_box(level, box, first + i, out));
    const Box& cells = hierarchy().levels[static_cast<size_t>(level)].boxes[static_cast<size_t>(box)];
    out += static_cast<size_t>(cells.cells()) * dtype_bytes(hierarchy().dtype);
  }
  return {};
}

Status check_hierarchy(const Hierarchy& h) {
  return guarded("checking a hierarchy", [&] { return check_all(h); });
}

}  // namespace neve
