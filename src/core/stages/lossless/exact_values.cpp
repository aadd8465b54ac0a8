// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/lossless/exact_values.hpp"

#include <fmt/format.h>

#include "core/stages/lossless/byte_pack.hpp"
#include "core/stages/lossless/byte_planes.hpp"

namespace neve {

void write_exact_values(ByteSpan values, size_t value_bytes, ByteWriter& out) {
  const size_t count = values.size() / value_bytes;
  Bytes planes(values.size());
  to_byte_planes(values, value_bytes, planes);
  // Plane by plane: the low bytes of floats are noise and stay raw, the high ones shrink.
  for (size_t b = 0; b < value_bytes; ++b) write_packed(ByteSpan(planes).subspan(b * count, count), out);
}

Result<Bytes> read_exact_values(ByteReader& in, uint64_t count, size_t value_bytes) {
  Bytes planes;
  for (size_t b = 0; b < value_bytes; ++b) {
    NEVE_ASSIGN(const Bytes plane, read_packed(in, count));
    if (plane.size() != count) {
      return corrupt(
          fmt::format("exact values: byte plane {} holds {} bytes, must hold {}", b, plane.size(), count));
    }
    if (b == 0) planes.reserve(count * value_bytes);
    planes.insert(planes.end(), plane.begin(), plane.end());
  }
  Bytes values(planes.size());
  from_byte_planes(planes, value_bytes, values);
  return values;
}

}  // namespace neve
