// SPDX-License-Identifier: BSD-3-Clause
// Which method of codec `lossless` a section gets: candidates are weighed by samples, and the best are coded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/codecs/lossless_encode.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/stages/lossless/value_ranks.hpp"
#include "core/threads/thread_clock.hpp"

namespace neve {

namespace {

// Others are tried when they may score this much of the first one. Estimates within a family (methods on
// bytes; methods of differences) err alike, between families less so. A trial costs as much as coding, by
// differences less than by zstd.
struct CloseScores {
  double in_family;
  double to_differences;
  double to_bytes;
};
CloseScores close_scores(Effort effort) {
  return effort == Effort::max ? CloseScores{0.93, 0.6, 0.6} : CloseScores{0.99, 0.85, 0.96};
}

// Where speed alone counts, lz4 looks for repeats at one place in so many: with it, methods that find more
// are chosen wherever the ratio counts at all.
constexpr int fastest_lz4_acceleration = 64;

CoderLevels coder_levels(Effort effort, const CodecTuning& tuning) {
  return {effort == Effort::fast       ? 1
          : effort == Effort::balanced ? 3
                                       : 9,
          tuning.ratio_weight == 0 ? fastest_lz4_acceleration : 1};
}
// What takes so few bytes is tried whatever the others score.
constexpr double soon_tried_bytes = 4096;
// Candidates that are tried in full; the one that comes out smallest is kept.
size_t max_trials(Effort effort) { return effort == Effort::fast ? 1 : effort == Effort::balanced ? 2 : 4; }

// How a section's method is found.
struct MethodChoice {
  LosslessMethod asked;  // by name, or as it was recalled; automatic: the method is chosen
  bool is_named;
  bool is_fastest;  // chosen, and speed alone counts

  explicit MethodChoice(const ComponentSpec& spec)
      : asked(spec.tuning.method == LosslessMethod::automatic ? spec.recalled_method : spec.tuning.method),
        is_named(spec.tuning.method != LosslessMethod::automatic),
        is_fastest(is_chosen() && spec.tuning.ratio_weight == 0) {}
  bool is_chosen() const { return asked == LosslessMethod::automatic; }
};

// The methods that are coded where one was asked for or recalled.
template <class T>
WeighedMethods methods_asked_for(const LosslessCells<T>& cells, const MethodChoice& choice) {
  WeighedMethods weighed;
  if (takes_differences(choice.asked)) {
    weighed.candidates.push_back(weigh_method(cells, choice.asked));
  } else {
    weighed.candidates.emplace_back();
    weighed.candidates.back().method = choice.asked;
  }
  // Ranks lie in the values' order: the same axes suit both.
  if (choice.asked == LosslessMethod::rank && !choice.is_named) {
    weighed.candidates.push_back(weighed.candidates.back());
    weighed.candidates.back().method = LosslessMethod::lorenzo;
  }
  for (LosslessCandidate& candidate : weighed.candidates) candidate.score = HUGE_VAL;  // tried anyway
  return weighed;
}

// Codes a section by one candidate after another; the best one above a score is kept.
template <class T>
class LosslessTrials {
 public:
  LosslessTrials(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                 double score_to_beat, Scope scope)
      : source_(source),
        spec_(spec),
        choice_(spec),
        effort_(effort),
        levels_(coder_levels(effort, spec.tuning)),
        raw_bytes_(static_cast<double>(source.held) * sizeof(T)),
        score_to_beat_(score_to_beat),
        scope_(scope) {}

  // The draft's selection is valid even where none is good enough.
  void run() {
    draft_.codec = Codec::lossless;
    const WeighedMethods weighed = weigh();
    trials_left_ = choice_.is_chosen() ? max_trials(effort_) : 1;
    if (!weighed.candidates.empty()) highest_score_ = weighed.candidates[0].score;
    // Else the methods are weighed as if no other codec were at hand: what comes out is not beaten by asking
    // for no loss.
    if (is_hopeless(weighed)) {
      code_all(weighed.unsure);
      return pass_all(weighed);
    }
    for (const LosslessCandidate& candidate : weighed.candidates) {
      // Of methods asked for there is one, of recalled ones also what stands in for it.
      if (trials_left_ == 0 && !choice_.is_chosen()) break;
      consider(candidate);
    }
    code_all(weighed.unsure);
    if (choice_.is_chosen() && !choice_.is_fastest) code_beside_samples(weighed);
    // What was missing has been found.
    const auto is_best = [&](const LosslessCandidate& c) { return best_ == c.method; };
    if (effort_ == Effort::fast && std::any_of(weighed.unsure.begin(), weighed.unsure.end(), is_best))
      is_surprise_ = false;
    if (choice_.is_chosen() && is_worth_more_trials()) code_all(weighed.candidates);
    if (choice_.is_chosen() && (is_surprise_ || is_worth_more_trials())) reconsider();
    draft_.selection.times.won_ns += gather_ns_;
    recycle_values(std::move(cells_.bits));
  }
  bool has_won() const { return best_.has_value() && (score_to_beat_ == 0 || best_score_ > score_to_beat_); }
  SectionDraft& draft() { return draft_; }

