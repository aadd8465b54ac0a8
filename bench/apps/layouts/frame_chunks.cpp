// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>

#include "bench/apps/layouts/prepared.hpp"
#include "io/hdf5/layout_names.hpp"
#include "parallel/comm/fault.hpp"

namespace neve::layouts {
namespace {

constexpr uint64_t max_chunk_bytes = 0xffffffff;  // HDF5 keeps a chunk's size in 32 bits
constexpr int64_t pad_side = 8;                   // of padding's unit blocks: AMRIC's smallest

// What this rank encodes of a level: all of it, or one of its fields.
struct RankFrame {
  int rank = 0;
  DType dtype = DType::f64;
  FrameLayout layout;
  std::vector<ComponentSpec> specs;
  std::vector<BoxData> boxes;

  Result<std::vector<std::byte>> encode() const {
    NEVE_TRY(mpi::injected_fault(mpi::Phase::encode, rank));
    return encode_frame(dtype, layout, specs, boxes);
  }
};

ChunkEncoder encoder_of(RankFrame frame) {
  const auto kept = std::make_shared<const RankFrame>(std::move(frame));
  return [kept](std::span<const std::byte>) { return kept->encode(); };
}

// What all ranks have to know of each other's cells of a level.
struct LevelCells {
  uint64_t covered = 0;  // of all ranks
  uint64_t most_held = 0, most_covered = 0;
};

// Cells of a frame's boxes that are left out.
uint64_t covered_cells(const FrameLayout& layout) {
  uint64_t cells = 0;
  for (const FrameBox& box : layout.boxes) {
    for (const Rect& rect : box.covered) cells += static_cast<uint64_t>(rect.cells());
  }
  return cells;
}

uint64_t all_cells(const FrameLayout& layout) {
  uint64_t cells = 0;
  for (const FrameBox& box : layout.boxes) cells += static_cast<uint64_t>(box.cells());
  return cells;
}

// A line of unit blocks, and a row of what is left over.
std::vector<FrameBox> pad_boxes(int dims, int64_t x, uint64_t cells) {
  FrameBox blocks;
  blocks.lo[0] = x;
  const auto last = static_cast<size_t>(dims - 1);
  int64_t layer = 1;
  for (size_t d = 0; d < last; ++d) {
    blocks.size[d] = pad_side;
    layer *= pad_side;
  }
  blocks.size[last] = static_cast<int64_t>(cells) / layer;
  std::vector<FrameBox> boxes;
  if (blocks.size[last] > 0) boxes.push_back(blocks);
  const int64_t rest = static_cast<int64_t>(cells) - blocks.size[last] * layer;
  if (rest > 0) {
    FrameBox row;
    row.lo[0] = x + pad_side + blocks.size[0];
    row.size[0] = rest;
    boxes.push_back(row);
  }
  return boxes;
}

class FramePreparation {
 public:
  FramePreparation(const mpi::Comm& comm, const Way& way, const Input& input, const FieldBounds& fields,
                   const Bound& asked, int unit_cells)
      : comm_(comm), way_(way), input_(input), fields_(fields), asked_(asked), unit_cells_(unit_cells) {
    prepared_.bounds = fields.bounds;
  }

  // Collective.
  Result<Prepared> run() {
    const size_t levels = input_.hierarchy.levels.size();
    NEVE_TRY(mpi::agree(comm_, mpi::guarded("prepare", [&]() -> Status {
                          cells_.resize(levels);
                          for (size_t level = 0; level < levels; ++level) begin_level(level);
                          return {};
                        })));
    NEVE_TRY(exchange());
    const auto end_levels = [&]() -> Status {
      for (size_t level = 0; level < levels; ++level) NEVE_TRY(end_level(level));
      return {};
    };
    NEVE_TRY(mpi::guarded_alike(comm_, "prepare", end_levels));
    return std::move(prepared_);
  }

 private:
  // The boxes of this rank with their covered cells; how many cells that are.
  void begin_level(size_t level) {
    shares_.push_back(shares_of(input_, level));
    own_.push_back(own_share(shares_.back(), comm_.rank()));
    layouts_.emplace_back();
    if (own_[level] == shares_[level].chunks.size()) return;
    const amr::BoxIndex finer = finer_index(input_.hierarchy, level);
    FrameLayout& layout = layouts_[level];
    layout = amr::chunk_layout(input_.hierarchy, static_cast<int>(level), shares_[level], own_[level],
                               finer.size() > 0 ? &finer : nullptr);
    LevelCells& cells = cells_[level];
    cells.covered = cells.most_covered = covered_cells(layout);
    cells.most_held = all_cells(layout) - cells.covered;
  }

