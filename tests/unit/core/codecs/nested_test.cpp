// SPDX-License-Identifier: BSD-3-Clause
// Sections that are coded with what the next coarser level holds around them: every promise of a frame, and
// that nobody reads one without that level.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "core/bits/checksum.hpp"
#include "core/codecs/nested_values.hpp"
#include "core/format/regions.hpp"
#include "neve/frame.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

constexpr double fill = 1e20;
constexpr std::array nesting_codecs{Codec::interpolation, Codec::context};

int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

constexpr std::array<double, max_frame_dims> slopes{0.25, 0.25, 0.125, 1};

// A coarser level known everywhere, but for cells that are not held, not finite or filled. Sums of small
// multiples of 1/1024: the same bits in f32, and in the reference decoder's tests.
double coarse_value(int component, const Extents& at) {
  const auto [x, y, z, w] = at;
  if (modulo(x - y + z, 37) == 0) return std::numeric_limits<double>::quiet_NaN();
  if (modulo(x + y + 5 * z, 41) == 0) return fill;
  const auto n = static_cast<double>(modulo(5 * x + 3 * y + 7 * z + 11 * w, 64));
  return slopes[0] * static_cast<double>(x) + slopes[1] * static_cast<double>(y) +
         slopes[2] * static_cast<double>(z) + slopes[3] * static_cast<double>(w) + component + n / 1024;
}
bool is_held(const Extents& at) { return modulo(at[0] + 2 * at[1] + 3 * at[2] + at[3], 31) != 0; }

template <class T>
class KnownLevel : public CoarserLevel {
 public:
  Status read(int component, const Rect& cells, std::byte* values, uint8_t* held) const override {
    int64_t number = 0;
    for (int64_t w = 0; w < cells.size[3]; ++w) {
      for (int64_t z = 0; z < cells.size[2]; ++z) {
        for (int64_t y = 0; y < cells.size[1]; ++y) {
          for (int64_t x = 0; x < cells.size[0]; ++x, ++number) {
            const Extents at{cells.lo[0] + x, cells.lo[1] + y, cells.lo[2] + z, cells.lo[3] + w};
            held[number] = is_held(at) ? 1 : 0;
            // What is not held may be anything.
            const T value = is_held(at) ? static_cast<T>(coarse_value(component, at)) : T(-7e30);
            std::memcpy(values + number * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
          }
        }
      }
    }
    return {};
  }
};

class FailingLevel : public CoarserLevel {
 public:
  Status read(int, const Rect&, std::byte*, uint8_t*) const override { return failure("no such level"); }
};

// Boxes with holes between them, one far away; the finer values follow the coarser ones.
template <class T>
struct Fine {
  FrameLayout layout;
  std::vector<std::vector<T>> values;
  std::vector<std::vector<uint8_t>> keep;
  std::vector<ComponentSpec> specs;
  Extents ratio{2, 2, 2, 2};