 private:
  WeighedMethods weigh() {
    const uint64_t begin_ns = thread_time_ns();
    WeighedMethods weighed;
    if (choice_.is_fastest) weighed = fastest_method(spec_.tuning);
    const LosslessMethod settled = choice_.is_fastest ? weighed.candidates[0].method : choice_.asked;
    is_in_rows_ = settled != LosslessMethod::automatic && takes_rows(source_, settled);
    if (!is_in_rows_) cells_ = gather(source_, spec_);
    const uint64_t gathered_ns = thread_time_ns();
    gather_ns_ = gathered_ns - begin_ns;
    if (!choice_.is_chosen()) {
      weighed = methods_asked_for(cells_, choice_);
      gather_ns_ += thread_time_ns() - gathered_ns;
      return weighed;
    }
    if (!choice_.is_fastest) weighed = weigh_lossless(cells_, spec_.tuning, effort_);
    draft_.selection.candidates = std::move(weighed.withdrawn);
    draft_.selection.times.weigh_ns = thread_time_ns() - gathered_ns;
    return weighed;
  }

  void consider(const LosslessCandidate& candidate) {
    WeighedCandidate entry{
        Codec::lossless, candidate.method, Fate::lost,
        choice_.is_chosen() ? static_cast<uint64_t>(std::min(candidate.bytes, raw_bytes_)) : 0, 0};
    const double others_score = best_ ? std::max(highest_score_, best_score_) : 0;
    const bool is_soon_tried = candidate.bytes < soon_tried_bytes;
    if (!is_soon_tried && candidate.score < close_score(candidate.method) * others_score)
      return draft_.selection.passed(entry, Fate::estimate_too_low);
    // (What has been coded may have come out worse than this one is expected to.)
    constexpr double clearly_better = 1.05;
    const bool is_ahead = best_ && candidate.score > clearly_better * best_score_;
    if (trials_left_ == 0 && !is_ahead && !(is_soon_tried && effort_ != Effort::fast))
      return draft_.selection.passed(entry, Fate::trial_limit);
    code(candidate, entry);
  }

  // The share of the best score from which on a method is tried.
  double close_score(LosslessMethod method) const {
    const CloseScores close = close_scores(effort_);
    const bool differs = takes_differences(method);
    if (best_ && takes_differences(*best_) == differs) return close.in_family;
    return differs ? close.to_differences : close.to_bytes;
  }

  // A trial that says only that its estimate was wrong takes no other candidate's place.
  static bool is_misjudged(const LosslessCandidate& candidate, size_t bytes) {
    constexpr double most_times = 2;
    return static_cast<double>(bytes) > most_times * candidate.bytes + few_bytes;
  }

  // Small sections that come out many times smaller are soon coded by all.
  bool is_worth_more_trials() const {
    constexpr double many_times = 8;
    return effort_ != Effort::fast && raw_bytes_ <= few_raw_bytes && best_ &&
           static_cast<double>(draft_.before.size()) * many_times < raw_bytes_;
  }

  // Whether all estimates lie far above what another codec takes, and that is not too little to be sure.
  bool is_hopeless(const WeighedMethods& weighed) const {
    const bool is_max = effort_ == Effort::max;
    const double few = is_max ? few_coded_bytes : few_coded_bytes / 8;
    return raw_bytes_ > score_to_beat_ * few && highest_score_ * hopeless_times < score_to_beat_ &&
           (!is_max || weighed.unsure.empty());
  }

