// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/field_ranges.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "core/amr/grow.hpp"
#include "parallel/comm/exchange.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/ranges.hpp"
#include "parallel/file/rows.hpp"
#include "parallel/write/box_pieces.hpp"
#include "parallel/write/plan.hpp"
#include "parallel/write/read_ahead.hpp"
#include "parallel/write/workers.hpp"

namespace neve::mpi {
namespace {

// Boxes are scanned in groups of about so many bytes: sharing them out one by one would cost small ones more
// than their scan.
constexpr uint64_t scanned_together_bytes = uint64_t{1} << 20;

// Where groups of neighbours in `owned` begin, and the end of the last.
std::vector<size_t> group_boxes(const Hierarchy& hierarchy, std::span<const LocalBox> owned) {
  const uint64_t cell_bytes = hierarchy.components.size() * dtype_bytes(hierarchy.dtype);
  std::vector<size_t> begins{0};
  uint64_t bytes = 0;
  for (size_t i = 0; i < owned.size(); ++i) {
    const Level& level = hierarchy.levels[static_cast<size_t>(owned[i].level)];
    bytes += static_cast<uint64_t>(level.boxes[static_cast<size_t>(owned[i].box)].cells()) * cell_bytes;
    if (bytes < scanned_together_bytes && i + 1 < owned.size()) continue;
    begins.push_back(i + 1);
    bytes = 0;
  }
  return begins;
}

// This rank's ranges of the fields that `wanted` marks. Over valid cells alone: what a code leaves in ghosts
// it does not use must not loosen a relative bound.
Status scan_owned(const Hierarchy& hierarchy, const LocalValues& owned, const IntVect& ghosts,
                  const FieldFills& fills, const std::vector<char>& wanted, int threads,
                  FieldRanges& ranges) {
  const size_t components = hierarchy.components.size();
  const std::vector<size_t> begins = group_boxes(hierarchy, owned.boxes());
  std::mutex mutex;
  return run_workers(threads, begins.size() - 1, "range", [&](size_t group) -> Status {
    FieldRanges found(ranges.size());
    for (size_t i = begins[group]; i < begins[group + 1]; ++i) {
      const LocalBox& local = owned[i];
      const size_t level = static_cast<size_t>(local.level);
      const Box& box = hierarchy.levels[level].boxes[static_cast<size_t>(local.box)];
      const FrameBox valid_box = plain_frame_box(amr::shrink(box, ghosts));
      BoxData valid = local.data;
      valid.data = first_valid(local.data, ghosts, dtype_bytes(hierarchy.dtype));
      for (size_t c = 0; c < components; ++c) {
        const size_t field = level * components + c;
        if (wanted[field] == 0) continue;
        NEVE_ASSIGN(const ValueRange range,
                    scan_range(hierarchy.dtype, valid_box, valid, static_cast<int>(c), fills[field]));
        found[field].merge(range);
      }
    }
    const std::lock_guard lock(mutex);
    for (size_t field = 0; field < found.size(); ++field) ranges[field].merge(found[field]);
    return {};
  });
}

// The same of values that are read.
Status scan_read(const Hierarchy& hierarchy, const LocalValues& owned, const IntVect& ghosts,
                 const FieldFills& fills, const std::vector<char>& wanted, int threads, FieldRanges& ranges) {
  const size_t components = hierarchy.components.size();
  const bool has_ghosts = ghosts != amr::no_ghosts;
  const BoxPieces pieces(owned, hierarchy, has_ghosts);
  std::mutex mutex;
  const auto scan_run = [&](const BoxRun& run, const std::byte* values) -> Status {
    const LocalBox& local = owned[run.local];
    const auto level = static_cast<size_t>(local.level);
    const size_t field = level * components + static_cast<size_t>(run.component);
    if (wanted[field] == 0) return {};
    FrameBox cells;
    cells.size[0] = static_cast<int64_t>(run.cells);
    BoxData data = dense_box_data(values, cells);
    if (has_ghosts) {
      const Box& box = hierarchy.levels[level].boxes[static_cast<size_t>(local.box)];
      data = dense_box_data(values, plain_frame_box(box));
      data.data = first_valid(data, ghosts, dtype_bytes(hierarchy.dtype));
      cells = plain_frame_box(amr::shrink(box, ghosts));
    }
    NEVE_ASSIGN(const ValueRange range, scan_range(hierarchy.dtype, cells, data, 0, fills[field]));
    const std::lock_guard lock(mutex);
    ranges[field].merge(range);
    return {};
  };
  PiecewiseWork work;
  work.threads = threads;
  work.pieces = pieces.count();
  work.piece_bytes = pieces.most_bytes();
  work.phase = "range";
  work.read = [&](size_t piece, std::byte* out) { return pieces.read(piece, out); };
  work.work = [&](size_t piece, std::byte* values) { return pieces.for_each_run(piece, values, scan_run); };
  return run_reading_ahead(work);
}

Status scan_values(const Hierarchy& hierarchy, const LocalValues& owned, const IntVect& ghosts,
                   const FieldFills& fills, const std::vector<char>& wanted, int threads,
                   FieldRanges& ranges) {
  return owned.are_in_memory() ? scan_owned(hierarchy, owned, ghosts, fills, wanted, threads, ranges)
                               : scan_read(hierarchy, owned, ghosts, fills, wanted, threads, ranges);
}

// Two words that nothing is less than stand for an empty range.
constexpr uint64_t no_word = std::numeric_limits<uint64_t>::max();

void put_range(const ValueRange& range, uint64_t* words) {
  words[0] = range.empty ? no_word : ordered(range.min);
  words[1] = range.empty ? no_word : reversed(ordered(range.max));
}

ValueRange range_of(const uint64_t* words) {
  if (words[0] == no_word && words[1] == no_word) return {};
  return {from_ordered(words[0]), from_ordered(reversed(words[1])), false};
}

ValueRange one_value(std::optional<double> value) {
  return value ? ValueRange{*value, *value, false} : ValueRange{};
}

std::optional<double> suspect_of(DType dtype, double value) {
  return suspect_fill(dtype, {value, value, false});
}

}  // namespace

const FieldRule* rule_of(const WriteOptions& options, const std::string& name) {
  const auto found = options.fields.find(name);
  return found == options.fields.end() ? nullptr : &found->second;
}

FieldFills given_fills(const Hierarchy& hierarchy, const WriteOptions& options) {
  const size_t components = hierarchy.components.size();
  FieldFills fills(hierarchy.levels.size() * components);
  for (size_t i = 0; i < fills.size(); ++i) {
    const FieldRule* const rule = rule_of(options, hierarchy.components[i % components]);
    fills[i] = rule != nullptr && rule->fill ? rule->fill : options.fill;
  }
  return fills;
}

FieldScan::FieldScan(const Hierarchy& hierarchy, const LocalValues& owned, const WriteOptions& options)
    : hierarchy_(hierarchy), owned_(owned), options_(options), fills_(given_fills(hierarchy, options)) {
  parts_.resize(fills_.size());
  ranges_.resize(fills_.size());
  others_.resize(fills_.size());
  suspects_.resize(fills_.size());
  wanted_.assign(fills_.size(), 1);
}

// Ranges of the fields whose range's one end looks like a fill value, without it.
Status FieldScan::scan_sides(bool is_high) {
  bool any = false;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    Side& side = is_high ? part.high : part.low;
    side.others = part.all;
    side.suspect.reset();
    if (options_.detect_fill && !fills_[i] && !part.all.empty)
      side.suspect = suspect_of(hierarchy_.dtype, is_high ? part.all.max : part.all.min);
    suspects_[i] = side.suspect;
    wanted_[i] = side.suspect ? 1 : 0;
    others_[i] = {};
    any = any || side.suspect;
  }
  if (!any) return {};
  NEVE_TRY(
      scan_values(hierarchy_, owned_, options_.ghosts, suspects_, wanted_, options_.encode.threads, others_));
  for (size_t i = 0; i < parts_.size(); ++i) {
    Side& side = is_high ? parts_[i].high : parts_[i].low;
    if (side.suspect) side.others = others_[i];
  }
  return {};
}