  explicit Fine(int ndim, Codec codec, int64_t refinement = 2) {
    layout.ndim = ndim;
    layout.components = 3;
    for (int d = 0; d < max_frame_dims; ++d) ratio[static_cast<size_t>(d)] = d < ndim ? refinement : 1;
    add_box({-8, 0, -8, 0}, {16, 16, 8, 2});
    add_box({8, 4, -8, 0}, {13, 9, 8, 2});
    add_box({-8, 16, -8, 0}, {8, 8, 11, 1});
    add_box({500, -300, 7, 2}, {9, 10, 3, 2});
    layout.boxes[0].covered = {Rect{{4, 0, 0, 0}, layout.boxes[0].size}};
    layout.boxes[0].covered[0].size[0] = 6;
    layout.element_count = layout.held_elements() + 5;
    test::Random random(3);
    for (const FrameBox& box : layout.boxes) {
      std::vector<T> of_box;
      for (int c = 0; c < layout.components; ++c) {
        for (int64_t i = 0; i < box.cells(); ++i) {
          const Extents& n = box.size;
          const Extents in{i % n[0], i / n[0] % n[1], i / (n[0] * n[1]) % n[2], i / (n[0] * n[1] * n[2])};
          double value = c;
          for (size_t d = 0; d < max_frame_dims; ++d) {
            const double place =
                (static_cast<double>(box.lo[d] + in[d]) + 0.5) / static_cast<double>(ratio[d]) - 0.5;
            value += slopes[d] * place;
          }
          of_box.push_back(static_cast<T>(value + 0.03 * random.uniform()));
        }
      }
      const auto& special = test::special_values<T>();
      for (size_t i = 11; i < of_box.size() / 3; i += 97) of_box[i] = special[i % special.size()];
      values.push_back(std::move(of_box));
      keep.emplace_back(values.back().size(), 0);
      for (size_t i = 5; i < keep.back().size(); i += 17) keep.back()[i] = 1;
    }
    specs.resize(3);
    for (ComponentSpec& spec : specs) {
      spec.codec = codec;
      spec.may_nest = true;
      spec.bound_abs = 1e-2;
      spec.range = {-3, 30, false};
      spec.fill = fill;
    }
    specs[1].drop_covered = true;
    specs[2].may_nest = false;
  }

  DType dtype() const { return sizeof(T) == 4 ? DType::f32 : DType::f64; }
  std::vector<BoxData> data() const {
    std::vector<BoxData> boxes;
    for (size_t b = 0; b < values.size(); ++b) {
      boxes.push_back(dense_box_data(values[b].data(), layout.boxes[b]));
      boxes.back().keep = keep[b].data();
    }
    return boxes;
  }
  Result<std::vector<std::byte>> encode(const CoarserLevel* coarser, FrameReport* report = nullptr,
                                        int threads = 1) const {
    EncodeOptions options;
    options.threads = threads;
    const Nesting nesting{coarser, ratio};
    return encode_frame(dtype(), layout, specs, data(), options, report,
                        coarser == nullptr ? nullptr : &nesting);
  }