  void pass_all(const WeighedMethods& weighed) {
    for (const LosslessCandidate& candidate : weighed.candidates) {
      if (is_coded(candidate.method)) continue;
      draft_.selection.passed({Codec::lossless, candidate.method, Fate::estimate_too_low,
                               static_cast<uint64_t>(std::min(candidate.bytes, raw_bytes_)), 0},
                              Fate::estimate_too_low);
    }
    recycle_values(std::move(cells_.bits));
  }

  // What was said of a method that is coded after all.
  WeighedCandidate take_entry(LosslessMethod method) {
    std::vector<WeighedCandidate>& seen = draft_.selection.candidates;
    const auto found =
        std::find_if(seen.begin(), seen.end(), [&](const WeighedCandidate& c) { return c.method == method; });
    if (found == seen.end()) return {Codec::lossless, method, Fate::lost, 0, 0};
    const WeighedCandidate entry = *found;
    seen.erase(found);
    return entry;
  }

  void code_all(const std::vector<LosslessCandidate>& candidates) {
    for (const LosslessCandidate& candidate : candidates) {
      if (is_coded(candidate.method)) continue;
      WeighedCandidate entry = take_entry(candidate.method);
      code(candidate, entry);
    }
  }

  // However many different values a sample shows: those in order, as coordinates are, have ranks that take
  // nothing.
  bool takes_any_ranks() const {
    return source_.held <= max_ranks && (effort_ == Effort::max || is_in_order());
  }
  bool is_in_order() const {
    const auto& bits = cells_.bits;
    if (!cells_.left_out.empty()) return false;  // some are undefined
    bool rises = true, falls = true;
    for (size_t cell = 1; cell < bits.size() && (rises || falls); ++cell) {
      const auto before = word_of<T>(bits[cell - 1]), here = word_of<T>(bits[cell]);
      rises &= here >= before;
      falls &= here <= before;
    }
    return rises || falls;
  }

  // What samples cannot tell: of few values they say little, and different ones may be in order.
  void code_beside_samples(const WeighedMethods& weighed) {
    std::vector<LosslessCandidate> candidates;
    // Slices do not show what repeats far away, which byte coders find as well.
    const bool has_repeats = std::any_of(weighed.candidates.begin(), weighed.candidates.end(),
                                         [](const LosslessCandidate& c) { return c.repeats; });
    if (effort_ == Effort::max && (has_repeats || raw_bytes_ <= few_raw_bytes)) {
      candidates.emplace_back().method = LosslessMethod::shuffle_zstd;
    }
    if (raw_bytes_ <= tiny_raw_bytes) candidates.emplace_back().method = LosslessMethod::zstd;
    if (cells_.coded > 0 && takes_any_ranks()) {
      candidates.push_back(weigh_method(cells_, LosslessMethod::rank));
    }
    for (LosslessCandidate& candidate : candidates) candidate.bytes = raw_bytes_;
    code_all(candidates);
  }

  bool is_coded(LosslessMethod method) const {
    const std::vector<WeighedCandidate>& seen = draft_.selection.candidates;
    return std::any_of(seen.begin(), seen.end(),
                       [&](const WeighedCandidate& c) { return c.method == method && c.coded_bytes > 0; });
  }

  // A candidate has taken much more than its sample said, and others were withdrawn because of what that
  // said: methods on bytes that every reader has are coded after all.
  void reconsider() {
    for (const LosslessMethod method :
         {LosslessMethod::shuffle_zstd, LosslessMethod::xor_zstd, LosslessMethod::bitshuffle_zstd,
          LosslessMethod::zstd, LosslessMethod::b_zlib}) {
      if (is_coded(method) || !may_win_after(method)) continue;
      WeighedCandidate entry = take_entry(method);
      LosslessCandidate candidate;
      candidate.method = method;
      candidate.bytes = raw_bytes_;
      if (seems_worth(method)) {
        code(candidate, entry);
      } else {
        draft_.selection.passed(entry, Fate::estimate_too_low);
      }
    }
  }

