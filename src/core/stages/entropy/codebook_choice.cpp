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

// First guess: blocks ranked by the size of their residuals, cut into max_codebooks equal parts.
std::vector<uint8_t> codebooks_by_roughness(std::span<const uint8_t> symbols, size_t blocks) {
  std::vector<uint32_t> roughness(blocks);
  for (size_t b = 0; b < blocks; ++b) {
    for (const uint8_t s : block_of(symbols, b)) {
      roughness[b] +=
          s == symbol_escape ? symbol_zero : static_cast<uint32_t>(std::abs(int{s} - symbol_zero));
    }
  }
  std::vector<uint32_t> sorted = roughness;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint8_t> block_codebook(blocks);
  for (size_t b = 0; b < blocks; ++b) {
    for (size_t k = 1; k < max_codebooks; ++k)
      block_codebook[b] += roughness[b] > sorted[k * blocks / max_codebooks] ? 1 : 0;
  }
  return block_codebook;
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

// Every `every`-th block to the codebook that codes it in the fewest bits (Lloyd's step). Codebooks know
// every symbol of the section while blocks move between them.
void assign_cheapest(std::span<const uint8_t> symbols, const Histogram& all,
                     std::span<const Histogram> histograms, size_t every, std::span<uint8_t> block_codebook) {
  // Lengths of all codebooks side by side in one word: a block is priced for all of them in one pass. A field
  // holds codebook_block_symbols * max_code_bits, which is below 2^16.
  static_assert(codebook_block_symbols * max_code_bits < 1U << 16 && max_codebooks == 4);
  std::array<uint64_t, symbol_count> lengths{};
  for (size_t k = 0; k < max_codebooks; ++k) {
    Histogram smoothed = histograms[k];
    for (size_t s = 0; s < symbol_count; ++s) smoothed[s] += all[s] > 0 ? 1 : 0;
    const Codebook codebook = make_codebook(smoothed);
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

}  // namespace

Histogram count_symbols(std::span<const uint8_t> symbols) {
  // Four tables: equal neighbours would otherwise wait for each other's increment.
  std::array<Histogram, 4> part{};
  size_t i = 0;
  for (; i + 8 <= symbols.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, symbols.data() + i, 8);
    for (unsigned k = 0; k < 8; ++k) ++part[k % 4][(word >> (8 * k)) & 0xff];
  }
  for (; i < symbols.size(); ++i) ++part[0][symbols[i]];
  Histogram sum{};
  for (size_t s = 0; s < symbol_count; ++s) sum[s] = part[0][s] + part[1][s] + part[2][s] + part[3][s];
  return sum;
}

CodebookChoice choose_codebooks(std::span<const uint8_t> symbols, const Histogram& all, Effort effort) {
  CodebookChoice choice;
  if (symbols.empty()) return choice;
  choice.histograms.push_back(all);
  const size_t blocks = (symbols.size() + codebook_block_symbols - 1) / codebook_block_symbols;
  if (effort == Effort::fast || blocks < several_codebooks_min_blocks) return choice;

  std::vector<uint8_t> block_codebook = codebooks_by_roughness(symbols, blocks);
  const size_t some = std::max<size_t>(1, blocks / first_round_blocks);
  std::vector<Histogram> histograms = histograms_of(symbols, block_codebook, some);
  for (size_t round = 1; round <= refinement_rounds; ++round) {
    const bool is_last = round == refinement_rounds;
    assign_cheapest(symbols, all, histograms, is_last ? 1 : some, block_codebook);
    histograms = histograms_of(symbols, block_codebook, is_last ? 1 : some);
  }
  const Codebook one = make_codebook(all);
  const uint64_t one_bits = coded_bits(one, all) + codebook_bits(one);
  uint64_t several_bits = blocks * 2;
  for (const Histogram& h : histograms) {
    const Codebook codebook = make_codebook(h);
    several_bits += coded_bits(codebook, h) + codebook_bits(codebook);
  }
  const bool all_used = std::all_of(histograms.begin(), histograms.end(), [](const Histogram& h) {
    return std::any_of(h.begin(), h.end(), [](uint32_t n) { return n > 0; });
  });
  if (!all_used || several_bits >= one_bits) return choice;
  choice.histograms = std::move(histograms);
  choice.block_codebook = std::move(block_codebook);
  return choice;
}

std::vector<Codebook> write_codebooks(std::span<const Histogram> histograms,
                                      std::span<const uint8_t> block_codebook, std::vector<Codebook>* shared,
                                      ByteWriter& out) {
  std::vector<Codebook> codebooks;
  out.put(static_cast<uint8_t>(histograms.size()));
  for (const Histogram& histogram : histograms) {
    Codebook own = make_codebook(histogram);
    const uint64_t own_bits = coded_bits(own, histogram) + codebook_bits(own);
    if (shared == nullptr) {
      out.put_varint(0);
      write_codebook(own, out);
      codebooks.push_back(own);
      continue;
    }
    size_t best = shared->size();
    uint64_t best_bits = own_bits;
    for (size_t b = 0; b < shared->size(); ++b) {
      const uint64_t bits = coded_bits((*shared)[b], histogram);
      if (bits <= best_bits) {
        best = b;
        best_bits = bits;
      }
    }
    if (best == shared->size()) shared->push_back(own);
    out.put_varint(best + 1);
    codebooks.push_back((*shared)[best]);
  }
  if (histograms.size() > 1) {
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
