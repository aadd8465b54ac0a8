// SPDX-License-Identifier: BSD-3-Clause
// The public fields that tests compare on, where they are there.
#pragma once

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plotfile/npy.hpp"

namespace neve::rtl {

inline constexpr const char* public_field_names[] = {"echam_t", "um_theta", "wrf_QV", "wrf_T", "wrf_W"};

struct PublicField {
  std::vector<uint64_t> shape;  // sizes of 1 dropped
  std::vector<float> values;
};

// Nothing where the file is not there, or is none of float32.
inline std::optional<PublicField> public_field(const std::string& name) {
  const std::string path = std::string(NEVE_SHARED_DATA).append("/arrays/").append(name).append(".npy");
  if (!std::filesystem::exists(path)) return {};
  const auto array = plotfile::read_npy(path);
  if (!array.ok() || array->dtype != DType::f32) return {};
  PublicField field;
  for (const uint64_t n : array->shape) {
    if (n > 1) field.shape.push_back(n);
  }
  field.values.resize(array->values.size() / sizeof(float));
  std::memcpy(field.values.data(), array->values.data(), array->values.size());
  return field;
}

}  // namespace neve::rtl
