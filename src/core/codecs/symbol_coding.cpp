// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/symbol_coding.hpp"

#include <span>
#include <utility>

#include "core/kernels/kernels.hpp"
#include "core/stages/entropy/codebook_choice.hpp"
#include "core/stages/entropy/zero_groups.hpp"
#include "core/stages/lossless/byte_pack.hpp"

namespace neve {

std::optional<Bytes> settle_symbols(SectionDraft& draft) {
  std::optional<Bytes> bitmap;
  Histogram histogram = count_symbols(draft.symbols);
  if (auto groups = worthwhile_zero_groups(draft.symbols, histogram); groups) {
    bitmap = std::move(groups->kept_bitmap);
    recycle_symbols(std::exchange(draft.symbols, std::move(groups->kept)));
    histogram = count_symbols(draft.symbols);
  }
  if (!draft.symbols.empty()) draft.histograms = {histogram};
  return bitmap;
}

void refine_codebooks(SectionDraft& draft, Effort effort) {
  if (draft.histograms.size() != 1) return;
  CodebookChoice choice = choose_codebooks(draft.symbols, draft.histograms.front(), effort);
  draft.block_codebook = std::move(choice.block_codebook);
  draft.histograms = std::move(choice.histograms);
}

Result<Symbols> read_symbols(ByteReader& in, const CodebookTable& shared, bool has_zero_groups,
                             uint64_t ordinary) {
  Symbols symbols;
  Bytes bitmap;
  uint64_t coded = ordinary;
  if (has_zero_groups) {
    NEVE_ASSIGN(bitmap, read_packed(in, ordinary / 8 / zero_group_symbols + 1));
    NEVE_ASSIGN(coded, kept_symbols(bitmap, ordinary));
  }
  if (coded > 0) {
    NEVE_ASSIGN(const CodebookSet set, read_codebooks(in, shared, coded));
    symbols = take_symbols(coded + row_padding);
    NEVE_TRY(huffman_decode(in, set.codebooks, set.block_codebook, std::span(symbols).first(coded)));
  }
  if (has_zero_groups) symbols = restore_zero_groups(bitmap, symbols, ordinary);
  symbols.resize(ordinary + row_padding);
  return symbols;
}

}  // namespace neve
