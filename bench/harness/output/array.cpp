// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/output/array.hpp"

#include <functional>
#include <numeric>

namespace neve::apps {

uint64_t value_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
}

}  // namespace neve::apps