  // Whether a method on bytes may win, by what others on bytes have taken: methods on planes of bytes or bits
  // are alike, others less so. zlib is many times slower than zstd, less so on what comes out small.
  bool may_win_after(LosslessMethod method) const {
    constexpr double many_times = 8, soon_coded_bytes = 16 << 10, slow_from_bytes = 64 << 10;
    const bool is_slow = method == LosslessMethod::b_zlib;
    if (is_slow && scope_ == Scope::part) return false;
    if (effort_ == Effort::max || !best_ || raw_bytes_ <= soon_coded_bytes) return true;
    const auto best_bytes = static_cast<double>(draft_.before.size());
    if (raw_bytes_ <= slow_from_bytes && best_bytes * 2 * many_times < raw_bytes_) return true;
    if (is_slow && raw_bytes_ > slow_from_bytes && best_bytes * many_times >= raw_bytes_) return false;
    double least = HUGE_VAL;
    for (const WeighedCandidate& c : draft_.selection.candidates) {
      if (c.coded_bytes > 0 && !takes_differences(c.method)) least = std::min(least, double(c.coded_bytes));
    }
    const double most_times = method == LosslessMethod::zstd ? 1.4 : 1.25;
    return !std::isfinite(least) || least <= most_times * best_bytes;
  }

  // Whether a method on bytes may win by what it makes of a piece from the middle of a large section.
  bool seems_worth(LosslessMethod method) {
    constexpr double estimate_slack = 0.9;
    if (raw_bytes_ <= few_raw_bytes) return true;
    const uint64_t begin_ns = thread_time_ns();
    if (piece_.empty()) {
      constexpr size_t piece_words = (256 << 10) / sizeof(T);
      const size_t total = cells_.bits.size();
      for (size_t cell = (total - std::min(total, piece_words)) / 2;
           cell < total && piece_.size() < piece_words; ++cell) {
        if (cells_.is_held(cell)) piece_.push_back(cells_.bits[cell]);
      }
    }
    Bytes bytes;
    ByteWriter out(bytes);
    const Status written = write_words<WordOf<T>>(method, quick_levels(), piece_, out);
    draft_.selection.times.weigh_ns += thread_time_ns() - begin_ns;
    if (!written.ok() || piece_.empty()) return false;
    const double whole =
        static_cast<double>(bytes.size()) * raw_bytes_ / static_cast<double>(piece_.size() * sizeof(T));
    return selection_score(Codec::lossless, method, raw_bytes_, whole, spec_.tuning) >
           estimate_slack * std::max(best_score_, score_to_beat_);
  }

  void code(const LosslessCandidate& candidate, WeighedCandidate& entry) {
    const uint64_t begin_ns = thread_time_ns();
    std::optional<Bytes> bytes =
        is_in_rows_ ? encode_rows(source_, candidate.method, levels_) : encode_by(cells_, candidate, levels_);
    if (bytes && effort_ != Effort::fast && coder_of(candidate.method) == ByteCoder::zstd &&
        static_cast<double>(bytes->size()) * sparse_ratio < raw_bytes_) {
      // A higher level of zstd may take more, of sparse values 2 to 6 %.
      auto quick = is_in_rows_ ? encode_rows(source_, candidate.method, quick_levels())
                               : encode_by(cells_, candidate, quick_levels());
      if (quick && quick->size() < bytes->size()) bytes = std::move(quick);
    }
    const uint64_t spent_ns = thread_time_ns() - begin_ns;
    if (!bytes) {
      draft_.selection.times.lost_ns += spent_ns;
      return draft_.selection.passed(
          entry, candidate.method == LosslessMethod::rank ? Fate::many_values : Fate::no_coder);
    }
    if (choice_.is_chosen() && is_misjudged(candidate, bytes->size())) {
      highest_score_ = 0;
      is_surprise_ = true;
    } else if (trials_left_ > 0) {
      --trials_left_;
    }
    const double score = selection_score(Codec::lossless, candidate.method, raw_bytes_,
                                         static_cast<double>(bytes->size()), spec_.tuning);
    const bool wins = score > best_score_ || !best_;
    entry.coded_bytes = bytes->size();
    draft_.selection.coded(entry, spent_ns, wins);
    if (!wins) return;
    is_surprise_ =
        is_surprise_ || static_cast<double>(bytes->size()) > surprising_times * candidate.bytes + few_bytes;
    best_ = candidate.method;
    best_score_ = score;
    draft_.report.method = candidate.method;
    draft_.before = std::move(*bytes);
  }

