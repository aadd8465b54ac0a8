// SPDX-License-Identifier: BSD-3-Clause
// From a DType to the type that code is made for: float, double, and for integers the unsigned one of the
// same size, since what keeps their bits need not know their sign.
#pragma once

#include <cstdint>
#include <type_traits>

#include "neve/types.hpp"

namespace neve {

// Returns visit(std::type_identity<T>()).
template <class Visit>
auto visit_value_type(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::f32:
      return visit(std::type_identity<float>());
    case DType::f64:
      return visit(std::type_identity<double>());
    case DType::i8:
    case DType::u8:
      return visit(std::type_identity<uint8_t>());
    case DType::i16:
    case DType::u16:
      return visit(std::type_identity<uint16_t>());
    case DType::i32:
    case DType::u32:
      return visit(std::type_identity<uint32_t>());
    case DType::i64:
    case DType::u64:
      break;
  }
  return visit(std::type_identity<uint64_t>());
}

}  // namespace neve
