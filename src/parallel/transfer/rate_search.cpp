// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/rate_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/math/portable_math.hpp"
#include "core/select/asked_target.hpp"
#include "parallel/comm/patient_wait.hpp"

namespace neve::mpi {
namespace {

constexpr size_t sample_blocks = 8;
constexpr int max_search_tries = 16, max_steps = 3;
constexpr double near_enough = 0.015;  // of the bits that are aimed at: the search ends
constexpr double near_last = 0.025;    // the bound of the last call stays
constexpr double far_off = 0.05;       // the steps have failed
constexpr double hardly_fewer = 1.05;  // a smaller bound that takes so many times the fewest bits is as good
constexpr double usual_share = 1e-3;   // of the range: where the search begins
constexpr double other_values = 1.25;  // where nothing gets there: so many times the bits of the last call
// Slopes are taken from bounds that lie apart, and are believed within these limits.
constexpr double apart_octaves = 0.005, flattest = -0.05, steepest = -4, max_step_octaves = 3;

double off(double bits, double aim_bits) { return std::abs(math::log2(bits / aim_bits)); }
bool is_near(double bits, double aim_bits, double share) { return std::abs(bits / aim_bits - 1) <= share; }

double slope_between(const RatePoint& a, const RatePoint& b, double otherwise) {
  const double octaves = math::log2(a.bound / b.bound);
  if (!(std::abs(octaves) >= apart_octaves)) return otherwise;
  const double slope = math::log2(a.bits / b.bits) / octaves;
  return slope <= flattest && slope >= steepest ? slope : otherwise;
}

// Tries bounds, and keeps what was made under the one that came nearest.
class Trial {
 public:
  Trial(const Comm& comm, const RateSource& source, double aim_bits)
      : comm_(comm), source_(source), aim_bits_(aim_bits) {}

  // Collective: bits a value over all ranks.
  Result<double> bits_under(double bound) {
    std::array<uint64_t, 2> mine = {0, 0}, all = {0, 0};  // bytes, failures
    std::vector<MadeFrame> made;
    const Status encoded = guarded("encode", [&]() -> Status {
      NEVE_ASSIGN(mine[0], encode_samples(bound, made));
      tried_.reserve(tried_.size() + 1);
      return {};
    });
    mine[1] = encoded.ok() ? 0 : 1;
    NEVE_TRY(allreduce_patiently(mine.data(), all.data(), 2, MPI_UINT64_T, MPI_SUM, comm_.get(),
                                 "sum of sampled bytes"));
    if (all[1] > 0) return agree(comm_, encoded);
    const double bits = 8 * static_cast<double>(all[0]) / static_cast<double>(source_.sent_values);
    if (tried_.empty() || off(bits, aim_bits_) < off(nearest_.bits, aim_bits_)) {
      nearest_ = {bound, bits};
      made_ = std::move(made);
    }
    tried_.push_back({bound, bits});
    return bits;
  }

  const RatePoint& nearest() const { return nearest_; }
  const std::vector<RatePoint>& tried() const { return tried_; }

  // To be encoded once more where it is not the nearest.
  Chosen chosen(const RateChoice& choice) {
    return {choice, choice.point.bound == nearest_.bound ? std::move(made_) : std::vector<MadeFrame>()};
  }

 private:
  SampledBlocks blocks_of_line() const {
    return {source_.plan.blocks(), [this](size_t block) { return source_.plan.values(block); },
            [this](const Transfer& under, const ArrayMeasure& whole, size_t block) {
              return BlockEncoder(under, source_.plan, source_.data, whole, comm_.rank()).encode(block);
            }};
  }

  // What this rank's values would take.
  Result<uint64_t> encode_samples(double bound, std::vector<MadeFrame>& made) const {
    const SampledBlocks of_line = blocks_of_line();
    const SampledBlocks& cut = source_.blocks != nullptr ? *source_.blocks : of_line;
    const size_t blocks = cut.count;
    if (!source_.sends || blocks == 0) return uint64_t{0};
    const Transfer under = under_bound(source_.transfer, bound);
    uint64_t values = 0, bytes = 0;
    for (size_t i = 0; i < std::min(blocks, sample_blocks); ++i) {
      // Not the last one of many, which is smaller.
      const size_t block = blocks <= sample_blocks ? i : i * (blocks - 2) / (sample_blocks - 1);
      NEVE_ASSIGN(Bytes frame, cut.encode(under, source_.whole, block));
      values += cut.values(block);
      bytes += frame.size();
      made.push_back({block, std::move(frame)});
    }
    return static_cast<uint64_t>(static_cast<double>(bytes) *
                                 (static_cast<double>(source_.plan.count) / static_cast<double>(values)));
  }

