// SPDX-License-Identifier: BSD-3-Clause
// What an encoder tells of a frame's decoded values is what the frame decodes to.
#include "core/codecs/restored_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/sections/strides.hpp"

namespace neve {
namespace {

// Boxes of 8 cells a side, some of which touch, with values that are smooth, and special here and there.
template <class T>
struct Boxes {
  FrameLayout layout;
  std::vector<std::vector<T>> values;
  std::vector<std::vector<uint8_t>> keep;

  std::vector<BoxData> data() const {
    std::vector<BoxData> all;
    for (size_t b = 0; b < values.size(); ++b) {
      all.push_back(dense_box_data(values[b].data(), layout.boxes[b]));
      all.back().keep = keep[b].data();
    }
    return all;
  }
};

template <class T>
T value_at(int component, double x, double y, double z, std::mt19937& random, double special_share) {
  if (std::uniform_real_distribution<>()(random) < special_share) {
    const T specials[] = {static_cast<T>(std::nan("")), std::numeric_limits<T>::infinity(), -T{0}, T(1e30),
                          T(1e4)};
    return specials[random() % 5];
  }
  return static_cast<T>(std::sin(0.05 * x + component) * std::cos(0.07 * y) + 0.1 * std::sin(0.2 * z));
}

template <class T>
Boxes<T> random_boxes(std::mt19937& random, double special_share) {
  Boxes<T> made;
  made.layout.ndim = 3;
  made.layout.components = 2;
  for (int64_t n = 0; n < 96; ++n) {
    if (random() % 4 == 0) continue;
    FrameBox box;
    box.lo = {n % 4 * 8 - 16, n / 4 % 4 * 8, n / 16 * 8, 0};
    box.size = {8, 8, 8, 1};
    if (random() % 3 == 0) box.covered.push_back({{0, 2, 4, 0}, {8, 4, 4, 1}});
    made.layout.boxes.push_back(box);
    std::vector<T>& values = made.values.emplace_back();
    for (int c = 0; c < 2; ++c) {
      for (int64_t i = 0; i < 512; ++i) {
        values.push_back(value_at<T>(c, static_cast<double>(box.lo[0] + i % 8),
                                     static_cast<double>(box.lo[1] + i / 8 % 8),
                                     static_cast<double>(box.lo[2] + i / 64), random, special_share));
      }
    }
    std::vector<uint8_t>& keep = made.keep.emplace_back(values.size());
    for (uint8_t& is_kept : keep) is_kept = random() % 20 == 0;
  }
  made.layout.element_count = made.layout.held_elements();
  return made;
}

std::vector<ComponentSpec> specs_of(Arrangement arrangement, bool drops) {
  std::vector<ComponentSpec> specs(2);
  for (ComponentSpec& spec : specs) {
    spec.bound_abs = 2e-3;
    spec.asked = {BoundMode::abs, 2e-3};
    spec.range = {-1.1, 1.1, false};
    spec.fill = 1e30;
    spec.drop_covered = drops;
    spec.tuning.arrangement = arrangement;
  }
  return specs;
}

// Compares what `sink` was told with the frame, and returns how many boxes and components it was told of.
template <class T>
size_t check_told(const Boxes<T>& boxes, const std::vector<ComponentSpec>& specs, int threads) {
  const DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  EncodeOptions options;
  options.effort = Effort::fast;
  options.threads = threads;
  std::mutex mutex;
  std::set<std::pair<int, uint32_t>> told;
  std::vector<std::vector<T>> restored(boxes.values.size(), std::vector<T>(1024));
  const auto sink = [&](const RestoredBox& box) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(told.emplace(box.component, box.box).second);
    const FrameBox& of = boxes.layout.boxes[box.box];
    const Strides stride = dense_strides(box.held.size);
    for (int64_t i = 0; i < 512; ++i) {
      Extents at{i % 8, i / 8 % 8, i / 64, 0};
      for (size_t d = 0; d < max_frame_dims; ++d) at[d] += of.lo[d] - box.held.lo[d];
      std::memcpy(&restored[box.box][static_cast<size_t>(box.component * 512 + i)],
                  box.values + offset_of(at, stride) * static_cast<int64_t>(sizeof(T)), sizeof(T));
    }
  };
  const auto data = boxes.data();
  const auto frame_bytes =
      encode_frame_telling(dtype, boxes.layout, specs, data, options, nullptr, nullptr, sink);
  const auto plain_bytes = encode_frame(dtype, boxes.layout, specs, data, options, nullptr, nullptr);
  EXPECT_TRUE(frame_bytes.ok() && plain_bytes.ok());
  EXPECT_EQ(*frame_bytes, *plain_bytes);
  const Result<Frame> frame = Frame::parse(*frame_bytes);
  EXPECT_TRUE(frame.ok());
  for (const auto& [component, box] : told) {
    std::vector<T> decoded(512);
    EXPECT_TRUE(frame
                    ->decode_box(static_cast<int>(box), component,
                                 reinterpret_cast<std::byte*>(decoded.data()), 512 * sizeof(T))
                    .ok());
    const auto left_out = frame->left_out(static_cast<int>(box), component);
    EXPECT_TRUE(left_out.ok());
    for (size_t i = 0; i < 512; ++i) {
      if (!left_out->empty() && (*left_out)[i] != 0) continue;
      const T& value = restored[box][static_cast<size_t>(component) * 512 + i];
      EXPECT_EQ(std::memcmp(&value, &decoded[i], sizeof(T)), 0)
          << "component " << component << " box " << box << " cell " << i;
    }
  }
  return told.size();
}

template <class T>
void check_random_boxes() {
  std::mt19937 random(3);
  size_t told = 0;
  for (const double special_share : {0.0, 0.002, 0.1}) {
    for (const bool drops : {false, true}) {
      for (const Arrangement arrangement :
           {Arrangement::automatic, Arrangement::linear, Arrangement::cluster, Arrangement::in_place}) {
        const Boxes<T> boxes = random_boxes<T>(random, special_share);
        told += check_told(boxes, specs_of(arrangement, drops), told % 2 == 0 ? 1 : 3);
      }
    }
  }
  EXPECT_GT(told, 500U);
}

TEST(RestoredValues, AreWhatTheFrameDecodesTo) {
  check_random_boxes<float>();
  check_random_boxes<double>();
}

}  // namespace
}  // namespace neve
