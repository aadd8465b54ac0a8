// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/boxed_chunk.hpp"

#include <algorithm>
#include <vector>

#include "io/hdf5/handle.hpp"

namespace neve::datafile {
namespace {

// Shorter ones are mostly headers.
constexpr uint64_t min_elements = uint64_t{1} << 13;
constexpr uint64_t max_sample_bytes = uint64_t{16} << 20;

bool components_differ(const BoxedPlan& boxed) {
  return std::any_of(boxed.specs.begin(), boxed.specs.end(), [&](const ComponentSpec& spec) {
    return spec.bound_abs != boxed.specs.front().bound_abs || spec.fill != boxed.specs.front().fill;
  });
}

// Consecutive values from the middle of the dataset.
struct Sample {
  uint64_t first = 0;
  std::vector<std::byte> values;
};

Result<Sample> take_sample(hid_t dataset, const Variable& variable) {
  const uint64_t all = variable.dims.front();
  const uint64_t count = std::min(all, max_sample_bytes / variable.element_bytes);
  Sample sample;
  sample.first = (all - count) / 2;
  sample.values.resize(count * variable.element_bytes);
  const hdf5::Handle type(H5Dget_type(dataset), H5Tclose);
  NEVE_TRY(read_elements(dataset, {sample.first}, {count}, type.id(), sample.values.data()));
  return sample;
}

// What the sample takes in chunks of so many elements.
Result<uint64_t> encoded_bytes(const Sample& sample, const Variable& variable, const BoxedPlan& boxed,
                               uint64_t chunk, const EncodeOptions& options) {
  uint64_t bytes = 0;
  const uint64_t count = sample.values.size() / variable.element_bytes;
  for (uint64_t at = 0; at < count; at += chunk) {
    const uint64_t held = std::min(chunk, count - at);
    const auto values =
        std::span(sample.values).subspan(at * variable.element_bytes, held * variable.element_bytes);
    NEVE_ASSIGN(const BoxedFrame made,
                encode_boxed_chunk(*variable.dtype, boxed, sample.first + at, held, values, options));
    bytes += std::min<uint64_t>(made.frame.size(), values.size());
  }
  return bytes;
}

}  // namespace

Extent list_chunk(const Variable& variable, uint64_t max_bytes) {
  return choose_chunk(variable.dims, Extent(1, 1), variable.element_bytes, max_bytes);
}

Result<Extent> choose_boxed_chunk(hid_t dataset, const Variable& variable, const BoxedPlan& boxed,
                                  const CopyOptions& options) {
  Extent longer = list_chunk(variable, options.chunk_bytes.value_or(default_chunk_bytes));
  if (!components_differ(boxed) || options.chunk_bytes) return longer;
  Extent shorter = {std::max(boxed.runs.typical_cells(), min_elements)};
  if (shorter.front() >= longer.front()) return longer;
  EncodeOptions encode;
  encode.effort = options.effort;
  NEVE_ASSIGN(const Sample sample, take_sample(dataset, variable));
  NEVE_ASSIGN(const uint64_t in_longer, encoded_bytes(sample, variable, boxed, longer.front(), encode));
  NEVE_ASSIGN(const uint64_t in_shorter, encoded_bytes(sample, variable, boxed, shorter.front(), encode));
  return in_shorter < in_longer ? std::move(shorter) : std::move(longer);
}

}  // namespace neve::datafile
