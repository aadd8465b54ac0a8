// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/lossless_encode.hpp"

#include <algorithm>
#include <cstring>

#include "core/bits/word_index.hpp"
#include "core/kernels/portable.hpp"
#include "core/stages/entropy/residual_classes.hpp"
#include "core/stages/lossless/byte_planes.hpp"
#include "core/stages/lossless/value_multiples.hpp"
#include "core/stages/lossless/value_ranks.hpp"
#include "core/stages/mask/special_cursor.hpp"
#include "core/stages/predict/word_lorenzo.hpp"

namespace neve {

namespace {

// Appends a rectangle's share to the list of which cells are left out.
template <class T>
void append_left_out(const RectRows<const T*>& rect, std::vector<uint8_t>& left_out) {
  if (rect.left_out.empty()) {
    left_out.resize(left_out.size() + static_cast<size_t>(rect.cells()), 0);
  } else {
    left_out.insert(left_out.end(), rect.left_out.begin(), rect.left_out.end());
  }
}

// Sets apart the held cells that have the fill value.
template <class T>
void mark_fill(WordOf<T> fill, LosslessCells<T>& cells) {
  const size_t total = cells.bits.size();
  const auto is_fill = [&](size_t cell) { return cells.bits[cell] == fill && cells.is_held(cell); };
  size_t cell = 0;
  while (cell < total && !is_fill(cell)) ++cell;
  if (cell == total) return;
  cells.is_fill.assign(total, 0);
  uint8_t* const marks = cells.is_fill.data();
  const WordOf<T>* const bits = cells.bits.data();
  if (cells.left_out.empty()) {
    for (; cell < total; ++cell) marks[cell] = bits[cell] == fill ? 1 : 0;
  } else {
    for (; cell < total; ++cell) marks[cell] = is_fill(cell) ? 1 : 0;
  }
  cells.coded -= static_cast<uint64_t>(std::count(cells.is_fill.begin(), cells.is_fill.end(), uint8_t{1}));
}

}  // namespace

template <class T>
LosslessCells<T> gather(const SectionSource<T>& source, const ComponentSpec& spec) {
  using U = WordOf<T>;
  LosslessCells<T> cells;
  cells.held = cells.coded = source.held;
  size_t total = 0;
  for (const auto& rect : source.rects) {
    if (rect.cells() == 0) continue;
    cells.grids.push_back({rect.size, total});
    total += static_cast<size_t>(rect.cells());
  }
  cells.bits = take_values<U>(total);
  if (source.held < total) cells.left_out.reserve(total);
  U* next = cells.bits.data();
  for (const auto& rect : source.rects) {
    if (rect.cells() == 0) continue;
    visit_rows(rect, [&](int64_t y, int64_t z, int64_t w, int64_t) {
      std::memcpy(next, rect.row(y, z, w), static_cast<size_t>(rect.size[0]) * sizeof(U));
      next += rect.size[0];
      return true;
    });
    if (source.held < total) append_left_out(rect, cells.left_out);
  }
  // Memory of holes has held anything before, and samples look at blocks of neighbours.
  for (size_t cell = 0; cell < cells.left_out.size(); ++cell)
    cells.bits[cell] = cells.left_out[cell] != 0 ? U{0} : cells.bits[cell];
  if (const std::optional<U> fill = fill_bits<T>(spec); fill) mark_fill(*fill, cells);
  return cells;
}

namespace {

// The words that differences are taken of, and the values that have none.
template <class T>
struct MappedCells {
  RawVector<WordOf<T>> words;
  std::vector<uint8_t> excluded;  // empty: none
  SpecialValues specials;         // of the held cells without a word
};

// `maps_all`: every value has a word, so that nothing has to be looked for.
template <class T, class Map>
MappedCells<T> map_cells(const LosslessCells<T>& cells, bool maps_all, const Map& map) {
  using U = WordOf<T>;
  MappedCells<T> mapped;
  const size_t total = cells.bits.size();
  mapped.words = take_values<U>(total);
  if (!cells.left_out.empty()) mapped.excluded = cells.left_out;
  if (cells.left_out.empty() && cells.is_fill.empty() && maps_all) {
    for (size_t cell = 0; cell < total; ++cell) mapped.words[cell] = *map(cells.bits[cell]);
    return mapped;
  }
  uint64_t position = 0;
  const auto exclude = [&](size_t cell, bool repeats) {
    if (mapped.excluded.empty()) mapped.excluded.assign(total, 0);
    mapped.excluded[cell] = 1;
    mapped.specials.add(position, cells.bits[cell], repeats);
  };
  for (size_t cell = 0; cell < total; ++cell) {
    if (!cells.is_held(cell)) continue;
    if (!cells.is_fill.empty() && cells.is_fill[cell] != 0) {
      exclude(cell, true);
    } else if (const std::optional<U> word = map(cells.bits[cell]); word) {
      mapped.words[cell] = *word;
    } else {
      exclude(cell, false);
    }
    ++position;
  }
  return mapped;
}

// Repeats must predict this share of the words: they are listed, and break the contexts of residuals.
constexpr double min_repeated_share = 0.02;

template <class T>
void write_differences(const LosslessCells<T>& cells, MappedCells<T>&& mapped,
                       const LosslessCandidate& candidate, ByteWriter& out) {
  using U = WordOf<T>;
  const bool has_excluded = !mapped.excluded.empty();
  if (has_excluded) {
    for (const LosslessGrid& grid : cells.grids)
      fill_excluded(mapped.words.data() + grid.offset, mapped.excluded.data() + grid.offset, grid.cells());
  }
  std::vector<WordRepeat> repeats;
  if constexpr (std::is_floating_point_v<T>) {
    if (candidate.repeats) repeats = find_repeats<U>(mapped.words);
    size_t repeated = 0;
    for (const WordRepeat& repeat : repeats) repeated += repeat.count;
    if (static_cast<double>(repeated) < min_repeated_share * static_cast<double>(mapped.words.size()))
      repeats.clear();
  }
  out.put(static_cast<uint8_t>((mapped.specials.runs.empty() ? 0 : flag_specials) |
                               (repeats.empty() ? 0 : flag_repeats)));
  if (!mapped.specials.runs.empty()) write_special_values(mapped.specials, sizeof(T), out);
  out.put(static_cast<uint8_t>(candidate.axes));
  if (!repeats.empty()) write_repeats(repeats, out);
  RawVector<U> residuals = take_values<U>(mapped.words.size());
  std::vector<ResidualGrid<U>> grids;
  for (const LosslessGrid& grid : cells.grids) {
    const uint8_t* const excluded = has_excluded ? mapped.excluded.data() + grid.offset : nullptr;
    WordLorenzo<U>(grid.size, candidate.axes)
        .forward(mapped.words.data() + grid.offset, residuals.data() + grid.offset);
    grids.push_back({grid.size, residuals.data() + grid.offset, excluded});
  }
  for (const WordRepeat& repeat : repeats) {
    for (size_t i = repeat.begin; i < repeat.begin + repeat.count; ++i)
      residuals[i] = fold_sign<U>(mapped.words[i] - repeat.word(mapped.words.data(), i));
  }
  encode_residuals<U>(grids, out);
  recycle_values(std::move(residuals));
  recycle_values(std::move(mapped.words));
}

template <class T>
Status write_held_words(const LosslessCells<T>& cells, LosslessMethod method, const CoderLevels& levels,
                        ByteWriter& out) {
  using U = WordOf<T>;
  if (cells.left_out.empty()) return write_words<U>(method, levels, cells.bits, out);
  RawVector<U> words = take_values<U>(cells.held);
  size_t next = 0;
  for (size_t cell = 0; cell < cells.bits.size(); ++cell) {
    if (cells.is_held(cell)) words[next++] = cells.bits[cell];
  }
  const Status written = write_words<U>(method, levels, words, out);
  recycle_values(std::move(words));
  return written;
}

// Values as ordered integers.
template <class T>
MappedCells<T> map_to_ordered(const LosslessCells<T>& cells) {
  using U = WordOf<T>;
  if (!std::is_floating_point_v<T> || !cells.left_out.empty())
    return map_cells(cells, true, [](U bits) { return std::optional(word_of<T>(bits)); });
  MappedCells<T> mapped;
  mapped.words = take_values<U>(cells.bits.size());
  word_kernels(U{}).order(cells.bits.data(), cells.bits.size(), mapped.words.data());
  mapped.excluded = cells.is_fill;
  visit_runs(cells.is_fill.empty() ? nullptr : cells.is_fill.data(), cells.bits.size(),
             [&](size_t begin, size_t end, bool is_fill) {
               if (is_fill) mapped.specials.add_run(begin, end - begin, cells.bits[begin]);
             });
  return mapped;
}

template <class T>
MappedCells<T> map_to_multiples(const LosslessCells<T>& cells, const ValueUnit& unit) {
  using U = WordOf<T>;
  const Multiples<T> multiples(unit);
  return map_cells(cells, false, [&](U word) -> std::optional<U> {
    const auto multiple = multiples.multiple(std::bit_cast<T>(word));
    if (!multiple) return {};
    return static_cast<U>(*multiple);
  });
}

// The different words that ranks are given to; nothing when they are too many.
template <class T>
std::optional<std::vector<WordOf<T>>> ranked_words(const LosslessCells<T>& cells) {
  using U = WordOf<T>;
  std::vector<U> words;
  words.reserve(cells.held);
  for (size_t cell = 0; cell < cells.bits.size(); ++cell) {
    if (cells.is_coded(cell)) words.push_back(word_of<T>(cells.bits[cell]));
  }
  auto distinct = distinct_words<U>(words, std::is_integral_v<T>);
  if (!distinct) return {};
  if (distinct->empty())
    distinct->push_back(0);  // nothing but special values; the table has an entry at least
  return distinct;
}

template <class T>
MappedCells<T> map_to_ranks(const LosslessCells<T>& cells, const std::vector<WordOf<T>>& distinct) {
  using U = WordOf<T>;
  WordIndex<U> ranks(distinct.size());
  for (size_t rank = 0; rank < distinct.size(); ++rank)
    ranks.insert(distinct[rank], static_cast<uint32_t>(rank));
  return map_cells(cells, true,
                   [&](U bits) { return std::optional(static_cast<U>(ranks.number(word_of<T>(bits)))); });
}

}  // namespace

template <class T>
std::optional<Bytes> encode_by(const LosslessCells<T>& cells, const LosslessCandidate& candidate,
                               const CoderLevels& levels) {
  Bytes bytes(1, static_cast<std::byte>(candidate.method));
  ByteWriter out(bytes);
  if (candidate.method == LosslessMethod::lorenzo) {
    write_differences(cells, map_to_ordered(cells), candidate, out);
  } else if (candidate.method == LosslessMethod::multiple) {
    write_unit(candidate.unit, out);
    write_differences(cells, map_to_multiples(cells, candidate.unit), candidate, out);
  } else if (candidate.method == LosslessMethod::rank) {
    const auto distinct = ranked_words(cells);
    if (!distinct) return {};
    write_distinct<WordOf<T>>(*distinct, out);
    write_differences(cells, map_to_ranks(cells, *distinct), candidate, out);
  } else if (!write_held_words(cells, candidate.method, levels, out).ok()) {
    return {};
  }
  return bytes;
}

namespace {

// Cells of the rectangle's row that follow one another in memory from a row's first cell on.
template <class T>
int64_t cells_in_a_row(const RectRows<const T*>& rect) {
  int64_t cells = rect.size[0];
  for (size_t d = 1; d < max_frame_dims && (rect.size[d] == 1 || rect.stride[d] == cells); ++d)
    cells *= rect.size[d];
  return cells;
}

}  // namespace

template <class T>
std::optional<Bytes> encode_rows(const SectionSource<T>& source, LosslessMethod method,
                                 const CoderLevels& levels) {
  Symbols buffer = take_symbols(source.held * sizeof(T));
  const auto planes = std::as_writable_bytes(std::span(buffer));
  std::byte* next = planes.data();
  for (const auto& rect : source.rects) {
    if (rect.cells() == 0) continue;
    const int64_t cells = cells_in_a_row(rect);
    for (int64_t r = 0; r < rect.rows(); r += cells / rect.size[0], next += cells)
      deal_bytes(std::as_bytes(std::span(rect.row(r), static_cast<size_t>(cells))), sizeof(T), next,
                 source.held);
  }
  Bytes bytes(1, static_cast<std::byte>(method));
  ByteWriter out(bytes);
  const Status written = write_coded(byte_method(method).coder, planes, out, levels);
  recycle_symbols(std::move(buffer));
  if (!written.ok()) return {};
  return bytes;
}

template <class T>
bool takes_rows(const SectionSource<T>& source, LosslessMethod method) {
  const ByteMethod how = byte_method(method);
  return !takes_differences(method) && how.layout == ByteMethod::Layout::byte_planes && !how.xors &&
         std::all_of(source.rects.begin(), source.rects.end(),
                     [](const auto& rect) { return rect.left_out.empty(); });
}

template LosslessCells<float> gather(const SectionSource<float>&, const ComponentSpec&);
template std::optional<Bytes> encode_by(const LosslessCells<float>&, const LosslessCandidate&,
                                        const CoderLevels&);
template std::optional<Bytes> encode_rows(const SectionSource<float>&, LosslessMethod, const CoderLevels&);
template bool takes_rows(const SectionSource<float>&, LosslessMethod);
template LosslessCells<double> gather(const SectionSource<double>&, const ComponentSpec&);
template std::optional<Bytes> encode_by(const LosslessCells<double>&, const LosslessCandidate&,
                                        const CoderLevels&);
template std::optional<Bytes> encode_rows(const SectionSource<double>&, LosslessMethod, const CoderLevels&);
template bool takes_rows(const SectionSource<double>&, LosslessMethod);
template LosslessCells<uint8_t> gather(const SectionSource<uint8_t>&, const ComponentSpec&);
template std::optional<Bytes> encode_by(const LosslessCells<uint8_t>&, const LosslessCandidate&,
                                        const CoderLevels&);
template std::optional<Bytes> encode_rows(const SectionSource<uint8_t>&, LosslessMethod, const CoderLevels&);
template bool takes_rows(const SectionSource<uint8_t>&, LosslessMethod);
template LosslessCells<uint16_t> gather(const SectionSource<uint16_t>&, const ComponentSpec&);
template std::optional<Bytes> encode_by(const LosslessCells<uint16_t>&, const LosslessCandidate&,
                                        const CoderLevels&);
template std::optional<Bytes> encode_rows(const SectionSource<uint16_t>&, LosslessMethod, const CoderLevels&);
template bool takes_rows(const SectionSource<uint16_t>&, LosslessMethod);
template LosslessCells<uint32_t> gather(const SectionSource<uint32_t>&, const ComponentSpec&);
template std::optional<Bytes> encode_by(const LosslessCells<uint32_t>&, const LosslessCandidate&,
                                        const CoderLevels&);
template std::optional<Bytes> encode_rows(const SectionSource<uint32_t>&, LosslessMethod, const CoderLevels&);
template bool takes_rows(const SectionSource<uint32_t>&, LosslessMethod);
template LosslessCells<uint64_t> gather(const SectionSource<uint64_t>&, const ComponentSpec&);
template std::optional<Bytes> encode_by(const LosslessCells<uint64_t>&, const LosslessCandidate&,
                                        const CoderLevels&);
template std::optional<Bytes> encode_rows(const SectionSource<uint64_t>&, LosslessMethod, const CoderLevels&);
template bool takes_rows(const SectionSource<uint64_t>&, LosslessMethod);

}  // namespace neve
