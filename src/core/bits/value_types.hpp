// SPDX-License-Identifier: BSD-3-Clause
// From a DType to the type that code is made for.
#pragma once

#include <cstdint>
#include <type_traits>

#include "neve/types.hpp"

namespace neve {

// The integer type of 1, 2, 4 or 8 bytes.
inline DType integer_type(size_t bytes, bool has_sign) {
  switch (bytes) {
    case 1:
      return has_sign ? DType::i8 : DType::u8;
    case 2:
      return has_sign ? DType::i16 : DType::u16;
    case 4:
      return has_sign ? DType::i32 : DType::u32;
    default:
      return has_sign ? DType::i64 : DType::u64;
  }
}

// Returns visit(std::type_identity<T>()), T the type of the values.
template <class Visit>
auto visit_type(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::f32:
      return visit(std::type_identity<float>());
    case DType::f64:
      return visit(std::type_identity<double>());
    case DType::i8:
      return visit(std::type_identity<int8_t>());
    case DType::u8:
      return visit(std::type_identity<uint8_t>());
    case DType::i16:
      return visit(std::type_identity<int16_t>());
    case DType::u16:
      return visit(std::type_identity<uint16_t>());
    case DType::i32:
      return visit(std::type_identity<int32_t>());
    case DType::u32:
      return visit(std::type_identity<uint32_t>());
    case DType::i64:
      return visit(std::type_identity<int64_t>());
    case DType::u64:
      break;
  }
  return visit(std::type_identity<uint64_t>());
}

// The same with the unsigned type for every integer, since what keeps their bits need not know their sign.
template <class Visit>
auto visit_value_type(DType dtype, const Visit& visit) {
  return visit_type(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      return visit(std::type_identity<T>());
    } else {
      return visit(std::type_identity<std::make_unsigned_t<T>>());
    }
  });
}

}  // namespace neve
