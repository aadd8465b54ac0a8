// SPDX-License-Identifier: BSD-3-Clause
// Why a file is one of plain values.
#pragma once

#include <cstdint>
#include <string_view>

namespace neve::pmpi {

// Ranks agree on the largest number.
enum class Reason : int64_t {
  none,
  first_is_small,
  first_is_of_one_rank,
  other_type,
  mixed_types,
  inside_of_value,
  too_large,
  too_much_held,
  view_with_holes,
  shared_pointer,
  nonblocking,
  atomicity,
  cut_off,
  opened_twice,
  opened_by_some,
  other_data,
  deleted,
  no_room_beside,
  not_asked_for,
};

std::string_view text_of(Reason reason);

}  // namespace neve::pmpi
