// SPDX-License-Identifier: BSD-3-Clause
// What is looked at of a section before its lossless method is chosen: runs of cells, values, slices.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/sections/lossless_cells.hpp"
#include "core/select/sequence.hpp"

namespace neve {

// Cells are sampled in runs along x, so that neighbours share cache lines.
inline constexpr int64_t run_cells = 32;
inline constexpr size_t min_samples = 512, max_samples = 4096, cells_per_sample = 256;
inline constexpr size_t fewest_samples = 128, few_cells_per_sample = 64;  // of small sections
inline constexpr size_t value_samples = 512, max_rank_samples = 4096;
// Slices that byte methods are tried on: as many words in a row, together one word in so many of the section.
inline constexpr size_t slices = 16, min_slice_words = 64, max_slice_words = 384, words_per_slice_word = 128;

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

// Words in slices from all over the section, so many times longer ones.
template <class T>
std::vector<WordOf<T>> sample_slices(const LosslessCells<T>& cells, size_t times = 1) {
  std::vector<WordOf<T>> words;
  const size_t total = cells.bits.size();
  const size_t each =
      std::clamp(times * total / (slices * words_per_slice_word), min_slice_words, times * max_slice_words);
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

// Ranks are worth a trial when at most this share of the sampled values are different ones.
inline constexpr double few_values_share = 0.125;

inline constexpr size_t max_few_words(size_t sampled) {
  return static_cast<size_t>(few_values_share * static_cast<double>(sampled));
}
// Of most fields a first sample tells that there are too many values for ranks, and no unit.
inline constexpr size_t first_samples = max_few_words(value_samples) * 5 / 4;

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

}  // namespace neve