 private:
  void add_box(Extents lo, Extents size) {
    for (auto d = static_cast<size_t>(layout.ndim); d < max_frame_dims; ++d) {
      lo[d] = 0;
      size[d] = 1;
    }
    FrameBox box;
    box.lo = lo;
    box.size = size;
    layout.boxes.push_back(box);
  }
};

std::vector<std::byte> decoded(std::span<const std::byte> bytes, const CoarserLevel* coarser,
                               int threads = 1) {
  const auto frame = Frame::parse(bytes);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  std::vector<std::byte> out(frame->shape().element_count * dtype_bytes(frame->dtype()));
  const Status status = frame->decode(out.data(), out.size(), threads, coarser);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

template <class T>
void expect_bound_and_specials(const Fine<T>& fine, std::span<const std::byte> bytes,
                               std::span<const std::byte> out, const FrameReport& report) {
  const Frame frame = std::move(*Frame::parse(bytes));
  const std::byte* at = out.data();
  for (size_t b = 0; b < fine.values.size(); ++b) {
    const auto cells = static_cast<size_t>(fine.layout.boxes[b].cells());
    for (int c = 0; c < 3; ++c) {
      const auto left_out = *frame.left_out(static_cast<int>(b), c);
      double worst = 0;
      for (size_t i = 0; i < cells; ++i, at += sizeof(T)) {
        T got;
        std::memcpy(&got, at, sizeof got);
        const T wanted = fine.values[b][static_cast<size_t>(c) * cells + i];
        if (!left_out.empty() && left_out[i] != 0) {
          ASSERT_TRUE(std::isfinite(got));
          continue;
        }
        const bool is_special =
            !std::isfinite(wanted) || wanted == T(fill) || (wanted == 0 && std::signbit(wanted));
        if (is_special) {
          ASSERT_EQ(std::memcmp(&got, &wanted, sizeof got), 0) << "box " << b << " cell " << i;
        } else {
          worst = std::max(worst, std::abs(static_cast<double>(got) - static_cast<double>(wanted)));
        }
      }
      ASSERT_LE(worst, fine.specs[static_cast<size_t>(c)].bound_abs);
      ASSERT_LE(worst, report.components[static_cast<size_t>(c)].max_abs_error);
    }
  }
}

template <class T>
void check_promises(int ndim, Codec codec, int64_t refinement) {
  SCOPED_TRACE(std::string(codec_name(codec)) + " " + std::to_string(ndim) + "d, ratio " +
               std::to_string(refinement));
  const Fine<T> fine(ndim, codec, refinement);
  const KnownLevel<T> coarser;
  FrameReport report;
  const auto bytes = fine.encode(&coarser, &report);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const Frame frame = std::move(*Frame::parse(*bytes));
  EXPECT_FALSE(frame.needs_coarser_level(2));
  const auto out = decoded(*bytes, &coarser);
  expect_bound_and_specials(fine, *bytes, out, report);

  EXPECT_EQ(*fine.encode(&coarser, nullptr, 3), *bytes);
  EXPECT_EQ(decoded(*bytes, &coarser, 3), out);
  const std::string usual = simd_target();
  for (const std::string& target : simd_targets()) {
    ASSERT_TRUE(set_simd_target(target).ok());
    EXPECT_EQ(*fine.encode(&coarser), *bytes) << target;
    EXPECT_EQ(decoded(*bytes, &coarser), out) << target;
  }
  ASSERT_TRUE(set_simd_target(usual).ok());

  const std::byte* at = out.data();
  for (size_t b = 0; b < fine.layout.boxes.size(); ++b) {
    for (int c = 0; c < 3; ++c) {
      std::vector<std::byte> one(static_cast<size_t>(fine.layout.boxes[b].cells()) * sizeof(T));
      ASSERT_TRUE(frame.decode_box(static_cast<int>(b), c, one.data(), one.size(), &coarser).ok());
      ASSERT_EQ(std::memcmp(one.data(), at, one.size()), 0) << "box " << b << " component " << c;
      at += one.size();
    }
  }
  for (int c = 0; c < 3; ++c) {
    std::vector<std::byte> of_component(frame.component_values(c) * sizeof(T));
    ASSERT_TRUE(frame.decode_component(c, of_component.data(), of_component.size(), 1, &coarser).ok());
    const std::byte* from = of_component.data();
    const std::byte* box_at = out.data();
    for (const FrameBox& box : fine.layout.boxes) {
      const auto box_bytes = static_cast<size_t>(box.cells()) * sizeof(T);
      ASSERT_EQ(std::memcmp(from, box_at + static_cast<size_t>(c) * box_bytes, box_bytes), 0);
      from += box_bytes;
      box_at += 3 * box_bytes;
    }
  }
}

TEST(Nested, KeepsEveryPromiseOfAFrame) {
  for (const Codec codec : nesting_codecs) {
    for (int ndim = 1; ndim <= 4; ++ndim) {
      for (const int64_t refinement : {1, 2, 3, 4}) {
        check_promises<float>(ndim, codec, refinement);
        check_promises<double>(ndim, codec, refinement);
      }
    }
  }
}

TEST(Nested, IsTakenWhereItIsSmallerAndNowhereElse) {
  for (const Codec codec : nesting_codecs) {
    const Fine<double> fine(3, codec);
    const KnownLevel<double> coarser;
    FrameReport nested, plain;
    const auto bytes = *fine.encode(&coarser, &nested);
    const auto without = *fine.encode(nullptr, &plain);
    const Frame frame = std::move(*Frame::parse(bytes));
    EXPECT_TRUE(frame.needs_coarser_level(0));
    EXPECT_EQ(nested.components[0].arrangement, Arrangement::nested);
    EXPECT_LT(nested.components[0].stored_bytes, plain.components[0].stored_bytes);
    EXPECT_EQ(nested.components[2].stored_bytes, plain.components[2].stored_bytes);
    EXPECT_EQ(plain.components[0].arrangement, Arrangement::in_place);

    // Nobody may use it: the same bytes as without.
    Fine<double> none = fine;
    for (ComponentSpec& spec : none.specs) spec.may_nest = false;
    EXPECT_EQ(*none.encode(&coarser), without);
  }
  // Codecs that cannot use it.
  for (const Codec codec : {Codec::dual_quant, Codec::lorenzo_regression, Codec::exact}) {
    const Fine<double> fine(3, codec);
    const KnownLevel<double> coarser;
    EXPECT_EQ(*fine.encode(&coarser), *fine.encode(nullptr));
  }
}

TEST(Nested, SaysWhoCanReadIt) {
  const Fine<float> fine(3, Codec::context);
  const KnownLevel<float> coarser;
  const auto bytes = *fine.encode(&coarser);
  const Frame frame = std::move(*Frame::parse(bytes));
  std::vector<std::byte> out(frame.shape().element_count * sizeof(float));
  for (const Status& status :
       {frame.decode(out.data(), out.size()),
        frame.decode_component(0, out.data(), frame.component_values(0) * sizeof(float))}) {
    EXPECT_EQ(status.code(), Code::corrupt);
    EXPECT_NE(status.message().find("cross-level prediction"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("HDF5 plugin"), std::string::npos) << status.message();
  }
  // A component that does without needs no level.
  EXPECT_TRUE(frame.decode_component(2, out.data(), frame.component_values(2) * sizeof(float)).ok());
}

TEST(Nested, ErrorsOfTheCoarserLevelComeThrough) {
  const Fine<float> fine(3, Codec::interpolation);
  const KnownLevel<float> coarser;
  const FailingLevel failing;
  EXPECT_EQ(fine.encode(&failing).status().code(), Code::failure);
  const auto bytes = *fine.encode(&coarser);
  std::vector<std::byte> out(fine.layout.element_count * sizeof(float));
  const Status status = Frame::parse(bytes)->decode(out.data(), out.size(), 1, &failing);
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_NE(status.message().find("no such level"), std::string::npos) << status.message();

  Nesting nesting{&coarser, {2, 2, 0, 1}};
  EXPECT_EQ(
      encode_frame(DType::f32, fine.layout, fine.specs, fine.data(), {}, nullptr, &nesting).status().code(),
      Code::usage);
  nesting = {nullptr, {2, 2, 2, 1}};
  EXPECT_EQ(
      encode_frame(DType::f32, fine.layout, fine.specs, fine.data(), {}, nullptr, &nesting).status().code(),
      Code::usage);
}

TEST(Nested, CannotBeAskedFor) {
  Fine<float> fine(3, Codec::context);
  fine.specs[0].tuning.arrangement = Arrangement::nested;
  EXPECT_EQ(fine.encode(nullptr).status().code(), Code::usage);
  EXPECT_FALSE(parse_arrangement("nested").ok());
}

// --- damaged frames -------------------------------------------------------------------------------------

template <class T>
std::vector<std::byte> small_frame(Codec codec) {
  FrameLayout layout;
  layout.components = 1;
  layout.boxes.resize(2);
  layout.boxes[0].size = layout.boxes[1].size = {8, 6, 5, 1};
  layout.boxes[1].lo = {8, 3, 0, 0};
  layout.element_count = layout.held_elements();
  const Fine<T> like(3, codec);
  std::vector<T> values;
  for (const FrameBox& box : layout.boxes) {
    for (int64_t i = 0; i < box.cells(); ++i) {
      values.push_back(static_cast<T>(0.125 * static_cast<double>(box.lo[0] + i % 8) +
                                      0.125 * static_cast<double>(box.lo[1] + i / 8 % 6) +
                                      0.0625 * static_cast<double>(i / 48) +
                                      1e-3 * static_cast<double>(i * i % 31)));
    }
  }
  values[7] = std::numeric_limits<T>::quiet_NaN();
  const std::vector<BoxData> data{dense_box_data(values.data(), layout.boxes[0]),
                                  dense_box_data(values.data() + 240, layout.boxes[1])};
  const KnownLevel<T> coarser;
  const Nesting nesting{&coarser, {2, 2, 2, 1}};
  std::vector<ComponentSpec> specs{like.specs[0]};
  return *encode_frame(like.dtype(), layout, specs, data, {}, nullptr, &nesting);
}

TEST(Nested, DamageIsRefused) {
  const KnownLevel<float> coarser;
  for (const Codec codec : nesting_codecs) {
    auto bytes = small_frame<float>(codec);
    ASSERT_TRUE(Frame::parse(bytes)->needs_coarser_level(0));
    const auto read = [&](std::span<const std::byte> damaged) -> Status {
      NEVE_ASSIGN(const Frame frame, Frame::parse(damaged));
      if (frame.shape().element_count > 1U << 20) return corrupt("larger than any frame of this test");
      std::vector<std::byte> out(frame.shape().element_count * dtype_bytes(frame.dtype()));
      return frame.decode(out.data(), out.size(), 1, &coarser);
    };
    ASSERT_TRUE(read(bytes).ok());
    for (size_t n = 0; n < bytes.size(); ++n) {
      ASSERT_EQ(read(std::span(bytes).first(n)).code(), Code::corrupt) << n;
    }
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        bytes[i] ^= std::byte{1} << bit;
        ASSERT_EQ(read(bytes).code(), Code::corrupt) << "byte " << i << " bit " << bit;
        bytes[i] ^= std::byte{1} << bit;
      }
    }
    // With checksums mended: anything but a crash or a wrong size.
    const auto header_bytes = Frame::parse(bytes)->header_bytes();
    for (size_t i = 0; i < header_bytes - checksum_bytes; ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        auto damaged = bytes;
        damaged[i] ^= std::byte{1} << bit;
        const uint64_t mended = checksum(std::span(damaged).first(header_bytes - checksum_bytes));
        std::memcpy(damaged.data() + header_bytes - checksum_bytes, &mended, sizeof mended);
        const Status status = read(damaged);
        ASSERT_TRUE(status.ok() || status.code() == Code::corrupt) << status.message();
      }
    }
  }
}

