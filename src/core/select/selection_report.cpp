// SPDX-License-Identifier: BSD-3-Clause
#include "neve/selection_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/catalog/codecs.hpp"
#include "core/catalog/lossless_methods.hpp"

namespace neve {

std::string_view fate_name(Fate fate) {
  constexpr std::array<std::string_view, fates> names = {
      "won",     "lost",       "estimate_too_low", "trial_limit",    "effort",
      "speed",   "no_unit",    "many_values",      "repeats",        "similar_method",
      "unknown", "few_listed", "no_coder",         "not_competitive"};
  return static_cast<size_t>(fate) < fates ? names[static_cast<size_t>(fate)] : "unknown";
}

std::string_view fate_words(Fate fate) {
  constexpr std::array<std::string_view, fates> words = {
      "won",
      "coded as well, with a lower score",
      "its estimate scores too low",
      "the effort allows no more trials",
      "not tried: only at higher efforts",
      "not tried: only where speed has a weight",
      "not tried: sampled values are not multiples of one unit",
      "not tried: too many different values",
      "not tried: words repeat, which differences find as well",
      "not tried: a similar method is far from the best",
      "not tried: samples give no estimate",
      "not tried: few values break the bound",
      "not tried: its compressor is missing or refuses the values",
      "not tried: only where dual_quant leads"};
  return static_cast<size_t>(fate) < fates ? words[static_cast<size_t>(fate)] : "unknown";
}

size_t candidate_place(Codec codec, LosslessMethod method) {
  return codec == Codec::lossless ? candidate_codecs + static_cast<size_t>(method)
                                  : static_cast<size_t>(codec);
}

namespace {

Codec codec_at(size_t place) {
  return place < candidate_codecs ? static_cast<Codec>(place) : Codec::lossless;
}

LosslessMethod method_at(size_t place) {
  return place < candidate_codecs ? LosslessMethod::automatic
                                  : static_cast<LosslessMethod>(place - candidate_codecs);
}

}  // namespace

std::string candidate_name(size_t place) {
  std::string name(codec_name(codec_at(place)));
  if (method_at(place) != LosslessMethod::automatic) {
    name += ' ';
    name += lossless_method_name(method_at(place));
  }
  return name;
}

std::vector<Fate> CandidateSums::by_frequency() const {
  std::vector<Fate> order;
  for (size_t fate = 0; fate < fates; ++fate) {
    if (sections[fate] > 0) order.push_back(static_cast<Fate>(fate));
  }
  std::stable_sort(order.begin(), order.end(), [&](Fate a, Fate b) {
    return sections[static_cast<size_t>(a)] > sections[static_cast<size_t>(b)];
  });
  return order;
}

std::string CandidateSums::outcome() const {
  const std::vector<Fate> order = by_frequency();
  std::string text;
  for (const Fate fate : order) {
    if (!text.empty()) text += "; ";
    if (order.size() > 1) text += fmt::format("{}x ", sections[static_cast<size_t>(fate)]);
    text += fate_words(fate);
  }
  return text;
}

double SelectionTimes::share() const {
  const uint64_t all = weigh_ns + lost_ns + won_ns;
  return all == 0 ? 0 : static_cast<double>(weigh_ns + lost_ns) / static_cast<double>(all);
}

void SelectionReport::add(Span<const WeighedCandidate> of_section, uint64_t section_raw_bytes,
                          const SelectionTimes& section_times) {
  ++sections;
  raw_bytes += section_raw_bytes;
  for (const WeighedCandidate& candidate : of_section) {
    const size_t place = candidate_place(candidate.codec, candidate.method);
    if (place >= candidate_places || static_cast<size_t>(candidate.fate) >= fates) continue;
    CandidateSums& sums = candidates[place];
    ++sums.sections[static_cast<size_t>(candidate.fate)];
    if (candidate.estimated_bytes > 0) {
      sums.estimated_raw_bytes += section_raw_bytes;
      sums.estimated_bytes += candidate.estimated_bytes;
    }
    if (candidate.coded_bytes > 0) {
      sums.coded_raw_bytes += section_raw_bytes;
      sums.coded_bytes += candidate.coded_bytes;
    }
  }
  times.weigh_ns += section_times.weigh_ns;
  times.lost_ns += section_times.lost_ns;
  times.won_ns += section_times.won_ns;
}

void SelectionReport::add(const SelectionReport& other) {
  sections += other.sections;
  raw_bytes += other.raw_bytes;
  for (size_t place = 0; place < candidates.size(); ++place) {
    CandidateSums& sums = candidates[place];
    const CandidateSums& more = other.candidates[place];
    for (size_t fate = 0; fate < fates; ++fate) sums.sections[fate] += more.sections[fate];
    sums.estimated_raw_bytes += more.estimated_raw_bytes;
    sums.estimated_bytes += more.estimated_bytes;
    sums.coded_raw_bytes += more.coded_raw_bytes;
    sums.coded_bytes += more.coded_bytes;
  }
  times.weigh_ns += other.times.weigh_ns;
  times.lost_ns += other.times.lost_ns;
  times.won_ns += other.times.won_ns;
}

double SelectionReport::score(size_t place, const CodecTuning& tuning) const {
  if (place >= candidate_places) return 0;
  const CandidateSums& sums = candidates[place];
  const bool is_coded = sums.coded_bytes > 0;
  const uint64_t bytes = is_coded ? sums.coded_bytes : sums.estimated_bytes;
  if (bytes == 0) return 0;
  return selection_score(codec_at(place), method_at(place),
                         static_cast<double>(is_coded ? sums.coded_raw_bytes : sums.estimated_raw_bytes),
                         static_cast<double>(bytes), tuning);
}

std::vector<size_t> SelectionReport::listed(const CodecTuning& tuning) const {
  std::vector<size_t> places;
  for (size_t place = 0; place < candidate_places; ++place) {
    if (!candidates[place].by_frequency().empty()) places.push_back(place);
  }
  const auto won = [&](size_t place) { return candidates[place].sections[static_cast<size_t>(Fate::won)]; };
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    if (won(a) != won(b)) return won(a) > won(b);
    return score(a, tuning) > score(b, tuning);
  });
  return places;
}

double selection_score(Codec codec, LosslessMethod method, double raw_bytes, double bytes,
                       const CodecTuning& tuning) {
  const double speed =
      codec == Codec::lossless ? traits_of(method).typical_speed : traits_of(codec).typical_speed;
  return tuning.speed_weight * speed + tuning.ratio_weight * raw_bytes / std::max(bytes, 1.0);
}

}  // namespace neve
