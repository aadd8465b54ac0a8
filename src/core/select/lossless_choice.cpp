// SPDX-License-Identifier: BSD-3-Clause
#include "core/select/lossless_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "core/math/portable_math.hpp"
#include "core/select/repeat_estimate.hpp"
#include "core/select/sequence.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/stages/lossless/byte_planes.hpp"
#include "core/stages/lossless/value_ranks.hpp"
#include "core/stages/lossless/word_xor.hpp"
#include "core/stages/predict/word_lorenzo.hpp"

namespace neve {

namespace {

// Cells are sampled in runs along x, so that neighbours share cache lines.
constexpr int64_t run_cells = 32;
constexpr size_t min_samples = 512, max_samples = 4096, cells_per_sample = 256;
constexpr size_t fewest_samples = 128, few_cells_per_sample = 64;  // of sections that are small themselves
constexpr size_t value_samples = 512, max_rank_samples = 4096;
constexpr double log2_e = 1.4426950408889634;
// Slices that byte methods are tried on: as many words in a row, together one word in so many of the section.
constexpr size_t slices = 16, min_slice_words = 64, max_slice_words = 384, words_per_slice_word = 128;
constexpr CoderLevels trial_levels{.zstd = 1};
// Of those slices, words that tell whether byte methods have a chance.
constexpr size_t entropy_slice_words = 17;
// Ranks are worth a trial when at most this share of the sampled values are different ones.
constexpr double few_values_share = 0.125;

// Where a run starts, and how far its neighbours are.
struct Run {
  size_t cell = 0;
  int64_t count = 0;
  std::array<int64_t, max_frame_dims> back{};  // cells to the neighbour along each axis; 0: none there
};

template <class T>
std::vector<Run> sample_runs(const LosslessCells<T>& cells) {
  const size_t total = cells.bits.size();
  const size_t wanted =
      std::clamp(total / cells_per_sample,
                 std::clamp(total / few_cells_per_sample, fewest_samples, min_samples), max_samples);
  std::vector<Run> runs;
  runs.reserve(wanted / run_cells);
  Sequence sequence;
  for (size_t r = 0; r < wanted / run_cells; ++r) {
    const size_t anywhere = sequence.below(total);
    const auto grid =
        std::prev(std::upper_bound(cells.grids.begin(), cells.grids.end(), anywhere,
                                   [](size_t cell, const LosslessGrid& g) { return cell < g.offset; }));
    size_t rest = anywhere - grid->offset;
    Run run;
    Extents at{};
    int64_t stride = 1;
    size_t cell = grid->offset;
    for (size_t d = 0; d < max_frame_dims; ++d) {
      const auto size = static_cast<size_t>(grid->size[d]);
      at[d] = static_cast<int64_t>(rest % size);
      rest /= size;
      if (d == 0) {
        // The first cell of a row has no neighbour along x: start behind it.
        at[0] = std::clamp<int64_t>(at[0], 1, std::max<int64_t>(1, grid->size[0] - run_cells));
        if (at[0] >= grid->size[0]) at[0] = 0;
        run.back[0] = at[0] > 0 ? 1 : 0;
        run.count = std::min(run_cells, grid->size[0] - at[0]);
      } else {
        if (at[d] == 0 && grid->size[d] > 1) at[d] = 1;
        run.back[d] = at[d] > 0 ? stride : 0;
      }
      cell += static_cast<size_t>(at[d] * stride);
      stride *= grid->size[d];
    }
    run.cell = cell;
    runs.push_back(run);
  }
  return runs;
}

// n log2(n), n of samples at most.
double weighted_log(uint32_t n) {
  static const std::vector<double> table = [] {
    std::vector<double> values(max_samples + 1, 0);
    for (size_t k = 1; k < values.size(); ++k)
      values[k] = static_cast<double>(k) * math::log2(static_cast<double>(k));
    return values;
  }();
  return table[n];
}

// Bits that residual_classes would take for words of these lengths, told apart as its contexts do most of
// all: whether the word before is 0.
class LengthCounter {
 public:
  template <class U>
  void add(U word, bool follows_zero) {
    ++counts_[follows_zero ? 1 : 0][static_cast<size_t>(std::bit_width(fold_sign<U>(word)))];
    if (words_ == 0) first_ = word;
    is_constant_ = is_constant_ && word == first_;
    ++words_;
  }
  uint32_t words() const { return words_; }
  double bits_per_word() const {
    if (is_constant_) return 0;  // a ramp: repeats take care of it
    double bits = 0;
    for (const auto& counts : counts_) {
      uint32_t total = 0;
      for (uint32_t length = 0; length < counts.size(); ++length) {
        if (counts[length] == 0) continue;
        total += counts[length];
        bits += counts[length] * std::max(0.0, length - 1.0) - weighted_log(counts[length]);
      }
      bits += weighted_log(total);
    }
    return words_ > 0 ? bits / words_ : 0;
  }

