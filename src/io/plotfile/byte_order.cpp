// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/byte_order.hpp"

#include <cstdint>
#include <cstring>

namespace neve::plotfile {
namespace {

template <class U, class Swap>
void swap_each(std::span<std::byte> values, const Swap& swap) {
  for (size_t i = 0; i + sizeof(U) <= values.size(); i += sizeof(U)) {
    U bits = 0;
    std::memcpy(&bits, &values[i], sizeof bits);
    bits = swap(bits);
    std::memcpy(&values[i], &bits, sizeof bits);
  }
}

}  // namespace

void reverse_bytes(DType dtype, std::span<std::byte> values) {
  switch (dtype_bytes(dtype)) {
    case 1:
      return;
    case 2:
      return swap_each<uint16_t>(values, [](uint16_t bits) { return __builtin_bswap16(bits); });
    case 4:
      return swap_each<uint32_t>(values, [](uint32_t bits) { return __builtin_bswap32(bits); });
    default:
      return swap_each<uint64_t>(values, [](uint64_t bits) { return __builtin_bswap64(bits); });
  }
}

}  // namespace neve::plotfile
