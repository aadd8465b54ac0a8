// SPDX-License-Identifier: BSD-3-Clause
// NumPy's .npy files of floating-point and integer arrays: format versions 1 to 3, both byte orders, C and
// Fortran order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::plotfile {

struct NpyHeader {
  DType dtype = DType::f64;
  bool is_big_endian = false;
  bool is_fortran_order = false;
  std::vector<uint64_t> shape;  // as NumPy says it, empty for a scalar
  int64_t values_begin = 0;     // in the file
  int64_t values_bytes = 0;
};

// A C-contiguous array of this machine's byte order, whatever the file had.
struct NpyArray {
  DType dtype = DType::f64;
  std::vector<uint64_t> shape;  // slowest first
  std::vector<std::byte> values;
};

// Errors: failure (no file), corrupt (cut, longer or shorter than its shape says), usage (elements that are
// neither f32 nor f64 nor integers).
Result<NpyHeader> read_npy_header(const std::string& path);
Result<NpyArray> read_npy(const std::string& path);

// Writes a C-contiguous array as files/temporary_file does: an earlier file is whole until the new one is.
Status write_npy(const std::string& path, DType dtype, std::span<const uint64_t> shape,
                 std::span<const std::byte> values);

// A 1D to 3D array as a plotfile of one level, one box and the component "data"; the last index is x.
Result<std::unique_ptr<PlotfileSource>> open_npy_plotfile(const std::string& path);

}  // namespace neve::plotfile