 private:
  std::array<std::array<uint32_t, 65>, 2> counts_{};
  uint32_t words_ = 0;
  uint64_t first_ = 0;
  bool is_constant_ = true;
};

constexpr uint32_t any_axes = ~uint32_t{0};  // bit a stands for the set of axes a

// Samples without any difference do not tell that there is none.
constexpr double min_bits_per_word = 0.02;

// After this share of the runs, sets that lie far behind the best one are not counted on.
constexpr size_t axes_pruned_after = 4;
constexpr double max_extra_axis_bits = 0.75;

// Counts differences along every set of axes that cells have neighbours along, or along those `among` alone.
template <class U>
class AxesCounter {
 public:
  AxesCounter(const std::vector<LosslessGrid>& grids, uint32_t among) : among_(among) {
    for (const LosslessGrid& grid : grids) {
      for (size_t d = 0; d < max_frame_dims; ++d) present_ |= grid.size[d] > 1 ? 1U << d : 0U;
    }
  }

  // `map` makes the word of a cell's bits.
  template <class T, class Map>
  void add(const LosslessCells<T>& cells, const Run& run, const Map& map) {
    usable_.fill(1);
    for (unsigned set = 0; set <= all_axes; ++set) {
      if (is_present(set)) read_corner(cells, run, set, map);
    }
    mix_differences();
    for (unsigned axes = 1; axes <= all_axes; ++axes) {
      if (!is_counted(axes)) continue;
      bool follows_zero = false;
      for (size_t i = 0; i < static_cast<size_t>(run.count); ++i) {
        if (usable_[i] == 0) continue;
        counters_[axes].add(words_[axes][i], follows_zero);
        follows_zero = words_[axes][i] == 0;
      }
    }
  }

  // Counts only the sets on that are not far behind.
  void prune() {
    std::array<double, all_axes + 1> bits{};
    double least = HUGE_VAL;
    for (unsigned axes = 1; axes <= all_axes; ++axes) {
      if (counters_[axes].words() == 0) continue;
      bits[axes] = counters_[axes].bits_per_word();
      least = std::min(least, bits[axes]);
    }
    for (unsigned axes = 1; axes <= all_axes; ++axes) {
      if (bits[axes] > least + max_extra_axis_bits) among_ &= ~(1U << axes);
    }
  }

  // The set with the least bytes for `coded` words; without a set, as of a single cell, they stay as they
  // are.
  LosslessCandidate best(double coded) const {
    LosslessCandidate best;
    best.bytes = HUGE_VAL;
    for (unsigned axes = 1; axes <= all_axes; ++axes) {
      if (!is_counted(axes)) continue;
      const double bytes = std::max(counters_[axes].bits_per_word(), min_bits_per_word) * coded / 8;
      if (bytes < best.bytes) {
        best.bytes = bytes;
        best.axes = axes;
      }
    }
    if (best.axes == 0) best = {LosslessMethod::lorenzo, axis_x, {}, coded * sizeof(U), 0};
    return best;
  }

 private:
  bool is_present(unsigned axes) const { return (axes & ~present_) == 0; }
  bool is_counted(unsigned axes) const { return is_present(axes) && ((among_ >> axes) & 1) != 0; }

