// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/coverage_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "core/amr/average_down.hpp"
#include "core/amr/coverage.hpp"
#include "core/amr/grow.hpp"
#include "core/amr/rect_box.hpp"
#include "core/threads/float_environment.hpp"
#include "core/threads/scratch.hpp"
#include "parallel/comm/exchange.hpp"
#include "parallel/write/box_values.hpp"
#include "parallel/write/reader_values.hpp"
#include "parallel/write/special_value.hpp"

namespace neve::mpi {
namespace {

// What a reader gets for the left-out cells of this rank's boxes of one level and component: the finer
// average. It stands in for them when this level is averaged down in turn.
struct LeftOutValues {
  struct Part {
    Box cells;
    std::vector<std::byte> averages;  // x fastest
    std::vector<uint64_t> missed;     // cells of the part that are stored after all, ascending
  };
  // By index in the rank's owned boxes; empty when nothing is left out.
  std::vector<std::vector<Part>> by_box;
};

struct Tally {
  uint64_t misses = 0;
  double worst = 0;  // largest |average - value| of a miss with an ordinary value
};

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Whether a reader may be given `average` for `value`.
template <class T>
bool average_serves(T average, T value, double error, const ComponentSpec& spec) {
  if (same_bits(average, value)) return true;
  if (is_special(value, spec.fill) || spec.bound_abs == 0 || spec.codec == Codec::exact) return false;
  return error <= spec.bound_abs;  // false for a NaN average
}

// The tally of a row, found without a branch for each cell; nothing where a value is special, or a 0, whose
// sign only average_serves looks at.
template <class T>
std::optional<Tally> tally_plain_row(const T* averages, const T* values, size_t count,
                                     const ComponentSpec& spec) {
  if (spec.bound_abs == 0 || spec.codec == Codec::exact) return {};
  constexpr double largest = std::numeric_limits<double>::max();
  const T fill = spec.fill ? static_cast<T>(*spec.fill) : T{0};
  Tally row;
  bool is_plain = true;
  for (size_t i = 0; i < count; ++i) {
    const T value = values[i];
    const double error = std::abs(static_cast<double>(averages[i]) - static_cast<double>(value));
    const bool serves = error <= spec.bound_abs;  // false for a NaN average
    is_plain =
        is_plain & (std::abs(value) <= std::numeric_limits<T>::max()) & (value != T{0}) & (value != fill);
    row.misses += serves ? 0 : 1;
    row.worst = std::max(row.worst, !serves & (error <= largest) ? error : 0.0);
  }
  return is_plain ? std::optional(row) : std::nullopt;
}

constexpr int64_t cached_bytes = int64_t{256} << 10;

// Everything a round needs, allocated once, so that no rank can run out of memory between messages.
struct Buffers {
  std::vector<std::byte> sends, receives;
  std::vector<MPI_Request> requests;
};

// The work of one coarse level.
class LevelCheck {
 public:
  LevelCheck(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned, const WritePlan& plan,
             size_t level, std::shared_ptr<const AverageExchange> exchange, int threads, Buffers& buffers)
      : comm_(comm),
        hierarchy_(hierarchy),
        owned_(owned),
        plan_(plan),
        level_(level),
        value_bytes_(dtype_bytes(hierarchy.dtype)),
        exchange_(std::move(exchange)),
        threads_(threads),
        buffers_(buffers) {
    uint64_t max_send_cells = 0, max_receive_cells = 0;
    for (int round = 0; round < exchange_->rounds; ++round) {
      max_send_cells = std::max(max_send_cells, cells_of(round_of(exchange_->sends, round)));
      max_receive_cells = std::max(max_receive_cells, cells_of_others(round_of(exchange_->receives, round)));
    }
    max_message_cells_ = std::max(max_send_cells, max_receive_cells);
    grow(buffers_.sends, max_send_cells);
    grow(buffers_.receives, max_receive_cells);
    buffers_.requests.reserve(static_cast<size_t>(comm.size()) * 2);
  }

  // Messages too large for MPI's counts; the same answer is not needed on every rank.
  Status check_message_sizes() const {
    constexpr uint64_t most = std::numeric_limits<int>::max();
    if (max_message_cells_ > most) {
      return failure("level " + std::to_string(level_) + " exchanges averages of more than " +
                     std::to_string(most) + " cells at once; smaller boxes or more ranks are needed");
    }
    return {};
  }

