// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/coarser_values.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "core/amr/chunking.hpp"
#include "core/amr/rect_box.hpp"
#include "core/codecs/nested_values.hpp"
#include "core/format/regions.hpp"
#include "parallel/write/box_values.hpp"
#include "parallel/write/reader_values.hpp"

namespace neve::mpi {
namespace {

// Cells of one coarser box, as ranks ask for them.
struct Request {
  int32_t box = 0;
  Box cells;
};
static_assert(sizeof(Request) == 7 * sizeof(int32_t));
constexpr int request_ints = 7;

// Cells of one coarser box that have come.
struct Part {
  Box cells;
  size_t first_value = 0;  // in each component's values
};

// Requests and values of all ranks, sorted by rank.
struct Outline {
  std::vector<int> counts;  // requests by rank
  std::vector<int> begins;
  std::vector<Request> requests;

  // Cells for each rank; failure where MPI cannot count them.
  Result<std::vector<int>> cells_by_rank() const {
    std::vector<int> cells;
    for (size_t r = 0; r < counts.size(); ++r) {
      int64_t sum = 0;
      for (int i = 0; i < counts[r]; ++i) sum += requests[static_cast<size_t>(begins[r] + i)].cells.cells();
      if (sum > std::numeric_limits<int>::max()) {
        return failure("rank " + std::to_string(r) + " exchanges " + std::to_string(sum) +
                       " cells of a coarser level at once; smaller boxes or more ranks are needed");
      }
      cells.push_back(static_cast<int>(sum));
    }
    return cells;
  }
};

std::vector<int> begins_of(const std::vector<int>& counts) {
  std::vector<int> begins(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
  return begins;
}

std::vector<int> times(std::vector<int> numbers, int factor) {
  for (int& number : numbers) number *= factor;
  return numbers;
}

class AroundChunk : public CoarserLevel {
 public:
  AroundChunk(const std::vector<Part>& parts, const std::vector<std::vector<std::byte>>& values,
              size_t value_bytes)
      : parts_(parts), values_(values), value_bytes_(value_bytes) {}

  Status read(int component, const Rect& cells, std::byte* values, uint8_t* held) const override {
    std::fill(held, held + cells.cells(), uint8_t{0});
    std::fill(values, values + static_cast<size_t>(cells.cells()) * value_bytes_, std::byte{0});
    const Box wanted = amr::box_of(cells);
    const std::vector<std::byte>& of_component = values_[static_cast<size_t>(component)];
    if (of_component.empty() || wanted.empty()) return {};
    for (const Part& part : parts_) {
      const Box common = intersect(part.cells, wanted);
      if (common.empty()) continue;
      amr::for_each_common_row(common, part.cells, cells, [&](size_t in_part, size_t to, size_t width) {
        std::memcpy(values + to * value_bytes_,
                    of_component.data() + (part.first_value + in_part) * value_bytes_, width * value_bytes_);
        std::memset(held + to, 1, width);
      });
    }
    return {};
  }

 private:
  const std::vector<Part>& parts_;
  const std::vector<std::vector<std::byte>>& values_;
  size_t value_bytes_;
};

}  // namespace

struct CoarserValues::State {
  Extents ratio{1, 1, 1, 1};
  size_t value_bytes = 0;
  std::map<size_t, std::vector<Part>> parts_of_chunk;
  std::vector<std::vector<std::byte>> values;  // by component of the hierarchy; empty unless asked for
};

namespace {

// The coarser cells that the nested regions of a chunk reach, each rectangle once.
std::vector<Box> reached_cells(const Hierarchy& hierarchy, const WritePlan& plan, size_t level, size_t chunk,
                               const Extents& ratio) {
  // Covered cells make no difference to regions.
  const FrameLayout layout =
      amr::chunk_layout(hierarchy, static_cast<int>(level), plan.levels[level].chunks, chunk, nullptr);
  std::set<const Tile*> seen;
  std::vector<Box> boxes;
  const std::vector<Section> sections = make_sections(layout, TileRule::large);
  for (const Section& section : sections) {
    if (!seen.insert(section.tile.get()).second) continue;
    for (const Region& region : make_regions(layout.ndim, *section.tile, {Arrangement::nested, 0})) {
      boxes.push_back(amr::box_of(coarser_cells(region, ratio)));
    }
  }
  return boxes;
}

}  // namespace

CoarserValues::CoarserValues(std::unique_ptr<State> state) : state_(std::move(state)) {}
CoarserValues::CoarserValues(CoarserValues&&) noexcept = default;
CoarserValues& CoarserValues::operator=(CoarserValues&&) noexcept = default;
CoarserValues::~CoarserValues() = default;

std::unique_ptr<CoarserLevel> CoarserValues::around(size_t chunk) const {
  return std::make_unique<AroundChunk>(state_->parts_of_chunk.at(chunk), state_->values, state_->value_bytes);
}

Extents CoarserValues::ratio() const { return state_->ratio; }

Result<CoarserValues> CoarserValues::exchange(const Comm& comm, const Hierarchy& hierarchy,
                                              std::span<const LocalBox> owned, const WritePlan& plan,
                                              size_t level, const std::vector<int>& components,
                                              std::span<const EncodedChunk> coarser_frames,
                                              const CoarserValues* around_coarser, int threads) {
  const size_t coarser = level - 1;
  const auto ranks = static_cast<size_t>(comm.size());
  const size_t value_bytes = dtype_bytes(hierarchy.dtype);
  std::unique_ptr<State> state;
  Outline asked;  // of this rank, by owner
  Outline owed;   // by the rank that asked
  const Status planned = guarded("coarser values", [&]() -> Status {
    state = std::make_unique<State>();
    state->value_bytes = value_bytes;
    for (size_t d = 0; d < max_dims; ++d) state->ratio[d] = hierarchy.levels[coarser].ref_ratio[d];
    struct Wanted {
      int owner;
      size_t chunk;
      Request request;
    };
    std::vector<Wanted> wanted;
    for (const EncodedChunk& own : chunks_to_encode(comm.rank(), plan, level, level + 1)) {
      state->parts_of_chunk[own.chunk] = {};
      for (const Box& cells : reached_cells(hierarchy, plan, level, own.chunk, state->ratio)) {
        for (const int box : plan.levels[coarser].index.intersecting(cells)) {
          const Box& whole = hierarchy.levels[coarser].boxes[static_cast<size_t>(box)];
          wanted.push_back(
              {plan.owners[coarser][static_cast<size_t>(box)], own.chunk, {box, intersect(cells, whole)}});
        }
      }
    }
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Wanted& a, const Wanted& b) { return a.owner < b.owner; });
    asked.counts.assign(ranks, 0);
    size_t value = 0;
    for (const Wanted& w : wanted) {
      ++asked.counts[static_cast<size_t>(w.owner)];
      asked.requests.push_back(w.request);
      state->parts_of_chunk[w.chunk].push_back({w.request.cells, value});
      value += static_cast<size_t>(w.request.cells.cells());
    }
    asked.begins = begins_of(asked.counts);
    state->values.resize(hierarchy.components.size());
    for (const int c : components) state->values[static_cast<size_t>(c)].resize(value * value_bytes);
    owed.counts.assign(ranks, 0);
    if (wanted.size() > static_cast<size_t>(std::numeric_limits<int>::max() / request_ints)) {
      return failure("coarser values: too many boxes; more ranks are needed");
    }
    return {};
  });
  NEVE_TRY(agree(comm, planned));

