// SPDX-License-Identifier: BSD-3-Clause
// Frames written once, never again: every release reads them and gets the same bits.
//
// A frame missing from tests/golden is written only when NEVE_WRITE_GOLDEN is set, so that a new kind of
// frame can be added; what is there is never replaced.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "neve/frame.hpp"
#include "tests/support/lossy_codecs.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

namespace fs = std::filesystem;
const fs::path golden_folder = fs::path(NEVE_SOURCE_DIR) / "tests/golden";

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> bytes(fs::file_size(path));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

std::string decoded_hash(std::span<const std::byte> frame_bytes) {
  const auto frame = Frame::parse(frame_bytes);
  if (!frame.ok()) return frame.status().message();
  std::vector<std::byte> out(frame->shape().element_count * dtype_bytes(frame->dtype()));
  if (const Status s = frame->decode(out.data(), out.size()); !s.ok()) return s.message();
  return std::to_string(XXH3_64bits(out.data(), out.size()));
}

struct Case {
  std::string name;
  std::vector<std::byte> frame;
};

template <class T>
void add_arrays(const std::string& type, std::vector<Case>& cases) {
  const DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& shape,
                       const std::vector<T>& values, const std::string& bound, Effort effort = Effort::fast) {
    ArrayOptions options;
    options.bound = *parse_bound(bound);
    options.encode.effort = effort;
    cases.push_back({"array_" + type + "_" + name, *encode_array(dtype, shape, values.data(), options)});
  };
  add("1d_rel1e-3", {3000}, test::rough_field<T>({3000}, 0.01, 1), "rel=1e-3");
  add("2d_abs1e-2_smooth", {50, 60}, test::rough_field<T>({60, 50}, 0.0, 2), "abs=1e-2");
  add("3d_rel1e-3", {12, 14, 16}, test::rough_field<T>({16, 14, 12}, 0.02, 3), "rel=1e-3");
  add("3d_rel1e-6_low_bits", {12, 14, 16}, test::rough_field<T>({16, 14, 12}, 0.3, 3), "rel=1e-6");
  add("4d_rel1e-2", {4, 6, 8, 10}, test::rough_field<T>({10, 8, 6, 4}, 0.02, 4), "rel=1e-2");
  add("lossless", {20, 20}, test::rough_field<T>({20, 20}, 0.02, 5), "lossless");
  add("constant", {100}, std::vector<T>(100, T(2.5)), "rel=1e-3");
  add("empty", {0, 3}, {}, "rel=1e-3");
  auto masked = test::rough_field<T>({40, 30}, 0.01, 6);
  for (size_t i = 0; i < masked.size(); i += i % 40 < 20 ? 1 : 21) masked[i] = T(1e20);
  masked[25] = std::numeric_limits<T>::quiet_NaN();
  masked[26] = -std::numeric_limits<T>::infinity();
  masked[27] = T{-0.0};
  masked[28] = T(4e18);
  add("specials", {30, 40}, masked, "rel=1e-3");
  auto two = test::rough_field<T>({128, 100}, 0.001, 7);
  const auto rough = test::rough_field<T>({128, 100}, 0.3, 8);
  two.insert(two.end(), rough.begin(), rough.end());
  add("books_rel1e-3", {200, 128}, two, "rel=1e-3", Effort::balanced);
  // Long waves are interpolation's; short oblique ones its stencils'.
  std::vector<T> swell, waves;
  for (int i = 0; i < 23 * 24 * 25; ++i) {
    const int x = i % 23, y = i / 23 % 24, z = i / (23 * 24);
    swell.push_back(static_cast<T>(std::sin(0.2 * x) + std::sin(0.3 * y + 1) * std::sin(0.15 * z)));
    waves.push_back(static_cast<T>(std::sin(0.9 * x + 0.4 * y + 0.7 * z) + std::sin(0.5 * x - 1.1 * y)));
  }
  add("auto_balanced", {25, 24, 23}, swell, "rel=1e-4", Effort::balanced);
  add("auto_max", {25, 24, 23}, waves, "rel=1e-4", Effort::max);
}