  // Collective, and complete on every rank whatever goes wrong on one. Records at most `max_recorded`
  // misses. `takes_part`: else this rank, whose work has failed, only sends and receives.
  Status run(bool takes_part, int component, const ReaderValues& finer,
             std::span<const EncodedChunk> finer_frames, const LeftOutValues& finer_left_out,
             uint64_t max_recorded, MissedCells& missed, LeftOutValues& left_out, Tally& tally) {
    Status status;
    const auto note = [&](const Status& s) {
      if (status.ok()) status = s;
    };
    recorded_ = 0;
    for (int round = 0; round < exchange_->rounds; ++round) {
      const auto sends = round_of(exchange_->sends, round);
      const auto receives = round_of(exchange_->receives, round);
      buffers_.requests.clear();
      for_each_message(receives, false, buffers_.receives, [&](int peer, std::byte* data, int values) {
        note(mpi_status(MPI_Irecv(data, values, mpi_type(), peer, 0, comm_.get(),
                                  &buffers_.requests.emplace_back(MPI_REQUEST_NULL)),
                        "receiving averages"));
      });
      takes_part = takes_part && status.ok();
      note(guarded("coverage check", [&]() -> Status {
        if (!takes_part) return {};
        return average_parts(sends, component, finer, finer_frames, finer_left_out);
      }));
      for_each_message(sends, true, buffers_.sends, [&](int peer, std::byte* data, int values) {
        note(mpi_status(MPI_Isend(data, values, mpi_type(), peer, 0, comm_.get(),
                                  &buffers_.requests.emplace_back(MPI_REQUEST_NULL)),
                        "sending averages"));
      });
      note(mpi_status(MPI_Waitall(static_cast<int>(buffers_.requests.size()), buffers_.requests.data(),
                                  MPI_STATUSES_IGNORE),
                      "exchange of averages"));
      takes_part = takes_part && status.ok();
      note(guarded("coverage check", [&]() -> Status {
        if (!takes_part) return {};
        return compare_all(sends, receives, component, max_recorded, missed, left_out, tally);
      }));
    }
    return status;
  }

 private:
  using Parts = std::span<const AveragePart>;

  const IntVect& ratio() const { return hierarchy_.levels[level_].ref_ratio; }
  MPI_Datatype mpi_type() const { return hierarchy_.dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE; }

  void grow(std::vector<std::byte>& buffer, uint64_t cells) const {
    buffer.resize(std::max<size_t>(buffer.size(), cells * value_bytes_));
  }

  static uint64_t cells_of(Parts parts) {
    uint64_t cells = 0;
    for (const AveragePart& part : parts) cells += static_cast<uint64_t>(part.cells.cells());
    return cells;
  }

  static Parts round_of(const std::vector<AveragePart>& parts, int round) {
    const auto less = [](const AveragePart& part, int r) { return part.round < r; };
    const auto begin = std::lower_bound(parts.begin(), parts.end(), round, less);
    const auto end = std::lower_bound(begin, parts.end(), round + 1, less);
    return {begin, end};
  }

  bool is_own(const AveragePart& part) const { return part.peer == comm_.rank(); }

  uint64_t cells_of_others(Parts parts) const {
    uint64_t cells = 0;
    for (const AveragePart& part : parts) cells += is_own(part) ? 0 : cells_of({&part, 1});
    return cells;
  }

  // message(peer, first byte, values) for each run of parts with one other rank. What this rank has for
  // itself is no message; it lies in the buffer of those that are sent.
  template <class Message>
  void for_each_message(Parts parts, bool holds_own, std::vector<std::byte>& buffer, Message&& message) {
    size_t at_bytes = 0;
    for (size_t i = 0; i < parts.size();) {
      size_t end = i;
      int64_t cells = 0;
      for (; end < parts.size() && parts[end].peer == parts[i].peer; ++end) cells += parts[end].cells.cells();
      const bool own = is_own(parts[i]);
      if (!own) message(parts[i].peer, buffer.data() + at_bytes, static_cast<int>(cells));
      if (!own || holds_own) at_bytes += static_cast<size_t>(cells) * value_bytes_;
      i = end;
    }
  }