  const Comm& comm_;
  const RateSource& source_;
  double aim_bits_;
  std::vector<RatePoint> tried_;
  RatePoint nearest_;
  std::vector<MadeFrame> made_;
};

// Collective. From the bound of the last call along its slope; nothing where that does not lead there.
Result<std::optional<RateChoice>> follow(Trial& trial, const RateSource& source, double aim_bits,
                                         RateChoice choice) {
  NEVE_ASSIGN(double bits, trial.bits_under(choice.point.bound));
  if (choice.is_settled) {
    const bool got_there = choice.point.bits <= aim_bits * (1 + ratio_tolerance);
    const bool gets_there = bits <= aim_bits * (1 + ratio_tolerance);
    const bool is_like = choice.point.bound == 0 && got_there
                             ? gets_there
                             : !gets_there && off(bits, choice.point.bits) <= math::log2(other_values);
    if (!is_like) return std::optional<RateChoice>();
    choice.point.bits = bits;
    return std::optional(choice);
  }
  RatePoint at{choice.point.bound, bits};
  for (int step = 0; step < max_steps && !is_near(at.bits, aim_bits, near_last); ++step) {
    const double octaves =
        std::clamp(math::log2(aim_bits / at.bits) / choice.slope, -max_step_octaves, max_step_octaves);
    const double bound = std::min(at.bound * math::exp2(octaves), source.whole.range.width());
    if (!(bound > 0) || bound == at.bound) break;
    NEVE_ASSIGN(bits, trial.bits_under(bound));
    choice.slope = slope_between(at, {bound, bits}, choice.slope);
    at = {bound, bits};
  }
  if (!is_near(trial.nearest().bits, aim_bits, far_off)) return std::optional<RateChoice>();
  choice.point = trial.nearest();
  return std::optional(choice);
}

// Of what was tried for the whole range of bounds.
RateChoice best_of(const Trial& trial, double exact_bits, double aim_bits) {
  double fewest = exact_bits;
  for (const RatePoint& tried : trial.tried()) fewest = std::min(fewest, tried.bits);
  if (fewest <= aim_bits * (1 + ratio_tolerance)) {
    RateChoice choice{trial.nearest(), RateChoice::usual_slope, false};
    double least = std::numeric_limits<double>::infinity();
    for (const RatePoint& tried : trial.tried()) {
      if (tried.bound == 0 || tried.bound == choice.point.bound || off(tried.bits, aim_bits) >= least)
        continue;
      least = off(tried.bits, aim_bits);
      choice.slope = slope_between(choice.point, tried, RateChoice::usual_slope);
    }
    choice.is_settled = choice.point.bound == 0;
    return choice;
  }
  // Nothing gets there: as near as it goes, for as little error as that takes.
  RateChoice choice{{0, exact_bits}, RateChoice::usual_slope, true};
  if (exact_bits <= hardly_fewer * fewest) return choice;
  choice.point.bound = std::numeric_limits<double>::infinity();
  for (const RatePoint& tried : trial.tried()) {
    if (tried.bits <= hardly_fewer * fewest && tried.bound < choice.point.bound) choice.point = tried;
  }
  return choice;
}

// Collective.
Result<RateChoice> search(Trial& trial, const RateSource& source, double aim_bits) {
  NEVE_ASSIGN(const double exact_bits, trial.bits_under(0));
  const double width = source.whole.range.empty ? 0 : source.whole.range.width();
  if (exact_bits <= aim_bits || !(width > 0)) {
    return RateChoice{{0, exact_bits}, RateChoice::usual_slope, true};
  }
  BoundSearch bounds = search_up_to(width, width * usual_share, {aim_bits * (1 + near_enough), aim_bits, 1});
  for (int tries = 0; tries < max_search_tries && !bounds.is_exhausted(); ++tries) {
    NEVE_ASSIGN(const double bits, trial.bits_under(bounds.bound()));
    if (is_near(bits, aim_bits, near_enough)) break;
    bounds.tell(bits);
  }
  return best_of(trial, exact_bits, aim_bits);
}

}  // namespace

Transfer under_bound(const Transfer& transfer, double bound) {
  Transfer under = transfer;
  under.values.bound = bound == 0 ? Bound{BoundMode::lossless, 0} : Bound{BoundMode::abs, bound};
  if (bound == 0) under.values.codec = Codec::automatic;  // what quantizes cannot be exact
  return under;
}

Result<Chosen> choose_bound(const Comm& comm, const RateSource& source, double aim_bits,
                            const RateChoice* last) {
  if (last != nullptr) {
    Trial trial(comm, source, aim_bits);
    NEVE_ASSIGN(const auto followed, follow(trial, source, aim_bits, *last));
    if (followed) return trial.chosen(*followed);
  }
  Trial trial(comm, source, aim_bits);
  NEVE_ASSIGN(const RateChoice found, search(trial, source, aim_bits));
  return trial.chosen(found);
}

}  // namespace neve::mpi