  Status exchange() {
    const size_t levels = cells_.size();
    std::vector<uint64_t> sums(levels), most(2 * levels);
    for (size_t l = 0; l < levels; ++l) {
      sums[l] = cells_[l].covered;
      most[2 * l] = cells_[l].most_held;
      most[2 * l + 1] = cells_[l].most_covered;
    }
    NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()),
                                           MPI_UINT64_T, MPI_SUM, comm_.get()),
                             "count of covered cells"));
    NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()),
                                           MPI_UINT64_T, MPI_MAX, comm_.get()),
                             "largest rank's cells"));
    for (size_t l = 0; l < levels; ++l) cells_[l] = {sums[l], most[2 * l], most[2 * l + 1]};
    return {};
  }

  Status end_level(size_t level) {
    prepared_.tables.push_back({std::vector<int64_t>(input_.hierarchy.levels[level].boxes.size(), 0)});
    switch (way_.layout) {
      case Layout::padded:
        return add_padded(level);
      case Layout::per_rank:
        return add_per_rank(level);
      default:
        return add_per_field(level);
    }
  }

  // The size of the largest rank's values, of which covered cells are none; but what a frame decodes to has
  // them, so that there is room for the most of these, too.
  Status add_padded(size_t level) {
    const uint64_t components = input_.components();
    const uint64_t chunk_elements = components * (cells_[level].most_held + cells_[level].most_covered);
    NEVE_TRY(add_dataset(level, hdf5::data_name, chunk_elements, shares_[level].chunks.size()));
    place_boxes(level, chunk_elements, components);
    if (!holds(level)) return {};
    RankFrame frame = frame_of(level, 0, components, chunk_elements);
    add_padding(level, frame);
    fill_chunk(level, own_[level], 0, components, std::move(frame));
    return {};
  }

  Status add_per_rank(size_t level) {
    const uint64_t components = input_.components();
    place_boxes(level, 0, components);
    for (size_t s = 0; s < shares_[level].chunks.size(); ++s) {
      const amr::Chunk& share = shares_[level].chunks[s];
      NEVE_TRY(add_dataset(level, fmt::format("rank_{}", share.owner), share.elements, 1));
      if (s != own_[level]) continue;
      fill_chunk(level, 0, 0, components, frame_of(level, 0, components, share.elements));
    }
    return {};
  }

  Status add_per_field(size_t level) {
    const uint64_t components = input_.components();
    const uint64_t chunk_elements = shares_[level].chunk_elements / components;
    place_boxes(level, chunk_elements, 1);
    for (size_t c = 0; c < components; ++c) {
      NEVE_TRY(add_dataset(level, fmt::format("field_{}", c), chunk_elements, shares_[level].chunks.size()));
      if (!holds(level)) continue;
      fill_chunk(level, own_[level], c, 1, frame_of(level, c, 1, chunk_elements));
    }
    return {};
  }

  bool holds(size_t level) const { return own_[level] < shares_[level].chunks.size(); }

  Status add_dataset(size_t level, const std::string& name, uint64_t chunk_elements, uint64_t chunks) {
    if (chunk_elements > max_chunk_bytes / input_.value_bytes()) {
      return usage_error(
          fmt::format("way {}: a chunk of level {} is {} bytes of values; HDF5 allows {}, so use more ranks",
                      way_.text, level, chunk_elements * input_.value_bytes(), max_chunk_bytes));
    }
    DatasetWrite& dataset = prepared_.datasets.emplace_back();
    dataset.level = level;
    dataset.name = name;
    dataset.chunk_elements = chunk_elements;
    dataset.elements = chunk_elements * chunks;
    return {};
  }

  // Of the dataset added last.
  void fill_chunk(size_t level, size_t chunk, size_t first_component, size_t components, RankFrame frame) {
    DatasetWrite& dataset = prepared_.datasets.back();
    dataset.first = chunk * dataset.chunk_elements;
    dataset.count = 1;
    dataset.encode = encoder_of(std::move(frame));
    prepared_.runs.push_back({level, dataset.name, dataset.first, shares_[level].chunks[own_[level]].boxes,
                              first_component, components});
  }

  // Where boxes begin in chunks of that size; in a dataset of their rank's own where it is 0.
  void place_boxes(size_t level, uint64_t chunk_elements, uint64_t components) {
    std::vector<int64_t>& first = prepared_.tables[level].first_element;
    const std::vector<Box>& boxes = input_.hierarchy.levels[level].boxes;
    for (size_t s = 0; s < shares_[level].chunks.size(); ++s) {
      uint64_t at = s * chunk_elements;
      for (const int box : shares_[level].chunks[s].boxes) {
        first[static_cast<size_t>(box)] = static_cast<int64_t>(at);
        at += static_cast<uint64_t>(boxes[static_cast<size_t>(box)].cells()) * components;
      }
    }
  }

  RankFrame frame_of(size_t level, size_t first_component, size_t components, uint64_t elements) const {
    RankFrame frame{comm_.rank(), input_.hierarchy.dtype, layouts_[level], {}, {}};
    frame.layout.components = static_cast<int>(components);
    frame.layout.element_count = elements;
    for (size_t c = first_component; c < first_component + components; ++c) {
      frame.specs.push_back(spec_of(level, c));
    }
    for (const int box : shares_[level].chunks[own_[level]].boxes) {
      BoxData data = input_.local_box(level, box).data;
      const auto values = static_cast<size_t>(data.component_begin(static_cast<int>(first_component)));
      data.data = static_cast<const std::byte*>(data.data) + values * input_.value_bytes();
      frame.boxes.push_back(data);
    }
    return frame;
  }

  // As strategy filtered has it.
  ComponentSpec spec_of(size_t level, size_t component) const {
    ComponentSpec spec;
    spec.asked = asked_;
    spec.bound_abs = fields_.bounds[level][component];
    spec.range = fields_.ranges[level][component];
    spec.codec = way_.codec;
    spec.tuning.arrangement = Arrangement::linear;
    spec.tuning.unit_cells = unit_cells_;
    spec.drop_covered = cells_[level].covered > 0;
    return spec;
  }

  // Cells up to those of the largest rank, each field's with its last value: what costs least.
  void add_padding(size_t level, RankFrame& frame) {
    const uint64_t held = all_cells(frame.layout) - covered_cells(frame.layout);
    const uint64_t cells = cells_[level].most_held - held;
    if (cells == 0) return;
    const size_t value_bytes = input_.value_bytes(), components = input_.components();
    std::vector<std::byte>& buffer = prepared_.buffers.emplace_back(cells * components * value_bytes);
    const LocalBox& last = input_.local_box(level, shares_[level].chunks[own_[level]].boxes.back());
    const int64_t last_cell = input_.hierarchy.levels[level].boxes[static_cast<size_t>(last.box)].cells() - 1;
    std::byte* out = buffer.data();
    for (size_t c = 0; c < components; ++c) {
      const auto from = static_cast<size_t>(last.data.component_begin(static_cast<int>(c)) + last_cell);
      const std::byte* value = static_cast<const std::byte*>(last.data.data) + from * value_bytes;
      for (uint64_t i = 0; i < cells; ++i, out += value_bytes) std::memcpy(out, value, value_bytes);
    }
    const int64_t x = int64_t{input_.hierarchy.levels[level].domain.hi[0]} + 1;
    uint64_t at = 0;
    for (const FrameBox& box : pad_boxes(input_.hierarchy.dims, x, cells)) {
      BoxData data = dense_box_data(buffer.data() + at * value_bytes, box);
      data.component_stride = static_cast<int64_t>(cells);
      frame.layout.boxes.push_back(box);
      frame.boxes.push_back(data);
      at += static_cast<uint64_t>(box.cells());
    }
  }

  const mpi::Comm& comm_;
  const Way& way_;
  const Input& input_;
  const FieldBounds& fields_;
  Bound asked_;
  int unit_cells_;
  std::vector<LevelCells> cells_;
  std::vector<amr::LevelChunks> shares_;
  std::vector<size_t> own_;
  std::vector<FrameLayout> layouts_;  // of this rank's chunk
  Prepared prepared_;
};

}  // namespace

Result<Prepared> prepare_frames(const mpi::Comm& comm, const Way& way, const Input& input, const Bound& bound,
                                int unit_cells) {
  NEVE_ASSIGN(const FieldBounds fields, measure_bounds(comm, input, bound));
  return FramePreparation(comm, way, input, fields, bound, unit_cells).run();
}

}  // namespace neve::layouts