Status FieldScan::scan() {
  NEVE_TRY(
      scan_values(hierarchy_, owned_, options_.ghosts, fills_, wanted_, options_.encode.threads, ranges_));
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i].all = ranges_[i];
  NEVE_TRY(scan_sides(true));
  return scan_sides(false);
}

void FieldScan::put(std::span<uint64_t> words) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    uint64_t* const at = words.data() + i * words_a_field;
    put_range(parts_[i].all, at);
    put_range(parts_[i].high.others, at + 2);
    put_range(one_value(parts_[i].high.suspect), at + 4);
    put_range(parts_[i].low.others, at + 6);
    put_range(one_value(parts_[i].low.suspect), at + 8);
  }
}

Status FieldScan::conclude(const Comm& comm, std::span<const uint64_t> words, MeasuredFields& measured) {
  bool is_unclear = false;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const uint64_t* const at = words.data() + i * words_a_field;
    measured.ranges[i] = range_of(at);
    measured.fills[i] = fills_[i];
    wanted_[i] = 0;
    others_[i] = {};
    suspects_[i].reset();
    if (!options_.detect_fill || fills_[i]) continue;
    suspects_[i] = suspect_fill(hierarchy_.dtype, measured.ranges[i]);
    if (!suspects_[i]) continue;
    const bool is_high = suspect_of(hierarchy_.dtype, measured.ranges[i].max).has_value();
    const ValueRange without = range_of(at + (is_high ? 4 : 8));
    // Each rank left out the value that its own range suggested: all of them the same?
    if (without.min == *suspects_[i] && without.max == *suspects_[i]) {
      others_[i] = range_of(at + (is_high ? 2 : 6));
    } else {
      is_unclear = true;
      wanted_[i] = 1;
    }
  }
  if (is_unclear) {
    std::fill(ranges_.begin(), ranges_.end(), ValueRange{});
    NEVE_TRY(agree(comm, guarded("range", [&] {
                     return scan_values(hierarchy_, owned_, options_.ghosts, suspects_, wanted_,
                                        options_.encode.threads, ranges_);
                   })));
    NEVE_TRY(merge_over_ranks(comm, ranges_));
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (wanted_[i] != 0) others_[i] = ranges_[i];
    }
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!suspects_[i] || !accept_fill(*suspects_[i], others_[i])) continue;
    measured.fills[i] = suspects_[i];
    measured.ranges[i] = others_[i];
  }
  return {};
}

