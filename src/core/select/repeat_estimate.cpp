// SPDX-License-Identifier: BSD-3-Clause
#include "core/select/repeat_estimate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/kernels/word_kernels.hpp"
#include "core/stages/lossless/word_repeats.hpp"

namespace neve {

namespace {

constexpr size_t block_words = 256;  // in a row
constexpr size_t block_runs = block_words - min_repeat + 1;
constexpr size_t min_looked_at = 1 << 12;  // words
constexpr int hash_bits = 6;               // one run in 64 of those looked at is sampled
constexpr size_t max_compared = 512;       // pairs
constexpr size_t common = 16;              // what occurs so often is no repeat of anything: constants, zeros

// A run that was sampled by its own hash, so that of two equal ones both are: the hash above, the cell below.
using SampledRun = uint64_t;
uint64_t hash_of(SampledRun run) { return run >> 32; }
size_t cell_of(SampledRun run) { return static_cast<size_t>(run & 0xffffffff); }

// By hash, then by cell. One block in so many is looked at.
template <class T>
std::vector<SampledRun> sample_runs(const LosslessCells<T>& cells, size_t blocks_between) {
  using U = WordOf<T>;
  std::vector<SampledRun> sampled;
  std::array<U, block_words> words;
  std::array<uint32_t, block_words> hashes;
  std::array<uint32_t, block_runs> runs;
  const size_t total = cells.bits.size();
  for (size_t begin = 0; begin + block_words <= total; begin += block_words * blocks_between) {
    word_kernels(U{}).order(cells.bits.data() + begin, words.size(), words.data());
    word_kernels(U{}).hash(words.data(), hashes.size(), hashes.data());
    for (size_t i = 0; i < block_runs; ++i) runs[i] = hash_of_run(hashes.data() + i);
    for (size_t i = 0; i < block_runs; ++i) {
      const uint32_t hash = runs[i];
      // (The hash of zeros is 0: they are common, and would all be sampled.)
      if (hash >> (32 - hash_bits) != 0 || hash == 0) continue;
      bool coded = true;
      for (size_t k = 0; k < min_repeat; ++k) coded = coded && cells.is_coded(begin + i + k);
      if (coded) sampled.push_back(uint64_t{hash} << 32 | (begin + i));
    }
  }
  std::sort(sampled.begin(), sampled.end());
  return sampled;
}

// Bits of the difference between words of two runs whose hashes are the same: of the first words, or of the
// last ones where those differ in more than their loose bits.
template <class T>
int residual_bits(const LosslessCells<T>& cells, size_t cell, size_t cell_before) {
  using U = WordOf<T>;
  const U own = ordered_word<U>(cells.bits[cell]);
  U other = ordered_word<U>(cells.bits[cell_before]);
  if (repeated_part(own) != repeated_part(other))
    other = ordered_word<U>(cells.bits[cell_before + min_repeat - 1]);
  if (((own ^ other) >> (word_bits<U> - 1)) != 0) other = ~other;
  return static_cast<int>(std::bit_width(fold_sign<U>(own - other)));
}

}  // namespace

template <class T>
RepeatEstimate estimate_repeats(const LosslessCells<T>& cells) {
  const size_t blocks_between =
      std::clamp<size_t>(cells.bits.size() / min_looked_at, 1, sizeof(T) == 8 ? 16 : 8);
  const std::vector<SampledRun> sampled = sample_runs(cells, blocks_between);
  size_t seen = 0, repeated = 0, compared = 0;
  double bits = 0;
  for (size_t i = 0; i < sampled.size();) {
    size_t end = i + 1;
    while (end < sampled.size() && hash_of(sampled[end]) == hash_of(sampled[i])) ++end;
    if (end - i < common) {
      seen += end - i;
      if (end - i > 1) repeated += end - i;
      for (size_t k = i + 1; k < end && compared < max_compared; ++k, ++compared)
        bits += residual_bits(cells, cell_of(sampled[k]), cell_of(sampled[k - 1]));
    }
    i = end;
  }
  if (seen == 0) return {};
  // A run's twin lies in a block that is looked at in one case of blocks_between.
  return {std::min(1.0, static_cast<double>(repeated * blocks_between) / static_cast<double>(seen)),
          compared == 0 ? 0 : bits / static_cast<double>(compared)};
}

template RepeatEstimate estimate_repeats<float>(const LosslessCells<float>&);
template RepeatEstimate estimate_repeats<double>(const LosslessCells<double>&);

}  // namespace neve
