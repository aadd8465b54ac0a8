// SPDX-License-Identifier: BSD-3-Clause
// Why a file is one of plain values.
#pragma once

#include <cstdint>
#include <string_view>

namespace neve::pmpi {

// Ranks agree on the largest number.
enum class Reason : int64_t {
  none,
  too_large,
  scattered,
  other_view,
  too_much_before,
  sequential,
  atomicity,
  opened_twice,
  opened_by_some,
  other_data,
  deleted,
  no_room_beside,
  not_asked_for,
  does_not_pay,
};

std::string_view text_of(Reason reason);

}  // namespace neve::pmpi