// Each method, on values that it has something to say of and on specials.
template <class T>
void add_lossless_methods(const std::string& type, std::vector<Case>& cases) {
  auto field = test::rough_field<T>({30, 21, 11, 2}, 0.001, 12);
  for (T& value : field) value = std::floor(value * 1024) / 1024;
  for (size_t i = 100; i < 900; i += i % 40 < 20 ? 1 : 21) field[i] = T(1e20);
  const auto& specials = test::special_values<T>();
  std::copy(specials.begin(), specials.end(), field.begin() + 2000);
  for (int m = 1; m < lossless_methods; ++m) {
    ArrayOptions options;
    options.bound = {BoundMode::lossless, 0};
    options.codec = Codec::lossless;
    options.tuning.method = static_cast<LosslessMethod>(m);
    options.encode.effort = Effort::balanced;
    cases.push_back(
        {"array_" + type + "_lossless_" + std::string(lossless_method_name(options.tuning.method)),
         *encode_array(sizeof(T) == 4 ? DType::f32 : DType::f64, std::vector<uint64_t>{2, 11, 21, 30},
                       field.data(), options)});
  }
}

// Multiples of 25 units of 10^-1.
template <class T>
void add_lossless_decimal_steps(const std::string& type, std::vector<Case>& cases) {
  std::vector<T> values;
  test::Random random(5);
  for (int i = 0; i < 700; ++i)
    values.push_back(static_cast<T>(static_cast<double>(25 * (random.below(900) - 300)) / 10));
  values[40] = T(0.3);  // that is none
  ArrayOptions options;
  options.bound = {BoundMode::lossless, 0};
  options.codec = Codec::lossless;
  options.tuning.method = LosslessMethod::multiple;
  cases.push_back({"array_" + type + "_lossless_multiple_decimal_steps",
                   *encode_array(sizeof(T) == 4 ? DType::f32 : DType::f64, std::vector<uint64_t>{7, 100},
                                 values.data(), options)});
}

// Repeats of every kind, with holes.
template <class T>
void add_lossless_repeats(const std::string& type, std::vector<Case>& cases) {
  auto field = test::rough_field<T>({30, 20}, 0.3, 12);
  for (const bool is_reversed : {false, true}) {
    for (const bool is_negated : {false, true}) test::repeat_start(field, 600, is_reversed, is_negated);
  }
  for (size_t i = 0; i < field.size(); i += i % 50 < 20 ? 1 : 31) {
    if (i % 700 > 400) field[i] = T(1e20);
  }
  field[900] = std::numeric_limits<T>::quiet_NaN();
  ArrayOptions options;
  options.bound = {BoundMode::lossless, 0};
  options.codec = Codec::lossless;
  options.tuning.method = LosslessMethod::lorenzo;
  options.encode.effort = Effort::balanced;
  cases.push_back({"array_" + type + "_lossless_repeats",
                   *encode_array(sizeof(T) == 4 ? DType::f32 : DType::f64, std::vector<uint64_t>{5, 20, 30},
                                 field.data(), options)});
}

// Integers: a ramp with a fill value, multiples of 3, by methods that treat them in ways of their own.
template <class T>
void add_integers(DType dtype, std::vector<Case>& cases) {
  test::Random random(13);
  std::vector<T> values;
  for (int i = 0; i < 30 * 40; ++i) values.push_back(static_cast<T>(3 * (i % 30 / 4 + random.below(3) - 5)));
  for (size_t i = 100; i < 500; i += i % 40 < 20 ? 1 : 21) values[i] = std::numeric_limits<T>::max();
  const auto add = [&](const std::string& name, LosslessMethod method, Codec codec) {
    ArrayOptions options;
    options.bound = {BoundMode::lossless, 0};
    options.codec = codec;
    options.tuning.method = method;
    cases.push_back({"array_" + std::string(dtype_name(dtype)) + "_" + name,
                     *encode_array(dtype, std::vector<uint64_t>{40, 30}, values.data(), options)});
  };
  for (const LosslessMethod method :
       {LosslessMethod::bw_zlib, LosslessMethod::bitshuffle_zstd, LosslessMethod::xor_zstd,
        LosslessMethod::lorenzo, LosslessMethod::multiple, LosslessMethod::rank}) {
    add(std::string(lossless_method_name(method)), method, Codec::lossless);
  }
  add("exact", LosslessMethod::automatic, Codec::exact);
  values.assign(values.size(), static_cast<T>(-3));
  add("constant", LosslessMethod::automatic, Codec::automatic);
}