  // Of a round that is complete. Both sides of what this rank has for itself are in the same order.
  Status compare_all(Parts sends, Parts receives, int component, uint64_t max_recorded, MissedCells& missed,
                     LeftOutValues& left_out, Tally& tally) {
    const auto first_own =
        std::find_if(sends.begin(), sends.end(), [&](const AveragePart& part) { return is_own(part); });
    const std::byte* own =
        buffers_.sends.data() + cells_of({sends.begin(), first_own}) * static_cast<uint64_t>(value_bytes_);
    const std::byte* received = buffers_.receives.data();
    for (const AveragePart& part : receives) {
      const std::byte*& averages = is_own(part) ? own : received;
      const auto local = static_cast<size_t>(plan_.local[level_][static_cast<size_t>(part.coarse_box)]);
      NEVE_ASSIGN(const ComponentValues values, owned_.component(local, component));
      if (hierarchy_.dtype == DType::f32) {
        compare<float>(part, values.data, averages, component, max_recorded, missed, left_out, tally);
      } else {
        compare<double>(part, values.data, averages, component, max_recorded, missed, left_out, tally);
      }
      averages += static_cast<size_t>(part.cells.cells()) * value_bytes_;
    }
    return {};
  }

  // Averages of what a reader gets, into the send buffer.
  Status average_parts(Parts parts, int component, const ReaderValues& finer,
                       std::span<const EncodedChunk> finer_frames, const LeftOutValues& finer_left_out) {
    std::vector<std::byte*> places;
    std::vector<const AveragePart*> others;
    std::vector<BoxRegion> regions;
    std::byte* place = buffers_.sends.data();
    for (const AveragePart& part : parts) {
      if (!take_average(part, component, finer_frames, finer_left_out, place)) {
        places.push_back(place);
        others.push_back(&part);
        regions.push_back({part.fine_box, refine(part.cells, ratio())});
      }
      place += static_cast<size_t>(part.cells.cells()) * value_bytes_;
    }
    return finer.visit(regions, component, threads_, [&](size_t i, const GetValues& get) {
      average_part(*others[i], get, finer_left_out, places[i]);
    });
  }

  bool has_left_out(const LeftOutValues& left_out, int fine_box) const {
    const auto local = static_cast<size_t>(plan_.local[level_ + 1][static_cast<size_t>(fine_box)]);
    return !left_out.by_box.empty() && !left_out.by_box[local].empty();
  }

  // What was averaged while the finer box was encoded, which knew nothing of what replaces left-out values.
  bool take_average(const AveragePart& part, int component, std::span<const EncodedChunk> finer_frames,
                    const LeftOutValues& finer_left_out, std::byte* out) const {
    if (finer_frames.empty() || has_left_out(finer_left_out, part.fine_box)) return false;
    const amr::LevelChunks& chunks = plan_.levels[level_ + 1].chunks;
    const size_t first = chunks.box_first_chunk[static_cast<size_t>(part.fine_box)];
    const EncodedChunk& chunk = finer_frames[first - finer_frames.front().chunk];
    return chunk.averages != nullptr && chunk.averages->get(part.fine_box, component, part.cells, out);
  }

  void average_part(const AveragePart& part, const GetValues& get, const LeftOutValues& finer_left_out,
                    std::byte* out) const {
    const auto local = static_cast<size_t>(plan_.local[level_ + 1][static_cast<size_t>(part.fine_box)]);
    // A few layers at a time, so that what one pass leaves is still in the cache for the next.
    const int d = hierarchy_.dims - 1;
    const int64_t layer_bytes =
        refine(part.cells, ratio()).cells() / part.cells.size(d) * static_cast<int64_t>(value_bytes_);
    const auto layers =
        static_cast<int32_t>(std::clamp<int64_t>(cached_bytes / layer_bytes, 1, part.cells.size(d)));
    const bool is_replaced = has_left_out(finer_left_out, part.fine_box);
    ScratchBytes room(static_cast<size_t>(layers * layer_bytes));
    for (int32_t lo = part.cells.lo[d]; lo <= part.cells.hi[d]; lo += layers) {
      Box cells = part.cells;
      cells.lo[d] = lo;
      cells.hi[d] = std::min(lo + layers - 1, part.cells.hi[d]);
      const Box fine = refine(cells, ratio());
      HeldValues held;
      if (is_replaced) {
        get_into(get, fine, value_bytes_, room.data());
        held = {room.data(), fine};
        for (const LeftOutValues::Part& left_out : finer_left_out.by_box[local]) {
          overlay(left_out, fine, room.data());
        }
      } else {
        held = get(fine, room.data());
      }
      amr::average_down(hierarchy_.dtype, cells, ratio(), held.values, held.box, out, part.cells);
    }
  }

