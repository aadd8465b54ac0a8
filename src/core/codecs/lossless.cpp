// SPDX-License-Identifier: BSD-3-Clause
// Codec `lossless`: every bit kept, by one of several methods; which one a section says in its first byte.
// Here are sections back into values; lossless_encode.hpp and lossless_trials.cpp make them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "core/codecs/lossless_encode.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/kernels/portable.hpp"
#include "core/stages/entropy/residual_classes.hpp"
#include "core/stages/lossless/value_multiples.hpp"
#include "core/stages/lossless/value_ranks.hpp"
#include "core/stages/mask/special_cursor.hpp"
#include "core/stages/predict/word_lorenzo.hpp"

namespace neve {

namespace {

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

}  // namespace

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

template Status decode_lossless<float>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                       const SectionTarget<float>&);
template Status decode_lossless<double>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                        const SectionTarget<double>&);
template Status decode_lossless<uint8_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                         const SectionTarget<uint8_t>&);
template Status decode_lossless<uint16_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                          const SectionTarget<uint16_t>&);
template Status decode_lossless<uint32_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                          const SectionTarget<uint32_t>&);
template Status decode_lossless<uint64_t>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                          const SectionTarget<uint64_t>&);

}  // namespace neve
