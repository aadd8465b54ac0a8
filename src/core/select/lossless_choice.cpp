// SPDX-License-Identifier: BSD-3-Clause
#include "core/select/lossless_choice.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "core/catalog/lossless_methods.hpp"
#include "core/math/portable_math.hpp"
#include "core/select/byte_estimate.hpp"
#include "core/select/difference_estimate.hpp"
#include "core/select/lossless_samples.hpp"
#include "core/select/repeat_estimate.hpp"
#include "core/stages/lossless/value_ranks.hpp"

namespace neve {

namespace {

constexpr double log2_e = 1.4426950408889634;
// Of fewer cells byte methods save less than a look for them costs.
constexpr uint64_t min_weighed_cells = 2048;
// From here on byte coders, which find repeats too, are not asked.
constexpr double many_repeats = 0.35;
// bitshuffle_zstd is tried where xor_zstd comes out so many times smaller than differences: methods on bytes
// are alike.
constexpr double min_gain_to_try_bitshuffle = 1.0;
// Of single bytes, what differences must be estimated to take of what zstd does.
constexpr double max_difference_share = 0.9;
// What bytes take alone is seldom improved by more than a byte coder's own overhead.
constexpr double max_entropy_share = 0.9;

// From such a share of zeros on, multiples of 1 may take least: all other values are listed.
constexpr double sparse_share = 0.5;
// Cells that list their corners share them: there are fewer values than samples show.
constexpr double shared_corners = 0.35;

// From estimates so close on, methods on bytes are tried on so many times longer slices, where no trial
// decides.
constexpr double close_to_differences = 1.25;
constexpr size_t times_longer = 4;
// Bytes of whole planes are more alike than those of slices, once words are combined with the ones before;
// bits are less so.
constexpr double xor_of_whole_planes = 0.95;
// How much smaller a byte method must seem otherwise.
constexpr double byte_methods_at_fast = 1.08;

// Slices do not show what repeats over long distances. Of sections that come out so many times smaller by
// what is known, all words are tried instead: of small ones, and at effort max.
constexpr double min_ratio_to_try_all = 8;
constexpr size_t max_bytes_to_try_all = 128 << 10;

// The candidates for one section, as they are weighed one after another.
template <class T>
class LosslessWeighing {
 public:
  LosslessWeighing(const LosslessCells<T>& cells, Effort effort)
      : cells_(cells), effort_(effort), slices_(sample_slices(cells)) {}

  void weigh_differences() {
    const std::vector<Run> runs = sample_runs(cells_);
    LosslessCandidate lorenzo =
        best_axes(cells_, runs, any_axes, [](WordOf<T> bits) { return word_of<T>(bits); });
    lorenzo.method = LosslessMethod::lorenzo;
    candidates_.push_back(lorenzo);
    // What suits values mostly suits their multiples.
    const uint32_t likely_axes =
        uint32_t{1} << lorenzo.axes | uint32_t{1} << axis_x | uint32_t{1} << all_axes;
    const std::vector<T> first_values = sample_values(cells_, first_samples);
    if (auto multiple = weigh_multiple(cells_, runs, likely_axes, first_values); multiple) {
      candidates_.push_back(*multiple);
    } else {
      withdraw({LosslessMethod::multiple}, Fate::no_unit);
      if (share_of_zeros(first_values) >= sparse_share) add_unsure(LosslessMethod::multiple, lorenzo);
    }
    const std::vector<WordOf<T>> few = few_words(cells_, first_values);
    if (few.empty()) {
      withdraw({LosslessMethod::rank}, Fate::many_values);
      if (share_seen_shortly_before() >= shared_corners || has_worthwhile_ranks(lorenzo))
        add_unsure(LosslessMethod::rank, lorenzo);
    } else {
      candidates_.push_back(weigh_rank(cells_, runs, likely_axes, few));
    }
    if constexpr (std::is_floating_point_v<T>) repeated_ = estimate_repeats(cells_);
    expect_repeats(repeated_, cells_, candidates_.front());
  }

