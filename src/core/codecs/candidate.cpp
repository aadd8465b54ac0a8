// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/candidate.hpp"

#include <algorithm>

#include "core/codecs/symbol_coding.hpp"
#include "core/threads/thread_clock.hpp"

namespace neve {

namespace {

// Several codebooks seldom save more than this.
constexpr double codebooks_save_share = 0.12;

}  // namespace

double Candidate::max_score() const {
  return scorer_->score(draft_.codec,
                        (is_settled() ? 1 : 1 - codebooks_save_share) * static_cast<double>(bytes_));
}

void Candidate::settle(Effort effort) {
  if (is_settled()) return;
  const uint64_t begin_ns = thread_time_ns();
  refine_codebooks(draft_, effort);
  bytes_ = drafted_bytes(draft_);
  is_settled_ = true;
  draft_.selection.settled(bytes_, thread_time_ns() - begin_ns);
}

void Candidate::note_estimated(Codec rival, double bytes) {
  if (!std::isfinite(bytes)) return trace().passed(rival, Fate::unknown);
  const auto whole_bytes = static_cast<uint64_t>(std::min(bytes, 1e18));
  draft_.report.rival = rival;
  draft_.report.rival_bytes = whole_bytes;
  draft_.report.rival_is_estimate = true;
  trace().passed({rival, LosslessMethod::automatic, Fate::estimate_too_low, whole_bytes, 0},
                 Fate::estimate_too_low);
}

bool is_better(Candidate& other, Candidate& leader, Effort effort) {
  if (leader.max_score() > other.score()) leader.settle(effort);
  if (other.max_score() > leader.score()) other.settle(effort);
  if (leader.max_score() > other.score()) leader.settle(effort);
  return other.score() > leader.score();
}

}  // namespace neve
