// SPDX-License-Identifier: BSD-3-Clause
// Which codebook a chunk gets: the one in force, one of its own, or an offline one (CEAZ, section 3.2.3).
#pragma once

#include "core/stream/codebook.hpp"
#include "core/stream/symbol_coder.hpp"
#include "neve/stream.hpp"

namespace neve::stream {

// Below this many symbols no codebook is built: a table is at most a tenth of what it saves on (CEAZ's bound
// for a ratio of 10), and small streams should not wait for one.
inline constexpr uint64_t rebuild_min_symbols = 24 * 1024;

// Standard deviation of the frequencies of the 1024 symbols, each relative to 1/1024.
double frequency_sigma(const SymbolCounts& counts);

struct CodebookChoice {
  CodebookKind kind = CodebookKind::offline;
  uint8_t offline_codebook = 0;
  CodebookReason reason = CodebookReason::first;
  uint64_t bits = 0;  // of the codes, with the table where there is one
  double chi = 0;
  uint64_t kept_bits = 0;
  uint64_t rebuilt_bits = 0;
  uint64_t offline_bits = 0;
};

// The codebook in force and what rule chi remembers.
class Codebooks {
 public:
  // Of the offline codebooks only number `offline_codebook`, or any where that is -1. `order` is of those of
  // a chunk's own.
  Codebooks(CodebookRule rule, double chi_keep, double chi_offline, int offline_codebook = -1,
            SymbolOrder order = SymbolOrder::pipeline)
      : rule_(rule),
        chi_keep_(chi_keep),
        chi_offline_(chi_offline),
        offline_codebook_(offline_codebook),
        order_(order) {}

  void reset() {
    in_force_ = nullptr;
    has_sigma_ = false;
  }
  // Changes nothing; a codebook of the chunk's own is then rebuilt().
  CodebookChoice choose(const SymbolCounts& counts);
  const Codebook& rebuilt() const { return rebuilt_; }
  // What the choice would bring into force.
  const Codebook& chosen(const CodebookChoice& choice) const {
    if (choice.kind == CodebookKind::offline) return offline_codebooks()[choice.offline_codebook];
    return choice.kind == CodebookKind::rebuilt ? rebuilt_ : *in_force_;
  }
  // The choice comes into force.
  const CodeTable& take(const CodebookChoice& choice);

 private:
  struct Offline {
    uint8_t number;
    uint64_t bits;
  };
  Offline cheapest_offline(const SymbolCounts& counts, uint64_t symbols) const;
  // Kind and reason by the rule, from the bits that stand in the choice.
  void decide(bool can_keep, bool may_rebuild, CodebookChoice& choice) const;

  CodebookRule rule_;
  double chi_keep_;
  double chi_offline_;
  int offline_codebook_;
  SymbolOrder order_;
  const Codebook* in_force_ = nullptr;  // own_ or an offline one
  const CodeTable* codes_ = nullptr;
  Codebook own_;
  CodeTable own_codes_;
  Codebook rebuilt_;
  double sigma_ = 0;       // of the chunk before
  double next_sigma_ = 0;  // of the one choose() was last asked about
  bool has_sigma_ = false;
};

}  // namespace neve::stream
