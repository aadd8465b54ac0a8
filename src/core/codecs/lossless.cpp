// SPDX-License-Identifier: BSD-3-Clause
// Codec `lossless`: every bit kept, by one of several methods; which one a section says in its first byte.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/bits/word_index.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/kernels/portable.hpp"
#include "core/sections/lossless_cells.hpp"
#include "core/select/lossless_choice.hpp"
#include "core/stages/entropy/residual_classes.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/stages/lossless/byte_planes.hpp"
#include "core/stages/lossless/byte_segregation.hpp"
#include "core/stages/lossless/value_multiples.hpp"
#include "core/stages/lossless/value_ranks.hpp"
#include "core/stages/lossless/word_xor.hpp"
#include "core/stages/mask/special_cursor.hpp"
#include "core/stages/predict/word_lorenzo.hpp"

namespace neve {

namespace {

constexpr uint8_t flag_specials = 1, flag_repeats = 2;

// Others are tried when they may score this much of the first one. Estimates within a family (methods on
// bytes; methods of differences) err alike, between families less so. A trial costs as much as coding, by
// differences less than by zstd.
struct CloseScores {
  double in_family;
  double to_differences;
  double to_bytes;
};
CloseScores close_scores(Effort effort) {
  return effort == Effort::max ? CloseScores{0.93, 0.6, 0.6} : CloseScores{0.99, 0.85, 0.96};
}

// Where speed alone counts, lz4 looks for repeats at one place in so many: with it, methods that find more
// are chosen wherever the ratio counts at all.
constexpr int fastest_lz4_acceleration = 64;

CoderLevels coder_levels(Effort effort, const CodecTuning& tuning) {
  return {effort == Effort::fast       ? 1
          : effort == Effort::balanced ? 3
                                       : 9,
          tuning.ratio_weight == 0 ? fastest_lz4_acceleration : 1};
}
// What takes so few bytes is tried whatever the others score.
constexpr double soon_tried_bytes = 4096;
// Candidates that are tried in full; the one that comes out smallest is kept.
size_t max_trials(Effort effort) { return effort == Effort::fast ? 1 : effort == Effort::balanced ? 2 : 4; }

bool takes_differences(LosslessMethod method) { return method >= LosslessMethod::lorenzo; }

// --- bytes as bytes -------------------------------------------------------------------------------------

struct ByteMethod {
  enum class Layout : uint8_t { as_they_are, byte_planes, bit_planes, segregated, segregated_byte_wise };
  Layout layout = Layout::as_they_are;
  ByteCoder coder = ByteCoder::zstd;
  bool xors = false;  // each word with the one before it, first
};

ByteMethod byte_method(LosslessMethod method) {
  using Layout = ByteMethod::Layout;
  switch (method) {
    case LosslessMethod::lz4:
      return {Layout::as_they_are, ByteCoder::lz4};
    case LosslessMethod::shuffle_zstd:
      return {Layout::byte_planes, ByteCoder::zstd};
    case LosslessMethod::shuffle_lz4:
      return {Layout::byte_planes, ByteCoder::lz4};
    case LosslessMethod::bitshuffle_zstd:
      return {Layout::bit_planes, ByteCoder::zstd};
    case LosslessMethod::bitshuffle_lz4:
      return {Layout::bit_planes, ByteCoder::lz4};
    case LosslessMethod::xor_zstd:
      return {Layout::byte_planes, ByteCoder::zstd, true};
    default:
      break;
  }
  if (method > LosslessMethod::bwxor_bzip2) return {};
  // ACOMPS' nine are numbered by what is done before, then by compressor.
  const int number = static_cast<int>(method) - static_cast<int>(LosslessMethod::b_lzo);
  constexpr std::array<ByteCoder, 3> coders = {ByteCoder::lzo, ByteCoder::zlib, ByteCoder::bzip2};
  return {number < 3 ? Layout::segregated : Layout::segregated_byte_wise,
          coders[static_cast<size_t>(number % 3)], number >= 6};
}

Segregation segregation_of(ByteMethod::Layout layout) {
  return layout == ByteMethod::Layout::segregated ? Segregation::bytes : Segregation::byte_wise;
}

Status write_bytes(const ByteMethod& how, const CoderLevels& levels, ByteSpan bytes, size_t word_bytes,
                   ByteWriter& out) {
  using Layout = ByteMethod::Layout;
  if (how.layout == Layout::as_they_are) return write_coded(how.coder, bytes, out, levels);
  if (how.layout >= Layout::segregated)
    return write_segregated(segregation_of(how.layout), how.coder, bytes, word_bytes, out);
  Symbols buffer = take_symbols(bytes.size());
  const auto planes = std::as_writable_bytes(std::span(buffer));
  (how.layout == Layout::byte_planes ? to_byte_planes : to_bit_planes)(bytes, word_bytes, planes);
  const Status status = write_coded(how.coder, planes, out, levels);
  recycle_symbols(std::move(buffer));
  return status;
}

template <class U>
Status write_words(LosslessMethod method, const CoderLevels& levels, std::span<const U> words,
                   ByteWriter& out) {
  const ByteMethod how = byte_method(method);
  if (!how.xors) return write_bytes(how, levels, std::as_bytes(words), sizeof(U), out);
  RawVector<U> xored = take_values<U>(words.size());
  if (!words.empty()) xored[0] = words[0];
  for (size_t i = 1; i < words.size(); ++i) xored[i] = words[i] ^ words[i - 1];
  const Status status = write_bytes(how, levels, std::as_bytes(std::span<const U>(xored)), sizeof(U), out);
  recycle_values(std::move(xored));
  return status;
}

template <class U>
Status read_bytes(LosslessMethod method, ByteReader& in, RawVector<U>& words) {
  const ByteMethod how = byte_method(method);
  const auto view = std::as_writable_bytes(std::span(words));
  if (how.layout >= ByteMethod::Layout::segregated) {
    NEVE_TRY(read_segregated(segregation_of(how.layout), how.coder, in, sizeof(U), view));
  } else {
    using Layout = ByteMethod::Layout;
    if (how.layout == Layout::as_they_are) return read_coded(how.coder, in, view);
    Symbols buffer = take_symbols(view.size());
    const auto planes = std::as_writable_bytes(std::span(buffer));
    NEVE_TRY(read_coded(how.coder, in, planes));
    (how.layout == Layout::bit_planes ? from_bit_planes : from_byte_planes)(planes, sizeof(U), view);
    recycle_symbols(std::move(buffer));
  }
  if (how.xors) undo_xor(std::span(words));
  return {};
}

// --- encoder --------------------------------------------------------------------------------------------

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
  if (const std::optional<U> fill = fill_bits<T>(spec); fill) mark_fill(*fill, cells);
  return cells;
}

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

// The different words that ranks are given to; nothing when they are too many, or none and that does not pay.
template <class T>
std::optional<std::vector<WordOf<T>>> ranked_words(const LosslessCells<T>& cells, bool by_name) {
  using U = WordOf<T>;
  std::vector<U> words;
  words.reserve(cells.held);
  for (size_t cell = 0; cell < cells.bits.size(); ++cell) {
    if (cells.is_coded(cell)) words.push_back(word_of<T>(cells.bits[cell]));
  }
  auto distinct =
      distinct_words<U>(words, std::is_integral_v<T>, by_name ? max_ranks : max_paying_ranks(words.size()));
  if (!distinct || (distinct->empty() && !by_name)) return {};
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

// The section's bytes; nothing when the values do not suit the method after all. `by_name`: it was asked for
// and need not pay.
template <class T>
std::optional<Bytes> encode_by(const LosslessCells<T>& cells, const LosslessCandidate& candidate,
                               const CoderLevels& levels, bool by_name) {
  Bytes bytes(1, static_cast<std::byte>(candidate.method));
  ByteWriter out(bytes);
  if (candidate.method == LosslessMethod::lorenzo) {
    write_differences(cells, map_to_ordered(cells), candidate, out);
  } else if (candidate.method == LosslessMethod::multiple) {
    write_unit(candidate.unit, out);
    write_differences(cells, map_to_multiples(cells, candidate.unit), candidate, out);
  } else if (candidate.method == LosslessMethod::rank) {
    const auto distinct = ranked_words(cells, by_name);
    if (!distinct) return {};
    write_distinct<WordOf<T>>(*distinct, out);
    write_differences(cells, map_to_ranks(cells, *distinct), candidate, out);
  } else if (!write_held_words(cells, candidate.method, levels, out).ok()) {
    return {};
  }
  return bytes;
}

// Cells of the rectangle's row that follow one another in memory from a row's first cell on.
template <class T>
int64_t cells_in_a_row(const RectRows<const T*>& rect) {
  int64_t cells = rect.size[0];
  for (size_t d = 1; d < max_frame_dims && (rect.size[d] == 1 || rect.stride[d] == cells); ++d)
    cells *= rect.size[d];
  return cells;
}

// The section's bytes by a method of byte planes, which are made of the values as they lie: no other method
// needs so little of them.
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

// --- decoder --------------------------------------------------------------------------------------------

// What precedes the residuals, and the way from words back to bits.
template <class T>
struct WordMeaning {
  using U = WordOf<T>;
  LosslessMethod method = LosslessMethod::lorenzo;
  std::optional<Multiples<T>> multiples;
  std::vector<U> distinct;

  // Nothing: no such word can be.
  std::optional<U> bits(U word) const {
    if (method == LosslessMethod::lorenzo) return bits_of_word<T>(word);
    if (multiples) return std::bit_cast<U>(multiples->value(static_cast<std::make_signed_t<U>>(word)));
    if (word >= distinct.size()) return {};
    return bits_of_word<T>(distinct[word]);
  }
};

template <class T>
Result<WordMeaning<T>> read_meaning(LosslessMethod method, ByteReader& in, uint64_t held) {
  WordMeaning<T> meaning;
  meaning.method = method;
  if (method == LosslessMethod::multiple) {
    NEVE_ASSIGN(const ValueUnit unit, read_unit<T>(in));
    meaning.multiples.emplace(unit);
  } else if (method == LosslessMethod::rank) {
    NEVE_ASSIGN(meaning.distinct, read_distinct<WordOf<T>>(in, held));
  }
  return meaning;
}

template <class T>
size_t all_cells(const SectionTarget<T>& target) {
  size_t total = 0;
  for (const auto& rect : target.rects) total += static_cast<size_t>(rect.cells());
  return total;
}

template <class T>
bool has_left_out(const SectionTarget<T>& target) {
  return std::any_of(target.rects.begin(), target.rects.end(),
                     [](const auto& rect) { return !rect.left_out.empty(); });
}

// What a section of differences says before its residuals.
template <class T>
struct DifferencesHead {
  WordMeaning<T> meaning;
  SpecialValues specials;
  unsigned axes = 0;
  std::vector<WordRepeat> repeats;
};

template <class T>
Result<DifferencesHead<T>> read_head(LosslessMethod method, ByteReader& in, const SectionTarget<T>& target) {
  DifferencesHead<T> head;
  NEVE_ASSIGN(head.meaning, read_meaning<T>(method, in, target.held));
  const auto flags = in.get<uint8_t>();
  if (in.failed() || (flags & ~(flag_specials | flag_repeats)) != 0) {
    return corrupt(fmt::format("lossless section: unknown flags 0x{:02x}", flags));
  }
  if ((flags & flag_specials) != 0) {
    NEVE_ASSIGN(head.specials, read_special_values(in, sizeof(T), target.held));
  }
  head.axes = in.get<uint8_t>();
  if (in.failed() || head.axes > all_axes) {
    return corrupt(fmt::format("lossless section: differences along axes 0x{:02x}", head.axes));
  }
  if ((flags & flag_repeats) != 0) {
    NEVE_ASSIGN(head.repeats, read_repeats(in, all_cells(target)));
  }
  return head;
}

// The cells that have no residual, 1 each (empty: none), and the special values among them that lie between
// left-out cells: a special's position counts held cells only.
template <class U>
struct CellsWithoutWord {
  std::vector<uint8_t> excluded;
  std::vector<std::pair<size_t, U>> patches;
};

template <class T>
CellsWithoutWord<WordOf<T>> find_excluded(const SectionTarget<T>& target, const SpecialValues& specials) {
  CellsWithoutWord<WordOf<T>> found;
  if (!has_left_out(target)) {
    if (!specials.runs.empty()) found.excluded.assign(all_cells(target), 0);
    for (const SpecialRun& run : specials.runs) std::memset(found.excluded.data() + run.begin, 1, run.count);
    return found;
  }
  found.excluded.assign(all_cells(target), 0);
  SpecialCursor cursor(specials);
  uint64_t position = 0;
  uint64_t special_at = cursor.next(0);
  size_t cell = 0;
  for (const auto& rect : target.rects) {
    for (int64_t i = 0; i < rect.cells(); ++i, ++cell) {
      if (!rect.left_out.empty() && rect.left_out[static_cast<size_t>(i)] != 0) {
        found.excluded[cell] = 1;
        continue;
      }
      if (position == special_at) {
        found.excluded[cell] = 1;
        found.patches.emplace_back(cell, static_cast<WordOf<T>>(cursor.bits(position)));
        special_at = cursor.next(position + 1);
      }
      ++position;
    }
  }
  return found;
}

// From words to the values' bits, in place, but for excluded cells.
template <class T>
Status words_to_bits(const WordMeaning<T>& meaning, const std::vector<uint8_t>& excluded,
                     RawVector<WordOf<T>>& words) {
  using U = WordOf<T>;
  if (meaning.method == LosslessMethod::lorenzo) {
    if constexpr (std::is_floating_point_v<T>)
      word_kernels(U{}).unorder(words.data(), words.size(), words.data());
    return {};
  }
  for (size_t cell = 0; cell < words.size(); ++cell) {
    if (!excluded.empty() && excluded[cell] != 0) continue;
    const std::optional<U> bits = meaning.bits(words[cell]);
    if (!bits) {
      return corrupt(
          fmt::format("lossless section: a rank outside of its {} values", meaning.distinct.size()));
    }
    words[cell] = *bits;
  }
  return {};
}

// Bits of all cells of the target's rectangles, one after another; those of left-out cells have no meaning.
template <class T>
Result<RawVector<WordOf<T>>> decode_differences(LosslessMethod method, ByteReader& in,
                                                const SectionTarget<T>& target) {
  using U = WordOf<T>;
  NEVE_ASSIGN(const DifferencesHead<T> head, read_head<T>(method, in, target));
  CellsWithoutWord<U> without_word = find_excluded(target, head.specials);
  std::vector<uint8_t>& excluded = without_word.excluded;
  RawVector<U> words = take_values<U>(all_cells(target));
  std::vector<ResidualGrid<U>> grids;
  size_t offset = 0;
  for (const auto& rect : target.rects) {
    if (rect.cells() == 0) continue;
    grids.push_back(
        {rect.size, words.data() + offset, excluded.empty() ? nullptr : excluded.data() + offset});
    offset += static_cast<size_t>(rect.cells());
  }
  NEVE_TRY(decode_residuals<U>(in, grids));
  for (const ResidualGrid<U>& grid : grids)
    WordLorenzo<U>(grid.size, head.axes).inverse(grid.residuals, grid.excluded, words.data(), head.repeats);
  NEVE_TRY(words_to_bits(head.meaning, excluded, words));
  for (const auto& [cell, bits] : without_word.patches) words[cell] = bits;
  if (has_left_out(target)) return words;
  for (const SpecialRun& run : head.specials.runs) {
    for (uint64_t i = 0; i < run.count; ++i)
      words[run.begin + i] = static_cast<U>(head.specials.bits(run, i));
  }
  return words;
}

template <class T>
Result<RawVector<WordOf<T>>> decode_bytes(LosslessMethod method, ByteReader& in,
                                          const SectionTarget<T>& target) {
  using U = WordOf<T>;
  RawVector<U> held = take_values<U>(target.held);
  NEVE_TRY(read_bytes(method, in, held));
  const size_t total = all_cells(target);
  if (total == held.size()) return held;
  RawVector<U> bits = take_values<U>(total);
  const U* next = held.data();
  U* out = bits.data();
  for (const auto& rect : target.rects) {
    for (int64_t i = 0; i < rect.cells(); ++i, ++out) {
      if (rect.left_out.empty() || rect.left_out[static_cast<size_t>(i)] == 0) *out = *next++;
    }
  }
  recycle_values(std::move(held));
  return bits;
}

// How a section's method is found.
struct MethodChoice {
  LosslessMethod asked;  // by name, or as it was recalled; automatic: the method is chosen
  bool is_named;
  bool is_fastest;  // chosen, and speed alone counts

  explicit MethodChoice(const ComponentSpec& spec)
      : asked(spec.tuning.method == LosslessMethod::automatic ? spec.recalled_method : spec.tuning.method),
        is_named(spec.tuning.method != LosslessMethod::automatic),
        is_fastest(is_chosen() && spec.tuning.ratio_weight == 0) {}
  bool is_chosen() const { return asked == LosslessMethod::automatic; }
};

// The methods that are coded where one was asked for or recalled.
template <class T>
WeighedMethods methods_asked_for(const LosslessCells<T>& cells, const MethodChoice& choice) {
  WeighedMethods weighed;
  if (takes_differences(choice.asked)) {
    weighed.candidates.push_back(weigh_method(cells, choice.asked));
  } else {
    weighed.candidates.emplace_back();
    weighed.candidates.back().method = choice.asked;
  }
  // Ranks lie in the values' order: the same axes suit both.
  if (choice.asked == LosslessMethod::rank && !choice.is_named) {
    weighed.candidates.push_back(weighed.candidates.back());
    weighed.candidates.back().method = LosslessMethod::lorenzo;
  }
  for (LosslessCandidate& candidate : weighed.candidates) candidate.score = HUGE_VAL;  // tried anyway
  return weighed;
}

// Codes a section by one candidate after another; the best one above a score is kept.
template <class T>
class LosslessTrials {
 public:
  LosslessTrials(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                 double score_to_beat)
      : source_(source),
        spec_(spec),
        choice_(spec),
        effort_(effort),
        levels_(coder_levels(effort, spec.tuning)),
        raw_bytes_(static_cast<double>(source.held) * sizeof(T)),
        score_to_beat_(score_to_beat) {}

  // The draft's selection is valid even where none is good enough.
  void run() {
    draft_.codec = Codec::lossless;
    const WeighedMethods weighed = weigh();
    trials_left_ = choice_.is_chosen() ? max_trials(effort_) : 1;
    if (!weighed.candidates.empty()) highest_score_ = weighed.candidates[0].score;
    // Else the methods are weighed as if no other codec were at hand: what comes out is not beaten by asking
    // for no loss.
    const bool is_large = raw_bytes_ > score_to_beat_ * few_coded_bytes;
    if (is_large && weighed.unsure.empty() && highest_score_ * hopeless_times < score_to_beat_)
      return pass_all(weighed);
    for (const LosslessCandidate& candidate : weighed.candidates) {
      // Of methods asked for there is one, of recalled ones also what stands in for it.
      if (trials_left_ == 0 && !choice_.is_chosen()) break;
      consider(candidate);
    }
    code_all(weighed.unsure);
    if (choice_.is_chosen() && !choice_.is_fastest && raw_bytes_ <= tiny_raw_bytes) code_tiny();
    // What was missing has been found.
    const auto is_best = [&](const LosslessCandidate& c) { return best_ == c.method; };
    if (effort_ == Effort::fast && std::any_of(weighed.unsure.begin(), weighed.unsure.end(), is_best))
      is_surprise_ = false;
    if (choice_.is_chosen() && is_worth_more_trials()) code_all(weighed.candidates);
    if (choice_.is_chosen() && (is_surprise_ || is_worth_more_trials())) reconsider();
    draft_.selection.times.won_ns += gather_ns_;
    recycle_values(std::move(cells_.bits));
  }
  bool has_won() const { return best_.has_value() && (score_to_beat_ == 0 || best_score_ > score_to_beat_); }
  SectionDraft& draft() { return draft_; }

 private:
  WeighedMethods weigh() {
    const uint64_t begin_ns = thread_time_ns();
    WeighedMethods weighed;
    if (choice_.is_fastest) weighed = fastest_method(spec_.tuning);
    const LosslessMethod settled = choice_.is_fastest ? weighed.candidates[0].method : choice_.asked;
    is_in_rows_ = settled != LosslessMethod::automatic && takes_rows(source_, settled);
    if (!is_in_rows_) cells_ = gather(source_, spec_);
    const uint64_t gathered_ns = thread_time_ns();
    gather_ns_ = gathered_ns - begin_ns;
    if (!choice_.is_chosen()) {
      weighed = methods_asked_for(cells_, choice_);
      gather_ns_ += thread_time_ns() - gathered_ns;
      return weighed;
    }
    if (!choice_.is_fastest) weighed = weigh_lossless(cells_, spec_.tuning, effort_);
    draft_.selection.candidates = std::move(weighed.withdrawn);
    draft_.selection.times.weigh_ns = thread_time_ns() - gathered_ns;
    return weighed;
  }

  void consider(const LosslessCandidate& candidate) {
    WeighedCandidate entry{
        Codec::lossless, candidate.method, Fate::lost,
        choice_.is_chosen() ? static_cast<uint64_t>(std::min(candidate.bytes, raw_bytes_)) : 0, 0};
    const double others_score = best_ ? std::max(highest_score_, best_score_) : 0;
    const bool is_soon_tried = candidate.bytes < soon_tried_bytes;
    if (!is_soon_tried && candidate.score < close_score(candidate.method) * others_score)
      return draft_.selection.passed(entry, Fate::estimate_too_low);
    if (trials_left_ == 0 && !(is_soon_tried && effort_ != Effort::fast))
      return draft_.selection.passed(entry, Fate::trial_limit);
    code(candidate, entry);
  }

  // The share of the best score from which on a method is tried.
  double close_score(LosslessMethod method) const {
    const CloseScores close = close_scores(effort_);
    const bool differs = takes_differences(method);
    if (best_ && takes_differences(*best_) == differs) return close.in_family;
    return differs ? close.to_differences : close.to_bytes;
  }

  // A trial that says only that its estimate was wrong takes no other candidate's place.
  static bool is_misjudged(const LosslessCandidate& candidate, size_t bytes) {
    constexpr double most_times = 2;
    return static_cast<double>(bytes) > most_times * candidate.bytes + few_bytes;
  }

  // Small sections that come out many times smaller are soon coded by all.
  bool is_worth_more_trials() const {
    constexpr double many_times = 8;
    return effort_ != Effort::fast && raw_bytes_ <= few_raw_bytes && best_ &&
           static_cast<double>(draft_.before.size()) * many_times < raw_bytes_;
  }

  void pass_all(const WeighedMethods& weighed) {
    for (const LosslessCandidate& candidate : weighed.candidates) {
      draft_.selection.passed({Codec::lossless, candidate.method, Fate::estimate_too_low,
                               static_cast<uint64_t>(std::min(candidate.bytes, raw_bytes_)), 0},
                              Fate::estimate_too_low);
    }
    recycle_values(std::move(cells_.bits));
  }

  // What was said of a method that is coded after all.
  WeighedCandidate take_entry(LosslessMethod method) {
    std::vector<WeighedCandidate>& seen = draft_.selection.candidates;
    const auto found =
        std::find_if(seen.begin(), seen.end(), [&](const WeighedCandidate& c) { return c.method == method; });
    if (found == seen.end()) return {Codec::lossless, method, Fate::lost, 0, 0};
    const WeighedCandidate entry = *found;
    seen.erase(found);
    return entry;
  }

  void code_all(const std::vector<LosslessCandidate>& candidates) {
    for (const LosslessCandidate& candidate : candidates) {
      if (is_coded(candidate.method)) continue;
      WeighedCandidate entry = take_entry(candidate.method);
      code(candidate, entry);
    }
  }

  // However many different values there are: values in order, as coordinates are, have ranks that take
  // nothing.
  bool takes_any_ranks() const { return choice_.is_named || (raw_bytes_ <= tiny_raw_bytes && is_in_order()); }
  bool is_in_order() const {
    const auto& bits = cells_.bits;
    if (!cells_.left_out.empty()) return false;  // some are undefined
    bool rises = true, falls = true;
    for (size_t cell = 1; cell < bits.size() && (rises || falls); ++cell) {
      const auto before = word_of<T>(bits[cell - 1]), here = word_of<T>(bits[cell]);
      rises &= here >= before;
      falls &= here <= before;
    }
    return rises || falls;
  }

  // Samples of so few values say little.
  void code_tiny() {
    LosslessCandidate zstd;
    zstd.method = LosslessMethod::zstd;
    zstd.bytes = raw_bytes_;
    code_all({zstd});
    if (cells_.coded == 0 || !takes_any_ranks()) return;
    LosslessCandidate rank = weigh_method(cells_, LosslessMethod::rank);
    rank.bytes = raw_bytes_;
    code_all({rank});
  }

  bool is_coded(LosslessMethod method) const {
    const std::vector<WeighedCandidate>& seen = draft_.selection.candidates;
    return std::any_of(seen.begin(), seen.end(),
                       [&](const WeighedCandidate& c) { return c.method == method && c.coded_bytes > 0; });
  }

  // A candidate has taken much more than its sample said, and others were withdrawn because of what that
  // said: methods on bytes that every reader has are coded after all.
  void reconsider() {
    for (const LosslessMethod method :
         {LosslessMethod::shuffle_zstd, LosslessMethod::xor_zstd, LosslessMethod::bitshuffle_zstd,
          LosslessMethod::zstd, LosslessMethod::b_zlib}) {
      if (is_coded(method) || !may_win_after(method)) continue;
      WeighedCandidate entry = take_entry(method);
      LosslessCandidate candidate;
      candidate.method = method;
      candidate.bytes = raw_bytes_;
      if (seems_worth(method)) {
        code(candidate, entry);
      } else {
        draft_.selection.passed(entry, Fate::estimate_too_low);
      }
    }
  }

  // Whether a method on bytes may win, by what others on bytes have taken: methods on planes of bytes or bits are
  // alike, others less so. zlib is many times slower than zstd, less so on what comes out small.
  bool may_win_after(LosslessMethod method) const {
    constexpr double many_times = 8, soon_coded_bytes = 16 << 10, slow_from_bytes = 64 << 10;
    if (effort_ == Effort::max || !best_ || raw_bytes_ <= soon_coded_bytes) return true;
    const bool is_slow = method == LosslessMethod::b_zlib;
    const auto best_bytes = static_cast<double>(draft_.before.size());
    if (raw_bytes_ <= slow_from_bytes && best_bytes * 2 * many_times < raw_bytes_) return true;
    if (is_slow && raw_bytes_ > slow_from_bytes && best_bytes * many_times >= raw_bytes_) return false;
    double least = HUGE_VAL;
    for (const WeighedCandidate& c : draft_.selection.candidates) {
      if (c.coded_bytes > 0 && !takes_differences(c.method)) least = std::min(least, double(c.coded_bytes));
    }
    const double most_times = method == LosslessMethod::zstd ? 1.4 : 1.25;
    return !std::isfinite(least) || least <= most_times * best_bytes;
  }

  // Whether a method on bytes may win by what it makes of a piece from the middle of a large section.
  bool seems_worth(LosslessMethod method) {
    constexpr double estimate_slack = 0.9;
    if (raw_bytes_ <= few_raw_bytes) return true;
    const uint64_t begin_ns = thread_time_ns();
    if (piece_.empty()) {
      constexpr size_t piece_words = (256 << 10) / sizeof(T);
      const size_t total = cells_.bits.size();
      for (size_t cell = (total - std::min(total, piece_words)) / 2;
           cell < total && piece_.size() < piece_words; ++cell) {
        if (cells_.is_held(cell)) piece_.push_back(cells_.bits[cell]);
      }
    }
    Bytes bytes;
    ByteWriter out(bytes);
    const Status written = write_words<WordOf<T>>(method, quick_levels(), piece_, out);
    draft_.selection.times.weigh_ns += thread_time_ns() - begin_ns;
    if (!written.ok() || piece_.empty()) return false;
    const double whole =
        static_cast<double>(bytes.size()) * raw_bytes_ / static_cast<double>(piece_.size() * sizeof(T));
    return selection_score(Codec::lossless, method, raw_bytes_, whole, spec_.tuning) >
           estimate_slack * std::max(best_score_, score_to_beat_);
  }

  void code(const LosslessCandidate& candidate, WeighedCandidate& entry) {
    const uint64_t begin_ns = thread_time_ns();
    const bool by_name = candidate.method == LosslessMethod::rank && takes_any_ranks();
    std::optional<Bytes> bytes = is_in_rows_ ? encode_rows(source_, candidate.method, levels_)
                                             : encode_by(cells_, candidate, levels_, by_name);
    if (bytes && effort_ != Effort::fast && coder_of(candidate.method) == ByteCoder::zstd &&
        static_cast<double>(bytes->size()) * sparse_ratio < raw_bytes_) {
      // A higher level of zstd may take more, of sparse values 2 to 6 %.
      auto quick = is_in_rows_ ? encode_rows(source_, candidate.method, quick_levels())
                               : encode_by(cells_, candidate, quick_levels(), by_name);
      if (quick && quick->size() < bytes->size()) bytes = std::move(quick);
    }
    const uint64_t spent_ns = thread_time_ns() - begin_ns;
    if (!bytes) {
      draft_.selection.times.lost_ns += spent_ns;
      return draft_.selection.passed(
          entry, candidate.method == LosslessMethod::rank ? Fate::many_values : Fate::no_coder);
    }
    if (choice_.is_chosen() && is_misjudged(candidate, bytes->size())) {
      highest_score_ = 0;
      is_surprise_ = true;
    } else if (trials_left_ > 0) {
      --trials_left_;
    }
    const double score = selection_score(Codec::lossless, candidate.method, raw_bytes_,
                                         static_cast<double>(bytes->size()), spec_.tuning);
    const bool wins = score > best_score_ || !best_;
    entry.coded_bytes = bytes->size();
    draft_.selection.coded(entry, spent_ns, wins);
    if (!wins) return;
    is_surprise_ =
        is_surprise_ || static_cast<double>(bytes->size()) > surprising_times * candidate.bytes + few_bytes;
    best_ = candidate.method;
    best_score_ = score;
    draft_.report.method = candidate.method;
    draft_.before = std::move(*bytes);
  }

  static constexpr double sparse_ratio = 4;
  static constexpr double tiny_raw_bytes = 4096;
  // Sections so small are soon coded by many methods.
  static constexpr double few_raw_bytes = 1 << 20;
  static constexpr double surprising_times = 1.5, few_bytes = 64;
  // Estimates that lie so many times above what another codec takes are not so wrong.
  static constexpr double hopeless_times = 2, few_coded_bytes = 65536;

  CoderLevels quick_levels() const { return coder_levels(Effort::fast, spec_.tuning); }

  const SectionSource<T>& source_;
  const ComponentSpec& spec_;
  MethodChoice choice_;
  Effort effort_;
  CoderLevels levels_;
  double raw_bytes_;
  double score_to_beat_;

  bool is_in_rows_ = false;       // rows are taken as they lie
  LosslessCells<T> cells_;        // none then
  std::vector<WordOf<T>> piece_;  // of them, by which methods are judged late
  uint64_t gather_ns_ = 0;        // what every method needs
  size_t trials_left_ = 0;
  double highest_score_ = 0;  // of the candidates, by estimates that have not turned out wrong
  std::optional<LosslessMethod> best_;
  bool is_surprise_ = false;  // the best one, or one before it, has taken much more than its sample said
  double best_score_ = 0;
  SectionDraft draft_;
};

}  // namespace

std::optional<ByteCoder> coder_of(LosslessMethod method) {
  if (method == LosslessMethod::automatic || takes_differences(method)) return {};
  return byte_method(method).coder;
}

template <class T>
std::optional<SectionDraft> draft_lossless_above(const SectionSource<T>& source, const ComponentSpec& spec,
                                                 Effort effort, double score_to_beat,
                                                 SelectionTrace& losers) {
  LosslessTrials<T> trials(source, spec, effort, score_to_beat);
  trials.run();
  if (trials.has_won()) return std::move(trials.draft());
  losers.append_loser(trials.draft().selection);
  return {};
}

template <class T>
SectionDraft draft_lossless(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  SelectionTrace none;
  if (auto draft = draft_lossless_above(source, spec, effort, 0, none)) return std::move(*draft);
  SectionDraft nothing;
  nothing.codec = Codec::lossless;
  nothing.refused =
      spec.tuning.method == LosslessMethod::rank
          ? usage_error(fmt::format(
                "method rank: {} values have more than {} different ones among them, which it cannot hold; "
                "allowed for them are auto, lorenzo and the other methods",
                source.held, max_ranks))
          : failure(fmt::format("method {} could not code {} values",
                                lossless_method_name(spec.tuning.method), source.held));
  return nothing;
}

template <class T>
Status decode_lossless(ByteSpan bytes, const ComponentInfo&, const CodebookTable&,
                       const SectionTarget<T>& target) {
  using U = WordOf<T>;
  ByteReader in(bytes);
  const auto method = in.get<LosslessMethod>();
  if (in.failed() || method == LosslessMethod::automatic || static_cast<int>(method) >= lossless_methods) {
    return corrupt(fmt::format("lossless section: method {} unknown", static_cast<int>(method)));
  }
  NEVE_ASSIGN(RawVector<U> bits, takes_differences(method) ? decode_differences(method, in, target)
                                                           : decode_bytes(method, in, target));
  if (in.remaining() != 0)
    return corrupt(fmt::format("lossless section: {} bytes left over", in.remaining()));
  const U* from = bits.data();
  for (const auto& rect : target.rects) {
    T last{};  // left-out cells repeat what stands before them: finite neighbours give finite cells
    for (int64_t r = 0; r < rect.rows(); ++r, from += rect.size[0]) {
      T* const row = rect.row(r);
      if (row == nullptr) continue;
      std::memcpy(row, from, static_cast<size_t>(rect.size[0]) * sizeof(T));
      if (rect.left_out.empty()) continue;
      const uint8_t* const skip = rect.left_out.data() + r * rect.size[0];
      for (int64_t x = 0; x < rect.size[0]; ++x) {
        if (skip[x] != 0) {
          row[x] = last;
        } else if (is_finite(row[x])) {
          last = row[x];
        }
      }
    }
  }
  recycle_values(std::move(bits));
  return {};
}

template std::optional<SectionDraft> draft_lossless_above<float>(const SectionSource<float>&,
                                                                 const ComponentSpec&, Effort, double,
                                                                 SelectionTrace&);
template SectionDraft draft_lossless<float>(const SectionSource<float>&, const ComponentSpec&, Effort);
template Status decode_lossless<float>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                       const SectionTarget<float>&);
template std::optional<SectionDraft> draft_lossless_above<double>(const SectionSource<double>&,
                                                                  const ComponentSpec&, Effort, double,
                                                                  SelectionTrace&);
