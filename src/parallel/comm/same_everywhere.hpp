// SPDX-License-Identifier: BSD-3-Clause
// Arguments that all ranks must pass alike.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// Collective. Usage error unless every rank passes the same `text`: a rank that was given other boxes or
// another bound than the rest would wait for messages that nobody sends.
// `text()` makes it.
Status check_same_everywhere(const Comm& comm, const std::function<std::string()>& text,
                             std::string_view what);

}  // namespace neve::mpi