  // After the differences, which byte methods have to beat.
  void weigh_byte_methods() {
    const double raw = static_cast<double>(cells_.held) * sizeof(T);
    is_all_tried_ = least_bytes() * min_ratio_to_try_all < raw &&
                    (effort_ == Effort::max || cells_.held * sizeof(T) <= max_bytes_to_try_all);
    if (is_all_tried_) slices_ = held_words();
    if (sizeof(T) == 1 && cells_.left_out.empty()) {
      weigh_single_bytes();
    } else if (effort_ == Effort::max || std::is_integral_v<T>) {
      // Integers are counts, classes and packed values, which byte coders may suit; there are few of them.
      try_slices({LosslessMethod::shuffle_zstd, LosslessMethod::xor_zstd, LosslessMethod::bitshuffle_zstd,
                  LosslessMethod::zstd});
    } else {
      withdraw({LosslessMethod::shuffle_zstd, LosslessMethod::zstd}, Fate::effort);
      weigh_planes();
    }
  }

  // Where speed has a weight, methods by lz4 are coded at once: no sample takes less time.
  void withdraw_fast_methods(const CodecTuning& tuning) {
    if (tuning.speed_weight <= 0) withdraw({LosslessMethod::shuffle_lz4}, Fate::speed);
  }

  WeighedMethods by_score(const CodecTuning& tuning) {
    const double raw = static_cast<double>(cells_.held) * sizeof(T);
    for (LosslessCandidate& c : candidates_) {
      // Estimates of the families do not err alike, and where only one is coded nothing puts it right.
      if (effort_ == Effort::fast && !is_all_tried_ && !is_looked_at_closely_ &&
          c.method < LosslessMethod::lorenzo)
        c.bytes *= byte_methods_at_fast;
      c.score = method_score(c.method, raw, std::min(c.bytes, raw), tuning);
    }
    std::stable_sort(
        candidates_.begin(), candidates_.end(),
        [](const LosslessCandidate& a, const LosslessCandidate& b) { return a.score > b.score; });
    return {std::move(candidates_), std::move(withdrawn_), std::move(unsure_)};
  }

 private:
  void withdraw(std::initializer_list<LosslessMethod> methods, Fate fate) {
    for (const LosslessMethod method : methods) withdrawn_.push_back({Codec::lossless, method, fate, 0, 0});
  }
  void try_slices(std::initializer_list<LosslessMethod> methods) {
    for (const LosslessMethod method : methods) candidates_.push_back(try_zstd<T>(cells_, slices_, method));
  }

  void add_unsure(LosslessMethod method, const LosslessCandidate& lorenzo) {
    if constexpr (std::is_floating_point_v<T>) {
      if (cells_.coded < min_weighed_cells) return;
      unsure_.push_back(lorenzo);
      unsure_.back().method = method;
      unsure_.back().bytes = static_cast<double>(cells_.held) * sizeof(T);
    }
  }

  // Thousands of different values look like many to a sample, but some come more than once in it. Ranks are
  // worth a trial where values lie far apart in words: each difference has so many bits less.
  bool has_worthwhile_ranks(const LosslessCandidate& lorenzo) const {
    constexpr double cells_of_a_value = 6, small_slack = 0.5, worthwhile_share = 0.1, table_bits = 2;
    const double most =
        std::min(static_cast<double>(max_ranks), static_cast<double>(cells_.coded) / cells_of_a_value);
    if (most < 1) return false;
    // Of most fields a small sample says enough.
    const std::vector<T> few = sample_values(cells_, value_samples);
    const double expected = different_of(most, few.size());
    const double slack = small_slack * (static_cast<double>(few.size()) - expected);
    if (static_cast<double>(different_words(few).size()) > expected + slack) return false;
    const auto samples = std::clamp<size_t>(cells_.coded / 8, value_samples, max_rank_samples);
    const std::vector<T> values = sample_values(cells_, samples);
    const std::vector<WordOf<T>> words = different_words(values);
    const double different = total_different(words.size(), values.size());
    if (words.size() < 3 || different > most) return false;
    const double spared_bits =
        math::log2(std::max(1.0, words_apart(words) * static_cast<double>(words.size()) / different));
    const double spared =
        spared_bits * (static_cast<double>(cells_.coded) - different) - table_bits * different;
    return spared > worthwhile_share * 8 * lorenzo.bytes;
  }

