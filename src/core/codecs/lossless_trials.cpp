// SPDX-License-Identifier: BSD-3-Clause
// Which method of codec `lossless` a section gets: candidates are weighed by samples, and the best are coded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/catalog/lossless_methods.hpp"
#include "core/codecs/listed_methods.hpp"
#include "core/codecs/lossless_encode.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/sections/middle_part.hpp"
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
CloseScores close_scores(Effort effort, bool is_listed) {
  // (Parts tell less of methods that were listed than samples do of methods that are made for it.)
  if (is_listed && effort != Effort::max) return {0.97, 0.85, 0.96};
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

// What takes the place of a recalled rank that cannot hold the values: the first that can.
std::vector<LosslessMethod> stand_ins_of_rank(LosslessMethods candidates) {
  if (candidates.has(LosslessMethod::lorenzo)) return {LosslessMethod::lorenzo};
  std::vector<LosslessMethod> others;
  const LosslessMethods available = available_methods(candidates);
  for (const LosslessMethodTraits& row : lossless_method_rows) {
    if (row.method != LosslessMethod::rank && row.typical_speed > 0 && available.has(row.method))
      others.push_back(row.method);
  }
  std::stable_sort(others.begin(), others.end(), [](LosslessMethod a, LosslessMethod b) {
    return traits_of(a).typical_speed > traits_of(b).typical_speed;
  });
  return others;
}

// The methods that are coded where one was asked for or recalled.
template <class T>
WeighedMethods methods_asked_for(const LosslessCells<T>& cells, const MethodChoice& choice,
                                 LosslessMethods candidates) {
  WeighedMethods weighed;
  if (takes_differences(choice.asked)) {
    weighed.candidates.push_back(weigh_method(cells, choice.asked));
  } else {
    weighed.candidates.emplace_back();
    weighed.candidates.back().method = choice.asked;
  }
  if (choice.asked == LosslessMethod::rank && !choice.is_named) {
    // Ranks lie in the values' order: the same axes suit both.
    const LosslessCandidate rank = weighed.candidates.back();
    for (const LosslessMethod method : stand_ins_of_rank(candidates)) {
      weighed.candidates.push_back(rank);
      weighed.candidates.back().method = method;
    }
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
    if (has_speed_weight()) code_fast_methods();
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
    // (Of the fastest one there is no estimate that it could be a surprise to.)
    const bool may_go_on = choice_.is_chosen() && !choice_.is_fastest;
    if (may_go_on && is_worth_more_trials()) code_all(weighed.candidates);
    if (may_go_on && (is_surprise_ || is_worth_more_trials() || finds_repeats_fast())) reconsider();
    draft_.selection.times.won_ns += gather_ns_;
    recycle_values(std::move(cells_.bits));
  }
  bool has_won() const { return best_.has_value() && (score_to_beat_ == 0 || best_score_ > score_to_beat_); }
  SectionDraft& draft() { return draft_; }

 private:
  WeighedMethods weigh() {
    const uint64_t begin_ns = thread_time_ns();
    WeighedMethods weighed;
    const LosslessMethods listed = spec_.tuning.candidates;
    if (choice_.is_fastest)
      weighed = fastest_method(spec_.tuning, listed.is_all() ? listed : available_methods(listed));
    const LosslessMethod settled = choice_.is_fastest ? weighed.candidates[0].method : choice_.asked;
    is_in_rows_ = settled != LosslessMethod::automatic && takes_rows(source_, settled);
    if (!is_in_rows_) cells_ = gather(source_, spec_);
    const uint64_t gathered_ns = thread_time_ns();
    gather_ns_ = gathered_ns - begin_ns;
    if (!choice_.is_chosen()) {
      weighed = methods_asked_for(cells_, choice_, spec_.tuning.candidates);
      gather_ns_ += thread_time_ns() - gathered_ns;
      return weighed;
    }
    if (!choice_.is_fastest)
      weighed = listed.is_all() ? weigh_lossless(cells_, spec_.tuning, effort_)
                                : weigh_listed(cells_, spec_.tuning, effort_);
    if (choice_.is_fastest && takes_differences(settled)) find_axes(weighed.candidates);
    draft_.selection.candidates = std::move(weighed.withdrawn);
    draft_.selection.times.weigh_ns = thread_time_ns() - gathered_ns;
    return weighed;
  }

  // Of the fastest method, and of what takes its place where that is rank, which may not hold the values.
  void find_axes(std::vector<LosslessCandidate>& candidates) const {
    const auto add = [&](LosslessMethod method) {
      candidates.push_back(takes_differences(method) ? weigh_method(cells_, method) : LosslessCandidate());
      candidates.back().method = method;
      candidates.back().bytes = raw_bytes_;
      candidates.back().score =
          selection_score(Codec::lossless, method, raw_bytes_, raw_bytes_, spec_.tuning);
    };
    const LosslessMethod fastest = candidates[0].method;
    candidates.clear();
    add(fastest);
    if (fastest != LosslessMethod::rank) return;
    for (const LosslessMethod method : stand_ins_of_rank(spec_.tuning.candidates)) add(method);
  }

  void consider(const LosslessCandidate& candidate) {
    if (is_coded(candidate.method)) return;
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
    const CloseScores close = close_scores(effort_, !spec_.tuning.candidates.is_all());
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
    if (comes_out_tiny()) return true;
    return effort_ != Effort::fast && raw_bytes_ <= few_raw_bytes && best_ &&
           static_cast<double>(draft_.before.size()) * many_times < raw_bytes_;
  }

  // What is nothing but repeats: every method on bytes is quick, and samples tell little of it.
  bool comes_out_tiny() const {
    constexpr double many_times = 64, most_bytes = 4 << 20;
    constexpr double many_times_of_few = 24, few_bytes_to_code = 1 << 20;
    return best_ && raw_bytes_ <= most_bytes &&
           static_cast<double>(draft_.before.size()) *
                   (raw_bytes_ <= few_bytes_to_code ? many_times_of_few : many_times) <
               raw_bytes_;
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

  // Values that are all different may have ranks that change evenly where the values do not, as those of a
  // wave that is sampled over many periods. Only neighbours show that: a part of the section by ranks, and by
  // what the section is coded by so far.
  bool seem_ranks_better() {
    constexpr double clearly = 1.03;
    if (!may_ranks_be_better()) return false;
    const uint64_t begin_ns = thread_time_ns();
    const LosslessCells<T> part = gather(middle_part(source_, part_cells), spec_);
    const double by_best = part_bytes(part, *best_), by_ranks = part_bytes(part, LosslessMethod::rank);
    draft_.selection.times.weigh_ns += thread_time_ns() - begin_ns;
    const double expected = static_cast<double>(draft_.before.size()) * by_ranks / by_best;
    return score_of(LosslessMethod::rank, expected) > clearly * best_score_;
  }
  // (Only floating point has words that are so uneven.)
  bool may_ranks_be_better() const {
    return std::is_floating_point_v<T> && effort_ == Effort::balanced && scope_ == Scope::section && best_ &&
           source_.held > part_cells && source_.held <= max_ranks &&
           best_score_ * hopeless_times > score_to_beat_ &&
           spec_.tuning.candidates.has(LosslessMethod::rank) && !is_coded(LosslessMethod::rank) &&
           turns_seldom();
  }
  // As waves do. Of noise, where neighbours rise and fall in turn, ranks take no less.
  bool turns_seldom() const {
    constexpr size_t cells_of_a_turn = 5;
    const auto& bits = cells_.bits;
    const size_t count = std::min(bits.size(), size_t{part_cells}), begin = (bits.size() - count) / 2;
    size_t turns = 0;
    for (size_t cell = begin + 1; cell + 1 < begin + count; ++cell) {
      const auto before = word_of<T>(bits[cell - 1]), here = word_of<T>(bits[cell]),
                 after = word_of<T>(bits[cell + 1]);
      turns += (here > before && here > after) || (here < before && here < after) ? 1 : 0;
    }
    return turns * cells_of_a_turn < count;
  }
  double part_bytes(const LosslessCells<T>& part, LosslessMethod method) const {
    LosslessCandidate candidate;
    if (takes_differences(method)) candidate = weigh_method(part, method);
    candidate.method = method;
    const std::optional<Bytes> bytes = encode_by(part, candidate, levels_);
    return bytes ? static_cast<double>(bytes->size()) : HUGE_VAL;
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
    if (cells_.coded > 0 && (takes_any_ranks() || seem_ranks_better())) {
      candidates.push_back(weigh_method(cells_, LosslessMethod::rank));
    }
    std::erase_if(candidates,
                  [&](const LosslessCandidate& c) { return !spec_.tuning.candidates.has(c.method); });
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
      if (!spec_.tuning.candidates.has(method) || is_coded(method)) continue;
      if (!may_win_after(method) || !may_win_by_speed(method)) continue;
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
    if (is_slow && (scope_ == Scope::part || is_small_level_tried_)) return false;
    if (effort_ == Effort::max || !best_ || raw_bytes_ <= soon_coded_bytes) return true;
    const auto best_bytes = static_cast<double>(draft_.before.size());
    if (comes_out_tiny() && !is_slow) return true;
    if (raw_bytes_ <= slow_from_bytes && best_bytes * 2 * many_times < raw_bytes_) return true;
    if (is_slow && raw_bytes_ > slow_from_bytes && best_bytes * many_times >= raw_bytes_) return false;
    // (lz4 leaves what others find.)
    const double least = least_coded_bytes(
        [](LosslessMethod coded) { return !takes_differences(coded) && coder_of(coded) != ByteCoder::lz4; });
    const double most_times = method == LosslessMethod::zstd ? 1.4 : 1.25;
    return !std::isfinite(least) || least <= most_times * best_bytes;
  }

  // The least that any of these methods has taken; infinity where none was coded.
  template <class IsOne>
  double least_coded_bytes(const IsOne& is_one) const {
    double least = HUGE_VAL;
    for (const WeighedCandidate& c : draft_.selection.candidates) {
      if (c.coded_bytes > 0 && is_one(c.method)) least = std::min(least, static_cast<double>(c.coded_bytes));
    }
    return least;
  }
  double least_of_bytes() const {
    return least_coded_bytes([](LosslessMethod method) { return !takes_differences(method); });
  }

  bool has_speed_weight() const {
    return choice_.is_chosen() && !choice_.is_fastest && spec_.tuning.speed_weight > 0;
  }

  // Where speed has a weight: methods that code in less time than samples of others take.
  void code_fast_methods() {
    const size_t trials = std::exchange(trials_left_, 0);
    for (const LosslessMethod method :
         {LosslessMethod::shuffle_lz4, LosslessMethod::lz4, LosslessMethod::bitshuffle_lz4}) {
      if (!spec_.tuning.candidates.has(method) || !may_win_by_speed(method)) continue;
      LosslessCandidate candidate;
      candidate.method = method;
      candidate.bytes = raw_bytes_;
      code_all({candidate});
    }
    trials_left_ = trials;
  }

  bool finds_repeats_fast() const {
    return has_speed_weight() && least_of_bytes() * repeating_ratio < raw_bytes_;
  }

  // Whether a method on bytes may score more than the best, by its speed and by the least that one has taken:
  // what has repeats may come out many times smaller by another one, else they are more alike.
  bool may_win_by_speed(LosslessMethod method) const {
    constexpr double times_smaller = 1.3, times_smaller_of_repeats = 6;
    const double least = least_of_bytes();
    if (!has_speed_weight() || !best_ || !std::isfinite(least)) return true;
    const bool repeats = least * repeating_ratio < raw_bytes_;
    return score_of(method, least / (repeats ? times_smaller_of_repeats : times_smaller)) > best_score_;
  }

  double score_of(LosslessMethod method, double bytes) const {
    return method_score(method, raw_bytes_, bytes, spec_.tuning);
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
    return score_of(method, whole) > estimate_slack * std::max(best_score_, score_to_beat_);
  }

  std::optional<Bytes> encode(const LosslessCandidate& candidate, const CoderLevels& levels) {
    return is_in_rows_ ? encode_rows(source_, candidate.method, levels)
                       : encode_by(cells_, candidate, levels);
  }

  // What zstd makes many times smaller is coded by other levels, too: a higher one may take more, of sparse
  // values 2 to 6 %, and finds more of what repeats.
  void keep_smallest(const LosslessCandidate& candidate, Bytes& bytes) {
    constexpr double sparse_ratio = 4, repeats_ratio = 48, close = 1.3, far = 8;
    constexpr double small_ratio = 12, small_raw_bytes = 256 << 10;
    if (coder_of(candidate.method) != ByteCoder::zstd) return;
    const auto is_smaller = [&](double times) {
      return static_cast<double>(bytes.size()) * times < raw_bytes_;
    };
    const auto try_level = [&](int level) {
      auto other = encode(candidate, {level, levels_.lz4_acceleration});
      if (other && other->size() < bytes.size()) bytes = std::move(*other);
    };
    if (effort_ != Effort::fast && is_smaller(sparse_ratio)) try_level(quick_levels().zstd);
    const double best_bytes = best_ ? static_cast<double>(draft_.before.size()) : HUGE_VAL;
    if (effort_ != Effort::max && is_smaller(repeats_ratio) &&
        static_cast<double>(bytes.size()) < close * best_bytes)
      try_level(repeats_level);
    if (raw_bytes_ > small_raw_bytes || !is_smaller(small_ratio)) return;
    const auto own_bytes = static_cast<double>(bytes.size());
    const bool is_close = own_bytes < (own_bytes < soon_tried_bytes ? close : 1) * best_bytes;
    const bool is_quick = raw_bytes_ <= soon_coded_raw_bytes && own_bytes < soon_tried_bytes;
    if (is_close || (is_quick && own_bytes < far * best_bytes)) try_level(small_level);
    is_small_level_tried_ |= is_close;
  }

  void code(const LosslessCandidate& candidate, WeighedCandidate& entry) {
    const uint64_t begin_ns = thread_time_ns();
    std::optional<Bytes> bytes = encode(candidate, levels_);
    if (bytes) keep_smallest(candidate, *bytes);
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
    const double score = score_of(candidate.method, static_cast<double>(bytes->size()));
    const bool wins = score > best_score_ || !best_;
    entry.coded_bytes = bytes->size();
    draft_.selection.coded(entry, spent_ns, wins);
    if (wins || has_speed_weight())
      is_surprise_ |= static_cast<double>(bytes->size()) > surprising_times * candidate.bytes + few_bytes;
    if (!wins) return;
    best_ = candidate.method;
    best_score_ = score;
    draft_.report.method = candidate.method;
    draft_.before = std::move(*bytes);
  }

  static constexpr double repeating_ratio = 4;
  static constexpr int repeats_level = 6, small_level = 13;  // of zstd
  static constexpr double tiny_raw_bytes = 4096;
  static constexpr int64_t part_cells = 2048;  // that tell whether ranks are better
  // All levels of zstd are quick.
  static constexpr double soon_coded_raw_bytes = 64 << 10;
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
  bool is_small_level_tried_ = false;
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
  const LosslessMethods listed = spec.tuning.candidates;
  if (spec.tuning.method == LosslessMethod::automatic && !listed.is_all()) {
    nothing.refused = usage_error(
        fmt::format("candidates {}: none of them can hold {} values (rank holds {} different ones); allowed "
                    "are lists with another method, and all",
                    lossless_methods_text(listed), source.held, max_ranks));
    return nothing;
  }
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