  NEVE_TRY(
      mpi_status(MPI_Alltoall(asked.counts.data(), 1, MPI_INT, owed.counts.data(), 1, MPI_INT, comm.get()),
                 "exchange of requests for coarser values"));
  std::vector<int> asked_ints, asked_int_begins, owed_ints, owed_int_begins;
  const Status counted = guarded("coarser values", [&]() -> Status {
    owed.begins = begins_of(owed.counts);
    const int64_t total = std::accumulate(owed.counts.begin(), owed.counts.end(), int64_t{0});
    if (total > std::numeric_limits<int>::max() / request_ints) {
      return failure("coarser values: too many boxes asked for; more ranks are needed");
    }
    owed.requests.resize(static_cast<size_t>(total));
    asked_ints = times(asked.counts, request_ints);
    asked_int_begins = times(asked.begins, request_ints);
    owed_ints = times(owed.counts, request_ints);
    owed_int_begins = times(owed.begins, request_ints);
    return {};
  });
  NEVE_TRY(agree(comm, counted));
  NEVE_TRY(mpi_status(
      MPI_Alltoallv(asked.requests.data(), asked_ints.data(), asked_int_begins.data(), MPI_INT32_T,
                    owed.requests.data(), owed_ints.data(), owed_int_begins.data(), MPI_INT32_T, comm.get()),
      "exchange of requests for coarser values"));

  std::vector<BoxRegion> regions;
  std::vector<size_t> first_value;
  std::vector<std::byte> sends;
  std::vector<int> send_cells, receive_cells;
  std::vector<MPI_Request> messages;
  const Status prepared = guarded("coarser values", [&]() -> Status {
    NEVE_ASSIGN(send_cells, owed.cells_by_rank());
    NEVE_ASSIGN(receive_cells, asked.cells_by_rank());
    size_t value = 0;
    for (const Request& request : owed.requests) {
      regions.push_back({request.box, request.cells});
      first_value.push_back(value);
      value += static_cast<size_t>(request.cells.cells());
    }
    sends.resize(value * value_bytes);
    messages.reserve(2 * ranks);
    return {};
  });
  NEVE_TRY(agree(comm, prepared));

  const MPI_Datatype type = hierarchy.dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE;
  const ReaderValues readers(hierarchy, owned, plan, coarser, coarser_frames, around_coarser);
  for (const int component : components) {
    Status status;
    const auto note = [&](const Status& s) {
      if (status.ok()) status = s;
    };
    messages.clear();
    std::byte* to = state->values[static_cast<size_t>(component)].data();
    for (size_t r = 0; r < ranks; ++r) {
      if (receive_cells[r] == 0) continue;
      note(mpi_status(MPI_Irecv(to, receive_cells[r], type, static_cast<int>(r), 0, comm.get(),
                                &messages.emplace_back(MPI_REQUEST_NULL)),
                      "receiving coarser values"));
      to += static_cast<size_t>(receive_cells[r]) * value_bytes;
    }
    note(guarded("coarser values", [&] {
      return readers.visit(regions, component, threads, [&](size_t i, const GetValues& get) {
        get(regions[i].cells, sends.data() + first_value[i] * value_bytes);
      });
    }));
    const std::byte* from = sends.data();
    for (size_t r = 0; r < ranks; ++r) {
      if (send_cells[r] == 0) continue;
      note(mpi_status(MPI_Isend(from, send_cells[r], type, static_cast<int>(r), 0, comm.get(),
                                &messages.emplace_back(MPI_REQUEST_NULL)),
                      "sending coarser values"));
      from += static_cast<size_t>(send_cells[r]) * value_bytes;
    }
    note(mpi_status(MPI_Waitall(static_cast<int>(messages.size()), messages.data(), MPI_STATUSES_IGNORE),
                    "exchange of coarser values"));
    NEVE_TRY(agree(comm, status));
  }
  return CoarserValues(std::move(state));
}

}  // namespace neve::mpi
