// SPDX-License-Identifier: BSD-3-Clause
// One array in a file: .npy, or a frame that `neve compress` or neve.compress made.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "neve/frame.hpp"
#include "neve/status.hpp"
#include "plotfile/npy.hpp"

namespace neve::cli {

Result<std::vector<std::byte>> read_file(const std::string& path);

// Under a temporary name until it is whole.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

// The frame's values and the shape its array had. Usage error for a frame that is not of an array.
Result<plotfile::NpyArray> decode_array(const Frame& frame, int threads);

}  // namespace neve::cli
