// SPDX-License-Identifier: BSD-3-Clause
// What a rank sends in the place of a frame that it could not make.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "neve/status.hpp"

namespace neve::mpi {

// No such message is longer: there is always room for one, also where memory has ended.
inline constexpr size_t max_failure_bytes = 4096;

struct FailureMessage {
  std::array<std::byte, max_failure_bytes> data;
  size_t bytes = 0;
};

// As much of the words as fits.
FailureMessage failure_message(const Status& status) noexcept;
// Nothing when the bytes are no such message: a frame begins otherwise.
std::optional<Status> read_failure(std::span<const std::byte> message) noexcept;

}  // namespace neve::mpi
