// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/coarser_values.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
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

struct CoarserValuesState {
  Extents ratio{1, 1, 1, 1};
  size_t value_bytes = 0;
  std::map<size_t, std::vector<Part>> parts_of_chunk;
  std::vector<std::vector<std::byte>> values;  // by component of the hierarchy; empty unless asked for
};

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

struct CoarserValues::State : CoarserValuesState {};

CoarserValues::CoarserValues(std::unique_ptr<State> state) : state_(std::move(state)) {}
CoarserValues::CoarserValues(CoarserValues&&) noexcept = default;
CoarserValues& CoarserValues::operator=(CoarserValues&&) noexcept = default;
CoarserValues::~CoarserValues() = default;

std::unique_ptr<CoarserLevel> CoarserValues::around(size_t chunk) const {
  return std::make_unique<AroundChunk>(state_->parts_of_chunk.at(chunk), state_->values, state_->value_bytes);
}

Extents CoarserValues::ratio() const { return state_->ratio; }

namespace {

// What the ranks ask each other for, and what they answer.
class Exchange {
 public:
  Exchange(const Comm& comm, const Hierarchy& hierarchy, const WritePlan& plan, size_t level)
      : comm_(comm),
        hierarchy_(hierarchy),
        plan_(plan),
        level_(level),
        value_bytes_(dtype_bytes(hierarchy.dtype)) {}

  // Collective: which coarser cells this rank needs, and room for their values in what `make_state` makes.
  Status plan(const std::vector<int>& components, const std::function<CoarserValuesState&()>& make_state);
  // Collective: the owners of these cells learn of it.
  Status request();
  // Collective: one component's values, as readers will see them, into `to`.
  Status transfer(const ReaderValues& readers, int component, int threads, std::byte* to);

 private:
  // Cells that a chunk of this rank needs of a coarser box.
  struct Wanted {
    int owner;
    size_t chunk;
    Request request;
  };
  std::vector<Wanted> wanted_cells(CoarserValuesState& state) const;
  Status count_owed();
  Status prepare_messages();
  // Starts a receive, or a send, for each rank that has a part in it.
  Status start_receives(std::byte* to);
  Status start_sends();

  const Comm& comm_;
  const Hierarchy& hierarchy_;
  const WritePlan& plan_;
  size_t level_;
  size_t value_bytes_;
  Outline asked_;  // of this rank, by owner
  Outline owed_;   // by the rank that asked
  std::vector<int> asked_ints_, asked_int_begins_, owed_ints_, owed_int_begins_;
  std::vector<BoxRegion> regions_;
  std::vector<size_t> first_value_;
  std::vector<std::byte> sends_;
  std::vector<int> send_cells_, receive_cells_;
  std::vector<MPI_Request> messages_;
};

std::vector<Exchange::Wanted> Exchange::wanted_cells(CoarserValuesState& state) const {
  const size_t coarser = level_ - 1;
  std::vector<Wanted> wanted;
  for (const EncodedChunk& own : chunks_to_encode(comm_.rank(), plan_, level_, level_ + 1)) {
    state.parts_of_chunk[own.chunk] = {};
    for (const Box& cells : reached_cells(hierarchy_, plan_, level_, own.chunk, state.ratio)) {
      for (const int box : plan_.levels[coarser].index.intersecting(cells)) {
        const Box& whole = hierarchy_.levels[coarser].boxes[static_cast<size_t>(box)];
        wanted.push_back(
            {plan_.owners[coarser][static_cast<size_t>(box)], own.chunk, {box, intersect(cells, whole)}});
      }
    }
  }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const Wanted& a, const Wanted& b) { return a.owner < b.owner; });
  return wanted;
}

Status Exchange::plan(const std::vector<int>& components,
                      const std::function<CoarserValuesState&()>& make_state) {
  return agree(comm_, guarded("coarser values", [&]() -> Status {
                 CoarserValuesState& state = make_state();
                 state.value_bytes = value_bytes_;
                 for (size_t d = 0; d < max_dims; ++d)
                   state.ratio[d] = hierarchy_.levels[level_ - 1].ref_ratio[d];
                 const std::vector<Wanted> wanted = wanted_cells(state);
                 const auto ranks = static_cast<size_t>(comm_.size());
                 asked_.counts.assign(ranks, 0);
                 owed_.counts.assign(ranks, 0);
                 size_t value = 0;
                 for (const Wanted& w : wanted) {
                   ++asked_.counts[static_cast<size_t>(w.owner)];
                   asked_.requests.push_back(w.request);
                   state.parts_of_chunk[w.chunk].push_back({w.request.cells, value});
                   value += static_cast<size_t>(w.request.cells.cells());
                 }
                 asked_.begins = begins_of(asked_.counts);
                 state.values.resize(hierarchy_.components.size());
                 for (const int c : components)
                   state.values[static_cast<size_t>(c)].resize(value * value_bytes_);
                 if (wanted.size() > static_cast<size_t>(std::numeric_limits<int>::max() / request_ints)) {
                   return failure("coarser values: too many boxes; more ranks are needed");
                 }
                 return {};
               }));
}

