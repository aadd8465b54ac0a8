// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/target_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/portable.hpp"
#include "core/math/portable_math.hpp"
#include "core/select/asked_target.hpp"

namespace neve {

namespace {

constexpr int max_tries = 24, max_sample_tries = 12;
// Bounds that are so close are as good as the same.
constexpr double same_octaves = 0.04;
// A bound is as good as the smallest one that meets a ratio when it is at most 1.15 times as large.
constexpr double near_octaves = 0.2;
// A bound is as good as the largest one that meets a PSNR when one that misses it takes hardly fewer bytes.
constexpr double same_bytes = 1.01;
constexpr double same_bound_octaves = 0.01;
constexpr double psnr_aim_above_db = 0.03;
// Neither bytes nor errors fall evenly as the bound grows where the codec changes with it, or values lie on a
// lattice. Around the bound that was found, so many octaves away, others are tried of arrays with few cells.
constexpr int64_t few_cells = int64_t{1} << 20;
constexpr double around_ratio[] = {-0.3, -0.7, -1.2, -2, -3};
constexpr double around_psnr[] = {-0.4, -0.25, -0.12, 0.05, 0.12, 0.2, 0.3, 0.45, 0.65, 0.9, 1.2, 1.6, 2.2};

// Where nothing is known of an array, the search begins with such a share of its range; with less where a
// sample needs no error at all.
constexpr double usual_share = 1e-3, small_share = 1e-6;

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

SearchTarget bits_target(double target_bits) { return {target_bits * (1 + ratio_tolerance), target_bits, 1}; }

// The bound that a sample reaches the ratio under; 0: it is reached without any error.
Result<double> bound_from_sample(const ArraySource& source, double target_bits) {
  const Sample sample = take_sample(source);
  NEVE_ASSIGN(const Encoded exact, encode_under(source, sample.layout, sample.boxes, 0));
  if (bits_per_value(exact.frame, sample.layout.element_count) <= target_bits) return 0;
  const double width = source.spec.range.width();
  BoundSearch search = search_up_to(width, width * usual_share, bits_target(target_bits));
  for (int i = 0; i < max_sample_tries && !search.is_exhausted(); ++i) {
    NEVE_ASSIGN(const Encoded tried, encode_under(source, sample.layout, sample.boxes, search.bound()));
    const double bits = bits_per_value(tried.frame, sample.layout.element_count);
    if (std::abs(bits / target_bits - 1) <= ratio_tolerance) break;
    search.tell(bits);
  }
  return search.bound();
}

// What is tried for a ratio, and what is worth keeping of it.
struct RatioTries {
  std::optional<Encoded> met;   // under the smallest bound that meets it
  std::optional<Encoded> most;  // the fewest bytes, or about as few under a smaller bound

