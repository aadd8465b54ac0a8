// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mpi/field.hpp"

#include <cmath>
#include <filesystem>
#include <utility>

#include "io/plotfile/npy.hpp"

namespace neve::mpibench {
namespace {

// Waves of a few lengths with a little noise: smooth, as fields of simulations are, and no file is needed.
Field generated_field() {
  constexpr uint64_t side = 128;
  Field field;
  field.name = "waves with noise, 128^3 f32";
  field.shape = {side, side, side};
  field.values.resize(side * side * side * sizeof(float));
  auto* out = reinterpret_cast<float*>(field.values.data());
  uint32_t state = 1;
  for (uint64_t z = 0; z < side; ++z) {
    for (uint64_t y = 0; y < side; ++y) {
      for (uint64_t x = 0; x < side; ++x) {
        state = state * 1664525u + 1013904223u;
        const double noise = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
        *out++ = static_cast<float>(std::sin(0.05 * static_cast<double>(x)) *
                                        std::cos(0.07 * static_cast<double>(y)) +
                                    0.3 * std::sin(0.11 * static_cast<double>(z)) + 1e-3 * noise);
      }
    }
  }
  return field;
}

}  // namespace

neve::Result<Field> read_field(const std::string& input, uint64_t rank_bytes) {
  Field field;
  if (input.empty()) {
    field = generated_field();
  } else {
    NEVE_ASSIGN(plotfile::NpyArray array, plotfile::read_npy(input));
    if (is_integer(array.dtype) || array.shape.empty() || array.values.empty()) {
      return usage_error(input + ": an array of floating-point values is needed");
    }
    field = {std::filesystem::path(input).filename().string(), array.dtype, array.shape,
             std::move(array.values)};
  }
  const Bytes once = field.values;
  while (field.values.size() + once.size() <= rank_bytes) {
    field.values.insert(field.values.end(), once.begin(), once.end());
  }
  field.shape[0] *= field.values.size() / once.size();
  return field;
}

}  // namespace neve::mpibench
