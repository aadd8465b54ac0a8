// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/target_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/portable.hpp"
#include "core/math/portable_math.hpp"
#include "core/select/bound_search.hpp"

namespace neve {

namespace {

constexpr double ratio_tolerance = 0.03;
constexpr double psnr_above_db = 0.5;
constexpr int max_tries = 8;
constexpr int max_sample_tries = 12;
constexpr double db_per_octave = 6.0206;  // 20 log10(2)

// A sample is boxes of this side, spread over the array; smaller arrays are tried whole.
constexpr int64_t sample_side = 32;
constexpr int64_t sample_boxes = 12;
constexpr int64_t sample_min_cells = 4 * sample_boxes * sample_side * sample_side * sample_side;

struct Encoded {
  std::vector<std::byte> frame;
  FrameReport report;
};

Result<Encoded> encode_under(const ArraySource& source, const FrameLayout& layout,
                             std::span<const BoxData> boxes, double bound_abs) {
  ComponentSpec spec = source.spec;
  spec.bound_abs = bound_abs;
  if (bound_abs == 0) spec.codec = Codec::automatic;  // what quantizes cannot be exact
  Encoded encoded;
  NEVE_ASSIGN(encoded.frame, encode_frame(source.dtype, layout, std::span(&spec, 1), boxes, source.options,
                                          &encoded.report));
  return encoded;
}
Result<Encoded> encode_whole(const ArraySource& source, double bound_abs) {
  return encode_under(source, source.layout, std::span(&source.data, 1), bound_abs);
}

struct Sample {
  FrameLayout layout;
  std::vector<BoxData> boxes;
};

// The largest whole number whose `degree`-th power is at most `value`.
int64_t root(int64_t value, int degree) {
  const auto fits = [&](int64_t r) {
    int64_t left = value;
    for (int i = 0; i < degree; ++i) left /= r;
    return left > 0;
  };
  int64_t r = 1;
  while (fits(r + 1)) ++r;
  return r;
}

// Boxes of up to sample_side^3 cells, along a diagonal that visits every part of each direction.
Sample take_sample(const ArraySource& source) {
  const FrameBox& whole = source.layout.boxes[0];
  const size_t value_bytes = dtype_bytes(source.dtype);
  Sample sample;
  sample.layout = source.layout;
  sample.layout.is_array = false;
  sample.layout.array_shape.clear();
  sample.layout.boxes.clear();
  Extents side{1, 1, 1, 1};
  int64_t cells = sample_side * sample_side * sample_side;
  for (size_t d = 0; d < static_cast<size_t>(source.layout.ndim); ++d) {
    const int64_t even = root(cells, source.layout.ndim - static_cast<int>(d));
    side[d] = std::clamp<int64_t>(even, 1, whole.size[d]);
    cells = std::max<int64_t>(1, cells / side[d]);
  }
  sample.layout.element_count = 0;
  for (int64_t b = 0; b < sample_boxes; ++b) {
    FrameBox box;
    box.size = side;
    int64_t offset = 0;
    for (size_t d = 0; d < static_cast<size_t>(source.layout.ndim); ++d) {
      // Coprime strides: the boxes do not line up on one diagonal.
      constexpr std::array<int64_t, max_frame_dims> stride{5, 7, 1, 11};
      const int64_t step = (b * stride[d] + static_cast<int64_t>(d) * 3) % sample_boxes;
      box.lo[d] = (whole.size[d] - side[d]) * step / (sample_boxes - 1);
      offset += box.lo[d] * (d == 0 ? 1 : source.data.stride[d]);
    }
    BoxData data = source.data;
    data.data = static_cast<const std::byte*>(source.data.data) + static_cast<size_t>(offset) * value_bytes;
    // Where they lie does not matter to a sample, but boxes of a frame must not overlap.
    box.lo = {b * (side[0] + 1), 0, 0, 0};
    sample.layout.element_count += static_cast<uint64_t>(box.cells());
    sample.layout.boxes.push_back(box);
    sample.boxes.push_back(data);
  }
  return sample;
}

double bits_per_value(const std::vector<std::byte>& frame, uint64_t values) {
  return 8 * static_cast<double>(frame.size()) / static_cast<double>(values);
}

// The bound that a sample, or the whole where that is small, reaches the ratio under; 0: it is reached
// without any error.
Result<double> bound_from_sample(const ArraySource& source, double target_bits) {
  const double start = source.spec.range.width() * 1e-3;
  if (source.layout.boxes[0].cells() < sample_min_cells) {
    NEVE_ASSIGN(const Encoded exact, encode_whole(source, 0));
    return bits_per_value(exact.frame, source.layout.element_count) <= target_bits ? 0 : start;
  }
  const Sample sample = take_sample(source);
  NEVE_ASSIGN(const Encoded exact, encode_under(source, sample.layout, sample.boxes, 0));
  if (bits_per_value(exact.frame, sample.layout.element_count) <= target_bits) return 0;
  BoundSearch search(start, target_bits, 1);
  double bound = start;
  for (int i = 0; i < max_sample_tries; ++i) {
    bound = search.bound();
    NEVE_ASSIGN(const Encoded tried, encode_under(source, sample.layout, sample.boxes, bound));
    const double bits = bits_per_value(tried.frame, sample.layout.element_count);
    if (std::abs(bits / target_bits - 1) <= ratio_tolerance) break;
    search.tell(bits);
    bound = search.bound();
  }
  return bound;
}

Result<Encoded> encode_for_ratio(const ArraySource& source) {
  const auto values = source.layout.element_count;
  const double target_bits = 8 * static_cast<double>(dtype_bytes(source.dtype)) / source.spec.asked.value;
  NEVE_ASSIGN(const double start, bound_from_sample(source, target_bits));
  if (start == 0) {
    NEVE_ASSIGN(Encoded exact, encode_whole(source, 0));
    // Smaller than asked for, and without error: there is nothing to gain.
    if (bits_per_value(exact.frame, values) <= target_bits * (1 + ratio_tolerance)) return exact;
  }
  BoundSearch search(start > 0 ? start : source.spec.range.width() * 1e-6, target_bits, 1);
  Encoded best;
  double best_miss = std::numeric_limits<double>::infinity();
  for (int i = 0; i < max_tries && best_miss > math::log(1 + ratio_tolerance); ++i) {
    NEVE_ASSIGN(Encoded tried, encode_whole(source, search.bound()));
    const double bits = bits_per_value(tried.frame, values);
    search.tell(bits);
    const double miss = std::abs(math::log(bits / target_bits));
    if (miss < best_miss) {
      best_miss = miss;
      best = std::move(tried);
    }
  }
  return best;
}

// 20 log10(range / root mean square error) over the ordinary values; infinite without any error.
template <class T>
double psnr(const ArraySource& source, const std::vector<std::byte>& decoded) {
  const auto* before = static_cast<const T*>(source.data.data);
  const auto* after = reinterpret_cast<const T*>(decoded.data());
  const auto fill = static_cast<T>(source.spec.fill.value_or(0));
  double squares = 0;
  uint64_t count = 0;
  for (uint64_t i = 0; i < source.layout.element_count; ++i) {
    if (portable::is_special(before[i], source.spec.fill.has_value(), portable::bits(fill))) continue;
    const double error = static_cast<double>(after[i]) - static_cast<double>(before[i]);
    squares += error * error;
    ++count;
  }
  if (squares == 0) return std::numeric_limits<double>::infinity();
  return 20 * math::log10(source.spec.range.width() / std::sqrt(squares / static_cast<double>(count)));
}

Result<double> reached_psnr(const ArraySource& source, const Encoded& encoded,
                            std::vector<std::byte>& decoded) {
  NEVE_ASSIGN(const Frame frame, Frame::parse(encoded.frame));
  NEVE_TRY(frame.decode(decoded.data(), decoded.size(), source.options.threads));
  return source.dtype == DType::f32 ? psnr<float>(source, decoded) : psnr<double>(source, decoded);
}

Result<Encoded> encode_for_psnr(const ArraySource& source, double& reached) {
  const double target_db = source.spec.asked.value;
  std::vector<std::byte> decoded(source.layout.element_count * dtype_bytes(source.dtype));
  // Errors spread evenly over +-bound have a root mean square of bound / sqrt(3).
  const double safe_bound = absolute_bound(source.spec.asked, source.spec.range);
  BoundSearch search(std::sqrt(3.0) * safe_bound, target_db, db_per_octave);
  std::optional<Encoded> best;
  for (int i = 0; i < max_tries; ++i) {
    NEVE_ASSIGN(Encoded tried, encode_whole(source, search.bound()));
    NEVE_ASSIGN(const double found, reached_psnr(source, tried, decoded));
    if (found >= target_db && (!best || tried.frame.size() < best->frame.size())) {
      best = std::move(tried);
      reached = found;
    }
    if ((found >= target_db && found <= target_db + psnr_above_db) || !std::isfinite(found)) break;
    // Aims at the middle of what is accepted.
    search.tell(found - psnr_above_db / 2);
  }
  if (best) return std::move(*best);
  NEVE_ASSIGN(Encoded safe, encode_whole(source, safe_bound));
  NEVE_ASSIGN(reached, reached_psnr(source, safe, decoded));
  return safe;
}

}  // namespace

Result<std::vector<std::byte>> encode_for_target(const ArraySource& source, FrameReport* report) {
  const double width = source.spec.range.width();
  Encoded encoded;
  double reached = std::numeric_limits<double>::infinity();
  if (width == 0) {
    NEVE_ASSIGN(encoded, encode_whole(source, 0));
  } else if (source.spec.asked.mode == BoundMode::psnr) {
    NEVE_ASSIGN(encoded, encode_for_psnr(source, reached));
  } else {
    NEVE_ASSIGN(encoded, encode_for_ratio(source));
  }
  if (source.spec.asked.mode == BoundMode::ratio) {
    reached = static_cast<double>(source.layout.element_count * dtype_bytes(source.dtype)) /
              static_cast<double>(encoded.frame.size());
  }
  if (report != nullptr) {
    *report = std::move(encoded.report);
    report->reached = reached;
  }
  return std::move(encoded.frame);
}

}  // namespace neve
