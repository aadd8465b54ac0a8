// SPDX-License-Identifier: BSD-3-Clause
// What a rank sends in the place of a frame that it could not make.
#pragma once

#include <optional>
#include <span>

#include "mpi/blocks/block_encoder.hpp"
#include "neve/status.hpp"

namespace neve::mpi {

Bytes failure_message(const Status& status);
// Nothing when the bytes are no such message: a frame begins otherwise.
std::optional<Status> read_failure(std::span<const std::byte> message);

}  // namespace neve::mpi
