// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/mask/special_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/stages/lossless/byte_pack.hpp"
#include "core/stages/lossless/exact_values.hpp"

namespace neve {

namespace {

constexpr unsigned pattern_bits = 4;
// A run's gap and count as varints: at most ten bytes each.
constexpr uint64_t run_max_bytes = 20;

// Where the bits are among the patterns, added if there is room; listed_pattern where there is none.
uint8_t pattern_of(uint64_t bits, std::vector<uint64_t>& patterns) {
  auto known = std::find(patterns.begin(), patterns.end(), bits);
  if (known == patterns.end() && patterns.size() < listed_pattern) known = patterns.insert(known, bits);
  return known == patterns.end() ? listed_pattern : static_cast<uint8_t>(known - patterns.begin());
}

}  // namespace

void SpecialValues::add(uint64_t position, uint64_t bits, bool repeats) {
  const uint8_t pattern = repeats ? pattern_of(bits, patterns) : listed_pattern;
  const bool extends =
      !runs.empty() && runs.back().pattern == pattern && runs.back().begin + runs.back().count == position;
  if (!extends) {
    runs.push_back({static_cast<uint32_t>(position), 0, static_cast<uint32_t>(listed.size()), pattern});
  }
  ++runs.back().count;
  if (pattern == listed_pattern) listed.push_back(bits);
}

void SpecialValues::add_run(uint64_t begin, uint64_t run_count, uint64_t bits) {
  add(begin, bits, true);
  if (runs.back().pattern == listed_pattern) {
    for (uint64_t i = 1; i < run_count; ++i) add(begin + i, bits, true);
  } else {
    runs.back().count += static_cast<uint32_t>(run_count - 1);
  }
}

uint64_t SpecialValues::count() const {
  uint64_t sum = 0;
  for (const SpecialRun& run : runs) sum += run.count;
  return sum;
}

void write_special_values(const SpecialValues& specials, size_t value_bytes, ByteWriter& out) {
  out.put(static_cast<uint8_t>(specials.patterns.size()));
  for (const uint64_t bits : specials.patterns) out.put_bytes(&bits, value_bytes);
  Bytes runs;
  ByteWriter writer(runs);
  uint64_t at = 0;
  for (const SpecialRun& run : specials.runs) {
    writer.put_varint(run.begin - at);
    writer.put_varint(run.count << pattern_bits | run.pattern);
    at = run.begin + run.count;
  }
  out.put_varint(specials.runs.size());
  write_packed(runs, out);
  out.put_varint(specials.listed.size());
  Bytes listed;
  ByteWriter values(listed);
  for (const uint64_t bits : specials.listed) values.put_bytes(&bits, value_bytes);
  write_exact_values(listed, value_bytes, out);
}

Result<SpecialValues> read_special_values(ByteReader& in, size_t value_bytes, uint64_t held) {
  SpecialValues specials;
  const auto patterns = in.get<uint8_t>();
  if (patterns > listed_pattern) {
    return corrupt(fmt::format("special values: {} patterns, at most {}", patterns, listed_pattern));
  }
  const auto read_bits = [value_bytes](ByteReader& from) {
    uint64_t bits = 0;
    const ByteSpan bytes = from.get_bytes(value_bytes);
    if (!from.failed()) std::memcpy(&bits, bytes.data(), value_bytes);
    return bits;
  };
  for (int p = 0; p < patterns; ++p) specials.patterns.push_back(read_bits(in));
  const uint64_t run_total = in.get_varint();
  if (in.failed() || run_total > held) {
    return corrupt(fmt::format("special values: {} runs among {} values", run_total, held));
  }
  NEVE_ASSIGN(const Bytes runs,
              read_packed(in, std::min(run_total * run_max_bytes, held * 2 + run_max_bytes)));
  const uint64_t listed = in.get_varint();
  if (in.failed() || listed > held) {
    return corrupt(fmt::format("special values: {} listed among {} values", listed, held));
  }
  NEVE_ASSIGN(const Bytes values, read_exact_values(in, listed, value_bytes));
  ByteReader value_reader(values);
  specials.listed.reserve(listed);
  for (uint64_t i = 0; i < listed; ++i) specials.listed.push_back(read_bits(value_reader));

  constexpr size_t run_min_bytes = 2;
  specials.runs.reserve(std::min<size_t>(run_total, runs.size() / run_min_bytes));
  ByteReader reader(runs);
  uint64_t at = 0;
  uint64_t listed_used = 0;
  for (uint64_t r = 0; r < run_total; ++r) {
    const uint64_t gap = reader.get_varint();
    const uint64_t packed = reader.get_varint();
    const uint64_t count = packed >> pattern_bits;
    if (reader.failed() || gap > held - at || count == 0 || count > held - at - gap) {
      return corrupt(fmt::format("special values: run {} leaves the {} values of its section", r, held));
    }
    const SpecialRun run{static_cast<uint32_t>(at + gap), static_cast<uint32_t>(count),
                         static_cast<uint32_t>(listed_used), static_cast<uint8_t>(packed & listed_pattern)};
    at += gap + count;
    if (run.pattern == listed_pattern) {
      listed_used += run.count;
    } else if (run.pattern >= patterns) {
      return corrupt(fmt::format("special values: run {} names pattern {} of {}", r, run.pattern, patterns));
    }
    specials.runs.push_back(run);
  }
  if (listed_used != listed || reader.remaining() != 0) {
    return corrupt(fmt::format("special values: runs use {} listed values of {}", listed_used, listed));
  }
  return specials;
}

}  // namespace neve