  // The averages over the values of `fine`, but for the cells that are stored after all.
  void overlay(const LeftOutValues::Part& part, const Box& fine, std::byte* values) const {
    const Box common = intersect(part.cells, fine);
    if (common.empty()) return;
    amr::for_each_common_row(common, part.cells, fine, [&](size_t from, size_t to, size_t width) {
      const auto copy = [&](size_t begin, size_t end) {
        std::memcpy(values + (to + begin - from) * value_bytes_, part.averages.data() + begin * value_bytes_,
                    (end - begin) * value_bytes_);
      };
      size_t begin = from;
      for (auto missed = std::lower_bound(part.missed.begin(), part.missed.end(), from);
           missed != part.missed.end() && *missed < from + width; ++missed) {
        copy(begin, *missed);
        begin = *missed + 1;
      }
      copy(begin, from + width);
    });
  }

  template <class T>
  void compare(const AveragePart& part, const BoxData& values, const std::byte* averages, int component,
               uint64_t max_recorded, MissedCells& missed, LeftOutValues& left_out, Tally& tally) {
    const FloatEnvironment environment;
    const ComponentSpec& spec = plan_.levels[level_].fields[static_cast<size_t>(component)].spec;
    const auto local = static_cast<size_t>(plan_.local[level_][static_cast<size_t>(part.coarse_box)]);
    const Box& box = hierarchy_.levels[level_].boxes[static_cast<size_t>(part.coarse_box)];
    const size_t part_bytes = static_cast<size_t>(part.cells.cells()) * value_bytes_;
    std::vector<uint64_t>* missed_of_part = nullptr;
    if (!left_out.by_box.empty()) {
      left_out.by_box[local].push_back({part.cells, {averages, averages + part_bytes}, {}});
      missed_of_part = &left_out.by_box[local].back().missed;
    }
    uint64_t first_cell = 0;
    for_each_row(
        part.cells, box, values, component, value_bytes_, [&](int64_t y, int64_t z, const std::byte* bytes) {
          // Arrays of T: callers hold such, and averages follow one another.
          const auto* row_averages = reinterpret_cast<const T*>(averages) + first_cell;
          const auto* row = reinterpret_cast<const T*>(bytes);
          const auto width = static_cast<size_t>(part.cells.size(0));
          first_cell += width;
          const std::optional<Tally> of_row = tally_plain_row(row_averages, row, width, spec);
          if (of_row && (of_row->misses == 0 || recorded_ >= max_recorded)) {
            tally.misses += of_row->misses;
            tally.worst = std::max(tally.worst, of_row->worst);
            return;
          }
          for (size_t x = 0; x < width; ++x) {
            const T average = row_averages[x], value = row[x];
            const double error = std::abs(static_cast<double>(average) - static_cast<double>(value));
            if (average_serves(average, value, error, spec)) continue;
            ++tally.misses;
            if (std::isfinite(error) && !is_special(value, spec.fill))
              tally.worst = std::max(tally.worst, error);
            if (recorded_ >= max_recorded) continue;  // the field will be kept whole
            ++recorded_;
            const int64_t index = amr::cell_number(box, part.cells.lo[0] + static_cast<int64_t>(x), y, z);
            missed[local][static_cast<size_t>(component)].push_back(static_cast<uint64_t>(index));
            if (missed_of_part != nullptr) missed_of_part->push_back(first_cell - width + x);
          }
        });
  }

