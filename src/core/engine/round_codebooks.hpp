// SPDX-License-Identifier: BSD-3-Clause
// Codebooks as the engine has them: what codebook_choice.sv decides, from counts of a round alone.
#pragma once

#include <algorithm>
#include <optional>

#include "core/engine/engine_stream.hpp"
#include "core/stream/codebook.hpp"

namespace neve::engine {

using stream::Codebook;
using stream::SymbolCounts;

// Chi and its thresholds are 16.16.
inline constexpr double fixed_point = 65536;

class RoundCodebooks {
 public:
  explicit RoundCodebooks(const EngineOptions& o)
      : rule_(o.rule),
        chi_keep_(static_cast<uint32_t>(o.chi_keep * fixed_point)),
        chi_offline_(static_cast<uint32_t>(o.chi_offline * fixed_point)),
        build_rounds_(o.build_rounds),
        table_shift_(o.table_shift) {}

  // The round's codebook comes into force. Returns the bits that its codes count.
  uint32_t choose(const SymbolCounts& counts, EngineRound& round);
  const Codebook& in_force() const { return *in_force_; }

 private:
  // Bits of the round's codes by each codebook; not_open where there is no such codebook.
  static constexpr uint32_t not_open = UINT32_MAX;
  struct Costs {
    uint32_t kept = not_open;
    uint32_t rebuilt = not_open;
    uint32_t offline = not_open;
    uint8_t offline_codebook = 0;
  };
  struct Choice {
    CodebookKind codebook = CodebookKind::offline;
    std::string_view why;
  };

  // Counts of rounds become a codebook, which is on offer some rounds later.
  void group(const SymbolCounts& counts);
  bool may_rebuild() const { return offered_ && rule_ != CodebookRule::never; }
  Costs costs_of(const SymbolCounts& counts) const;
  // How far the frequencies are from those of the round before.
  uint32_t chi_of(const SymbolCounts& counts);
  Choice decide(const Costs& costs, uint32_t chi) const;
  Choice own_or_offline(std::string_view own, std::string_view none_on_offer) const;
  Choice by_chi(const Costs& costs, uint32_t chi) const;
  static Choice by_cost(const Costs& costs);

  CodebookRule rule_;
  uint32_t chi_keep_;
  uint32_t chi_offline_;
  uint32_t build_rounds_;
  uint32_t table_shift_;
  SymbolCounts group_{};
  uint32_t group_rounds_ = 0;
  std::optional<Codebook> next_;  // built, on offer after some rounds
  std::optional<Codebook> offered_;
  uint32_t age_ = 0;
  std::optional<Codebook> in_force_;
  uint32_t last_sigma_ = 0;
};

}  // namespace neve::engine
