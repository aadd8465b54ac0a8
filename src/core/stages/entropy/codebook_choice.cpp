// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/codebook_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/stages/lossless/byte_pack.hpp"

namespace neve {

namespace {

uint64_t codebook_bits(const Codebook& codebook) {
  Bytes bytes;
  ByteWriter out(bytes);
  write_codebook(codebook, out);
  return bytes.size() * 8;
}

// Fewer blocks cannot pay for three more codebooks.
constexpr size_t several_codebooks_min_blocks = 32;
// The first round moves a share of the blocks only: what codebooks look like shows in part of many.
constexpr size_t first_round_blocks = 256;
constexpr size_t refinement_rounds = 2;

std::span<const uint8_t> block_of(std::span<const uint8_t> symbols, size_t block) {
  const size_t begin = block * codebook_block_symbols;
  return symbols.subspan(begin, std::min(codebook_block_symbols, symbols.size() - begin));
}

// Values ranked and cut into so many equal parts: the part of each.
template <class Value>
std::vector<uint8_t> equal_parts(const std::vector<Value>& values, size_t parts) {
  std::vector<Value> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint8_t> part_of(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 1; k < parts; ++k) part_of[i] += values[i] > sorted[k * values.size() / parts] ? 1 : 0;
  }
  return part_of;
}

// Symbols in several tables: equal neighbours would otherwise wait for each other's increment.
constexpr size_t count_tables = 8;
template <class Table>
Table count_in_tables(std::span<const uint8_t> symbols) {
  std::array<Table, count_tables> part{};
  size_t i = 0;
  for (; i + count_tables <= symbols.size(); i += count_tables) {
    uint64_t word;
    static_assert(sizeof word == count_tables);
    std::memcpy(&word, symbols.data() + i, sizeof word);
    for (unsigned k = 0; k < count_tables; ++k) ++part[k][(word >> (8 * k)) & 0xff];
  }
  for (; i < symbols.size(); ++i) ++part[0][symbols[i]];
  for (size_t k = 1; k < count_tables; ++k) {
    for (size_t s = 0; s < symbol_count; ++s)
      part[0][s] = static_cast<typename Table::value_type>(part[0][s] + part[k][s]);
  }
  return part[0];
}

// First guess: blocks ranked by the size of their residuals.
std::vector<uint8_t> codebooks_by_roughness(std::span<const uint8_t> symbols, size_t blocks) {
  std::vector<uint32_t> roughness(blocks);
  for (size_t b = 0; b < blocks; ++b) {
    for (const uint8_t s : block_of(symbols, b)) {
      roughness[b] +=
          s == symbol_escape ? symbol_zero : static_cast<uint32_t>(std::abs(int{s} - symbol_zero));
    }
  }
  return equal_parts(roughness, max_codebooks);
}

// Of every `every`-th block. Four tables a codebook, as in count_symbols.
std::vector<Histogram> histograms_of(std::span<const uint8_t> symbols,
                                     std::span<const uint8_t> block_codebook, size_t every) {
  std::array<std::array<Histogram, 4>, max_codebooks> parts{};
  for (size_t b = 0; b < block_codebook.size(); b += every) {
    auto& part = parts[block_codebook[b]];
    const auto block = block_of(symbols, b);
    size_t i = 0;
    for (; i + 4 <= block.size(); i += 4) {
      for (size_t k = 0; k < 4; ++k) ++part[k][block[i + k]];
    }
    for (; i < block.size(); ++i) ++part[0][block[i]];
  }
  std::vector<Histogram> histograms(max_codebooks);
  for (size_t k = 0; k < max_codebooks; ++k) {
    for (const Histogram& part : parts[k]) {
      for (size_t s = 0; s < symbol_count; ++s) histograms[k][s] += part[s];
    }
  }
  return histograms;
}

// Codebooks that know every symbol of the section, while blocks move between them.
Codebook smoothed_codebook(const Histogram& histogram, const Histogram& all) {
  Histogram smoothed = histogram;
  for (size_t s = 0; s < symbol_count; ++s) smoothed[s] += all[s] > 0 ? 1 : 0;
  return make_codebook(smoothed);
}

// Every `every`-th block to the codebook that codes it in the fewest bits (Lloyd's step).
void assign_cheapest(std::span<const uint8_t> symbols, const Histogram& all,
                     std::span<const Histogram> histograms, size_t every, std::span<uint8_t> block_codebook) {
  // Lengths of all codebooks side by side in one word: a block is priced for all of them in one pass. A field
  // holds codebook_block_symbols * max_code_bits, which is below 2^16.
  static_assert(codebook_block_symbols * max_code_bits < 1U << 16 && max_codebooks == 4);
  std::array<uint64_t, symbol_count> lengths{};
  for (size_t k = 0; k < max_codebooks; ++k) {
    const Codebook codebook = smoothed_codebook(histograms[k], all);
    for (size_t s = 0; s < symbol_count; ++s) lengths[s] |= uint64_t{codebook.length[s]} << (16 * k);
  }
  for (size_t b = 0; b < block_codebook.size(); b += every) {
    uint64_t bits = 0;
    for (const uint8_t s : block_of(symbols, b)) bits += lengths[s];
    uint64_t best = bits & 0xffff;
    block_codebook[b] = 0;
    for (uint8_t k = 1; k < max_codebooks; ++k) {
      const uint64_t cost = (bits >> (16 * k)) & 0xffff;
      if (cost < best) {
        best = cost;
        block_codebook[b] = k;
      }
    }
  }
}

// Codebooks of these histograms, where each has symbols and all take fewer bits than one; else that one.
CodebookChoice if_worthwhile(std::span<const Histogram> histograms, std::vector<uint8_t> block_codebook,
                             const CountedCodebook& one) {
  CodebookChoice alone{{one}, {}};
  CodebookChoice several{{}, std::move(block_codebook)};
  for (const Histogram& histogram : histograms) {
    if (std::all_of(histogram.begin(), histogram.end(), [](uint32_t n) { return n == 0; })) return alone;
    several.codebooks.emplace_back(histogram);
  }
  return several.bits() < alone.bits() ? several : alone;
}

// Codebooks of groups: what a decoder looks up for more of them does not fit its first cache, which takes
// more time than their bits are worth at effort fast.
constexpr size_t group_codebooks = 2;
// Fewer groups cannot pay for one more.
constexpr size_t several_codebooks_min_groups = 8;

// visit(begin, end) of each group, in order.
template <class Visit>
void visit_groups(size_t symbol_total, const Visit& visit) {
  const size_t part = symbols_per_bit_stream(symbol_total);
  constexpr size_t group_symbols = group_blocks * codebook_block_symbols;
  for (size_t stream = 0; stream < symbol_total; stream += part) {
    const size_t end = std::min(stream + part, symbol_total);
    for (size_t at = stream; at < end; at += group_symbols) visit(at, std::min(at + group_symbols, end));
  }
}

uint32_t bits_of(const GroupHistogram& group, const GroupHistogram& lengths) {
  uint32_t bits = 0;
  for (size_t s = 0; s < symbol_count; ++s) bits += uint32_t{group[s]} * lengths[s];
  return bits;
}

GroupHistogram lengths_of(const Codebook& codebook) {
  GroupHistogram lengths{};
  std::copy(codebook.length.begin(), codebook.length.end(), lengths.begin());
  return lengths;
}

// First guess: groups ranked by the bits of a symbol in one common codebook.
std::vector<uint8_t> groups_by_cost(const GroupCounts& counts, const Codebook& one) {
  const GroupHistogram lengths = lengths_of(one);
  std::vector<double> cost;
  for (const GroupHistogram& group : counts.groups) {
    const auto symbols = std::accumulate(group.begin(), group.end(), uint32_t{0});
    cost.push_back(static_cast<double>(bits_of(group, lengths)) / symbols);
  }
  return equal_parts(cost, group_codebooks);
}

std::vector<Histogram> histograms_of(const GroupCounts& counts, std::span<const uint8_t> group_codebook) {
  std::vector<Histogram> histograms(group_codebooks);
  for (size_t g = 0; g < counts.groups.size(); ++g) {
    Histogram& sum = histograms[group_codebook[g]];
    for (size_t s = 0; s < symbol_count; ++s) sum[s] += counts.groups[g][s];
  }
  return histograms;
}

// Each group to the codebook that codes it in the fewest bits (Lloyd's step).
void assign_cheapest(const GroupCounts& counts, std::span<const Histogram> histograms,
                     std::span<uint8_t> group_codebook) {
  std::array<GroupHistogram, group_codebooks> lengths;
  for (size_t k = 0; k < group_codebooks; ++k)
    lengths[k] = lengths_of(smoothed_codebook(histograms[k], counts.all));
  for (size_t g = 0; g < counts.groups.size(); ++g) {
    uint32_t best = UINT32_MAX;
    for (uint8_t k = 0; k < group_codebooks; ++k) {
      const uint32_t bits = bits_of(counts.groups[g], lengths[k]);
      if (bits < best) {
        best = bits;
        group_codebook[g] = k;
      }
    }
  }
}

}  // namespace

