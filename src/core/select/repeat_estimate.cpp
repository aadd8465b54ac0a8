// SPDX-License-Identifier: BSD-3-Clause
#include "core/select/repeat_estimate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "core/kernels/word_kernels.hpp"
#include "core/select/sequence.hpp"
#include "core/stages/lossless/word_repeats.hpp"

namespace neve {

namespace {

constexpr size_t block_words = 256;                 // in a row
constexpr size_t min_looked_at = 1 << 12;           // words
constexpr int one_run_in_64 = 6, one_run_in_8 = 3;  // of those looked at is sampled: bits of its hash
constexpr size_t common = 16;                       // of runs that are alike
constexpr size_t max_compared = 512;                // pairs

// A run that was sampled by its own hash, so that of two equal ones both are: the hash above, the cell below.
using SampledRun = uint64_t;
uint64_t hash_of(SampledRun run) { return run >> 32; }
size_t cell_of(SampledRun run) { return static_cast<size_t>(run & 0xffffffff); }

// Whether the last run of a block, which is not constant, stands in it before: periods that are so short have
// too few runs for one of them to be sampled.
bool ends_with_repeat(std::span<const uint32_t> hashes) {
  const auto last = hashes.last<min_repeat>();
  if (std::equal(last.begin() + 1, last.end(), last.begin())) return false;
  const auto before = hashes.first(hashes.size() - min_repeat);
  return std::search(before.begin(), before.end(), last.begin(), last.end()) != before.end();
}

// Runs from blocks, in the end by hash, then by cell.
class RunSample {
 public:
  explicit RunSample(int hash_bits) : unsampled_bits_(32 - hash_bits) {}

  // Those of the block of at most block_words that begins at that cell, all of which is_coded(cell).
  template <class U, class IsCoded>
  void add(std::span<const U> bits, size_t first_cell, const IsCoded& is_coded) {
    std::array<U, block_words> words;
    std::array<uint32_t, block_words> hashes, runs;
    const size_t block_runs = bits.size() - min_repeat + 1;
    word_kernels(U{}).order(bits.data(), bits.size(), words.data());
    word_kernels(U{}).hash(words.data(), bits.size(), hashes.data());
    for (size_t i = 0; i < block_runs; ++i) runs[i] = hash_of_run(hashes.data() + i);
    for (size_t i = 0; i < block_runs; ++i) {
      const uint32_t hash = runs[i];
      // (The hash of zeros is 0: they are common, and would all be sampled.)
      if (hash >> unsampled_bits_ != 0 || hash == 0) continue;
      bool coded = true, is_constant = true;  // what is constant is no repeat of anything
      for (size_t k = 0; k < min_repeat; ++k) {
        coded = coded && is_coded(first_cell + i + k);
        is_constant = is_constant && hashes[i + k] == hashes[i];
      }
      if (coded && !is_constant) runs_.push_back(uint64_t{hash} << 32 | (first_cell + i));
    }
    for (size_t k = bits.size() - min_repeat; k < bits.size(); ++k)
      if (!is_coded(first_cell + k)) return;
    ++blocks_;
    ending_ += ends_with_repeat(std::span(hashes).first(bits.size())) ? 1 : 0;
  }
  void sort() { std::sort(runs_.begin(), runs_.end()); }
  const std::vector<SampledRun>& runs() const { return runs_; }

  // Of all words, where of `judged` runs so many have a twin among those sampled. A run's twin lies in a
  // block that is looked at in one case of blocks_between.
  double share(size_t repeated, size_t judged, size_t blocks_between) const {
    if (blocks_ == 0) return 0;
    const double near = static_cast<double>(ending_) / static_cast<double>(blocks_);
    if (judged == 0) return near;
    const double far = static_cast<double>(repeated * blocks_between) / static_cast<double>(judged);
    return std::max(near, std::min(1.0, far));
  }