// What a codec has to get right by itself: directions, escapes, special values, values it cannot hold.
template <class T>
void add_arrays_of(Codec codec, const std::string& type, std::vector<Case>& cases) {
  const DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& shape,
                       const std::vector<T>& values, const std::string& bound) {
    ArrayOptions options;
    options.codec = codec;
    options.bound = *parse_bound(bound);
    options.encode.effort = Effort::balanced;
    cases.push_back({"array_" + type + "_" + std::string(codec_name(codec)) + "_" + name,
                     *encode_array(dtype, shape, values.data(), options)});
  };
  add("1d", {3000}, test::rough_field<T>({3000}, 0.01, 1), "rel=1e-3");
  add("2d", {50, 60}, test::rough_field<T>({60, 50}, 0.001, 2), "abs=1e-2");
  add("3d", {22, 14, 27}, test::rough_field<T>({27, 14, 22}, 0.005, 3), "rel=1e-3");
  add("3d_escapes", {12, 14, 16}, test::rough_field<T>({16, 14, 12}, 0.3, 3), "rel=1e-5");
  add("4d", {5, 7, 8, 10}, test::rough_field<T>({10, 8, 7, 5}, 0.02, 4), "rel=1e-2");
  auto masked = test::rough_field<T>({20, 15, 9}, 0.01, 6);
  for (size_t i = 0; i < masked.size(); i += i % 40 < 20 ? 1 : 21) masked[i] = T(1e20);
  masked[25] = std::numeric_limits<T>::quiet_NaN();
  masked[26] = -std::numeric_limits<T>::infinity();
  masked[27] = T{-0.0};
  masked[28] = T(4e18);
  add("specials", {9, 15, 20}, masked, "rel=1e-3");
}

void add_boxes(std::vector<Case>& cases) {
  FrameLayout layout;
  layout.components = 2;
  FrameBox box;
  box.lo = {-8, 16, 24, 0};
  box.size = {8, 8, 8, 1};
  box.covered = {{{0, 0, 0, 0}, {4, 8, 4, 1}}};
  FrameBox other;
  other.lo = {0, 16, 24, 0};
  other.size = {16, 8, 4, 1};
  layout.boxes = {box, other};
  layout.element_count = 2500;
  const auto field = test::rough_field<double>({16, 8, 32}, 0.02, 9);
  std::vector<uint8_t> keep(1024);
  keep[2] = keep[520] = 1;
  std::vector<BoxData> data{dense_box_data(field.data(), box), dense_box_data(field.data(), other)};
  data[0].keep = keep.data();
  std::vector<ComponentSpec> specs(2);
  specs[0].bound_abs = 1e-3;
  specs[1].bound_abs = 1e-2;
  specs[0].drop_covered = true;
  specs[0].tuning.arrangement = specs[1].tuning.arrangement = Arrangement::linear;
  cases.push_back({"boxes_f64_covered", *encode_frame(DType::f64, layout, specs, data)});

  FrameLayout split;
  split.components = 2;
  split.boxes = {other};
  split.is_split = true;
  split.split_begin = 300;
  split.split_count = 400;
  split.element_count = 400;
  const std::vector<BoxData> split_data{data[1]};
  specs[0].drop_covered = false;
  cases.push_back({"boxes_f64_split", *encode_frame(DType::f64, split, specs, split_data)});
}