  const Comm& comm_;
  const Hierarchy& hierarchy_;
  LocalValues owned_;
  const WritePlan& plan_;
  size_t level_;
  size_t value_bytes_;
  std::shared_ptr<const AverageExchange> exchange_;
  int threads_;
  Buffers& buffers_;
  uint64_t max_message_cells_ = 0;
  uint64_t recorded_ = 0;
};

std::string kept_reason(const Tally& tally, uint64_t covered_cells) {
  char worst[32];
  std::snprintf(worst, sizeof worst, "%.3g", tally.worst);
  return "kept: average of finer cells misses " + std::to_string(tally.misses) + " of " +
         std::to_string(covered_cells) + " cells, worst " + worst;
}

}  // namespace

std::vector<uint64_t> count_covered(const Hierarchy& hierarchy, std::span<const LocalBox> owned,
                                    std::span<const LevelPlan> levels) {
  std::vector<uint64_t> cells(hierarchy.levels.size(), 0);
  for (const LocalBox& local : owned) {
    const auto l = static_cast<size_t>(local.level);
    if (l + 1 == hierarchy.levels.size()) continue;
    const Box& valid = levels[l].index.box(local.box);
    for (const amr::CoveredPart& part :
         amr::covered_parts(valid, levels[l + 1].index, hierarchy.levels[l].ref_ratio)) {
      cells[l] += static_cast<uint64_t>(part.cells.cells());
    }
  }
  return cells;
}

void settle_as_asked(const WriteOptions& options, WritePlan& plan) {
  const bool stores_every_cell = plan.strategy == Strategy::amrex_1d;
  const bool drops = options.covered == Covered::drop && !stores_every_cell;
  const char* const kept = stores_every_cell ? "kept: amrex-1d stores every cell" : "kept";
  for (size_t level = 0; level < plan.levels.size(); ++level) {
    if (plan.covered_cells[level] == 0) continue;
    for (FieldPlan& field : plan.levels[level].fields) {
      field.spec.drop_covered = drops;
      field.covered = drops ? "dropped" : kept;
    }
  }
}

struct CoverageCheck::State {
  const Comm& comm;
  const Hierarchy& hierarchy;
  LocalValues owned;
  WritePlan& plan;
  std::vector<std::unique_ptr<LevelCheck>> checks;  // null where there is nothing to settle
  std::vector<char> needs_frames;                   // by component: settled with frames
  std::vector<LeftOutValues> finer_left_out;        // by component, of the level settled last
  std::vector<Tally> tallies;                       // by component, of the level at hand
  std::vector<LeftOutValues> left_out;              // likewise
  MissedCells missed;
  Buffers buffers;
  std::optional<Exchange> exchange;

  bool any_needs_frames() const {
    return std::any_of(needs_frames.begin(), needs_frames.end(), [](char needs) { return needs != 0; });
  }
  uint64_t most_missed(size_t level) const { return plan.covered_cells[level] / max_missed_divisor; }

  // Collective, and complete on every rank whatever goes wrong on one.
  Status compare(size_t level, std::span<const EncodedChunk> finer_frames, bool takes_part) {
    Status status;
    const bool is_averaged_in_turn = level > 0 && checks[level - 1] != nullptr;
    for (size_t c = 0; c < tallies.size(); ++c) {
      tallies[c] = {};
      left_out[c] = {};
      const Status prepared = guarded("coverage check", [&]() -> Status {
        if (is_averaged_in_turn) left_out[c].by_box.resize(owned.size());
        return {};
      });
      const std::span<const EncodedChunk> frames =
          needs_frames[c] != 0 ? finer_frames : finer_frames.first(0);
      const ReaderValues finer(hierarchy, owned, plan, level + 1, frames);
      const Status run =
          checks[level]->run(takes_part && status.ok() && prepared.ok(), static_cast<int>(c), finer, frames,
                             finer_left_out[c], most_missed(level) + 1, missed, left_out[c], tallies[c]);
      finer_left_out[c] = {};
      if (status.ok()) status = prepared.ok() ? run : prepared;
    }
    return status;
  }

  // All ranks' tallies.
  Status exchange_tallies(const Status& mine) {
    for (size_t c = 0; c < tallies.size(); ++c) {
      exchange->minima()[c] = reversed(ordered(tallies[c].worst));
      exchange->sums()[c] = tallies[c].misses;
    }
    NEVE_TRY(exchange->run(comm, mine));
    for (size_t c = 0; c < tallies.size(); ++c)
      tallies[c] = {exchange->sums()[c], from_ordered(reversed(exchange->minima()[c]))};
    return {};
  }