Status Exchange::count_owed() {
  owed_.begins = begins_of(owed_.counts);
  const int64_t total = std::accumulate(owed_.counts.begin(), owed_.counts.end(), int64_t{0});
  if (total > std::numeric_limits<int>::max() / request_ints) {
    return failure("coarser values: too many boxes asked for; more ranks are needed");
  }
  owed_.requests.resize(static_cast<size_t>(total));
  asked_ints_ = times(asked_.counts, request_ints);
  asked_int_begins_ = times(asked_.begins, request_ints);
  owed_ints_ = times(owed_.counts, request_ints);
  owed_int_begins_ = times(owed_.begins, request_ints);
  return {};
}

Status Exchange::request() {
  constexpr const char* what = "exchange of requests for coarser values";
  NEVE_TRY(mpi_status(
      MPI_Alltoall(asked_.counts.data(), 1, MPI_INT, owed_.counts.data(), 1, MPI_INT, comm_.get()), what));
  NEVE_TRY(agree(comm_, guarded("coarser values", [&] { return count_owed(); })));
  NEVE_TRY(mpi_status(MPI_Alltoallv(asked_.requests.data(), asked_ints_.data(), asked_int_begins_.data(),
                                    MPI_INT32_T, owed_.requests.data(), owed_ints_.data(),
                                    owed_int_begins_.data(), MPI_INT32_T, comm_.get()),
                      what));
  return agree(comm_, guarded("coarser values", [&] { return prepare_messages(); }));
}

Status Exchange::prepare_messages() {
  NEVE_ASSIGN(send_cells_, owed_.cells_by_rank());
  NEVE_ASSIGN(receive_cells_, asked_.cells_by_rank());
  size_t value = 0;
  for (const Request& request : owed_.requests) {
    regions_.push_back({request.box, request.cells});
    first_value_.push_back(value);
    value += static_cast<size_t>(request.cells.cells());
  }
  sends_.resize(value * value_bytes_);
  messages_.reserve(2 * static_cast<size_t>(comm_.size()));
  return {};
}

Status Exchange::start_receives(std::byte* to) {
  const MPI_Datatype type = hierarchy_.dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE;
  Status status;
  for (size_t r = 0; r < receive_cells_.size(); ++r) {
    if (receive_cells_[r] == 0) continue;
    const Status started = mpi_status(MPI_Irecv(to, receive_cells_[r], type, static_cast<int>(r), 0,
                                                comm_.get(), &messages_.emplace_back(MPI_REQUEST_NULL)),
                                      "receiving coarser values");
    if (status.ok()) status = started;
    to += static_cast<size_t>(receive_cells_[r]) * value_bytes_;
  }
  return status;
}

Status Exchange::start_sends() {
  const MPI_Datatype type = hierarchy_.dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE;
  const std::byte* from = sends_.data();
  Status status;
  for (size_t r = 0; r < send_cells_.size(); ++r) {
    if (send_cells_[r] == 0) continue;
    const Status started = mpi_status(MPI_Isend(from, send_cells_[r], type, static_cast<int>(r), 0,
                                                comm_.get(), &messages_.emplace_back(MPI_REQUEST_NULL)),
                                      "sending coarser values");
    if (status.ok()) status = started;
    from += static_cast<size_t>(send_cells_[r]) * value_bytes_;
  }
  return status;
}

// Every rank goes through all of it, whatever fails, so that none waits for a message that does not come.
Status Exchange::transfer(const ReaderValues& readers, int component, int threads, std::byte* to) {
  Status status;
  const auto note = [&](const Status& s) {
    if (status.ok()) status = s;
  };
  messages_.clear();
  note(start_receives(to));
  note(guarded("coarser values", [&] {
    return readers.visit(regions_, component, threads, [&](size_t i, const GetValues& get) {
      get_into(get, regions_[i].cells, value_bytes_, sends_.data() + first_value_[i] * value_bytes_);
    });
  }));
  note(start_sends());
  note(mpi_status(MPI_Waitall(static_cast<int>(messages_.size()), messages_.data(), MPI_STATUSES_IGNORE),
                  "exchange of coarser values"));
  return agree(comm_, status);
}

}  // namespace

Result<CoarserValues> CoarserValues::exchange(const Comm& comm, const Hierarchy& hierarchy,
                                              const LocalValues& owned, const WritePlan& plan, size_t level,
                                              const std::vector<int>& components,
                                              std::span<const EncodedChunk> coarser_frames,
                                              const CoarserValues* around_coarser, int threads) {
  std::unique_ptr<State> state;
  Exchange exchange(comm, hierarchy, plan, level);
  NEVE_TRY(exchange.plan(components, [&]() -> CoarserValuesState& {
    state = std::make_unique<State>();
    return *state;
  }));
  NEVE_TRY(exchange.request());
  const ReaderValues readers(hierarchy, owned, plan, level - 1, coarser_frames, around_coarser);
  for (const int component : components) {
    NEVE_TRY(
        exchange.transfer(readers, component, threads, state->values[static_cast<size_t>(component)].data()));
  }
  return CoarserValues(std::move(state));
}

}  // namespace neve::mpi
