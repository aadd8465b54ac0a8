// SPDX-License-Identifier: BSD-3-Clause
// Why a section is coded as it is: the candidates that were considered for it, and the outcome for each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neve/span.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

enum class Fate : uint8_t {
  won = 0,
  lost,              // coded as well, with a lower score
  estimate_too_low,  // its estimate scores too low for it to be coded
  trial_limit,       // the effort allows no more trials
  effort,            // only considered at higher efforts
  speed,             // only considered where speed has a weight
  no_unit,           // multiple: sampled values are not multiples of one unit
  many_values,       // rank: too many different values
  repeats,           // byte methods: words repeat, which differences find as well
  similar_method,    // a similar byte method is far from the best
  unknown,           // samples give no estimate
  few_listed,        // exact: few values break the bound
  no_coder,          // its compressor is missing, or refuses the values
  not_competitive,   // tried only where a codec it could beat leads
};
inline constexpr size_t fates = 14;
std::string_view fate_name(Fate fate);   // "won", "lost", "estimate_too_low", ...
std::string_view fate_words(Fate fate);  // a reason in words

// One candidate for one section.
struct WeighedCandidate {
  Codec codec = Codec::automatic;
  LosslessMethod method = LosslessMethod::automatic;  // of codec lossless
  Fate fate = Fate::lost;
  uint64_t estimated_bytes = 0;  // from samples; 0: no estimate
  uint64_t coded_bytes = 0;      // won and lost
};

// Candidates have a place each: the codecs, then codec lossless by method.
inline constexpr size_t candidate_codecs = static_cast<size_t>(codecs);
inline constexpr size_t candidate_places = candidate_codecs + static_cast<size_t>(lossless_methods);
// Numbers that are not in their enumeration have no place below candidate_places, and are not added.
size_t candidate_place(Codec codec, LosslessMethod method);
std::string candidate_name(size_t place);  // "dual_quant", "lossless lorenzo", ...

// One candidate for all sections of a component. All members here and below are uint64_t, so that reports
// are arrays of them to MPI.
struct CandidateSums {
  std::array<uint64_t, fates> sections{};                 // by fate
  uint64_t estimated_raw_bytes = 0, estimated_bytes = 0;  // where there was an estimate
  uint64_t coded_raw_bytes = 0, coded_bytes = 0;          // where it was coded

  std::vector<Fate> by_frequency() const;  // those that occurred, the most frequent first
  std::string outcome() const;             // in words
};

// CPU time of the threads that encoded: samples and estimates, candidates that lost, those that won.
struct SelectionTimes {
  uint64_t weigh_ns = 0, lost_ns = 0, won_ns = 0;

  double share() const;  // of all but the winners; 0 for nothing
};

struct SelectionReport {
  uint64_t sections = 0;
  uint64_t raw_bytes = 0;  // held values
  std::array<CandidateSums, candidate_places> candidates{};
  SelectionTimes times;

  void add(Span<const WeighedCandidate> candidates, uint64_t section_raw_bytes, const SelectionTimes& times);
  void add(const SelectionReport& other);
  // Of its coded bytes, else of its estimates, by the tuning's weights; 0 without either, or such a place.
  double score(size_t place, const CodecTuning& tuning) const;
  // Places of those that were candidates: the ones that won most sections first, then by score.
  std::vector<size_t> listed(const CodecTuning& tuning) const;
};
inline constexpr size_t selection_report_words = sizeof(SelectionReport) / sizeof(uint64_t);

// The candidates, and the weights of their scores.
struct Explanation {
  SelectionReport selection;
  CodecTuning tuning;
};

// speed * speed_weight + ratio * ratio_weight. Deterministic: speeds are those typical of a codec or method.
double selection_score(Codec codec, LosslessMethod method, double raw_bytes, double bytes,
                       const CodecTuning& tuning);

}  // namespace neve
#pragma GCC visibility pop
