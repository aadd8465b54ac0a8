// SPDX-License-Identifier: BSD-3-Clause
// One array in a file: .npy, or a frame or stream that `neve compress` or neve.compress made.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/plotfile/npy.hpp"
#include "neve/frame.hpp"
#include "neve/status.hpp"

namespace neve::cli {

Result<std::vector<std::byte>> read_file(const std::string& path);

// Corrupt where `bytes`, those of the file at `path`, are the beginning of neither a frame nor a stream;
// names the kinds of files that are read here.
Status check_is_compressed(std::span<const std::byte> bytes, const std::string& path,
                           const std::string& kinds);

// A compressed array: a frame of one, or a stream.
struct DecodedArray {
  plotfile::NpyArray array;
  double bound_abs = 0;  // what it promises; of a stream the largest of its blocks
  std::optional<double> fill;
  std::string codec;  // of most of its cells; "stream"
};
// Usage error for a frame that is not of an array.
Result<DecodedArray> decode_compressed(std::span<const std::byte> bytes, int threads);

}  // namespace neve::cli
