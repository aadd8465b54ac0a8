// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/codec_drafts.hpp"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "core/threads/thread_clock.hpp"

namespace neve {

namespace {

// Where more than this share of the values must be listed exactly, the exact codec may well be smaller.
constexpr double exact_trial_share = 0.05;

// By the codec of that number, asked for by name.
template <class T>
SectionDraft draft_by(Codec codec, const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  switch (codec) {
#define NEVE_DRAFT(name, is_asked_for, keeps_bits, ...)                \
  case Codec::name:                                                    \
    if constexpr (keeps_bits && is_asked_for) {                        \
      return draft_##name(source, spec, effort);                       \
    } else if constexpr (!keeps_bits && std::is_floating_point_v<T>) { \
      return draft_##name(source, spec);                               \
    }                                                                  \
    break;
    NEVE_CODECS(NEVE_DRAFT)
#undef NEVE_DRAFT
    case Codec::automatic:
      break;
  }
  SectionDraft none;
  none.refused = usage_error(fmt::format("codec {} cannot be asked for here", codec_name(codec)));
  return none;
}

}  // namespace

bool lists_many(const SectionDraft& draft, uint64_t held) {
  return static_cast<double>(draft.report.exact_cells) > exact_trial_share * static_cast<double>(held);
}

void note_alone(SectionDraft& draft, uint64_t spent_ns) {
  const WeighedCandidate alone{draft.codec, LosslessMethod::automatic, Fate::won, 0, drafted_bytes(draft)};
  draft.selection.coded(alone, spent_ns, true);
}

// Codec lossless has said itself what it weighed.
template <class T>
SectionDraft draft_kept(Codec codec, const SectionSource<T>& source, const ComponentSpec& spec,
                        Effort effort) {
  const uint64_t begin_ns = thread_time_ns();
  SectionDraft draft = draft_by(codec, source, spec, effort);
  if (draft.refused.ok() && draft.selection.candidates.empty())
    note_alone(draft, thread_time_ns() - begin_ns);
  return draft;
}

template <class T>
SectionDraft or_exact(SectionDraft draft, uint64_t begin_ns, const SectionSource<T>& source,
                      const ComponentSpec& spec, Effort effort) {
  const bool is_dual_quant = draft.codec == Codec::dual_quant;
  note_alone(draft, thread_time_ns() - begin_ns);
  if (!lists_many(draft, source.held)) {
    draft.selection.passed(Codec::exact, Fate::few_listed);
    return draft;
  }
  const uint64_t exact_ns = thread_time_ns();
  ComponentSpec exact_spec = spec;
  // Values as they are: what dual quantization makes of them would make max_abs_error wrong.
  if (!is_dual_quant) exact_spec.codec = Codec::exact;
  SectionDraft exact = draft_exact(source, exact_spec, effort);
  note_alone(exact, thread_time_ns() - exact_ns);
  if (is_dual_quant) {
    exact.report = draft.report;
  } else {
    exact.report.special_cells = draft.report.special_cells;
    exact.report.exact_cells -= draft.report.special_cells;
  }
  if (exact.before.size() < drafted_bytes(draft)) std::swap(exact, draft);
  draft.selection.append_loser(exact.selection);
  return draft;
}

template <class T>
SectionDraft draft_lossy(const SectionSource<T>& source, const ComponentSpec& spec, Codec codec,
                         Effort effort) {
  const uint64_t begin_ns = thread_time_ns();
  return or_exact(draft_by(codec, source, spec, effort), begin_ns, source, spec, effort);
}

template SectionDraft draft_kept<float>(Codec, const SectionSource<float>&, const ComponentSpec&, Effort);
template SectionDraft draft_kept<double>(Codec, const SectionSource<double>&, const ComponentSpec&, Effort);
template SectionDraft draft_kept<uint8_t>(Codec, const SectionSource<uint8_t>&, const ComponentSpec&, Effort);
template SectionDraft draft_kept<uint16_t>(Codec, const SectionSource<uint16_t>&, const ComponentSpec&,
                                           Effort);
template SectionDraft draft_kept<uint32_t>(Codec, const SectionSource<uint32_t>&, const ComponentSpec&,
                                           Effort);
template SectionDraft draft_kept<uint64_t>(Codec, const SectionSource<uint64_t>&, const ComponentSpec&,
                                           Effort);
template SectionDraft or_exact<float>(SectionDraft, uint64_t, const SectionSource<float>&,
                                      const ComponentSpec&, Effort);
template SectionDraft draft_lossy<float>(const SectionSource<float>&, const ComponentSpec&, Codec, Effort);
template SectionDraft or_exact<double>(SectionDraft, uint64_t, const SectionSource<double>&,
                                       const ComponentSpec&, Effort);
template SectionDraft draft_lossy<double>(const SectionSource<double>&, const ComponentSpec&, Codec, Effort);

}  // namespace neve
