// SPDX-License-Identifier: BSD-3-Clause
#include "plotfile/byte_order.hpp"

#include <cstdint>
#include <cstring>

namespace neve::plotfile {

void reverse_bytes(DType dtype, std::span<std::byte> values) {
  if (dtype == DType::f32) {
    for (size_t i = 0; i + sizeof(uint32_t) <= values.size(); i += sizeof(uint32_t)) {
      uint32_t bits = 0;
      std::memcpy(&bits, &values[i], sizeof bits);
      bits = __builtin_bswap32(bits);
      std::memcpy(&values[i], &bits, sizeof bits);
    }
  } else {
    for (size_t i = 0; i + sizeof(uint64_t) <= values.size(); i += sizeof(uint64_t)) {
      uint64_t bits = 0;
      std::memcpy(&bits, &values[i], sizeof bits);
      bits = __builtin_bswap64(bits);
      std::memcpy(&values[i], &bits, sizeof bits);
    }
  }
}

}  // namespace neve::plotfile