  // Different ones among n of D values that are equally frequent: D (1 - e^(-n / D)).
  static double different_of(double total, size_t sampled) {
    return total * (1 - math::exp2(-static_cast<double>(sampled) / total * log2_e));
  }
  // The D of which a sample has so many different ones.
  static double total_different(size_t different, size_t sampled) {
    double least = static_cast<double>(different), most = 2.0 * max_ranks;
    for (int i = 0; i < 40; ++i) {
      const double middle = (least + most) / 2;
      (different_of(middle, sampled) < static_cast<double>(different) ? least : most) = middle;
    }
    return most;
  }
  // The median distance of successive words.
  static double words_apart(const std::vector<WordOf<T>>& words) {
    std::vector<WordOf<T>> gaps;
    for (size_t i = 1; i < words.size(); ++i) gaps.push_back(static_cast<WordOf<T>>(words[i] - words[i - 1]));
    const auto middle = gaps.begin() + static_cast<ptrdiff_t>(gaps.size() / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    return static_cast<double>(*middle);
  }

  static double share_of_zeros(const std::vector<T>& values) {
    const auto zeros = std::count(values.begin(), values.end(), T{0});
    return values.empty() ? 0 : static_cast<double>(zeros) / static_cast<double>(values.size());
  }

  // Of words that differ from the one before, those that stand among the next few before it.
  double share_seen_shortly_before() const {
    if (cells_.coded < min_weighed_cells) return 0;
    constexpr size_t shortly = 12;
    size_t judged = 0, seen = 0;
    for (size_t i = shortly; i < slices_.size(); ++i) {
      if (slices_[i] == slices_[i - 1]) continue;
      const auto* const before = slices_.data() + i - shortly;
      ++judged;
      seen += std::find(before, before + shortly - 1, slices_[i]) != before + shortly - 1 ? 1 : 0;
    }
    return judged == 0 ? 0 : static_cast<double>(seen) / static_cast<double>(judged);
  }

  // Bytes have no planes, and classes and masks repeat over distances that slices do not show: zstd, fast on
  // them, is tried on all. Differences come out larger than estimated where values are few.
  void weigh_single_bytes() {
    withdraw({LosslessMethod::shuffle_zstd}, Fate::similar_method);
    const LosslessCandidate whole = try_zstd<T>(cells_, cells_.bits, LosslessMethod::zstd);
    std::erase_if(candidates_, [&](const LosslessCandidate& c) {
      const bool is_far = c.bytes > max_difference_share * whole.bytes;
      if (is_far) withdraw({c.method}, Fate::estimate_too_low);
      return is_far;
    });
    candidates_.push_back(whole);
    try_slices({LosslessMethod::xor_zstd, LosslessMethod::bitshuffle_zstd});
  }

  // The methods on planes of floating point, where differences leave them a chance.
  void weigh_planes() {
    const double min_bytes = least_bytes();
    if (const std::optional<Fate> fate = fate_of_planes(min_bytes); fate)
      return withdraw({LosslessMethod::xor_zstd, LosslessMethod::bitshuffle_zstd}, *fate);
    const double least = try_planes(min_bytes);
    if (effort_ != Effort::fast || is_all_tried_ || least > close_to_differences * min_bytes ||
        min_bytes > close_to_differences * least)
      return;
    // Short slices show less of what zstd finds; where nothing else decides, that is told by longer ones.
    slices_ = sample_slices(cells_, times_longer);
    const auto is_on_bytes = [](const auto& c) { return c.method < LosslessMethod::lorenzo; };
    std::erase_if(candidates_, is_on_bytes);
    std::erase_if(withdrawn_, [](const auto& c) { return c.method == LosslessMethod::bitshuffle_zstd; });
    try_planes(HUGE_VAL);
    for (LosslessCandidate& c : candidates_) {
      if (c.method == LosslessMethod::xor_zstd) c.bytes *= xor_of_whole_planes;
    }
    is_looked_at_closely_ = true;
  }

  // The least estimate.
  double try_planes(double min_bytes) {
    try_slices({LosslessMethod::xor_zstd});
    const double by_xor = candidates_.back().bytes;
    if (by_xor * min_gain_to_try_bitshuffle < min_bytes) {
      try_slices({LosslessMethod::bitshuffle_zstd});
    } else {
      withdraw({LosslessMethod::bitshuffle_zstd}, Fate::similar_method);
    }
    return std::min(by_xor, candidates_.back().bytes);
  }

  // Why planes are not tried at all; nothing: they are.
  std::optional<Fate> fate_of_planes(double min_bytes) const {
    if (is_all_tried_) return {};
    if (cells_.coded < min_weighed_cells) return Fate::effort;
    // Differences with repeats find all that a byte coder would; a sample shows neither.
    if (repeated_.share >= many_repeats) return Fate::repeats;
    if (plane_entropy_bytes<T>(cells_, slices_) > max_entropy_share * min_bytes)
      return Fate::estimate_too_low;
    return {};
  }

  // Of the candidates so far.
  double least_bytes() const {
    double least = HUGE_VAL;
    for (const LosslessCandidate& c : candidates_) least = std::min(least, c.bytes);
    return least;
  }

  std::vector<WordOf<T>> held_words() const {
    std::vector<WordOf<T>> words;
    words.reserve(cells_.held);
    for (size_t cell = 0; cell < cells_.bits.size(); ++cell) {
      if (cells_.left_out.empty() || cells_.is_held(cell)) words.push_back(cells_.bits[cell]);
    }
    return words;
  }

  const LosslessCells<T>& cells_;
  Effort effort_;
  std::vector<WordOf<T>> slices_;
  bool is_all_tried_ = false;  // slices_ are all words
  bool is_looked_at_closely_ = false;
  RepeatEstimate repeated_;
  std::vector<LosslessCandidate> candidates_;
  std::vector<WeighedCandidate> withdrawn_;
  std::vector<LosslessCandidate> unsure_;
};

// Of the cells of runs those that are equal to the one before. Where most are, samples show too little of the
// others to tell whether they repeat: what is asked for by name looks for it.
constexpr double mostly_unchanged = 0.5;
template <class T>
double share_unchanged(const LosslessCells<T>& cells, const std::vector<Run>& runs) {
  size_t judged = 0, unchanged = 0;
  for (const Run& run : runs) {
    for (size_t i = 1; i < static_cast<size_t>(run.count); ++i, ++judged)
      unchanged += cells.bits[run.cell + i] == cells.bits[run.cell + i - 1] ? 1 : 0;
  }
  return judged == 0 ? 0 : static_cast<double>(unchanged) / static_cast<double>(judged);
}

}  // namespace

template <class T>
LosslessCandidate weigh_method(const LosslessCells<T>& cells, LosslessMethod method) {
  const std::vector<Run> runs = sample_runs(cells);
  if (method == LosslessMethod::multiple) {
    if (auto candidate = weigh_multiple(cells, runs, any_axes, sample_values(cells, first_samples));
        candidate)
      return *candidate;
    // Asked for, though nothing suggests it: whole numbers are as good a guess as any.
    LosslessCandidate candidate;
    candidate.method = method;
    candidate.axes = axis_x;
    if constexpr (std::is_integral_v<T>) candidate.unit.kind = ValueUnit::Kind::divisor;
    return candidate;
  }
  LosslessCandidate candidate =
      best_axes(cells, runs, any_axes, [](WordOf<T> bits) { return word_of<T>(bits); });
  candidate.method = method;
  if constexpr (std::is_floating_point_v<T>) {
    if (method == LosslessMethod::lorenzo) {
      expect_repeats(estimate_repeats(cells), cells, candidate);
      candidate.repeats = candidate.repeats || share_unchanged(cells, runs) > mostly_unchanged;
    }
  }
  return candidate;
}

double method_score(LosslessMethod method, double raw_bytes, double bytes, const CodecTuning& tuning) {
  // What is not the section's, of a frame of one section.
  constexpr double frame_bytes = 85;
  const double stored = tuning.speed_weight > 0 ? bytes + frame_bytes : bytes;
  return selection_score(Codec::lossless, method, raw_bytes, stored, tuning);
}

namespace {

// The others that are chosen from.
bool is_weighed(LosslessMethod method) {
  return method >= LosslessMethod::lorenzo || method == LosslessMethod::xor_zstd ||
         method == LosslessMethod::shuffle_zstd || method == LosslessMethod::bitshuffle_zstd ||
         method == LosslessMethod::zstd;
}

}  // namespace

WeighedMethods fastest_method(const CodecTuning& tuning, LosslessMethods available) {
  WeighedMethods weighed;
  LosslessCandidate& fastest = weighed.candidates.emplace_back();
  fastest.method = LosslessMethod::automatic;
  for (const LosslessMethodTraits& row : lossless_method_rows) {
    if (available.has(row.method) && row.typical_speed > traits_of(fastest.method).typical_speed)
      fastest.method = row.method;
  }
  fastest.score = selection_score(Codec::lossless, fastest.method, 0, 1, tuning);
  for (const LosslessMethodTraits& row : lossless_method_rows) {
    if (row.method == LosslessMethod::automatic || row.method == fastest.method) continue;
    if (tuning.candidates.is_all() ? !is_weighed(row.method) : !available.has(row.method)) continue;
    weighed.withdrawn.push_back({Codec::lossless, row.method, Fate::estimate_too_low, 0, 0});
  }
  return weighed;
}

template <class T>
WeighedMethods weigh_lossless(const LosslessCells<T>& cells, const CodecTuning& tuning, Effort effort) {
  LosslessWeighing<T> weighing(cells, effort);
  weighing.weigh_differences();
  weighing.weigh_byte_methods();
  weighing.withdraw_fast_methods(tuning);
  return weighing.by_score(tuning);
}

template LosslessCandidate weigh_method<float>(const LosslessCells<float>&, LosslessMethod);
template LosslessCandidate weigh_method<double>(const LosslessCells<double>&, LosslessMethod);
template WeighedMethods weigh_lossless<float>(const LosslessCells<float>&, const CodecTuning&, Effort);
template WeighedMethods weigh_lossless<double>(const LosslessCells<double>&, const CodecTuning&, Effort);
template LosslessCandidate weigh_method<uint8_t>(const LosslessCells<uint8_t>&, LosslessMethod);
template WeighedMethods weigh_lossless<uint8_t>(const LosslessCells<uint8_t>&, const CodecTuning&, Effort);
template LosslessCandidate weigh_method<uint16_t>(const LosslessCells<uint16_t>&, LosslessMethod);
template WeighedMethods weigh_lossless<uint16_t>(const LosslessCells<uint16_t>&, const CodecTuning&, Effort);
template LosslessCandidate weigh_method<uint32_t>(const LosslessCells<uint32_t>&, LosslessMethod);
template WeighedMethods weigh_lossless<uint32_t>(const LosslessCells<uint32_t>&, const CodecTuning&, Effort);
template LosslessCandidate weigh_method<uint64_t>(const LosslessCells<uint64_t>&, LosslessMethod);
template WeighedMethods weigh_lossless<uint64_t>(const LosslessCells<uint64_t>&, const CodecTuning&, Effort);

}  // namespace neve
