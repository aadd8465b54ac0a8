// SPDX-License-Identifier: BSD-3-Clause
// Arrays of one shape as components of a level whose boxes are the ranks' parts.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/harness/output/containers.hpp"
#include "neve/plotfile_reader.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::apps {
namespace {

Box box_of(const uint64_t* start, const uint64_t* count, int dims) {
  Box box;
  for (int d = 0; d < dims; ++d) {
    const int slowest_first = dims - 1 - d;
    box.lo[static_cast<size_t>(d)] = static_cast<int32_t>(start[slowest_first]);
    box.hi[static_cast<size_t>(d)] = static_cast<int32_t>(start[slowest_first] + count[slowest_first]) - 1;
  }
  return box;
}

Status check_parts(std::span<const ArrayPart> parts) {
  const ArrayPart& first = parts.front();
  if (first.spec.shape.size() > max_dims || is_integer(first.spec.dtype)) {
    return usage_error(
        fmt::format("{}: a plot file holds floating-point values in 1 to 3 dimensions", first.spec.name));
  }
  for (const ArrayPart& part : parts) {
    if (part.spec.shape != first.spec.shape || part.start != first.start || part.count != first.count ||
        part.spec.dtype != first.spec.dtype) {
      return usage_error(fmt::format("{} and {} are not of one shape and type; arrays of a plot file are",
                                     first.spec.name, part.spec.name));
    }
  }
  return {};
}

// Collective. Each rank's part of the array; an empty box where it has none.
Result<std::vector<Box>> boxes_of_ranks(const mpi::Comm& comm, const ArrayPart& mine) {
  std::array<uint64_t, 2 * max_dims> region{};
  std::copy(mine.start.begin(), mine.start.end(), region.begin());
  std::copy(mine.count.begin(), mine.count.end(), region.begin() + max_dims);
  std::vector<uint64_t> regions(region.size() * static_cast<size_t>(comm.size()));
  NEVE_TRY(mpi::mpi_status(
      MPI_Allgather(region.data(), static_cast<int>(region.size()), MPI_UINT64_T, regions.data(),
                    static_cast<int>(region.size()), MPI_UINT64_T, comm.get()),
      "gathering of boxes"));
  std::vector<Box> boxes;
  for (size_t at = 0; at < regions.size(); at += region.size()) {
    const uint64_t* const start = regions.data() + at;
    boxes.push_back(box_of(start, start + max_dims, static_cast<int>(mine.spec.shape.size())));
  }
  return boxes;
}

// One level, of cells of size 1, whose boxes are still to be put in.
Hierarchy hierarchy_of(std::span<const ArrayPart> parts) {
  const ArraySpec& spec = parts.front().spec;
  Hierarchy hierarchy;
  hierarchy.dims = static_cast<int>(spec.shape.size());
  hierarchy.dtype = spec.dtype;
  for (const ArrayPart& part : parts) hierarchy.components.push_back(part.spec.name);
  Level& level = hierarchy.levels.emplace_back();
  const Shape origin(spec.shape.size(), 0);
  level.domain = box_of(origin.data(), spec.shape.data(), hierarchy.dims);
  for (int d = 0; d < hierarchy.dims; ++d) {
    level.dx[static_cast<size_t>(d)] = 1;
    hierarchy.prob_hi[static_cast<size_t>(d)] = static_cast<double>(level.domain.size(d));
  }
  return hierarchy;
}

WriteOptions options_of(std::span<const ArrayPart> parts, const Output& output) {
  WriteOptions options;
  options.compress = output.compression == Output::Compression::neve;
  options.codec = output.lossy ? Codec::automatic : Codec::lossless;
  for (const ArrayPart& part : parts) {
    FieldRule& rule = options.fields[part.spec.name];
    rule.bound = output.lossy ? Bound{BoundMode::abs, part.spec.bound_abs} : Bound{BoundMode::lossless, 0};
    rule.fill = part.spec.fill;
  }
  return options;
}

class PlotReader : public ArrayReader {
 public:
  explicit PlotReader(std::unique_ptr<PlotfileSource> source) : source_(std::move(source)) {}

  Status read(size_t index, const Shape& start, const Shape& count, void* out) override {
    if (value_count(count) == 0) return {};
    const std::vector<Box>& boxes = source_->hierarchy().levels.front().boxes;
    const Box wanted = box_of(start.data(), count.data(), static_cast<int>(start.size()));
    const auto found = std::find(boxes.begin(), boxes.end(), wanted);
    if (found == boxes.end()) return corrupt("the plot file has not the box that was written");
    return source_->read_box(0, static_cast<int>(found - boxes.begin()), static_cast<int>(index),
                             static_cast<std::byte*>(out));
  }

 private:
  std::unique_ptr<PlotfileSource> source_;
};

}  // namespace

Result<Written> write_plot(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts,
                           const Output& output) {
  NEVE_TRY(mpi::agree(comm, check_parts(parts)));
  const ArrayPart& mine = parts.front();
  NEVE_ASSIGN(const std::vector<Box> boxes, boxes_of_ranks(comm, mine));
  Hierarchy hierarchy = hierarchy_of(parts);
  LocalBox local;
  for (int rank = 0; rank < comm.size(); ++rank) {
    std::vector<Box>& level_boxes = hierarchy.levels.front().boxes;
    if (rank == comm.rank()) local.box = static_cast<int>(level_boxes.size());
    if (!boxes[static_cast<size_t>(rank)].empty()) level_boxes.push_back(boxes[static_cast<size_t>(rank)]);
  }
  std::vector<std::byte> together;
  if (parts.size() > 1) {
    // Components lie at one distance from each other.
    for (const ArrayPart& part : parts) {
      const auto* begin = static_cast<const std::byte*>(part.values);
      together.insert(together.end(), begin, begin + mine.bytes());
    }
  }
  const auto cells = static_cast<int64_t>(value_count(mine.count));
  local.data.data = parts.size() > 1 ? together.data() : mine.values;
  local.data.component_stride = cells;
  int64_t stride = 1;
  for (int d = 0; d < hierarchy.dims; ++d) {
    local.data.stride[static_cast<size_t>(d)] = stride;
    stride *= static_cast<int64_t>(mine.count[static_cast<size_t>(hierarchy.dims - 1 - d)]);
  }
  const std::span<const LocalBox> owned(&local, cells == 0 ? 0 : 1);
  NEVE_ASSIGN(const WriteReport report,
              write_plotfile(comm.get(), path, hierarchy, owned, options_of(parts, output)));
  return Written{report.file_bytes, report.encode_seconds};
}

Result<std::unique_ptr<ArrayReader>> open_plot(const std::string& path, std::span<const ArraySpec>) {
  NEVE_ASSIGN(std::unique_ptr<PlotfileSource> source, open_plotfile(path));
  return std::unique_ptr<ArrayReader>(std::make_unique<PlotReader>(std::move(source)));
}

}  // namespace neve::apps
