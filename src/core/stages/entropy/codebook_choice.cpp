// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/codebook_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/stages/lossless/byte_pack.hpp"

namespace neve {

namespace {

// Below this share of zeros the bitmap of zero groups cannot pay.
constexpr double zero_groups_min_share = 0.6;

uint64_t book_bits(const Codebook& book) {
  Bytes bytes;
  ByteWriter out(bytes);
  write_codebook(book, out);
  return bytes.size() * 8;
}

// Fewer blocks cannot pay for three more codebooks.
constexpr size_t several_books_min_blocks = 32;
// The first round moves a share of the blocks only: what codebooks look like shows in part of a long stream.
constexpr size_t first_round_blocks = 256;
constexpr size_t refinement_rounds = 2;

std::span<const uint8_t> block_of(std::span<const uint8_t> symbols, size_t block) {
  const size_t begin = block * book_block_symbols;
  return symbols.subspan(begin, std::min(book_block_symbols, symbols.size() - begin));
}

// First guess: blocks ranked by the size of their residuals, cut into max_books equal parts.
std::vector<uint8_t> books_by_roughness(std::span<const uint8_t> symbols, size_t blocks) {
  std::vector<uint32_t> roughness(blocks);
  for (size_t b = 0; b < blocks; ++b) {
    for (const uint8_t s : block_of(symbols, b)) {
      roughness[b] +=
          s == symbol_escape ? symbol_zero : static_cast<uint32_t>(std::abs(int{s} - symbol_zero));
    }
  }
  std::vector<uint32_t> sorted = roughness;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint8_t> block_book(blocks);
  for (size_t b = 0; b < blocks; ++b) {
    for (size_t k = 1; k < max_books; ++k)
      block_book[b] += roughness[b] > sorted[k * blocks / max_books] ? 1 : 0;
  }
  return block_book;
}

// Of every `every`-th block. Four tables a codebook, as in count_symbols.
std::vector<Histogram> histograms_of(std::span<const uint8_t> symbols, std::span<const uint8_t> block_book,
                                     size_t every) {
  std::array<std::array<Histogram, 4>, max_books> parts{};
  for (size_t b = 0; b < block_book.size(); b += every) {
    auto& part = parts[block_book[b]];
    const auto block = block_of(symbols, b);
    size_t i = 0;
    for (; i + 4 <= block.size(); i += 4) {
      for (size_t k = 0; k < 4; ++k) ++part[k][block[i + k]];
    }
    for (; i < block.size(); ++i) ++part[0][block[i]];
  }
  std::vector<Histogram> histograms(max_books);
  for (size_t k = 0; k < max_books; ++k) {
    for (const Histogram& part : parts[k]) {
      for (size_t s = 0; s < symbol_count; ++s) histograms[k][s] += part[s];
    }
  }
  return histograms;
}

// Every `every`-th block to the codebook that codes it in the fewest bits (Lloyd's step). Codebooks know
// every symbol of the stream while blocks move between them.
void assign_cheapest(std::span<const uint8_t> symbols, const Histogram& all,
                     std::span<const Histogram> histograms, size_t every, std::span<uint8_t> block_book) {
  // Lengths of all codebooks side by side in one word: a block is priced for all of them in one pass. A field
  // holds book_block_symbols * max_code_bits, which is below 2^16.
  static_assert(book_block_symbols * max_code_bits < 1U << 16 && max_books == 4);
  std::array<uint64_t, symbol_count> lengths{};
  for (size_t k = 0; k < max_books; ++k) {
    Histogram smoothed = histograms[k];
    for (size_t s = 0; s < symbol_count; ++s) smoothed[s] += all[s] > 0 ? 1 : 0;
    const Codebook book = make_codebook(smoothed);
    for (size_t s = 0; s < symbol_count; ++s) lengths[s] |= uint64_t{book.length[s]} << (16 * k);
  }
  for (size_t b = 0; b < block_book.size(); b += every) {
    uint64_t bits = 0;
    for (const uint8_t s : block_of(symbols, b)) bits += lengths[s];
    uint64_t best = bits & 0xffff;
    block_book[b] = 0;
    for (uint8_t k = 1; k < max_books; ++k) {
      const uint64_t cost = (bits >> (16 * k)) & 0xffff;
      if (cost < best) {
        best = cost;
        block_book[b] = k;
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

std::optional<ZeroGroups> worthwhile_zero_groups(std::span<const uint8_t> symbols, const Histogram& all) {
  if (all[symbol_zero] < zero_groups_min_share * static_cast<double>(symbols.size()) || symbols.empty())
    return {};
  ZeroGroups groups = remove_zero_groups(symbols);
  const Histogram kept = count_symbols(groups.kept);
  Bytes bitmap;
  ByteWriter out(bitmap);
  write_packed(groups.kept_bitmap, out);
  const uint64_t with = coded_bits(make_codebook(kept), kept) + bitmap.size() * 8;
  if (with >= coded_bits(make_codebook(all), all)) return {};
  return groups;
}

BookChoice choose_books(std::span<const uint8_t> symbols, const Histogram& all, Effort effort) {
  BookChoice choice;
  if (symbols.empty()) return choice;
  choice.histograms.push_back(all);
  const size_t blocks = (symbols.size() + book_block_symbols - 1) / book_block_symbols;
  if (effort == Effort::fast || blocks < several_books_min_blocks) return choice;

  std::vector<uint8_t> block_book = books_by_roughness(symbols, blocks);
  const size_t some = std::max<size_t>(1, blocks / first_round_blocks);
  std::vector<Histogram> histograms = histograms_of(symbols, block_book, some);
  for (size_t round = 1; round <= refinement_rounds; ++round) {
    const bool is_last = round == refinement_rounds;
    assign_cheapest(symbols, all, histograms, is_last ? 1 : some, block_book);
    histograms = histograms_of(symbols, block_book, is_last ? 1 : some);
  }
  const Codebook one = make_codebook(all);
  const uint64_t one_bits = coded_bits(one, all) + book_bits(one);
  uint64_t several_bits = blocks * 2;
  for (const Histogram& h : histograms) {
    const Codebook book = make_codebook(h);
    several_bits += coded_bits(book, h) + book_bits(book);
  }
  const bool all_used = std::all_of(histograms.begin(), histograms.end(), [](const Histogram& h) {
    return std::any_of(h.begin(), h.end(), [](uint32_t n) { return n > 0; });
  });
  if (!all_used || several_bits >= one_bits) return choice;
  choice.histograms = std::move(histograms);
  choice.block_book = std::move(block_book);
  return choice;
}

std::vector<Codebook> write_books(std::span<const Histogram> histograms, std::span<const uint8_t> block_book,
                                  std::vector<Codebook>* shared, ByteWriter& out) {
  std::vector<Codebook> books;
  out.put(static_cast<uint8_t>(histograms.size()));
  for (const Histogram& histogram : histograms) {
    Codebook own = make_codebook(histogram);
    const uint64_t own_bits = coded_bits(own, histogram) + book_bits(own);
    if (shared == nullptr) {
      out.put_varint(0);
      write_codebook(own, out);
      books.push_back(own);
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
    books.push_back((*shared)[best]);
  }
  if (histograms.size() > 1) {
    // Two bits a block.
    Bytes ids((block_book.size() + 3) / 4);
    for (size_t b = 0; b < block_book.size(); ++b) {
      ids[b / 4] |= static_cast<std::byte>(block_book[b] << (2 * (b % 4)));
    }
    write_packed(ids, out);
  }
  return books;
}

Result<BookSet> read_books(ByteReader& in, const BookTable& shared, uint64_t symbol_total) {
  BookSet set;
  const auto total = in.get<uint8_t>();
  if (in.failed() || total == 0 || total > max_books) {
    return corrupt(fmt::format("codebooks: {} of them, must be 1 to {}", total, max_books));
  }
  for (int b = 0; b < total; ++b) {
    const uint64_t reference = in.get_varint();
    if (in.failed() || reference > shared.size()) {
      return corrupt(fmt::format("codebooks: reference to shared book {} of {}", reference, shared.size()));
    }
    if (reference > 0) {
      set.books.push_back(shared.at(reference - 1));
      continue;
    }
    NEVE_ASSIGN(const Codebook book, read_codebook(in));
    set.books.push_back(book);
  }
  for (const Codebook& book : set.books) {
    const bool is_empty =
        std::all_of(book.length.begin(), book.length.end(), [](uint8_t l) { return l == 0; });
    if (is_empty) return corrupt("codebooks: a book without symbols");
  }
  if (total > 1) {
    const uint64_t blocks = (symbol_total + book_block_symbols - 1) / book_block_symbols;
    NEVE_ASSIGN(const Bytes ids, read_packed(in, (blocks + 3) / 4));
    if (ids.size() != (blocks + 3) / 4) {
      return corrupt(fmt::format("codebooks: {} bytes of block books for {} blocks", ids.size(), blocks));
    }
    set.block_book.resize(blocks);
    for (uint64_t b = 0; b < blocks; ++b) {
      const auto id = static_cast<uint8_t>((static_cast<unsigned>(ids[b / 4]) >> (2 * (b % 4))) & 3);
      if (id >= total) return corrupt(fmt::format("codebooks: block {} names book {} of {}", b, id, total));
      set.block_book[b] = id;
    }
  }
  return set;
}

}  // namespace neve
