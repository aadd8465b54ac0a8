// SPDX-License-Identifier: BSD-3-Clause
// What neve_hierarchy stands for.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "neve/hierarchy.h"
#include "neve/hierarchy.hpp"
#include "neve/local_box.hpp"

namespace neve::capi {

// The box added last, as the caller described it so far: its layout may come in several calls.
struct LastBox {
  int level = 0;
  int box = 0;
  int ghosts = 0;
  const void* values = nullptr;
  std::vector<const void*> fields;                // by component, where they lie apart
  std::optional<std::array<int64_t, 3>> strides;  // y, z and component; none: dense
  std::optional<size_t> owned;                    // its place in neve_hierarchy::owned
};

}  // namespace neve::capi

struct neve_hierarchy {
  neve::Hierarchy description;     // complete: cell sizes and times of levels follow each change
  std::vector<char> has_own_time;  // of its levels
  std::vector<neve::LocalBox> owned;
  std::deque<std::vector<int64_t>> offsets;  // of owned boxes whose components lie apart; they do not move
  std::optional<neve::capi::LastBox> last;
};

namespace neve::capi {

inline Status check_live(const neve_hierarchy* hierarchy) {
  return hierarchy != nullptr ? Status() : usage_error("hierarchy is NULL");
}

// By their numbers, or the usage error.
Result<const Level*> level_of(const Hierarchy& hierarchy, int level);
Result<const Box*> box_of(const Hierarchy& hierarchy, int level, int box);
Status check_component(const std::vector<std::string>& names, int component);

}  // namespace neve::capi