  // What the tallies decide. Not collective.
  Status decide(size_t level) {
    for (size_t c = 0; c < tallies.size(); ++c) {
      FieldPlan& field = plan.levels[level].fields[c];
      if (tallies[c].misses <= most_missed(level)) {
        field.covered = "dropped";
        field.spec.drop_covered = true;
        finer_left_out[c] = std::move(left_out[c]);
        continue;
      }
      field.covered = kept_reason(tallies[c], plan.covered_cells[level]);
      left_out[c] = {};
      for (size_t i = 0; i < owned.size(); ++i) {
        if (static_cast<size_t>(owned[i].level) == level) missed[i][c] = {};
      }
    }
    return {};
  }
};

CoverageCheck::CoverageCheck(std::unique_ptr<State> state) : state_(std::move(state)) {}
CoverageCheck::CoverageCheck(CoverageCheck&&) noexcept = default;
CoverageCheck::~CoverageCheck() = default;

const MissedCells& CoverageCheck::missed() const { return state_->missed; }

bool CoverageCheck::needs_finer_frames(size_t level) const {
  return state_->checks[level] != nullptr && state_->any_needs_frames();
}

Status CoverageCheck::settle_level(size_t level, std::span<const EncodedChunk> finer_frames, Status& mine) {
  State& state = *state_;
  if (state.checks[level] == nullptr) {
    for (LeftOutValues& values : state.finer_left_out) values = {};
    return {};
  }
  const Status compared = state.compare(level, finer_frames, mine.ok());
  if (mine.ok()) mine = compared;
  NEVE_TRY(state.exchange_tallies(mine));
  mine = guarded("coverage check", [&] { return state.decide(level); });
  return {};
}

CoverageCheck::Exchanges CoverageCheck::plan_exchanges(const Comm& comm, const Hierarchy& hierarchy,
                                                       const WritePlan& plan, const ExchangeLimits& limits) {
  std::optional<Hierarchy> shrunk;
  if (plan.ghosts != amr::no_ghosts) {
    shrunk = hierarchy;
    for (Level& level : shrunk->levels) amr::shrink_boxes(level, plan.ghosts);
  }
  const Hierarchy& valid = shrunk ? *shrunk : hierarchy;
  Exchanges exchanges(hierarchy.levels.size());
  for (size_t level = 0; level < exchanges.size(); ++level) {
    if (plan.covered_cells[level] == 0) continue;
    exchanges[level] = std::make_shared<AverageExchange>(
        plan_average_exchange(valid, level, plan.levels[level].index, plan.owners, comm.rank(), limits));
  }
  return exchanges;
}

Result<CoverageCheck> CoverageCheck::make(const Comm& comm, const Hierarchy& hierarchy,
                                          const LocalValues& owned, const WriteOptions& options,
                                          WritePlan& plan, const Exchanges& exchanges) {
  const size_t components = hierarchy.components.size();
  std::unique_ptr<State> state(new State{comm, hierarchy, owned, plan, {}, {}, {}, {}, {}, {}, {}, {}});
  state->missed.assign(owned.size(), std::vector<std::vector<uint64_t>>(components));
  state->finer_left_out.resize(components);
  state->left_out.resize(components);
  state->tallies.resize(components);
  state->exchange.emplace(components, components);
  for (const std::string& name : hierarchy.components) {
    const FieldRule* const rule = rule_of(options, name);
    const Codec asked = rule != nullptr && rule->codec ? *rule->codec : options.codec;
    state->needs_frames.push_back(may_predict(asked) ? 1 : 0);
  }
  state->checks.resize(exchanges.size());
  for (size_t level = 0; level < exchanges.size(); ++level) {
    if (exchanges[level] == nullptr) continue;
    state->checks[level] = std::make_unique<LevelCheck>(comm, hierarchy, owned, plan, level, exchanges[level],
                                                        options.encode.threads, state->buffers);
    NEVE_TRY(state->checks[level]->check_message_sizes());
  }
  return CoverageCheck(std::move(state));
}

}  // namespace neve::mpi
