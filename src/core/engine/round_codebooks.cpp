// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/round_codebooks.hpp"

namespace neve::engine {

namespace {

constexpr uint32_t offer_after_rounds = 3;

// Sigma of the frequencies, 16.16, rounded down twice (rtl/relative_deviation.sv): the root has 8 more bits.
uint32_t fixed_sigma(const SymbolCounts& counts) {
  uint64_t total = 0;
  uint64_t squares = 0;
  for (const uint32_t c : counts) {
    total += c;
    squares += uint64_t{c} * c;
  }
  if (total == 0) return 0;
  const uint64_t radicand = squares * wide_symbol_count - total * total;
  // Two bits of the radicand for one of the root; eight times two zeros behind it.
  uint64_t root = 0;
  uint64_t rest = 0;
  for (int pair = 32 + 8; pair-- > 0;) {
    rest = rest << 2 | (pair >= 8 ? radicand >> (2 * (pair - 8)) & 3U : 0);
    root <<= 1;
    if (rest >= 2 * root + 1) {
      rest -= 2 * root + 1;
      root += 1;
    }
  }
  return static_cast<uint32_t>((root << 8) / total);
}

}  // namespace

uint32_t RoundCodebooks::choose(const SymbolCounts& counts, EngineRound& round) {
  group(counts);
  const Costs costs = costs_of(counts);
  const Choice choice = decide(costs, chi_of(counts));
  round.codebook = choice.codebook;
  round.why = choice.why;
  round.offline_codebook = choice.codebook == CodebookKind::offline ? costs.offline_codebook : 0;
  switch (choice.codebook) {
    case CodebookKind::kept:
      return costs.kept;
    case CodebookKind::rebuilt:
      in_force_ = offered_;
      return costs.rebuilt;
    case CodebookKind::offline:
      break;
  }
  in_force_ = stream::offline_codebooks()[round.offline_codebook];
  return costs.offline;
}

void RoundCodebooks::group(const SymbolCounts& counts) {
  for (size_t s = 0; s < counts.size(); ++s) group_[s] += counts[s];
  if (++group_rounds_ == build_rounds_) {
    // What did not occur counts once: the codebook serves rounds to come.
    SymbolCounts built = group_;
    for (uint32_t& c : built) c = std::max(c, 1U);
    next_ = stream::make_codebook(built);
    age_ = 0;
    group_.fill(0);
    group_rounds_ = 0;
    offered_.reset();
  } else if (next_ && age_ < offer_after_rounds) {
    ++age_;
  }
  if (next_ && age_ == offer_after_rounds) offered_ = next_;
}

RoundCodebooks::Costs RoundCodebooks::costs_of(const SymbolCounts& counts) const {
  Costs costs;
  for (size_t b = 0; b < stream::offline_codebooks().size(); ++b) {
    const auto bits = static_cast<uint32_t>(stream::coded_bits(stream::offline_codebooks()[b], counts));
    if (bits < costs.offline) {
      costs.offline = bits;
      costs.offline_codebook = static_cast<uint8_t>(b);
    }
  }
  const uint64_t kept = in_force_ ? stream::coded_bits(*in_force_, counts) : UINT64_MAX;
  costs.kept = static_cast<uint32_t>(std::min<uint64_t>(kept, not_open));
  if (may_rebuild()) {
    const auto table = static_cast<uint32_t>(stream::codebook_bytes(*offered_) >> table_shift_);
    costs.rebuilt = static_cast<uint32_t>(stream::coded_bits(*offered_, counts)) + 8 * table;
  }
  return costs;
}

uint32_t RoundCodebooks::chi_of(const SymbolCounts& counts) {
  const uint32_t sigma = fixed_sigma(counts);
  const uint32_t chi = sigma > last_sigma_ ? sigma - last_sigma_ : last_sigma_ - sigma;
  last_sigma_ = sigma;
  return chi;
}

RoundCodebooks::Choice RoundCodebooks::decide(const Costs& costs, uint32_t chi) const {
  switch (rule_) {
    case CodebookRule::always:
      return own_or_offline("always", "always, none on offer");
    case CodebookRule::never:
      return in_force_ ? Choice{CodebookKind::kept, "never"} : Choice{CodebookKind::offline, "never, first"};
    case CodebookRule::chi:
      return by_chi(costs, chi);
    case CodebookRule::exact_cost:
      break;
  }
  return by_cost(costs);
}

RoundCodebooks::Choice RoundCodebooks::own_or_offline(std::string_view own,
                                                      std::string_view none_on_offer) const {
  return may_rebuild() ? Choice{CodebookKind::rebuilt, own} : Choice{CodebookKind::offline, none_on_offer};
}

RoundCodebooks::Choice RoundCodebooks::by_chi(const Costs& costs, uint32_t chi) const {
  if (!in_force_) return {CodebookKind::offline, "chi, first"};
  if (chi > chi_offline_) return {CodebookKind::offline, "chi, large change"};
  if (chi <= chi_keep_ && costs.kept != not_open) return {CodebookKind::kept, "chi, small change"};
  return own_or_offline("chi, change", "chi, change, none on offer");
}

RoundCodebooks::Choice RoundCodebooks::by_cost(const Costs& costs) {
  if (costs.kept != not_open && costs.kept <= std::min(costs.rebuilt, costs.offline)) {
    return {CodebookKind::kept, "cost, kept"};
  }
  if (costs.offline <= costs.rebuilt) return {CodebookKind::offline, "cost, offline"};
  return {CodebookKind::rebuilt, "cost, rebuilt"};
}

}  // namespace neve::engine