Status measure_ranges(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                      const WriteOptions& options, MeasuredFields& measured) {
  std::optional<FieldScan> fields;
  std::optional<Exchange> exchange;
  NEVE_TRY(agree(comm, guarded("range", [&]() -> Status {
                   fields.emplace(hierarchy, owned, options);
                   exchange.emplace(fields->words(), 0);
                   return {};
                 })));
  const Status scanned = guarded("range", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::range, comm.rank()));
    NEVE_TRY(fields->scan());
    fields->put(exchange->minima());
    return {};
  });
  NEVE_TRY(exchange->run(comm, scanned));
  return fields->conclude(comm, exchange->minima(), measured);
}

Result<bool> take_stated_ranges(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                                const WriteOptions& options, MeasuredFields& measured) {
  int serves = 0;
  std::optional<FieldRanges> stated;
  const Status looked = guarded("range", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::range, comm.rank()));
    const FieldFills fills = given_fills(hierarchy, options);
    const bool has_fill =
        std::any_of(fills.begin(), fills.end(), [](const auto& f) { return f.has_value(); });
    if (has_fill || options.ghosts != amr::no_ghosts) return {};
    stated = owned.stated_ranges();
    if (!stated) return {};
    const bool may_hide_fill =
        options.detect_fill && std::any_of(stated->begin(), stated->end(), [&](const ValueRange& range) {
          return suspect_fill(hierarchy.dtype, range).has_value();
        });
    serves = may_hide_fill ? 0 : 1;
    return {};
  });
  NEVE_TRY(agree(comm, looked));
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &serves, 1, MPI_INT, MPI_MIN, comm.get()),
                      "exchange of stated ranges"));
  if (serves == 0) return false;
  measured.ranges = std::move(*stated);
  NEVE_TRY(merge_over_ranks(comm, measured.ranges));
  return true;
}

}  // namespace neve::mpi
