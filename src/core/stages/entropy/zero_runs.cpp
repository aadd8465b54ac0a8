// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/zero_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace neve {

namespace {

// Below this share of zeros, and this many of them in a row on average, runs do not pay for their time.
constexpr double min_zero_share = 0.45;
constexpr double min_mean_run = 3;
// Runs take time, which a smaller saving is not worth.
constexpr double worthwhile_share = 0.97;

// Whether the symbol of a residual is taken by a digit.
constexpr bool is_taken(unsigned symbol) { return symbol >= 1 && symbol <= last_digit_symbol; }
constexpr bool is_digit(unsigned symbol) { return is_taken(symbol) || symbol == symbol_zero; }
constexpr unsigned digit_of(unsigned symbol) { return symbol == symbol_zero ? 1 : symbol + 1; }

// Most runs have one digit or none: only for those that have more there is a branch. One byte may be written
// behind the end that it returns.
uint8_t* write_run(size_t run, uint8_t* to) {
  for (; run > last_digit_symbol + 1; run = (run - 1) >> run_digit_bits) {
    const auto digit = static_cast<uint8_t>((run - 1) & last_digit_symbol);  // less 1
    *to++ = digit == 0 ? uint8_t{symbol_zero} : digit;
  }
  static constexpr std::array<uint8_t, last_digit_symbol + 2> symbol_of{0, symbol_zero, 1, 2, 3, 4, 5, 6, 7};
  *to = symbol_of[run];
  return to + (run > 0 ? 1 : 0);
}

// What a symbol of runs and others does on the way back.
struct Step {
  uint16_t count;       // symbols it stands for, as the lowest digit of a run
  uint16_t place_mask;  // of the place behind it: all bits for a digit, none for what ends a run
};
constexpr std::array<Step, symbol_count> make_steps() {
  std::array<Step, symbol_count> steps{};
  for (unsigned s = 0; s < symbol_count; ++s) {
    steps[s] = is_digit(s) ? Step{static_cast<uint16_t>(digit_of(s)), 0xffff} : Step{1, 0};
  }
  return steps;
}

// The top bit of each of 8 bytes that is not symbol_zero.
uint64_t top_bits_of_others(uint64_t word) {
  constexpr uint64_t ones = 0x0101010101010101ULL;
  constexpr uint64_t low_bits = 0x7f * ones;
  const uint64_t different = word ^ (ones * symbol_zero);
  return (((different & low_bits) + low_bits) | different) & ~low_bits;
}

// A bit for each of 8 bytes that is not symbol_zero, the lowest first.
uint64_t other_bytes(uint64_t word) {
  return ((top_bits_of_others(word) >> 7) * 0x0102040810204080ULL) >> 56;
}

// Eight counts at a time, a byte each, which are summed before one of them can be full: of bytes for which
// `top_bits_of` sets the top bit.
template <class TopBits>
size_t count_bytes(std::span<const uint8_t> symbols, const TopBits& top_bits_of) {
  constexpr size_t word_bytes = sizeof(uint64_t), most_words = 255;
  size_t count = 0;
  size_t i = 0;
  while (i + word_bytes <= symbols.size()) {
    const size_t words = std::min(most_words, (symbols.size() - i) / word_bytes);
    uint64_t counts = 0;
    for (size_t k = 0; k < words; ++k, i += word_bytes) {
      uint64_t word;
      std::memcpy(&word, symbols.data() + i, sizeof word);
      counts += top_bits_of(word) >> 7;
    }
    constexpr uint64_t pairs = 0x00ff00ff00ff00ffULL, ones = 0x0001000100010001ULL;
    count += (((counts & pairs) + ((counts >> 8) & pairs)) * ones) >> 48;
  }
  uint64_t rest = ~uint64_t{0} / 255 * symbol_escape;
  if (i == symbols.size()) return count;
  std::memcpy(&rest, symbols.data() + i, symbols.size() - i);
  return count + static_cast<size_t>(std::popcount(top_bits_of(rest)));
}

constexpr uint64_t all_top_bits = 0x8080808080808080ULL;

size_t count_zeros(std::span<const uint8_t> symbols) {
  return count_bytes(symbols, [](uint64_t word) { return ~top_bits_of_others(word) & all_top_bits; });
}

// Zeros that have another symbol, or nothing, before them.
size_t count_runs(std::span<const uint8_t> symbols) {
  uint64_t before = 0x80;
  return count_bytes(symbols, [&](uint64_t word) {
    const uint64_t others = top_bits_of_others(word);
    const uint64_t begins = ~others & all_top_bits & ((others << 8) | before);
    before = others >> 56;
    return begins;
  });
}

// Calls visit(i) for each symbol that is not symbol_zero, 64 at a time, so that the end of a loop is seldom
// unforeseen.
template <class Visit>
void visit_others(std::span<const uint8_t> symbols, const Visit& visit) {
  size_t i = 0;
  for (; i + 64 <= symbols.size(); i += 64) {
    uint64_t others = 0;
    for (size_t k = 0; k < 8; ++k) {
      uint64_t word;
      std::memcpy(&word, symbols.data() + i + 8 * k, sizeof word);
      others |= other_bytes(word) << (8 * k);
    }
    for (; others != 0; others &= others - 1) visit(i + static_cast<size_t>(std::countr_zero(others)));
  }
  for (; i < symbols.size(); ++i) {
    if (symbols[i] != symbol_zero) visit(i);
  }
}

ZeroRuns with_runs(std::span<const uint8_t> symbols, std::span<const int32_t> escapes) {
  ZeroRuns out;
  out.symbols = take_symbols(symbols.size() + 1);
  out.escapes.reserve(escapes.size());
  uint8_t* to = out.symbols.data();
  size_t escape_at = 0;
  size_t begin = 0;
  visit_others(symbols, [&](size_t i) {
    to = write_run(i - begin, to);
    begin = i + 1;
    const uint8_t symbol = symbols[i];
    *to = symbol;
    if (symbol == symbol_escape) out.escapes.push_back(escapes[escape_at++]);
    if (is_taken(symbol)) {
      out.escapes.push_back(int32_t{symbol} - symbol_zero);
      *to = symbol_escape;
    }
    ++to;
  });
  to = write_run(symbols.size() - begin, to);
  out.symbols.resize(static_cast<size_t>(to - out.symbols.data()));
  out.counts = count_groups(out.symbols);
  return out;
}

// Of the symbols that the runs stand for.
Histogram histogram_without(const ZeroRuns& runs, size_t zeros) {
  Histogram histogram = runs.counts.all;
  for (unsigned s = 1; s <= last_digit_symbol; ++s) histogram[s] = 0;
  histogram[symbol_zero] = static_cast<uint32_t>(zeros);
  for (const int32_t escape : runs.escapes) {
    const int64_t symbol = int64_t{escape} + symbol_zero;
    if (symbol < 1 || symbol > last_digit_symbol) continue;
    ++histogram[static_cast<size_t>(symbol)];
    --histogram[symbol_escape];
  }
  return histogram;
}

}  // namespace

