// SPDX-License-Identifier: BSD-3-Clause
#include "stages/entropy/book_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "stages/lossless/byte_pack.hpp"

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

BookChoice choose_books(std::span<const uint8_t> symbols, const Histogram& all) {
  BookChoice choice;
  if (!symbols.empty()) choice.histograms.push_back(all);
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

Result<BookSet> read_books(ByteReader& in, std::span<const Codebook> shared, uint64_t symbol_total) {
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
      set.books.push_back(shared[reference - 1]);
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