// --- prolongation ---------------------------------------------------------------------------------------

class LinearLevel : public CoarserLevel {
 public:
  Status read(int, const Rect& cells, std::byte* values, uint8_t* held) const override {
    for (int64_t i = 0; i < cells.cells(); ++i) {
      const Extents at = cell(cells, i);
      const double value =
          plane(static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2]));
      std::memcpy(values + i * 8, &value, 8);
      held[i] = at == missing ? 0 : 1;
    }
    return {};
  }
  static double plane(double x, double y, double z) { return 3 + 2 * x - 5 * y + 0.5 * z; }
  static Extents cell(const Rect& cells, int64_t i) {
    const Extents& n = cells.size;
    return {cells.lo[0] + i % n[0], cells.lo[1] + i / n[0] % n[1], cells.lo[2] + i / (n[0] * n[1]), 0};
  }
  Extents missing{INT64_MIN, 0, 0, 0};
};

TEST(Prolongation, IsExactForPlanes) {
  const LinearLevel level;
  for (const int64_t ratio : {1, 2, 4, 8}) {
    Region region;
    region.lo = {-9, 4, -2, 0};
    region.size = {11, 5, 6, 1};
    const std::vector<uint8_t> left_out(static_cast<size_t>(region.cells()), 1);
    const auto nested = *prolong<double>({&level, {ratio, ratio, ratio, 1}, 0, {}}, region, left_out);
    for (int64_t i = 0; i < region.cells(); ++i) {
      const Extents at = LinearLevel::cell({region.lo, region.size}, i);
      const auto centre = [&](size_t d) {
        return (static_cast<double>(at[d]) + 0.5) / static_cast<double>(ratio) - 0.5;
      };
      ASSERT_EQ(nested.known[static_cast<size_t>(i)], 1);
      ASSERT_EQ(nested.values[static_cast<size_t>(i)], LinearLevel::plane(centre(0), centre(1), centre(2)))
          << "ratio " << ratio << " cell " << i;
    }
  }
}