Histogram count_symbols(std::span<const uint8_t> symbols) { return count_in_tables<Histogram>(symbols); }

GroupCounts count_groups(std::span<const uint8_t> symbols) {
  GroupCounts counts;
  visit_groups(symbols.size(), [&](size_t begin, size_t end) {
    const GroupHistogram& sum =
        counts.groups.emplace_back(count_in_tables<GroupHistogram>(symbols.subspan(begin, end - begin)));
    for (size_t s = 0; s < symbol_count; ++s) counts.all[s] += sum[s];
  });
  return counts;
}

CodebookChoice choose_group_codebooks(const GroupCounts& counts, size_t symbol_total,
                                      const CountedCodebook& one) {
  if (counts.groups.size() < several_codebooks_min_groups) return {{one}, {}};
  std::vector<uint8_t> group_codebook = groups_by_cost(counts, one.codebook);
  std::vector<Histogram> histograms = histograms_of(counts, group_codebook);
  assign_cheapest(counts, histograms, group_codebook);
  histograms = histograms_of(counts, group_codebook);
  std::vector<uint8_t> block_codebook;
  size_t group = 0;
  visit_groups(symbol_total, [&](size_t, size_t end) {
    block_codebook.resize((end + codebook_block_symbols - 1) / codebook_block_symbols,
                          group_codebook[group++]);
  });
  return if_worthwhile(histograms, std::move(block_codebook), one);
}