 private:
  std::vector<SampledRun> runs_;
  size_t blocks_ = 0, ending_ = 0;
  int unsampled_bits_;
};

// Calls visit(begin, end) with the places of each group of runs whose hashes are the same.
template <class Visit>
void visit_alike(const std::vector<SampledRun>& sampled, const Visit& visit) {
  for (size_t i = 0, end = 0; i < sampled.size(); i = end) {
    while (end < sampled.size() && hash_of(sampled[end]) == hash_of(sampled[i])) ++end;
    visit(i, end);
  }
}

// Bits of the difference between words of two runs whose hashes are the same: of the first words, or of the
// last ones where those differ in more than their loose bits. Nothing where both do: hashes do not tell the
// order of words, and short periods have them in any.
template <class U>
std::optional<int> residual_bits(const U* run, const U* run_before) {
  const U own = ordered_word<U>(run[0]);
  U other = ordered_word<U>(run_before[0]);
  if (repeated_part(own) != repeated_part(other)) other = ordered_word<U>(run_before[min_repeat - 1]);
  if (repeated_part(own) != repeated_part(other)) return {};
  if (((own ^ other) >> (word_bits<U> - 1)) != 0) other = ~other;
  return static_cast<int>(std::bit_width(fold_sign<U>(own - other)));
}

// `bits`: of the cells by whose numbers the sample names runs. Fewer than `min_repeated` runs that have twins
// say nothing: in any field two may be alike.
template <class U>
RepeatEstimate judge(RunSample& sample, const U* bits, size_t blocks_between, size_t min_repeated) {
  sample.sort();
  const std::vector<SampledRun>& runs = sample.runs();
  size_t repeated = 0, in_common = 0, compared = 0;
  double differing = 0;
  visit_alike(runs, [&](size_t begin, size_t end) {
    if (end - begin >= common) in_common += end - begin;
    if (end - begin > 1 && end - begin < common) repeated += end - begin;
    for (size_t k = begin + 1; k < end && compared < max_compared; ++k) {
      const auto found = residual_bits(bits + cell_of(runs[k]), bits + cell_of(runs[k - 1]));
      if (!found) continue;
      differing += *found;
      ++compared;
    }
  });
  if (repeated < min_repeated) repeated = 0;
  // What occurs often is no repeat of anything, but where everything does.
  const bool is_all_common = in_common * 2 > runs.size();
  const size_t judged = is_all_common ? runs.size() : runs.size() - in_common;
  if (is_all_common) repeated += in_common;
  return {sample.share(repeated, judged, blocks_between),
          compared == 0 ? 0 : differing / static_cast<double>(compared)};
}

}  // namespace

template <class T>
RepeatEstimate estimate_repeats(const LosslessCells<T>& cells) {
  const size_t blocks_between =
      std::clamp<size_t>(cells.bits.size() / min_looked_at, 1, sizeof(T) == 8 ? 16 : 8);
  RunSample sample(one_run_in_64);
  const std::span<const WordOf<T>> bits(cells.bits);
  // One block of so many, at uneven places: twins of even ones would lie between them at most distances.
  Sequence sequence;
  const size_t stride = block_words * blocks_between;
  for (size_t group = 0; group + block_words <= bits.size(); group += stride) {
    const size_t last = std::min(stride, bits.size() - group) - block_words;
    const size_t begin = group + sequence.below(last / block_words + 1) * block_words;
    sample.add(bits.subspan(begin, block_words), begin, [&](size_t cell) { return cells.is_coded(cell); });
  }
  return judge(sample, cells.bits.data(), blocks_between, 0);
}

template <class T>
RepeatEstimate estimate_repeats(std::span<const T> blocks, std::span<const uint8_t> is_special,
                                size_t block_cells, size_t blocks_between) {
  if (blocks.size() < block_cells) return {};
  RunSample sample(one_run_in_8);
  std::vector<WordOf<T>> words(blocks.size() / block_cells * block_cells);
  std::memcpy(words.data(), blocks.data(), words.size() * sizeof(T));
  const std::span<const WordOf<T>> bits(words);
  for (size_t begin = 0; begin < bits.size(); begin += block_cells)
    sample.add(bits.subspan(begin, block_cells), begin, [&](size_t cell) { return is_special[cell] == 0; });
  constexpr size_t min_repeated = 4;
  return judge(sample, bits.data(), blocks_between, min_repeated);
}

template RepeatEstimate estimate_repeats<float>(const LosslessCells<float>&);
template RepeatEstimate estimate_repeats<double>(const LosslessCells<double>&);
template RepeatEstimate estimate_repeats<float>(std::span<const float>, std::span<const uint8_t>, size_t,
                                                size_t);
template RepeatEstimate estimate_repeats<double>(std::span<const double>, std::span<const uint8_t>, size_t,
                                                 size_t);

}  // namespace neve
