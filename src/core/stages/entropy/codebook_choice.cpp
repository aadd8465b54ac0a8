// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/codebook_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/kernels/stream_kernels.hpp"
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
template <class Table>
Table count_in_tables(std::span<const uint8_t> symbols) {
  constexpr size_t tables = 8;
  std::array<Table, tables> part{};
  size_t i = 0;
  for (; i + tables <= symbols.size(); i += tables) {
    uint64_t word;
    static_assert(sizeof word == tables);
    std::memcpy(&word, symbols.data() + i, sizeof word);
    for (unsigned k = 0; k < tables; ++k) ++part[k][(word >> (8 * k)) & 0xff];
  }
  for (; i < symbols.size(); ++i) ++part[0][symbols[i]];
  for (size_t k = 1; k < tables; ++k) {
    for (size_t s = 0; s < symbol_count; ++s)
      part[0][s] = static_cast<typename Table::value_type>(part[0][s] + part[k][s]);
  }
  return part[0];
}

// How often each unit of neighbouring symbols (a block, or a group) has each of `width` symbols from `first`
// on: all that occur.
struct UnitCounts {
  size_t first = 0, width = symbol_count;
  size_t units = 0;
  const uint16_t* counts = nullptr;

  std::span<const uint16_t> of(size_t unit) const { return {counts + unit * width, width}; }
};

// Numbers of the counted symbols, one each.
using OfSymbols = std::array<uint16_t, symbol_count>;

uint32_t weighted_sum(std::span<const uint16_t> counts, const OfSymbols& weights) {
  return kernels().stream->weighted_sum(counts.data(), weights.data(), counts.size());
}

OfSymbols lengths_of(const Codebook& codebook, const UnitCounts& counts) {
  OfSymbols lengths{};
  for (size_t s = 0; s < counts.width; ++s) lengths[s] = codebook.length[counts.first + s];
  return lengths;
}

// First guess: units ranked by the size of their residuals; the escape counts as the largest.
std::vector<uint8_t> codebooks_by_roughness(const UnitCounts& counts, size_t codebooks) {
  static_assert(symbol_escape == 0 && symbol_zero == symbol_count / 2);
  OfSymbols sizes{};
  for (size_t s = 0; s < counts.width; ++s) {
    const int residual = static_cast<int>(counts.first + s) - symbol_zero;
    sizes[s] = static_cast<uint16_t>(std::abs(residual));
  }
  std::vector<uint32_t> roughness;
  for (size_t u = 0; u < counts.units; ++u) roughness.push_back(weighted_sum(counts.of(u), sizes));
  return equal_parts(roughness, codebooks);
}

// First guess: units ranked by the bits of a symbol in one common codebook.
std::vector<uint8_t> codebooks_by_cost(const UnitCounts& counts, const Codebook& one, size_t codebooks) {
  const OfSymbols lengths = lengths_of(one, counts);
  std::vector<double> cost;
  for (size_t u = 0; u < counts.units; ++u) {
    const auto symbols = std::accumulate(counts.of(u).begin(), counts.of(u).end(), uint32_t{0});
    cost.push_back(static_cast<double>(weighted_sum(counts.of(u), lengths)) / symbols);
  }
  return equal_parts(cost, codebooks);
}

// Of every `every`-th unit.
std::vector<Histogram> histograms_of(const UnitCounts& counts, std::span<const uint8_t> unit_codebook,
                                     size_t codebooks, size_t every) {
  std::vector<Histogram> histograms(codebooks);
  for (size_t u = 0; u < counts.units; u += every) {
    uint32_t* const sum = histograms[unit_codebook[u]].data() + counts.first;
    const uint16_t* const of_unit = counts.of(u).data();
    for (size_t s = 0; s < counts.width; ++s) sum[s] += of_unit[s];
  }
  return histograms;
}

// Codebooks that know every symbol of the section, while units move between them.
Codebook smoothed_codebook(const Histogram& histogram, const Histogram& all) {
  Histogram smoothed = histogram;
  for (size_t s = 0; s < symbol_count; ++s) smoothed[s] += all[s] > 0 ? 1 : 0;
  return make_codebook(smoothed);
}

