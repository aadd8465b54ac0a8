// SPDX-License-Identifier: BSD-3-Clause
// A line for each of many ways to encode many fields: what was encoded, and a hash of the frame. Two machines
// that print the same lines make the same bytes. The fields are made of sums and products alone.
#include <xxhash.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "neve/frame.hpp"

namespace {

using namespace neve;

struct Field {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<double> values;
};

double noise(uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<double>(state >> 40) / static_cast<double>(1 << 24) - 0.5;
}

// A polynomial wave over the cells, with noise of a size.
Field make_field(const std::string& name, const std::vector<uint64_t>& shape, double base, double roughness) {
  Field field{name, shape, {}};
  size_t cells = 1;
  for (const uint64_t size : shape) cells *= size;
  uint64_t state = 99;
  double walk = 0;
  for (size_t i = 0; i < cells; ++i) {
    const double x = static_cast<double>(i % shape.back()) / static_cast<double>(shape.back());
    const double y = static_cast<double>(i / shape.back() % 97) / 97;
    walk += roughness * noise(state);
    field.values.push_back(base + 4 * x * (1 - x) * (2 * y - 1) + walk + roughness * noise(state));
  }
  return field;
}

std::vector<Field> fields() {
  std::vector<Field> all = {make_field("line", {20000}, 0, 1e-3), make_field("plane", {120, 150}, 280, 1e-3),
                            make_field("cube", {24, 28, 40}, 1e5, 0.3),
                            make_field("rough", {16, 32, 32}, 0, 10), make_field("constant", {40, 40}, 7, 0)};
  all.back().values.assign(1600, 7);
  Field special = make_field("special", {30, 40, 20}, 1, 1e-2);
  const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 5e-324, -999.0, 1e300, 1e-40};
  for (size_t i = 0; i < special.values.size(); i += 37) special.values[i] = odd[i / 37 % 8];
  all.push_back(special);
  return all;
}

template <class T>
std::vector<std::byte> as(const Field& field) {
  std::vector<std::byte> bytes(field.values.size() * sizeof(T));
  for (size_t i = 0; i < field.values.size(); ++i) {
    double value = field.values[i];
    if constexpr (std::is_integral_v<T>) value = std::abs(value) < 600 ? 50 * value : 0;
    const T narrow = static_cast<T>(value);
    std::memcpy(bytes.data() + i * sizeof(T), &narrow, sizeof(T));
  }
  return bytes;
}

int failures = 0;

void hash(const Field& field, DType dtype, const std::vector<std::byte>& values, const ArrayOptions& options,
          const std::string& way) {
  const auto frame = encode_array(dtype, field.shape, values.data(), options);
  const std::string name(dtype_name(dtype));
  if (!frame.ok()) {
    std::printf("%s %s %s: %s\n", field.name.c_str(), name.c_str(), way.c_str(),
                frame.status().message().c_str());
    return;
  }
  std::printf("%s %s %s: %zu bytes %016llx\n", field.name.c_str(), name.c_str(), way.c_str(), frame->size(),
              static_cast<unsigned long long>(XXH64(frame->data(), frame->size(), 0)));
  const auto parsed = Frame::parse(*frame);
  std::vector<std::byte> back(values.size());
  if (!parsed.ok() || !parsed->decode(back.data(), back.size(), 1).ok()) ++failures;
  std::printf("  decoded %016llx\n", static_cast<unsigned long long>(XXH64(back.data(), back.size(), 0)));
}

void hash_floats(const Field& field, DType dtype, const std::vector<std::byte>& values) {
  const Bound bounds[] = {{BoundMode::lossless, 0}, {BoundMode::abs, 1e-3},  {BoundMode::rel, 1e-3},
                          {BoundMode::rel, 1e-6},   {BoundMode::ratio, 8.0}, {BoundMode::psnr, 60.0}};
  for (const Bound& bound : bounds) {
    for (const Codec codec : {Codec::automatic, Codec::dual_quant, Codec::lorenzo_regression,
                              Codec::interpolation, Codec::context, Codec::axis_passes, Codec::lossless}) {
      for (const Effort effort : {Effort::fast, Effort::balanced, Effort::max}) {
        ArrayOptions options;
        options.bound = bound;
        options.codec = codec;
        options.encode.effort = effort;
        hash(field, dtype, values, options,
             to_string(bound) + " " + std::string(codec_name(codec)) + " " +
                 std::to_string(static_cast<int>(effort)));
      }
    }
  }
  ArrayOptions repeatable;
  repeatable.bound = {BoundMode::abs, 1e-3};
  repeatable.lattice = Lattice{};
  hash(field, dtype, values, repeatable, "abs=1e-3 on a lattice");
}

void hash_integers(const Field& field, DType dtype, const std::vector<std::byte>& values) {
  for (const Effort effort : {Effort::fast, Effort::balanced, Effort::max}) {
    ArrayOptions options;
    options.bound = {BoundMode::lossless, 0};
    options.encode.effort = effort;
    hash(field, dtype, values, options, "lossless " + std::to_string(static_cast<int>(effort)));
  }
}

}  // namespace

int main() {
  for (const Field& field : fields()) {
    hash_floats(field, DType::f32, as<float>(field));
    hash_floats(field, DType::f64, as<double>(field));
    hash_integers(field, DType::i16, as<int16_t>(field));
    hash_integers(field, DType::i64, as<int64_t>(field));
  }
  return failures == 0 ? 0 : 1;
}