template SectionDraft draft_lossless<double>(const SectionSource<double>&, const ComponentSpec&, Effort);
template Status decode_lossless<double>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                        const SectionTarget<double>&);
template std::optional<SectionDraft> draft_lossless_above<uint8_t>(const SectionSource<uint8_t>&,
                                                                   const ComponentSpec&, Effort, double,
                                                                   SelectionTrace&);
template SectionDraft draft_lossless<uint8_t>(const SectionSource<uint8_t>&, const ComponentSpec&, Effort);
template Status decode_lossless<uint8_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                         const SectionTarget<uint8_t>&);
template std::optional<SectionDraft> draft_lossless_above<uint16_t>(const SectionSource<uint16_t>&,
                                                                    const ComponentSpec&, Effort, double,
                                                                    SelectionTrace&);
template SectionDraft draft_lossless<uint16_t>(const SectionSource<uint16_t>&, const ComponentSpec&, Effort);
template Status decode_lossless<uint16_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                          const SectionTarget<uint16_t>&);
template std::optional<SectionDraft> draft_lossless_above<uint32_t>(const SectionSource<uint32_t>&,
                                                                    const ComponentSpec&, Effort, double,
                                                                    SelectionTrace&);
template SectionDraft draft_lossless<uint32_t>(const SectionSource<uint32_t>&, const ComponentSpec&, Effort);
template Status decode_lossless<uint32_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                          const SectionTarget<uint32_t>&);
template std::optional<SectionDraft> draft_lossless_above<uint64_t>(const SectionSource<uint64_t>&,
                                                                    const ComponentSpec&, Effort, double,
                                                                    SelectionTrace&);
template SectionDraft draft_lossless<uint64_t>(const SectionSource<uint64_t>&, const ComponentSpec&, Effort);
template Status decode_lossless<uint64_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                          const SectionTarget<uint64_t>&);

}  // namespace neve
