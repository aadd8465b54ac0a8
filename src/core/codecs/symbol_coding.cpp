// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/symbol_coding.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "core/kernels/kernels.hpp"
#include "core/stages/entropy/codebook_choice.hpp"
#include "core/stages/entropy/zero_groups.hpp"
#include "core/stages/entropy/zero_runs.hpp"
#include "core/stages/lossless/byte_pack.hpp"

namespace neve {

std::optional<Zeros> zeros_of(uint8_t flags) {
  const bool has_groups = (flags & zero_groups_flag) != 0, has_runs = (flags & zero_runs_flag) != 0;
  if (has_groups && has_runs) return {};
  return has_runs ? Zeros::runs : has_groups ? Zeros::groups : Zeros::coded;
}

bool settle_symbols(SectionDraft& draft, std::vector<int32_t>& escapes) {
  auto runs = worthwhile_zero_runs(draft.symbols, escapes);
  if (runs) {
    recycle_symbols(std::exchange(draft.symbols, std::move(runs->symbols)));
    escapes = std::move(runs->escapes);
  }
  draft.counts = runs ? std::move(runs->counts) : count_groups(draft.symbols);
  if (!draft.symbols.empty()) draft.codebooks = {CountedCodebook(draft.counts.all)};
  return runs.has_value();
}

void refine_codebooks(SectionDraft& draft, Effort effort) {
  if (draft.codebooks.size() != 1) return;
  const CountedCodebook& one = draft.codebooks.front();
  CodebookChoice choice = choose_group_codebooks(draft.counts, draft.symbols.size(), one);
  if (effort != Effort::fast) {
    CodebookChoice by_block = choose_codebooks(draft.symbols, one);
    if (by_block.bits() < choice.bits()) choice = std::move(by_block);
  }
  draft.block_codebook = std::move(choice.block_codebook);
  draft.codebooks = std::move(choice.codebooks);
}

Result<Symbols> read_symbols(ByteReader& in, const CodebookTable& shared, Zeros zeros, uint64_t ordinary) {
  Symbols symbols;
  Bytes bitmap;
  uint64_t coded = ordinary;
  if (zeros == Zeros::groups) {
    NEVE_ASSIGN(bitmap, read_packed(in, ordinary / 8 / zero_group_symbols + 1));
    NEVE_ASSIGN(coded, kept_symbols(bitmap, ordinary));
  } else if (zeros == Zeros::runs) {
    coded = in.get_varint();
    if (in.failed() || coded > ordinary)
      return corrupt(fmt::format("zero runs: {} symbols of {} values", coded, ordinary));
  }
  if (coded > 0) {
    NEVE_ASSIGN(const CodebookSet set, read_codebooks(in, shared, coded));
    symbols = take_symbols(coded + row_padding);
    NEVE_TRY(huffman_decode(in, set.codebooks, set.block_codebook, std::span(symbols).first(coded)));
  }
  if (zeros == Zeros::runs) {
    Result<Symbols> restored = restore_zero_runs(std::span(symbols).first(coded), ordinary);
    recycle_symbols(std::move(symbols));
    return restored;
  }
  if (zeros == Zeros::groups) symbols = restore_zero_groups(bitmap, symbols, ordinary);
  symbols.resize(ordinary + row_padding);
  return symbols;
}

}  // namespace neve
