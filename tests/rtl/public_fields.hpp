// SPDX-License-Identifier: BSD-3-Clause
// The public fields that tests compare on, where they are there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/plotfile/npy.hpp"
#include "neve/frame.hpp"

namespace neve::rtl {

inline constexpr const char* public_field_names[] = {"echam_t", "um_theta", "wrf_QV", "wrf_T", "wrf_W"};

struct PublicField {
  std::string name;
  std::vector<uint64_t> shape;  // slowest first; sizes of 1 dropped, but for the last one
  std::vector<float> values;
  std::optional<float> fill;  // as its file names it, where it occurs
  bool was_f64 = false;       // and is rounded to float32
  ValueRange range;           // of finite values but the fill value; a part of a level has the level's
};

inline void widen(ValueRange& range, const PublicField& field) {
  for (const float v : field.values) {
    if (!std::isfinite(v) || field.fill == v) continue;
    range.min = range.empty ? v : std::min<double>(range.min, v);
    range.max = range.empty ? v : std::max<double>(range.max, v);
    range.empty = false;
  }
}

// Nothing where the file is not there, or is none of float32.
inline std::optional<PublicField> public_field(const std::string& name) {
  const std::string path = std::string(NEVE_SHARED_DATA).append("/arrays/").append(name).append(".npy");
  if (!std::filesystem::exists(path)) return {};
  const auto array = plotfile::read_npy(path);
  if (!array.ok() || array->dtype != DType::f32) return {};
  PublicField field;
  field.name = name;
  for (const uint64_t n : array->shape) {
    if (n > 1) field.shape.push_back(n);
  }
  field.values.resize(array->values.size() / sizeof(float));
  std::memcpy(field.values.data(), array->values.data(), array->values.size());
  widen(field.range, field);
  return field;
}

}  // namespace neve::rtl