CodebookChoice choose_codebooks(std::span<const uint8_t> symbols, const CountedCodebook& one) {
  const size_t blocks = (symbols.size() + codebook_block_symbols - 1) / codebook_block_symbols;
  if (blocks < several_codebooks_min_blocks) return {{one}, {}};

  std::vector<uint8_t> block_codebook = codebooks_by_roughness(symbols, blocks);
  const size_t some = std::max<size_t>(1, blocks / first_round_blocks);
  std::vector<Histogram> histograms = histograms_of(symbols, block_codebook, some);
  for (size_t round = 1; round <= refinement_rounds; ++round) {
    const bool is_last = round == refinement_rounds;
    assign_cheapest(symbols, one.histogram, histograms, is_last ? 1 : some, block_codebook);
    histograms = histograms_of(symbols, block_codebook, is_last ? 1 : some);
  }
  return if_worthwhile(histograms, std::move(block_codebook), one);
}

uint64_t CodebookChoice::bits() const {
  uint64_t sum = block_codebook.size() * 2;
  for (const CountedCodebook& codebook : codebooks) sum += codebook.bits + codebook_bits(codebook.codebook);
  return sum;
}

std::vector<Codebook> write_codebooks(std::span<const CountedCodebook> wanted,
                                      std::span<const uint8_t> block_codebook, std::vector<Codebook>* shared,
                                      ByteWriter& out) {
  std::vector<Codebook> codebooks;
  out.put(static_cast<uint8_t>(wanted.size()));
  for (const CountedCodebook& own : wanted) {
    if (shared == nullptr) {
      out.put_varint(0);
      write_codebook(own.codebook, out);
      codebooks.push_back(own.codebook);
      continue;
    }
    size_t best = shared->size();
    uint64_t best_bits = own.bits + codebook_bits(own.codebook);
    for (size_t b = 0; b < shared->size(); ++b) {
      const uint64_t bits = coded_bits((*shared)[b], own.histogram);
      if (bits <= best_bits) {
        best = b;
        best_bits = bits;
      }
    }
    if (best == shared->size()) shared->push_back(own.codebook);
    out.put_varint(best + 1);
    codebooks.push_back((*shared)[best]);
  }
  if (wanted.size() > 1) {
    // Two bits a block.
    Bytes ids((block_codebook.size() + 3) / 4);
    for (size_t b = 0; b < block_codebook.size(); ++b) {
      ids[b / 4] |= static_cast<std::byte>(block_codebook[b] << (2 * (b % 4)));
    }
    write_packed(ids, out);
  }
  return codebooks;
}

Result<CodebookSet> read_codebooks(ByteReader& in, const CodebookTable& shared, uint64_t symbol_total) {
  CodebookSet set;
  const auto total = in.get<uint8_t>();
  if (in.failed() || total == 0 || total > max_codebooks) {
    return corrupt(fmt::format("codebooks: {} of them, must be 1 to {}", total, max_codebooks));
  }
  for (int b = 0; b < total; ++b) {
    const uint64_t reference = in.get_varint();
    if (in.failed() || reference > shared.size()) {
      return corrupt(
          fmt::format("codebooks: reference to shared codebook {} of {}", reference, shared.size()));
    }
    if (reference > 0) {
      set.codebooks.push_back(shared.at(reference - 1));
      continue;
    }
    NEVE_ASSIGN(const Codebook codebook, read_codebook(in));
    set.codebooks.push_back(codebook);
  }
  for (const Codebook& codebook : set.codebooks) {
    const bool is_empty =
        std::all_of(codebook.length.begin(), codebook.length.end(), [](uint8_t l) { return l == 0; });
    if (is_empty) return corrupt("codebooks: a codebook without symbols");
  }
  if (total > 1) {
    const uint64_t blocks = (symbol_total + codebook_block_symbols - 1) / codebook_block_symbols;
    NEVE_ASSIGN(const Bytes ids, read_packed(in, (blocks + 3) / 4));
    if (ids.size() != (blocks + 3) / 4) {
      return corrupt(fmt::format("codebooks: {} bytes of block codebooks for {} blocks", ids.size(), blocks));
    }
    set.block_codebook.resize(blocks);
    for (uint64_t b = 0; b < blocks; ++b) {
      const auto id = static_cast<uint8_t>((static_cast<unsigned>(ids[b / 4]) >> (2 * (b % 4))) & 3);
      if (id >= total)
        return corrupt(fmt::format("codebooks: block {} names codebook {} of {}", b, id, total));
      set.block_codebook[b] = id;
    }
  }
  return set;
}

}  // namespace neve