  // The words one step back along each axis of a set: that corner of the cells' neighbourhoods.
  template <class T, class Map>
  void read_corner(const LosslessCells<T>& cells, const Run& run, unsigned set, const Map& map) {
    int64_t back = 0;
    bool inside = true;
    for (size_t d = 0; d < max_frame_dims; ++d) {
      if (((set >> d) & 1) == 0) continue;
      inside = inside && run.back[d] > 0;
      back += run.back[d];
    }
    words_[set].fill(0);
    if (!inside) return;  // words outside count as 0
    for (size_t i = 0; i < static_cast<size_t>(run.count); ++i) {
      const size_t cell = run.cell + i - static_cast<size_t>(back);
      if (cells.is_coded(cell)) {
        words_[set][i] = map(cells.bits[cell]);
      } else {
        usable_[i] = 0;
      }
    }
  }

  // From the corners to the mixed differences along every set, one axis after the other.
  void mix_differences() {
    for (unsigned axis = 1; axis <= all_axes; axis *= 2) {
      if (!is_present(axis)) continue;
      for (unsigned axes = axis; axes <= all_axes; ++axes) {
        if ((axes & axis) == 0 || !is_present(axes)) continue;
        for (size_t i = 0; i < run_cells; ++i) words_[axes][i] = words_[axes ^ axis][i] - words_[axes][i];
      }
    }
  }

