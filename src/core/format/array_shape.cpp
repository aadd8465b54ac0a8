// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/array_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/format/frame_header.hpp"

namespace neve {

Result<uint64_t> count_values(std::span<const uint64_t> shape) {
  if (shape.size() > max_array_rank) {
    return usage_error(fmt::format("array: {} dimensions, at most {}", shape.size(), max_array_rank));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > max_elements) {
      return usage_error(
          fmt::format("array: size {} of dimension {}, at most {}", shape[d], d, max_elements));
    }
  }
  if (std::find(shape.begin(), shape.end(), uint64_t{0}) != shape.end()) return uint64_t{0};
  uint64_t values = 1;
  for (const uint64_t size : shape) {
    if (values > max_elements / size) {
      return usage_error(fmt::format("array: more than {} elements", max_elements));
    }
    values *= size;
  }
  return values;
}

}  // namespace neve