// Boxes that touch, that overlap and that lie far away, some no multiple of any unit block, with covered
// cells.
FrameLayout arranged_layout(int ndim) {
  FrameLayout layout;
  layout.ndim = ndim;
  layout.components = 3;
  const auto add_box = [&](Extents lo, Extents size) {
    for (int d = ndim; d < max_frame_dims; ++d) {
      lo[static_cast<size_t>(d)] = 0;
      size[static_cast<size_t>(d)] = 1;
    }
    FrameBox box;
    box.lo = lo;
    box.size = size;
    layout.boxes.push_back(box);
  };
  add_box({0, 0, -8, 0}, {16, 16, 8, 2});
  add_box({16, 0, -8, 0}, {20, 8, 8, 1});
  add_box({16, 8, -8, 0}, {8, 8, 16, 1});
  add_box({500, -300, 7, 2}, {9, 10, 3, 2});
  add_box({8, 8, -8, 0}, {3, 16, 2, 2});
  Rect covered{{4, 4, 0, 0}, {8, 12, 6, 1}};
  for (auto d = static_cast<size_t>(ndim); d < max_frame_dims; ++d) {
    covered.lo[d] = 0;
    covered.size[d] = 1;
  }
  layout.boxes[0].covered = {covered};
  layout.boxes[2].covered = {{{0, 0, 0, 0}, layout.boxes[2].size}};
  layout.element_count = layout.held_elements();
  return layout;
}

// Components of all codecs over these boxes; covered, kept and special cells.
template <class T>
void add_arranged(const std::string& type, int ndim, Arrangement arrangement, int unit_cells,
                  std::vector<Case>& cases, Codec codec = Codec::automatic, bool merge_units = false) {
  const FrameLayout layout = arranged_layout(ndim);
  std::vector<std::vector<T>> values;
  std::vector<std::vector<uint8_t>> keep;
  for (size_t b = 0; b < layout.boxes.size(); ++b) {
    const FrameBox& box = layout.boxes[b];
    const auto cells = static_cast<size_t>(box.cells());
    auto of_box = test::rough_field<T>({box.size[0], box.size[1], box.size[2], box.size[3]}, 0.02, 10 + b);
    of_box[cells / 3] = std::numeric_limits<T>::quiet_NaN();
    of_box[cells / 2] = T{-0.0};
    of_box.insert(of_box.end(), of_box.begin(), of_box.begin() + static_cast<ptrdiff_t>(cells));
    of_box.resize(3 * cells, T(1.25));
    values.push_back(of_box);
    keep.emplace_back(3 * cells);
    for (size_t i = 5; i < keep.back().size(); i += 17) keep.back()[i] = 1;
  }
  std::vector<BoxData> data;
  for (size_t b = 0; b < values.size(); ++b) {
    data.push_back(dense_box_data(values[b].data(), layout.boxes[b]));
    data.back().keep = keep[b].data();
  }
  std::vector<ComponentSpec> specs(3);
  for (ComponentSpec& spec : specs) {
    spec.drop_covered = true;
    spec.tuning.arrangement = arrangement;
    spec.tuning.unit_cells = unit_cells;
    spec.codec = codec;
    spec.tuning.merge_units = merge_units;
  }
  specs[0].bound_abs = specs[2].bound_abs = 1e-3;
  const DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  std::string name = arrangement_text(arrangement, unit_cells);
  std::replace(name.begin(), name.end(), ' ', '_');
  if (codec != Codec::automatic) name += "_" + std::string(codec_name(codec));
  if (merge_units) name += "_merged";
  cases.push_back({"arranged_" + type + "_" + std::to_string(ndim) + "d_" + name,
                   *encode_frame(dtype, layout, specs, data)});
}