std::optional<ZeroRuns> worthwhile_zero_runs(std::span<const uint8_t> symbols,
                                             std::span<const int32_t> escapes) {
  const size_t zeros = count_zeros(symbols);
  const auto too_few = [&](double least) { return static_cast<double>(zeros) < least || symbols.empty(); };
  if (too_few(min_zero_share * static_cast<double>(symbols.size())) ||
      too_few(min_mean_run * static_cast<double>(count_runs(symbols)))) {
    return {};
  }
  ZeroRuns runs = with_runs(symbols, escapes);
  // What has moved to the escapes is beyond this comparison: it is little where zeros are many.
  const Histogram& with = runs.counts.all;
  const Histogram without = histogram_without(runs, zeros);
  const auto bits_with = static_cast<double>(coded_bits(make_codebook(with), with));
  const auto bits_without = static_cast<double>(coded_bits(make_codebook(without), without));
  if (bits_with < worthwhile_share * bits_without) return runs;
  recycle_symbols(std::move(runs.symbols));
  return {};
}

Result<Symbols> restore_zero_runs(std::span<const uint8_t> symbols, uint64_t total) {
  Symbols out = take_symbols(total + row_padding);
  std::memset(out.data(), symbol_zero, out.size());
  static constexpr std::array<Step, symbol_count> steps = make_steps();
  uint64_t at = 0;
  unsigned place = 0;  // bits that the next digit is shifted by
  // Without a branch on what a symbol is, which is hard to foretell. A digit too high ends here, so that no
  // place is beyond the bits of the total.
  for (const uint8_t symbol : symbols) {
    const Step step = steps[symbol];
    const uint64_t count = uint64_t{step.count} << (place & step.place_mask);
    if (count > total - at) return corrupt(fmt::format("zero runs: more than {} symbols", total));
    out[at] = step.place_mask != 0 ? uint8_t{symbol_zero} : symbol;
    at += count;
    place = (place + run_digit_bits) & step.place_mask;
  }
  if (at != total) return corrupt(fmt::format("zero runs: {} symbols, must be {}", at, total));
  return out;
}

}  // namespace neve