  static constexpr double sparse_ratio = 4;
  static constexpr double tiny_raw_bytes = 4096;
  // Sections so small are soon coded by many methods.
  static constexpr double few_raw_bytes = 1 << 20;
  static constexpr double surprising_times = 1.5, few_bytes = 64;
  // Estimates that lie so many times above what another codec takes are not so wrong.
  static constexpr double hopeless_times = 2, few_coded_bytes = 65536;

  CoderLevels quick_levels() const { return coder_levels(Effort::fast, spec_.tuning); }

  const SectionSource<T>& source_;
  const ComponentSpec& spec_;
  MethodChoice choice_;
  Effort effort_;
  CoderLevels levels_;
  double raw_bytes_;
  double score_to_beat_;
  Scope scope_;

  bool is_in_rows_ = false;       // rows are taken as they lie
  LosslessCells<T> cells_;        // none then
  std::vector<WordOf<T>> piece_;  // of them, by which methods are judged late
  uint64_t gather_ns_ = 0;        // what every method needs
  size_t trials_left_ = 0;
  double highest_score_ = 0;  // of the candidates, by estimates that have not turned out wrong
  std::optional<LosslessMethod> best_;
  bool is_surprise_ = false;  // the best one, or one before it, has taken much more than its sample said
  double best_score_ = 0;
  SectionDraft draft_;
};

}  // namespace

template <class T>
std::optional<SectionDraft> draft_lossless_above(const SectionSource<T>& source, const ComponentSpec& spec,
                                                 Effort effort, double score_to_beat, SelectionTrace& losers,
                                                 Scope scope) {
  LosslessTrials<T> trials(source, spec, effort, score_to_beat, scope);
  trials.run();
  if (trials.has_won()) return std::move(trials.draft());
  losers.append_loser(trials.draft().selection);
  return {};
}

template <class T>
SectionDraft draft_lossless(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  SelectionTrace none;
  if (auto draft = draft_lossless_above(source, spec, effort, 0, none)) return std::move(*draft);
  SectionDraft nothing;
  nothing.codec = Codec::lossless;
  nothing.refused =
      spec.tuning.method == LosslessMethod::rank
          ? usage_error(fmt::format(
                "method rank: {} values have more than {} different ones among them, which it cannot hold; "
                "allowed for them are auto, lorenzo and the other methods",
                source.held, max_ranks))
          : failure(fmt::format("method {} could not code {} values",
                                lossless_method_name(spec.tuning.method), source.held));
  return nothing;
}

template std::optional<SectionDraft> draft_lossless_above<float>(const SectionSource<float>&,
                                                                 const ComponentSpec&, Effort, double,
                                                                 SelectionTrace&, Scope);
template SectionDraft draft_lossless<float>(const SectionSource<float>&, const ComponentSpec&, Effort);
template std::optional<SectionDraft> draft_lossless_above<double>(const SectionSource<double>&,
                                                                  const ComponentSpec&, Effort, double,
                                                                  SelectionTrace&, Scope);
template SectionDraft draft_lossless<double>(const SectionSource<double>&, const ComponentSpec&, Effort);
template std::optional<SectionDraft> draft_lossless_above<uint8_t>(const SectionSource<uint8_t>&,
                                                                   const ComponentSpec&, Effort, double,
                                                                   SelectionTrace&, Scope);
template SectionDraft draft_lossless<uint8_t>(const SectionSource<uint8_t>&, const ComponentSpec&, Effort);
template std::optional<SectionDraft> draft_lossless_above<uint16_t>(const SectionSource<uint16_t>&,
                                                                    const ComponentSpec&, Effort, double,
                                                                    SelectionTrace&, Scope);
template SectionDraft draft_lossless<uint16_t>(const SectionSource<uint16_t>&, const ComponentSpec&, Effort);
template std::optional<SectionDraft> draft_lossless_above<uint32_t>(const SectionSource<uint32_t>&,
                                                                    const ComponentSpec&, Effort, double,
                                                                    SelectionTrace&, Scope);
template SectionDraft draft_lossless<uint32_t>(const SectionSource<uint32_t>&, const ComponentSpec&, Effort);
template std::optional<SectionDraft> draft_lossless_above<uint64_t>(const SectionSource<uint64_t>&,
                                                                    const ComponentSpec&, Effort, double,
                                                                    SelectionTrace&, Scope);
template SectionDraft draft_lossless<uint64_t>(const SectionSource<uint64_t>&, const ComponentSpec&, Effort);

}  // namespace neve