  void keep(Encoded tried, double bits, double limit) {
    if (bits <= limit) {
      met = std::move(tried);
    } else if (!most || static_cast<double>(tried.frame.size()) * (1 + ratio_tolerance) <
                            static_cast<double>(most->frame.size())) {
      most = std::move(tried);
    }
  }
};

// Of the bounds that meet the ratio the smallest one: those between the last one that misses it and the first
// that does not are tried until they are close.
Result<RatioTries> try_for_ratio(const ArraySource& source, double start, double target_bits) {
  const SearchTarget target = bits_target(target_bits);
  BoundSearch search = search_up_to(source.spec.range.width(), start, target);
  RatioTries tries;
  for (int i = 0; i < max_tries && !search.is_exhausted() && search.octaves() > same_octaves; ++i) {
    NEVE_ASSIGN(Encoded tried, encode_whole(source, search.bound()));
    const double bits = bits_per_value(tried.frame, source.layout.element_count);
    search.tell(bits);
    tries.keep(std::move(tried), bits, target.limit);
    const bool is_near =
        tries.met &&
        bits_per_value(tries.met->frame, source.layout.element_count) * (1 + ratio_tolerance) >= target_bits;
    if (is_near && search.octaves() <= near_octaves) break;
  }
  return tries;
}

// Calls `judge` with what is made under bounds around this one.
template <class Judge>
Status look_around(const ArraySource& source, double bound, std::span<const double> octaves,
                   const Judge& judge) {
  if (source.layout.boxes[0].cells() > few_cells) return {};
  for (const double away : octaves) {
    const double tried_bound = bound * math::exp2(away);
    if (tried_bound > source.spec.range.width()) continue;
    NEVE_ASSIGN(Encoded tried, encode_whole(source, tried_bound));
    NEVE_TRY(judge(std::move(tried)));
  }
  return {};
}

double bound_of(const Encoded& encoded) { return encoded.report.components[0].bound_abs; }

double ratio_of(const ArraySource& source, const Encoded& encoded) {
  return static_cast<double>(source.layout.element_count * dtype_bytes(source.dtype)) /
         static_cast<double>(encoded.frame.size());
}

// Nothing meets the ratio: the best there is, if that was asked for. `exact`: without any error, if that has
// been encoded.
Result<Encoded> best_effort(const ArraySource& source, RatioTries tries, std::optional<Encoded> exact) {
  if (!exact) {
    NEVE_ASSIGN(exact, encode_whole(source, 0));
  }
  const bool is_exact_best = !tries.most || exact->frame.size() <= tries.most->frame.size();
  Encoded best = std::move(is_exact_best ? *exact : *tries.most);
  if (source.spec.asked.best_effort) return best;
  return unreachable_ratio(source.spec.asked, ratio_of(source, best));
}

Result<Encoded> encode_for_ratio(const ArraySource& source) {
  const double target_bits = 8 * static_cast<double>(dtype_bytes(source.dtype)) / source.spec.asked.value;
  const double width = source.spec.range.width();
  const bool is_small = source.layout.boxes[0].cells() < sample_min_cells;
  double start = width * usual_share;
  if (!is_small) {
    NEVE_ASSIGN(start, bound_from_sample(source, target_bits));
  }
  std::optional<Encoded> exact;
  if (is_small || start == 0) {
    NEVE_ASSIGN(exact, encode_whole(source, 0));
    // Smaller than asked for, and without error: there is nothing to gain.
    const double allowed_bits = is_small ? target_bits : bits_target(target_bits).limit;
    if (bits_per_value(exact->frame, source.layout.element_count) <= allowed_bits) return std::move(*exact);
  }
  NEVE_ASSIGN(RatioTries tries, try_for_ratio(source, start > 0 ? start : width * small_share, target_bits));
  if (tries.met) {
    const double limit = bits_target(target_bits).limit;
    NEVE_TRY(look_around(source, bound_of(*tries.met), around_ratio, [&](Encoded tried) -> Status {
      const double bits = bits_per_value(tried.frame, source.layout.element_count);
      if (bits <= limit && bound_of(tried) < bound_of(*tries.met)) tries.met = std::move(tried);
      return {};
    }));
    return std::move(*tries.met);
  }
  return best_effort(source, std::move(tries), std::move(exact));
}

// Over the ordinary values.
template <class T>
double psnr(const ArraySource& source, const std::vector<std::byte>& decoded) {
  const auto* before = static_cast<const T*>(source.data.data);
  const auto* after = reinterpret_cast<const T*>(decoded.data());
  const auto fill = static_cast<T>(source.spec.fill.value_or(0));
  const double width = source.spec.range.width();
  double squares = 0;
  uint64_t count = 0;
  for (uint64_t i = 0; i < source.layout.element_count; ++i) {
    if (portable::is_special(before[i], source.spec.fill.has_value(), portable::bits(fill))) continue;
    const double error = static_cast<double>(after[i]) - static_cast<double>(before[i]);
    squares += (error / width) * (error / width);
    ++count;
  }
  return psnr_of(squares, count);
}

Result<double> reached_psnr(const ArraySource& source, const Encoded& encoded,
                            std::vector<std::byte>& decoded) {
  NEVE_ASSIGN(const Frame frame, Frame::parse(encoded.frame));
  NEVE_TRY(frame.decode(decoded.data(), decoded.size(), source.options.threads));
  return source.dtype == DType::f32 ? psnr<float>(source, decoded) : psnr<double>(source, decoded);
}

// Of the bounds that meet the PSNR the largest one.
Result<Encoded> encode_for_psnr(const ArraySource& source, double& reached) {
  const double target_db = source.spec.asked.value;
  std::vector<std::byte> decoded(source.layout.element_count * dtype_bytes(source.dtype));
  // Errors spread evenly over +-bound have a root mean square of bound / sqrt(3).
  const double safe_bound = absolute_bound(source.spec.asked, source.spec.range);
  BoundSearch search = search_up_to(source.spec.range.width(), std::sqrt(3.0) * safe_bound,
                                    {target_db, target_db + psnr_aim_above_db, db_per_octave});
  std::optional<Encoded> best;
  const auto keep_if_smaller = [&](Encoded tried, double found) {
    if (best && tried.frame.size() > best->frame.size()) return;
    best = std::move(tried);
    reached = found;
  };
  std::optional<size_t> missed_bytes;
  for (int i = 0; i < max_tries && !search.is_exhausted() && search.octaves() > same_bound_octaves; ++i) {
    NEVE_ASSIGN(Encoded tried, encode_whole(source, search.bound()));
    NEVE_ASSIGN(const double found, reached_psnr(source, tried, decoded));
    search.tell(found);
    if (found < target_db) {
      missed_bytes = tried.frame.size();
    } else {
      keep_if_smaller(std::move(tried), found);
    }
    if (best && missed_bytes &&
        static_cast<double>(best->frame.size()) <= same_bytes * static_cast<double>(*missed_bytes))
      break;
  }
  if (!best) {
    NEVE_ASSIGN(Encoded safe, encode_whole(source, safe_bound));
    NEVE_ASSIGN(const double found, reached_psnr(source, safe, decoded));
    keep_if_smaller(std::move(safe), found);
  }
  NEVE_TRY(look_around(source, bound_of(*best), around_psnr, [&](Encoded tried) -> Status {
    NEVE_ASSIGN(const double found, reached_psnr(source, tried, decoded));
    if (found >= target_db) keep_if_smaller(std::move(tried), found);
    return {};
  }));
  return std::move(*best);
}

}  // namespace

Result<std::vector<std::byte>> encode_for_target(const ArraySource& source, FrameReport* report) {
  const double width = source.spec.range.width();
  Encoded encoded;
  double reached = std::numeric_limits<double>::infinity();
  if (source.spec.asked.mode == BoundMode::ratio) {
    if (width > 0) {
      NEVE_ASSIGN(encoded, encode_for_ratio(source));
    } else {
      NEVE_ASSIGN(encoded, encode_whole(source, 0));
      const double ratio = ratio_of(source, encoded);
      if (!is_ratio_met(source.spec.asked, ratio) && !source.spec.asked.best_effort)
        return unreachable_ratio(source.spec.asked, ratio);
    }
    reached = ratio_of(source, encoded);
  } else if (width > 0) {
    NEVE_ASSIGN(encoded, encode_for_psnr(source, reached));
  } else {
    NEVE_ASSIGN(encoded, encode_whole(source, 0));
  }
  if (report != nullptr) {
    *report = std::move(encoded.report);
    report->reached = reached;
  }
  return std::move(encoded.frame);
}

}  // namespace neve