// Two unit blocks of 64 cells and what is left over.
void add_large_units(std::vector<Case>& cases) {
  FrameLayout layout;
  layout.ndim = 2;
  FrameBox box;
  box.size = {70, 128, 1, 1};
  box.covered = {{{0, 0, 0, 0}, {16, 16, 1, 1}}};
  layout.boxes = {box};
  layout.element_count = layout.held_elements();
  const auto field = test::rough_field<float>({70, 128}, 0.005, 14);
  const std::vector<BoxData> data{dense_box_data(field.data(), box)};
  for (const Arrangement arrangement : {Arrangement::linear, Arrangement::cluster}) {
    ComponentSpec spec;
    spec.bound_abs = 1e-3;
    spec.drop_covered = true;
    spec.codec = Codec::lorenzo_regression;
    spec.tuning.arrangement = arrangement;
    spec.tuning.unit_cells = 64;
    cases.push_back({"boxes_f32_2d_" + std::string(arrangement_name(arrangement)) + "_64",
                     *encode_frame(DType::f32, layout, {&spec, 1}, data)});
  }
}

TEST(Golden, EveryFrameEverWrittenReadsTheSame) {
  std::vector<Case> cases;
  add_arrays<float>("f32", cases);
  add_arrays<double>("f64", cases);
  add_boxes(cases);
  add_arranged<double>("f64", 3, Arrangement::linear, 8, cases);
  add_arranged<float>("f32", 4, Arrangement::linear, 16, cases);
  add_arranged<double>("f64", 3, Arrangement::cluster, 8, cases);
  add_arranged<float>("f32", 2, Arrangement::cluster, 8, cases);
  add_arranged<float>("f32", 1, Arrangement::cluster, 8, cases);
  add_arranged<double>("f64", 3, Arrangement::in_place, 0, cases);
  add_arranged<float>("f32", 4, Arrangement::in_place, 0, cases);
  add_arranged<float>("f32", 2, Arrangement::in_place, 0, cases);
  add_lossless_methods<float>("f32", cases);
  add_lossless_methods<double>("f64", cases);
  add_lossless_decimal_steps<float>("f32", cases);
  add_lossless_decimal_steps<double>("f64", cases);
  add_lossless_repeats<float>("f32", cases);
  add_lossless_repeats<double>("f64", cases);
  add_integers<int8_t>(DType::i8, cases);
  add_integers<uint16_t>(DType::u16, cases);
  add_integers<int32_t>(DType::i32, cases);
  add_integers<uint64_t>(DType::u64, cases);
  add_arranged<double>("f64", 3, Arrangement::in_place, 0, cases, Codec::lossless);
  add_arranged<float>("f32", 2, Arrangement::cluster, 8, cases, Codec::lossless);
  for (const Codec codec : test::lossy_codecs) {
    if (codec == Codec::dual_quant) continue;  // those above
    add_arrays_of<float>(codec, "f32", cases);
    add_arrays_of<double>(codec, "f64", cases);
    add_arranged<double>("f64", 3, Arrangement::linear, 8, cases, codec);
    add_arranged<float>("f32", 2, Arrangement::cluster, 8, cases, codec);
    add_arranged<double>("f64", 3, Arrangement::in_place, 0, cases, codec);
  }
  add_arranged<float>("f32", 3, Arrangement::linear, 8, cases, Codec::lorenzo_regression, true);
  add_arranged<float>("f32", 3, Arrangement::linear, 8, cases, Codec::interpolation, true);
  add_arranged<double>("f64", 2, Arrangement::linear, 8, cases, Codec::interpolation, true);
  add_large_units(cases);
  for (const Case& c : cases) {
    const fs::path path = golden_folder / (c.name + ".neve");
    if (fs::exists(path) || std::getenv("NEVE_WRITE_GOLDEN") == nullptr) continue;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(c.frame.data()), static_cast<std::streamsize>(c.frame.size()));
    std::ofstream(golden_folder / (c.name + ".xxh3")) << decoded_hash(c.frame) << "\n";
  }
  size_t read = 0;
  for (const auto& entry : fs::directory_iterator(golden_folder)) {
    if (entry.path().extension() != ".neve") continue;
    std::ifstream in(fs::path(entry.path()).replace_extension(".xxh3"));
    std::string expected;
    ASSERT_TRUE(std::getline(in, expected)) << entry.path();
    EXPECT_EQ(decoded_hash(read_file(entry.path())), expected) << entry.path();
    ++read;
  }
  EXPECT_GE(read, cases.size());
}

}  // namespace
}  // namespace neve