// Every `every`-th unit to the codebook that codes it in the fewest bits (Lloyd's step).
void assign_cheapest(const UnitCounts& counts, const Histogram& all, std::span<const Histogram> histograms,
                     size_t every, std::span<uint8_t> unit_codebook) {
  std::vector<OfSymbols> lengths;
  for (const Histogram& histogram : histograms)
    lengths.push_back(lengths_of(smoothed_codebook(histogram, all), counts));
  for (size_t u = 0; u < counts.units; u += every) {
    uint32_t best = UINT32_MAX;
    for (uint8_t k = 0; k < lengths.size(); ++k) {
      const uint32_t bits = weighted_sum(counts.of(u), lengths[k]);
      if (bits < best) {
        best = bits;
        unit_codebook[u] = k;
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

// Symbols counted by blocks.
class BlockCounts {
 public:
  // `all`: counts of all `symbols`.
  BlockCounts(std::span<const uint8_t> symbols, const Histogram& all) {
    const auto is_used = [](uint32_t n) { return n > 0; };
    const auto first = static_cast<size_t>(std::find_if(all.begin(), all.end(), is_used) - all.begin());
    const auto behind = static_cast<size_t>(std::find_if(all.rbegin(), all.rend(), is_used) - all.rbegin());
    counts_.first = first;
    counts_.width = symbol_count - behind - first;
    counts_.units = (symbols.size() + codebook_block_symbols - 1) / codebook_block_symbols;
    buffer_.resize(counts_.units * counts_.width);
    counts_.counts = buffer_.data();
    for (size_t b = 0; b < counts_.units; ++b)
      count(block_of(symbols, b), buffer_.data() + b * counts_.width);
  }
  const UnitCounts& counts() const { return counts_; }

 private:
  // Every other symbol in a table of its own: equal neighbours would wait for each other's increment.
  void count(std::span<const uint8_t> block, uint16_t* out) {
    uint16_t* const even = out - counts_.first;
    size_t i = 0;
    for (; i + 2 <= block.size(); i += 2) {
      ++even[block[i]];
      ++odd_[block[i + 1]];
    }
    if (i < block.size()) ++even[block[i]];
    uint16_t* const odd = odd_.data() + counts_.first;
    for (size_t s = 0; s < counts_.width; ++s) out[s] = static_cast<uint16_t>(out[s] + odd[s]);
    std::fill_n(odd, counts_.width, uint16_t{0});
  }

  UnitCounts counts_;
  std::vector<uint16_t> buffer_;
  OfSymbols odd_{};
};

}  // namespace

Histogram count_symbols(std::span<const uint8_t> symbols) { return count_in_tables<Histogram>(symbols); }

GroupCounts count_groups(std::span<const uint8_t> symbols) {
  // Small residuals are counted in vectors, while no more than one symbol in so many is another; whether they
  // are is looked at again and again.
  constexpr size_t near_share = 16, groups_per_look = 16;
  bool are_near = false;
  GroupCounts counts;
  visit_groups(symbols.size(), [&](size_t begin, size_t end) {
    const auto group = symbols.subspan(begin, end - begin);
    if (counts.groups.size() % groups_per_look == 0) are_near = true;
    GroupHistogram& sum = counts.groups.emplace_back();
    if (are_near) {
      constexpr auto first = static_cast<uint8_t>(symbol_zero - near_symbols / 2);
      const size_t outside = kernels().stream->count_near(group.data(), group.size(), first, sum.data());
      are_near = outside * near_share < group.size();
    } else {
      sum = count_in_tables<GroupHistogram>(group);
    }
    for (size_t s = 0; s < symbol_count; ++s) counts.all[s] += sum[s];
  });
  return counts;
}

CodebookChoice choose_group_codebooks(const GroupCounts& counted, size_t symbol_total,
                                      const CountedCodebook& one) {
  if (counted.groups.size() < several_codebooks_min_groups) return {{one}, {}};
  const UnitCounts counts{.units = counted.groups.size(), .counts = counted.groups.front().data()};
  std::vector<uint8_t> group_codebook = codebooks_by_cost(counts, one.codebook, group_codebooks);
  std::vector<Histogram> histograms = histograms_of(counts, group_codebook, group_codebooks, 1);
  assign_cheapest(counts, counted.all, histograms, 1, group_codebook);
  histograms = histograms_of(counts, group_codebook, group_codebooks, 1);
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

  const BlockCounts counted(symbols, one.histogram);
  const UnitCounts& counts = counted.counts();
  std::vector<uint8_t> block_codebook = codebooks_by_roughness(counts, max_codebooks);
  const size_t some = std::max<size_t>(1, blocks / first_round_blocks);
  std::vector<Histogram> histograms = histograms_of(counts, block_codebook, max_codebooks, some);
  for (size_t round = 1; round <= refinement_rounds; ++round) {
    const size_t every = round == refinement_rounds ? 1 : some;
    assign_cheapest(counts, one.histogram, histograms, every, block_codebook);
    histograms = histograms_of(counts, block_codebook, max_codebooks, every);
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
