// SPDX-License-Identifier: BSD-3-Clause
#include "select/lossless_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <unordered_set>

#include "stages/lossless/byte_coder.hpp"
#include "stages/lossless/byte_planes.hpp"
#include "stages/predict/word_lorenzo.hpp"

namespace neve {

namespace {

// Cells are sampled in runs along x, so that neighbours share cache lines.
constexpr int64_t run_cells = 32;
constexpr size_t least_samples = 1024, most_samples = 8192, cells_per_sample = 64;
constexpr size_t unit_samples = 512;
// Slices that byte methods are tried on: as many words in a row.
constexpr size_t slices = 16, slice_words = 512;
constexpr int trial_zstd_level = 1;
// Ranks are worth a trial when at most this share of the sampled values are different ones.
constexpr double few_values_share = 0.125;

// In 100 MB/s, encoding at effort balanced on one core of a shared server, over the float variables of
// ../shared/data: good for weighing methods against each other.
double typical_speed(LosslessMethod method) {
  switch (method) {
    case LosslessMethod::b_lzo:
      return 1.5;
    case LosslessMethod::bw_lzo:
    case LosslessMethod::bwxor_lzo:
      return 1.9;
    case LosslessMethod::b_zlib:
    case LosslessMethod::bw_zlib:
    case LosslessMethod::bwxor_zlib:
      return 0.37;
    case LosslessMethod::b_bzip2:
    case LosslessMethod::bw_bzip2:
    case LosslessMethod::bwxor_bzip2:
      return 0.14;
    case LosslessMethod::lz4:
    case LosslessMethod::shuffle_lz4:
      return 3.4;
    case LosslessMethod::bitshuffle_lz4:
      return 2.5;
    case LosslessMethod::zstd:
    case LosslessMethod::shuffle_zstd:
    case LosslessMethod::xor_zstd:
      return 2.1;
    case LosslessMethod::bitshuffle_zstd:
    case LosslessMethod::multiple:
    case LosslessMethod::rank:
      return 1.5;
    case LosslessMethod::lorenzo:
      return 2.6;
    case LosslessMethod::automatic:
      break;
  }
  return 0;
}

// A fixed sequence, so that the same data are sampled alike everywhere (Knuth's MMIX constants).
class Sequence {
 public:
  uint64_t below(uint64_t limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return limit == 0 ? 0 : (state_ >> 33) % limit;
  }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15ULL;
};

// Where a run starts, and how far its neighbours are.
struct Run {
  size_t cell = 0;
  int64_t count = 0;
  std::array<int64_t, max_frame_dims> back{};  // cells to the neighbour along each axis; 0: none there
};

template <class T>
std::vector<Run> sample_runs(const LosslessCells<T>& cells) {
  const size_t total = cells.bits.size();
  const size_t wanted = std::clamp(total / cells_per_sample, least_samples, most_samples);
  std::vector<Run> runs;
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

// Bits that residual_classes would take for words of these lengths, told apart as its contexts do most of
// all: whether the word before is 0.
class LengthCounter {
 public:
  template <class U>
  void add(U folded, bool follows_zero) {
    ++counts_[follows_zero ? 1 : 0][static_cast<size_t>(std::bit_width(folded))];
  }
  double bits_per_word() const {
    double bits = 0, words = 0;
    for (const auto& counts : counts_) {
      double total = 0;
      for (const uint32_t count : counts) total += count;
      words += total;
      for (size_t length = 0; length < counts.size(); ++length) {
        if (counts[length] == 0) continue;
        const double count = counts[length];
        bits += count * (std::log2(total / count) + std::max<double>(0, static_cast<double>(length) - 1));
      }
    }
    return words > 0 ? bits / words : 0;
  }

 private:
  std::array<std::array<uint32_t, 65>, 2> counts_{};
};

// Estimated bits a word for every set of axes that the sampled cells have neighbours along. `map` makes the
// word of a cell's bits.
template <class T, class Map>
LosslessCandidate best_axes(const LosslessCells<T>& cells, const std::vector<Run>& runs, const Map& map) {
  using U = WordOf<T>;
  std::array<LengthCounter, all_axes + 1> counters;
  unsigned present = 0;
  for (const LosslessGrid& grid : cells.grids) {
    for (size_t d = 0; d < max_frame_dims; ++d) present |= grid.size[d] > 1 ? 1U << d : 0U;
  }
  for (const Run& run : runs) {
    const auto count = static_cast<size_t>(run.count);
    // Of each set of axes the word at that corner of the cell's neighbourhood, then its mixed difference.
    std::array<std::array<U, run_cells>, all_axes + 1> corner{};
    std::array<uint8_t, run_cells> usable;
    usable.fill(1);
    for (unsigned set = 0; set <= all_axes; ++set) {
      if ((set & ~present) != 0) continue;
      int64_t back = 0;
      bool inside = true;
      for (size_t d = 0; d < max_frame_dims; ++d) {
        if (((set >> d) & 1) == 0) continue;
        inside = inside && run.back[d] > 0;
        back += run.back[d];
      }
      if (!inside) continue;  // words outside count as 0
      for (size_t i = 0; i < count; ++i) {
        const size_t cell = run.cell + i - static_cast<size_t>(back);
        if (!cells.is_coded(cell)) {
          usable[i] = 0;
        } else {
          corner[set][i] = map(cells.bits[cell]);
        }
      }
    }
    for (unsigned axes = 1; axes <= all_axes; ++axes) {
      if ((axes & ~present) != 0) continue;
      std::array<U, run_cells> sum{};
      for (unsigned set = axes;; set = (set - 1) & axes) {
        const bool adds = std::popcount(set) % 2 == 0;
        for (size_t i = 0; i < count; ++i) sum[i] += adds ? corner[set][i] : U{0} - corner[set][i];
        if (set == 0) break;
      }
      bool follows_zero = false;
      for (size_t i = 0; i < count; ++i) {
        if (usable[i] == 0) continue;
        counters[axes].add(fold_sign<U>(sum[i]), follows_zero);
        follows_zero = sum[i] == 0;
      }
    }
  }
  LosslessCandidate best;
  best.bytes = HUGE_VAL;
  const auto coded = static_cast<double>(cells.coded);
  for (unsigned axes = 1; axes <= all_axes; ++axes) {
    if ((axes & ~present) != 0) continue;
    const double bytes = counters[axes].bits_per_word() * coded / 8;
    if (bytes < best.bytes) {
      best.bytes = bytes;
      best.axes = axes;
    }
  }
  if (best.axes == 0) best = {LosslessMethod::lorenzo, axis_x, {}, coded * sizeof(T), 0};  // a single cell
  return best;
}

template <class T>
std::vector<T> sample_values(const LosslessCells<T>& cells, size_t wanted) {
  std::vector<T> values;
  Sequence sequence;
  for (size_t k = 0; k < 2 * wanted && values.size() < wanted; ++k) {
    const size_t cell = sequence.below(cells.bits.size());
    if (cells.is_coded(cell)) values.push_back(std::bit_cast<T>(cells.bits[cell]));
  }
  return values;
}

template <class T>
std::optional<LosslessCandidate> weigh_multiple(const LosslessCells<T>& cells, const std::vector<Run>& runs) {
  const std::vector<T> values = sample_values(cells, unit_samples);
  const std::optional<ValueUnit> unit = find_unit<T>(values);
  if (!unit) return {};
  const Multiples<T> multiples(*unit);
  LosslessCandidate candidate = best_axes(cells, runs, [&](WordOf<T> bits) {
    const auto multiple = multiples.multiple(std::bit_cast<T>(bits));
    return static_cast<WordOf<T>>(multiple.value_or(0));
  });
  candidate.method = LosslessMethod::multiple;
  candidate.unit = *unit;
  return candidate;
}

template <class T>
bool has_few_values(const LosslessCells<T>& cells) {
  const std::vector<T> values = sample_values(cells, least_samples);
  std::unordered_set<WordOf<T>> different;
  for (const T value : values) different.insert(std::bit_cast<WordOf<T>>(value));
  return static_cast<double>(different.size()) <= few_values_share * static_cast<double>(values.size());
}

// The share of values that occur a second time (but for their sign) somewhere in the section, which slices
// would not show: mirrored fields, periodic ones, copies. Values are sampled by their own hash, so that of
// two equal ones both are looked at.
template <class T>
double repeated_share(const LosslessCells<T>& cells) {
  using U = WordOf<T>;
  constexpr size_t block = 64, blocks_between = 4;  // one block in so many is looked at
  constexpr int hash_bits = 5;                      // one value in 32 of those is
  constexpr size_t common = 16;    // what occurs so often is no repeat of anything: constants, zeros
  constexpr size_t run_words = 4;  // the shortest repeat that zstd likes, byte plane by plane
  // Of doubles without the last bits: copies made by computing differ there. (Of floats those bits are too
  // much of a value to be ignored.)
  constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
  constexpr U middle = ((U{1} << mantissa_bits) - 1) & ~((U{1} << (sizeof(T) == 8 ? 16 : 0)) - 1);
  constexpr U odd = static_cast<U>(0x9e3779b97f4a7c15ULL);  // 2^64 over the golden ratio
  std::vector<U> sampled;
  for (size_t begin = 0; begin < cells.bits.size(); begin += block * blocks_between) {
    const size_t end =
        std::min(begin + block, cells.bits.size() - std::min(cells.bits.size(), run_words - 1));
    for (size_t cell = begin; cell < end; ++cell) {
      U hash = 0;
      bool coded = true;
      for (size_t k = 0; k < run_words; ++k) hash = (hash + (cells.bits[cell + k] & middle)) * odd;
      if (hash >> (word_bits<U> - hash_bits) != 0) continue;
      for (size_t k = 0; k < run_words; ++k) coded = coded && cells.is_coded(cell + k);
      if (coded) sampled.push_back(hash);
    }
  }
  std::sort(sampled.begin(), sampled.end());
  size_t seen = 0, repeated = 0;
  for (size_t i = 0; i < sampled.size();) {
    size_t end = i + 1;
    while (end < sampled.size() && sampled[end] == sampled[i]) ++end;
    if (end - i < common) {
      seen += end - i;
      if (end - i > 1) repeated += end - i;
    }
    i = end;
  }
  // A value's twin lies in a block that is looked at in one case of blocks_between.
  return seen == 0
             ? 0
             : std::min(1.0, static_cast<double>(repeated * blocks_between) / static_cast<double>(seen));
}

// Bytes that zstd would take for all of the section, from what it takes for slices, and from what those do
// not show.
template <class T>
double try_zstd(const LosslessCells<T>& cells, bool by_planes, double repeated) {
  std::vector<WordOf<T>> words;
  const size_t total = cells.bits.size();
  const size_t each = std::min(slice_words, total / slices + 1);
  for (size_t s = 0; s < slices; ++s) {
    const size_t begin = total <= each ? 0 : (total - each) * s / (slices - 1);
    for (size_t cell = begin; cell < std::min(begin + each, total); ++cell) {
      if (cells.is_held(cell)) words.push_back(cells.bits[cell]);
    }
  }
  if (words.empty()) return 0;
  Bytes bytes(words.size() * sizeof(T));
  if (by_planes) {
    to_byte_planes(std::as_bytes(std::span(words)), sizeof(T), bytes);
  } else {
    std::memcpy(bytes.data(), words.data(), bytes.size());
  }
  Bytes coded;
  ByteWriter out(coded);
  if (!write_coded(ByteCoder::zstd, bytes, out, trial_zstd_level).ok()) return HUGE_VAL;
  // A value and its twin take the room of one, and a little to say so.
  constexpr double saved_by_twin = 0.5;
  return static_cast<double>(coded.size()) / static_cast<double>(words.size()) *
         static_cast<double>(cells.held) * (1 - saved_by_twin * repeated);
}

}  // namespace

double lossless_score(LosslessMethod method, double raw_bytes, double bytes, const CodecTuning& tuning) {
  return tuning.speed_weight * typical_speed(method) + tuning.ratio_weight * raw_bytes / std::max(bytes, 1.0);
}

template <class T>
LosslessCandidate weigh_method(const LosslessCells<T>& cells, LosslessMethod method) {
  const std::vector<Run> runs = sample_runs(cells);
  if (method == LosslessMethod::multiple) {
    if (auto candidate = weigh_multiple(cells, runs); candidate) return *candidate;
    // Asked for, though nothing suggests it: whole numbers are as good a guess as any.
    LosslessCandidate candidate;
    candidate.method = method;
    candidate.axes = axis_x;
    return candidate;
  }
  LosslessCandidate candidate =
      best_axes(cells, runs, [](WordOf<T> bits) { return ordered_word<WordOf<T>>(bits); });
  candidate.method = method;
  return candidate;
}

template <class T>
std::vector<LosslessCandidate> weigh_lossless(const LosslessCells<T>& cells, const CodecTuning& tuning) {
  std::vector<LosslessCandidate> candidates;
  const std::vector<Run> runs = sample_runs(cells);
  LosslessCandidate lorenzo =
      best_axes(cells, runs, [](WordOf<T> bits) { return ordered_word<WordOf<T>>(bits); });
  lorenzo.method = LosslessMethod::lorenzo;
  candidates.push_back(lorenzo);
  if (auto multiple = weigh_multiple(cells, runs); multiple) candidates.push_back(*multiple);
  LosslessCandidate shuffled;
  shuffled.method = LosslessMethod::shuffle_zstd;
  const double repeated = repeated_share(cells);
  shuffled.bytes = try_zstd(cells, true, repeated);
  candidates.push_back(shuffled);
  LosslessCandidate plain;
  plain.method = LosslessMethod::zstd;
  plain.bytes = try_zstd(cells, false, repeated);
  candidates.push_back(plain);
  if (has_few_values(cells)) {
    // What the differences of ranks take is not known before the ranks are: as a guess, less than the best.
    LosslessCandidate rank = lorenzo;
    rank.method = LosslessMethod::rank;
    for (const LosslessCandidate& other : candidates) rank.bytes = std::min(rank.bytes, other.bytes);
    candidates.push_back(rank);
  }
  if (tuning.speed_weight > 0) {
    LosslessCandidate fast = shuffled;
    fast.method = LosslessMethod::shuffle_lz4;
    constexpr double lz4_against_zstd = 1.25;
    fast.bytes *= lz4_against_zstd;
    candidates.push_back(fast);
  }
  const double raw = static_cast<double>(cells.held) * sizeof(T);
  for (LosslessCandidate& c : candidates)
    c.score = lossless_score(c.method, raw, std::min(c.bytes, raw), tuning);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const LosslessCandidate& a, const LosslessCandidate& b) { return a.score > b.score; });
  return candidates;
}

template LosslessCandidate weigh_method<float>(const LosslessCells<float>&, LosslessMethod);
template LosslessCandidate weigh_method<double>(const LosslessCells<double>&, LosslessMethod);
template std::vector<LosslessCandidate> weigh_lossless<float>(const LosslessCells<float>&,
                                                              const CodecTuning&);
template std::vector<LosslessCandidate> weigh_lossless<double>(const LosslessCells<double>&,
                                                               const CodecTuning&);

}  // namespace neve
