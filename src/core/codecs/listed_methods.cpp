// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/listed_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/catalog/lossless_methods.hpp"
#include "core/codecs/lossless_bytes.hpp"
#include "core/codecs/section_codec.hpp"

namespace neve {

namespace {

// The part that methods on bytes code: pieces from all over the section, one word in so many.
constexpr size_t part_pieces = 4, words_per_part_word = 32;
constexpr size_t min_part_words = 8 << 10, max_part_words = 64 << 10;
constexpr CoderLevels part_levels{.zstd = 1};
// No compressor is expected to make bytes so many times smaller than zstd makes them at its quickest.
constexpr double most_beyond_zstd = 2;
// An estimate may be so much too low.
constexpr double estimate_slack = 0.97;

bool has_coder(LosslessMethod method) {
  const std::optional<ByteCoder> coder = coder_of(method);
  return !coder || has_byte_coder(*coder);
}

template <class Visit>
void visit_methods(LosslessMethods methods, const Visit& visit) {
  for (const LosslessMethodTraits& row : lossless_method_rows) {
    if (row.method != LosslessMethod::automatic && methods.has(row.method)) visit(row.method);
  }
}

template <class T>
std::vector<WordOf<T>> part_of(const LosslessCells<T>& cells) {
  const size_t total = cells.bits.size();
  const size_t wanted =
      std::min(total, std::clamp(total / words_per_part_word, min_part_words, max_part_words));
  const size_t pieces = wanted == total ? 1 : part_pieces;
  std::vector<WordOf<T>> words;
  words.reserve(wanted);
  for (size_t p = 0; p < pieces; ++p) {
    // From the middle of each share of the section.
    const size_t begin = (total * (2 * p + 1) / pieces - wanted / pieces) / 2;
    for (size_t cell = begin; cell < begin + wanted / pieces; ++cell) {
      if (cells.is_held(cell)) words.push_back(cells.bits[cell]);
    }
  }
  return words;
}

template <class T>
class ListedBytes {
 public:
  ListedBytes(const LosslessCells<T>& cells, const CodecTuning& tuning)
      : tuning_(tuning),
        raw_(static_cast<double>(cells.held) * sizeof(T)),
        part_(part_of(cells)),
        part_raw_(static_cast<double>(part_.size()) * sizeof(T)) {}

  // `best_score`: of the candidates on anything else than bytes.
  void weigh(std::vector<LosslessMethod> methods, double best_score, WeighedMethods& weighed) {
    if (methods.empty()) return;
    const double least_bytes = least_bytes_of_zstd() / most_beyond_zstd;
    const auto most = [&](LosslessMethod method) { return score(method, least_bytes); };
    std::stable_sort(methods.begin(), methods.end(),
                     [&](LosslessMethod a, LosslessMethod b) { return most(a) > most(b); });
    for (const LosslessMethod method : methods) {
      if (most(method) < estimate_slack * best_score) {
        weighed.withdrawn.push_back({Codec::lossless, method, Fate::estimate_too_low, 0, 0});
        continue;
      }
      LosslessCandidate candidate;
      candidate.method = method;
      candidate.bytes = bytes_of_section(method);
      candidate.score = score(method, std::min(candidate.bytes, raw_));
      best_score = std::max(best_score, candidate.score);
      weighed.candidates.push_back(candidate);
    }
  }

 private:
  double score(LosslessMethod method, double bytes) const {
    return method_score(method, raw_, bytes, tuning_);
  }
  // From what the method makes of the part.
  double bytes_of_section(LosslessMethod method) const {
    Bytes bytes;
    ByteWriter out(bytes);
    const Status written = write_words<WordOf<T>>(method, part_levels, part_, out);
    if (!written.ok() || part_.empty()) return raw_;
    return static_cast<double>(bytes.size()) * raw_ / part_raw_;
  }
  double least_bytes_of_zstd() const {
    double least = raw_;
    for (const LosslessMethod method :
         {LosslessMethod::zstd, LosslessMethod::shuffle_zstd, LosslessMethod::xor_zstd})
      least = std::min(least, bytes_of_section(method));
    return least;
  }

  const CodecTuning& tuning_;
  double raw_;
  std::vector<WordOf<T>> part_;
  double part_raw_;
};

}  // namespace

LosslessMethods available_methods(LosslessMethods listed) {
  LosslessMethods available;
  visit_methods(listed, [&](LosslessMethod method) {
    if (has_coder(method)) available.bits |= 1U << static_cast<unsigned>(method);
  });
  return available;
}

Status check_candidates_are_there(LosslessMethods listed) {
  if (listed.is_all() || !available_methods(listed).is_all()) return {};
  std::string missing;
  visit_methods(listed, [&](LosslessMethod method) {
    missing += fmt::format("{}{} ({})", missing.empty() ? "" : ", ", lossless_method_name(method),
                           byte_coder_name(*coder_of(method)));
  });
  return usage_error(
      fmt::format("candidates {}: the library of none of them is installed: {}; allowed are methods whose "
                  "library is, or that need none",
                  lossless_methods_text(listed), missing));
}

template <class T>
WeighedMethods weigh_listed(const LosslessCells<T>& cells, const CodecTuning& tuning, Effort effort) {
  const LosslessMethods listed = tuning.candidates, available = available_methods(listed);
  WeighedMethods weighed;
  std::vector<LosslessMethod> on_bytes, of_differences;
  visit_methods(listed, [&](LosslessMethod method) {
    if (!has_coder(method)) {
      weighed.withdrawn.push_back({Codec::lossless, method, Fate::no_coder, 0, 0});
    } else {
      (takes_differences(method) ? of_differences : on_bytes).push_back(method);
    }
  });
  if (!of_differences.empty()) {
    WeighedMethods all = weigh_lossless(cells, tuning, effort);
    const auto keep = [&](auto& from, auto& to) {
      for (const auto& c : from) {
        if (takes_differences(c.method) && available.has(c.method)) to.push_back(c);
      }
    };
    keep(all.candidates, weighed.candidates);
    keep(all.withdrawn, weighed.withdrawn);
    keep(all.unsure, weighed.unsure);
  }
  const double best = weighed.candidates.empty() ? 0 : weighed.candidates.front().score;
  ListedBytes<T>(cells, tuning).weigh(on_bytes, best, weighed);
  // What samples say nothing for is coded where nothing else is listed.
  if (weighed.candidates.empty() && weighed.unsure.empty()) {
    weighed.withdrawn.clear();
    for (const LosslessMethod method : of_differences) weighed.unsure.push_back(weigh_method(cells, method));
  }
  std::stable_sort(weighed.candidates.begin(), weighed.candidates.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return weighed;
}

template WeighedMethods weigh_listed<float>(const LosslessCells<float>&, const CodecTuning&, Effort);
template WeighedMethods weigh_listed<double>(const LosslessCells<double>&, const CodecTuning&, Effort);
template WeighedMethods weigh_listed<uint8_t>(const LosslessCells<uint8_t>&, const CodecTuning&, Effort);
template WeighedMethods weigh_listed<uint16_t>(const LosslessCells<uint16_t>&, const CodecTuning&, Effort);
template WeighedMethods weigh_listed<uint32_t>(const LosslessCells<uint32_t>&, const CodecTuning&, Effort);
template WeighedMethods weigh_listed<uint64_t>(const LosslessCells<uint64_t>&, const CodecTuning&, Effort);

}  // namespace neve
