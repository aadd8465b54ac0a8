// SPDX-License-Identifier: BSD-3-Clause
// Drafts of one section by several codecs, and which of two scores more.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "core/codecs/section_codec.hpp"

namespace neve {

// What a section's candidates are scored by.
struct CandidateScorer {
  uint64_t raw_bytes = 0;
  const CodecTuning& tuning;

  double score(Codec codec, double bytes) const {
    return selection_score(codec, LosslessMethod::automatic, static_cast<double>(raw_bytes), bytes, tuning);
  }
};

// A draft and what it takes. Several codebooks are found late, when it is clear that they may decide.
class Candidate {
 public:
  Candidate(SectionDraft made, const CandidateScorer& scorer)
      : draft_(std::move(made)), bytes_(drafted_bytes(draft_)), scorer_(&scorer) {}

  uint64_t bytes() const { return bytes_; }
  bool is_settled() const { return is_settled_ || draft_.symbols.empty(); }
  double score() const { return scorer_->score(draft_.codec, static_cast<double>(bytes_)); }
  double max_score() const;
  void settle(Effort effort);
  void note_rival(const Candidate& rival) {
    draft_.report.rival = rival.draft_.codec;
    draft_.report.rival_bytes = rival.bytes_;
    draft_.report.rival_is_estimate = !rival.is_settled();
  }
  // `rival` has not been encoded, because of what it would take by a sample; unknown where that is not
  // finite.
  void note_estimated(Codec rival, double bytes);
  const SectionDraft& draft() const { return draft_; }
  SelectionTrace& trace() { return draft_.selection; }
  SectionDraft take() { return std::move(draft_); }

 private:
  SectionDraft draft_;
  uint64_t bytes_;
  const CandidateScorer* scorer_;
  bool is_settled_ = false;
};

// Whether `other` scores more. Only codebooks that may decide it are refined.
bool is_better(Candidate& other, Candidate& leader, Effort effort);

}  // namespace neve
