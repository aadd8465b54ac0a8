// SPDX-License-Identifier: BSD-3-Clause
// A small file in which each of several processes, on one machine or on many, says that its part of a work is
// done: for those that cannot send each other messages.
#pragma once

#include <cstddef>
#include <string>

#include "neve/status.hpp"

namespace neve::files {

enum class Mark : char { none = 0, done = 1, failed = 2 };

// Makes the file, with a mark for each of `count` processes: none.
Status create_marks(const std::string& path, size_t count);
// Of the process `index`.
Status set_mark(const std::string& path, size_t index, Mark mark);
// none while one has none; then failed where one has failed, else done.
Result<Mark> common_mark(const std::string& path, size_t count);

}  // namespace neve::files
