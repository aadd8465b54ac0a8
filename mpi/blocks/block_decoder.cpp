// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/blocks/block_decoder.hpp"

#include <fmt/format.h>

namespace neve::mpi {

Status decode_block(std::span<const std::byte> bytes, DType dtype, uint64_t values, std::byte* out) {
  NEVE_ASSIGN(const Frame frame, Frame::parse(bytes));
  if (frame.dtype() != dtype || frame.layout().element_count != values) {
    return corrupt(fmt::format("the frame holds {} {} values where {} {} values belong",
                               frame.layout().element_count, dtype_name(frame.dtype()), values,
                               dtype_name(dtype)));
  }
  return frame.decode(out, values * dtype_bytes(dtype));
}

}  // namespace neve::mpi