TEST(Prolongation, ACellWithoutACoarserOneIsNotKnownAndItsNeighboursLeanOnTheirOwn) {
  LinearLevel level;
  level.missing = {1, 0, 0, 0};
  Region region;
  region.lo = {0, 0, 0, 0};
  region.size = {6, 2, 2, 1};
  std::vector<uint8_t> left_out(static_cast<size_t>(region.cells()), 1);
  left_out[5] = 0;
  const auto nested = *prolong<double>({&level, {2, 2, 2, 1}, 0, {}}, region, left_out);
  EXPECT_EQ(nested.known[1], 1);
  EXPECT_EQ(nested.known[2], 0);
  EXPECT_EQ(nested.known[3], 0);
  EXPECT_EQ(nested.known[4], 1);
  EXPECT_EQ(nested.known[5], 0) << "held";
  // Cell (1, 0, 0) lies between the coarser cells 0 and 1 along x; of the eight around it those at x = 1, y =
  // 0, z = 0 are missing and count as the cell's own.
  const auto at = [](double x, double y, double z) { return LinearLevel::plane(x, y, z); };
  const double own = at(0, 0, 0);
  const auto along = [](double a, double b, double w) { return a + (b - a) * w; };
  const auto row = [&](double y, double z) {
    return along(at(0, y, z), y == 0 && z == 0 ? own : at(1, y, z), 0.25);
  };
  const double below = along(row(-1, -1), row(0, -1), 0.75);
  const double above = along(row(-1, 0), row(0, 0), 0.75);
  EXPECT_EQ(nested.values[1], along(below, above, 0.75));
}