  uint32_t among_;
  unsigned present_ = 0;  // axes along which any grid has more than one cell
  std::array<LengthCounter, all_axes + 1> counters_;
  // Of the run at hand, by set: first the words at a corner, then differences.
  std::array<std::array<U, run_cells>, all_axes + 1> words_;
  std::array<uint8_t, run_cells> usable_;  // 0: a corner is not coded
};

template <class T, class Map>
LosslessCandidate best_axes(const LosslessCells<T>& cells, const std::vector<Run>& runs, uint32_t among,
                            const Map& map) {
  AxesCounter<WordOf<T>> counter(cells.grids, among);
  const size_t counted_before_pruning = runs.size() / axes_pruned_after;
  for (size_t r = 0; r < runs.size(); ++r) {
    if (r == counted_before_pruning) counter.prune();
    counter.add(cells, runs[r], map);
  }
  return counter.best(static_cast<double>(cells.coded));
}

template <class T>
std::vector<T> sample_values(const LosslessCells<T>& cells, size_t wanted) {
  std::vector<T> values;
  values.reserve(wanted);
  Sequence sequence;
  for (size_t k = 0; k < 2 * wanted && values.size() < wanted; ++k) {
    const size_t cell = sequence.below(cells.bits.size());
    if (cells.is_coded(cell)) values.push_back(std::bit_cast<T>(cells.bits[cell]));
  }
  return values;
}

// Where samples show no difference at all, those that there are take fewer bits as multiples.
constexpr double multiple_of_calm_values = 0.98;

template <class T>
std::optional<LosslessCandidate> weigh_multiple(const LosslessCells<T>& cells, const std::vector<Run>& runs,
                                                uint32_t among, const std::vector<T>& first_values) {
  if (!find_unit<T>(first_values)) return {};
  const std::optional<ValueUnit> unit = find_unit<T>(sample_values(cells, value_samples));
  if (!unit) return {};
  const Multiples<T> multiples(*unit);
  LosslessCandidate candidate = best_axes(cells, runs, among, [&](WordOf<T> bits) {
    const auto multiple = multiples.multiple(std::bit_cast<T>(bits));
    return static_cast<WordOf<T>>(multiple.value_or(0));
  });
  candidate.method = LosslessMethod::multiple;
  candidate.unit = *unit;
  const double least = min_bits_per_word * static_cast<double>(cells.coded) / 8;
  if (candidate.bytes <= least) candidate.bytes *= multiple_of_calm_values;
  return candidate;
}

constexpr size_t max_few_words(size_t sampled) {
  return static_cast<size_t>(few_values_share * static_cast<double>(sampled));
}
// Of most fields a first sample tells that there are too many values for ranks, and no unit.
constexpr size_t first_samples = max_few_words(value_samples) * 5 / 4;

template <class T>
std::vector<WordOf<T>> different_words(const std::vector<T>& values) {
  std::vector<WordOf<T>> words;
  words.reserve(values.size());
  for (const T value : values) words.push_back(word_of<T>(std::bit_cast<WordOf<T>>(value)));
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// The different words among sampled values, in order, where they are few.
template <class T>
std::vector<WordOf<T>> few_words(const LosslessCells<T>& cells, const std::vector<T>& first_values) {
  if (different_words(first_values).size() > max_few_words(value_samples)) return {};
  const std::vector<T> values = sample_values(cells, value_samples);
  std::vector<WordOf<T>> words = different_words(values);
  if (words.size() > max_few_words(values.size())) words.clear();
  return words;
}

// By the ranks that cells have among the sampled words: those that were missed are rare.
template <class T>
LosslessCandidate weigh_rank(const LosslessCells<T>& cells, const std::vector<Run>& runs, uint32_t among,
                             const std::vector<WordOf<T>>& words) {
  LosslessCandidate candidate = best_axes(cells, runs, among, [&](WordOf<T> bits) {
    const auto at = std::lower_bound(words.begin(), words.end(), word_of<T>(bits));
    return static_cast<WordOf<T>>(at - words.begin());
  });
  candidate.method = LosslessMethod::rank;
  candidate.bytes += static_cast<double>(words.size() * sizeof(T));
  return candidate;
}

// Of fewer cells byte methods save less than a look for them costs.
constexpr uint64_t min_weighed_cells = 2048;
// Below this a search for repeats costs more than it finds.
constexpr double worthwhile_repeats = 0.02;
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

// How much smaller a byte method must seem where no trial decides.
constexpr double byte_methods_at_fast = 1.08;

// What repeats save, of methods whose words are ordered ones.
template <class T>
void expect_repeats(const RepeatEstimate& repeated, const LosslessCells<T>& cells,
                    LosslessCandidate& candidate) {
  if (repeated.share < worthwhile_repeats) return;
  candidate.repeats = true;
  const double each = repeated.residual_bits * static_cast<double>(cells.coded) / 8;
  candidate.bytes += repeated.share * (std::min(each, candidate.bytes) - candidate.bytes);
}

// Slices do not show what repeats over long distances. Of sections that come out so many times smaller by
// what is known, all words are tried instead: of small ones, and at effort max.
constexpr double min_ratio_to_try_all = 8;
constexpr size_t max_bytes_to_try_all = 128 << 10;

// Words in slices from all over the section.
template <class T>
std::vector<WordOf<T>> sample_slices(const LosslessCells<T>& cells) {
  std::vector<WordOf<T>> words;
  const size_t total = cells.bits.size();
  const size_t each = std::clamp(total / (slices * words_per_slice_word), min_slice_words, max_slice_words);
  words.reserve(slices * each);
  Sequence sequence;
  for (size_t s = 0; s < slices; ++s) {
    // At uneven distances, which are no multiple of anything the grid has.
    const size_t apart = total <= each ? 0 : (total - each) / slices;
    const size_t begin = s * apart + sequence.below(apart);
    const size_t end = std::min(begin + each, total);
    if (cells.left_out.empty()) {
      words.insert(words.end(), cells.bits.begin() + static_cast<ptrdiff_t>(begin),
                   cells.bits.begin() + static_cast<ptrdiff_t>(end));
      continue;
    }
    for (size_t cell = begin; cell < end; ++cell) {
      if (cells.is_held(cell)) words.push_back(cells.bits[cell]);
    }
  }
  return words;
}

// Bytes that xor_zstd would take if each byte were coded alone, by its plane: from the first words of slices.
template <class T>
double plane_entropy_bytes(const LosslessCells<T>& cells, std::span<const WordOf<T>> words) {
  using U = WordOf<T>;
  std::array<std::array<uint32_t, 256>, sizeof(U)> counts{};
  const size_t apart = words.size() / slices;
  const size_t each = std::min(apart, entropy_slice_words);
  if (each < 2) return 0;
  for (size_t s = 0; s < slices; ++s) {
    for (size_t i = s * apart + 1; i < s * apart + each; ++i) {
      const U xored = words[i] ^ words[i - 1];
      for (size_t b = 0; b < sizeof(U); ++b) ++counts[b][static_cast<uint8_t>(xored >> (8 * b))];
    }
  }
  const auto sampled = static_cast<uint32_t>(slices * (each - 1));
  double bits = 0;
  for (const auto& plane : counts) {
    for (const uint32_t count : plane) bits -= weighted_log(count);
    bits += weighted_log(sampled);
  }
  return bits / 8 / sampled * static_cast<double>(cells.held);
}

// Bytes that a method would take for all of the section, from what zstd makes of slices of it.
template <class T>
LosslessCandidate try_zstd(const LosslessCells<T>& cells, std::span<const WordOf<T>> words,
                           LosslessMethod method) {
  using U = WordOf<T>;
  LosslessCandidate candidate;
  candidate.method = method;
  if (words.empty()) return candidate;
  std::vector<U> own(words.begin(), words.end());
  if (method == LosslessMethod::xor_zstd) xor_with_previous(std::span(own));
  const ByteSpan bytes = std::as_bytes(std::span<const U>(own));
  Bytes planes(bytes.size());
  if (method == LosslessMethod::zstd) {
    std::copy(bytes.begin(), bytes.end(), planes.begin());
  } else if (method == LosslessMethod::bitshuffle_zstd) {
    to_bit_planes(bytes, sizeof(U), planes);
  } else {
    to_byte_planes(bytes, sizeof(U), planes);
  }
  Bytes coded;
  ByteWriter out(coded);
  if (!write_coded(ByteCoder::zstd, planes, out, trial_levels).ok()) {
    candidate.bytes = HUGE_VAL;
    return candidate;
  }
  candidate.bytes =
      static_cast<double>(coded.size()) / static_cast<double>(words.size()) * static_cast<double>(cells.held);
  return candidate;
}

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

  void weigh_fast_method(const CodecTuning& tuning) {
    if (tuning.speed_weight <= 0) return withdraw({LosslessMethod::shuffle_lz4}, Fate::speed);
    LosslessCandidate fast = try_zstd<T>(cells_, slices_, LosslessMethod::shuffle_zstd);
    fast.method = LosslessMethod::shuffle_lz4;
    constexpr double lz4_against_zstd = 1.25;
    fast.bytes *= lz4_against_zstd;
    candidates_.push_back(fast);
  }

  WeighedMethods by_score(const CodecTuning& tuning) {
    const double raw = static_cast<double>(cells_.held) * sizeof(T);
    for (LosslessCandidate& c : candidates_) {
      // Estimates of the families do not err alike, and where only one is coded nothing puts it right.
      if (effort_ == Effort::fast && !is_all_tried_ && c.method < LosslessMethod::lorenzo)
        c.bytes *= byte_methods_at_fast;
      c.score = selection_score(Codec::lossless, c.method, raw, std::min(c.bytes, raw), tuning);
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
    try_slices({LosslessMethod::xor_zstd});
    if (candidates_.back().bytes * min_gain_to_try_bitshuffle < min_bytes) {
      try_slices({LosslessMethod::bitshuffle_zstd});
    } else {
      withdraw({LosslessMethod::bitshuffle_zstd}, Fate::similar_method);
    }
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
  RepeatEstimate repeated_;
  std::vector<LosslessCandidate> candidates_;
  std::vector<WeighedCandidate> withdrawn_;
  std::vector<LosslessCandidate> unsure_;
};

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
    if (method == LosslessMethod::lorenzo) expect_repeats(estimate_repeats(cells), cells, candidate);
  }
  return candidate;
}

WeighedMethods fastest_method(const CodecTuning& tuning) {
  WeighedMethods weighed;
  LosslessCandidate& fastest = weighed.candidates.emplace_back();
  fastest.method = LosslessMethod::shuffle_lz4;
  fastest.score = selection_score(Codec::lossless, fastest.method, 0, 1, tuning);
  for (const LosslessMethod method :
       {LosslessMethod::lorenzo, LosslessMethod::multiple, LosslessMethod::rank, LosslessMethod::xor_zstd,
        LosslessMethod::shuffle_zstd, LosslessMethod::bitshuffle_zstd, LosslessMethod::zstd}) {
    weighed.withdrawn.push_back({Codec::lossless, method, Fate::estimate_too_low, 0, 0});
  }
  return weighed;
}

template <class T>
WeighedMethods weigh_lossless(const LosslessCells<T>& cells, const CodecTuning& tuning, Effort effort) {
  LosslessWeighing<T> weighing(cells, effort);
  weighing.weigh_differences();
  weighing.weigh_byte_methods();
  weighing.weigh_fast_method(tuning);
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
