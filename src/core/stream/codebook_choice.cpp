// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/codebook_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace neve::stream {

namespace {

const CodeTable& offline_codes(size_t number) {
  static const std::vector<CodeTable> tables = [] {
    std::vector<CodeTable> made(offline_codebooks().size());
    for (size_t i = 0; i < made.size(); ++i) make_code_table(offline_codebooks()[i], made[i]);
    return made;
  }();
  return tables[number];
}

// Code lengths of all offline codebooks, symbol by symbol.
struct OfflineLengths {
  uint8_t of[wide_symbol_count][compared_codebooks];
};

const OfflineLengths& offline_lengths() {
  static const OfflineLengths table = [] {
    OfflineLengths made{};
    for (size_t b = 0; b < std::min(offline_codebooks().size(), compared_codebooks); ++b) {
      for (size_t s = 0; s < wide_symbol_count; ++s) made.of[s][b] = offline_codebooks()[b].length[s];
    }
    return made;
  }();
  return table;
}

}  // namespace

double frequency_sigma(const SymbolCounts& counts) {
  double total = 0;
  double squares = 0;
  for (const uint32_t count : counts) {
    total += count;
    squares += static_cast<double>(count) * count;
  }
  if (total == 0) return 0;
  constexpr double symbols = wide_symbol_count;
  return std::sqrt(std::max(0.0, squares * symbols / (total * total) - 1));
}

Codebooks::Offline Codebooks::cheapest_offline(const SymbolCounts& counts, uint64_t symbols) const {
  if (offline_codebook_ >= 0) {
    const auto number = static_cast<uint8_t>(offline_codebook_);
    return {number, coded_bits(offline_codebooks()[number], counts)};
  }
  const auto codebooks = static_cast<ptrdiff_t>(std::min(offline_codebooks().size(), compared_codebooks));
  std::array<uint64_t, compared_codebooks> bits{};
  if (symbols <= UINT32_MAX / max_wide_code_bits) {
    std::array<uint32_t, compared_codebooks> costs{};
    kernels().stream->add_costs(counts.data(), offline_lengths().of, counts.size(), costs.data());
    std::copy(costs.begin(), costs.end(), bits.begin());
  } else {
    for (size_t b = 0; b < static_cast<size_t>(codebooks); ++b)
      bits[b] = coded_bits(offline_codebooks()[b], counts);
  }
  const auto best = std::min_element(bits.begin(), bits.begin() + codebooks);
  return {static_cast<uint8_t>(best - bits.begin()), *best};
}

CodebookChoice Codebooks::choose(const SymbolCounts& counts) {
  CodebookChoice choice;
  uint64_t symbols = 0;
  for (const uint32_t count : counts) symbols += count;
  const Offline offline = cheapest_offline(counts, symbols);
  choice.offline_codebook = offline.number;
  choice.offline_bits = offline.bits;
  const uint64_t kept_bits = in_force_ != nullptr ? coded_bits(*in_force_, counts) : UINT64_MAX;
  const bool can_keep = kept_bits != UINT64_MAX;
  if (can_keep) choice.kept_bits = kept_bits;

  next_sigma_ = rule_ == CodebookRule::chi ? frequency_sigma(counts) : 0;
  choice.chi = has_sigma_ ? std::abs(sigma_ - next_sigma_) : 0;

  const bool may_rebuild =
      rule_ == CodebookRule::always || (rule_ != CodebookRule::never && symbols >= rebuild_min_symbols);
  if (may_rebuild) {
    rebuilt_ = make_codebook(counts, order_);
    choice.rebuilt_bits = coded_bits(rebuilt_, counts) + 8 * codebook_bytes(rebuilt_);
  }

  decide(can_keep, may_rebuild, choice);
  choice.bits = choice.kind == CodebookKind::kept      ? choice.kept_bits
                : choice.kind == CodebookKind::rebuilt ? choice.rebuilt_bits
                                                       : choice.offline_bits;
  return choice;
}

void Codebooks::decide(bool can_keep, bool may_rebuild, CodebookChoice& choice) const {
  const auto take = [&](CodebookKind kind, CodebookReason reason) {
    choice.kind = kind;
    choice.reason = reason;
  };
  if (rule_ == CodebookRule::always) return take(CodebookKind::rebuilt, CodebookReason::rule);
  if (rule_ == CodebookRule::exact_cost) {
    const CodebookReason reason = in_force_ == nullptr ? CodebookReason::first : CodebookReason::fewest_bytes;
    const uint64_t others =
        may_rebuild ? std::min(choice.rebuilt_bits, choice.offline_bits) : choice.offline_bits;
    if (can_keep && choice.kept_bits <= others) return take(CodebookKind::kept, reason);
    return take(choice.offline_bits == others ? CodebookKind::offline : CodebookKind::rebuilt, reason);
  }
  if (in_force_ == nullptr) return take(CodebookKind::offline, CodebookReason::first);
  // The one in force is an offline codebook, which has every code.
  if (rule_ == CodebookRule::never) return take(CodebookKind::kept, CodebookReason::rule);
  if (choice.chi > chi_offline_) return take(CodebookKind::offline, CodebookReason::large_change);
  const bool is_small = choice.chi <= chi_keep_;
  if (is_small && can_keep) return take(CodebookKind::kept, CodebookReason::small_change);
  take(may_rebuild ? CodebookKind::rebuilt : CodebookKind::offline,
       is_small ? CodebookReason::missing_code : CodebookReason::change);
}

const CodeTable& Codebooks::take(const CodebookChoice& choice) {
  if (choice.kind == CodebookKind::offline) {
    in_force_ = &offline_codebooks()[choice.offline_codebook];
    codes_ = &offline_codes(choice.offline_codebook);
  } else if (choice.kind == CodebookKind::rebuilt) {
    own_ = rebuilt_;
    in_force_ = &own_;
    make_code_table(own_, own_codes_);
    codes_ = &own_codes_;
  }
  sigma_ = next_sigma_;
  has_sigma_ = true;
  return *codes_;
}

}  // namespace neve::stream