// --- golden frames --------------------------------------------------------------------------------------

// Written once, never again, like those of golden_test.cpp; the coarser level is KnownLevel.
TEST(Nested, EveryFrameEverWrittenReadsTheSame) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(NEVE_SOURCE_DIR) / "tests/golden";
  const auto hash = [](const std::vector<std::byte>& frame) {
    const bool is_f32 = Frame::parse(frame)->dtype() == DType::f32;
    const KnownLevel<float> f32;
    const KnownLevel<double> f64;
    const auto out = decoded(frame, is_f32 ? static_cast<const CoarserLevel*>(&f32) : &f64);
    return std::to_string(XXH3_64bits(out.data(), out.size()));
  };
  const auto keep = [&](const std::string& name, const std::vector<std::byte>& frame) {
    const fs::path path = folder / (name + ".nested");
    if (fs::exists(path) || std::getenv("NEVE_WRITE_GOLDEN") == nullptr) return;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
    std::ofstream(folder / (name + ".xxh3")) << hash(frame) << "\n";
  };
  for (const Codec codec : nesting_codecs) {
    for (const int ndim : {2, 3, 4}) {
      const std::string end = std::to_string(ndim) + "d_" + std::string(codec_name(codec));
      const KnownLevel<float> f32;
      const KnownLevel<double> f64;
      keep("nested_f32_" + end, *Fine<float>(ndim, codec, 4).encode(&f32));
      if (ndim < 4) keep("nested_f64_" + end, *Fine<double>(ndim, codec, 2).encode(&f64));
    }
  }
  size_t read = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".nested") continue;
    std::ifstream in(fs::path(entry.path()).replace_extension(".xxh3"));
    std::string expected;
    ASSERT_TRUE(std::getline(in, expected)) << entry.path();
    std::ifstream file(entry.path(), std::ios::binary);
    std::vector<std::byte> frame(fs::file_size(entry.path()));
    file.read(reinterpret_cast<char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
    ASSERT_TRUE(Frame::parse(frame)->needs_coarser_level(0)) << entry.path();
    EXPECT_EQ(hash(frame), expected) << entry.path();
    ++read;
  }
  EXPECT_GE(read, 10U);
}

}  // namespace
}  // namespace neve
