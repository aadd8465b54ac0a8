// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/layouts/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "neve/distribution.hpp"
#include "neve/plotfile_reader.hpp"

namespace neve::layouts {
namespace {

// Numbers of the components to read.
Result<std::vector<int>> chosen_fields(const Hierarchy& hierarchy, const std::vector<std::string>& fields) {
  std::vector<int> chosen;
  if (fields.empty()) {
    for (size_t c = 0; c < hierarchy.components.size(); ++c) chosen.push_back(static_cast<int>(c));
  }
  for (const std::string& field : fields) {
    const auto& names = hierarchy.components;
    const auto found = std::find(names.begin(), names.end(), field);
    if (found == names.end()) {
      return usage_error(
          fmt::format("--fields: unknown field '{}'; the fields are {}", field, fmt::join(names, ", ")));
    }
    const int number = static_cast<int>(found - names.begin());
    if (std::find(chosen.begin(), chosen.end(), number) != chosen.end()) {
      return usage_error(fmt::format("--fields: field '{}' is given twice", field));
    }
    chosen.push_back(number);
  }
  return chosen;
}

// Boxes of copy k of a level with n boxes are k*n ... k*n + n-1.
Status repeat_along_x(Hierarchy& hierarchy, int copies) {
  hierarchy.prob_hi[0] = hierarchy.prob_lo[0] + copies * (hierarchy.prob_hi[0] - hierarchy.prob_lo[0]);
  for (Level& level : hierarchy.levels) {
    const int64_t width = level.domain.size(0);
    if (level.domain.lo[0] + width * copies > std::numeric_limits<int32_t>::max()) {
      return usage_error(
          fmt::format("{} copies of a domain of {} cells along x; at most {} cells are allowed", copies,
                      width, std::numeric_limits<int32_t>::max()));
    }
    const std::vector<Box> boxes = level.boxes;
    for (int copy = 1; copy < copies; ++copy) {
      const auto shift = static_cast<int32_t>(width * copy);
      for (Box box : boxes) {
        box.lo[0] += shift;
        box.hi[0] += shift;
        level.boxes.push_back(box);
      }
    }
    level.domain.hi[0] = static_cast<int32_t>(level.domain.lo[0] + width * copies - 1);
  }
  return {};
}

Status read_own_boxes(PlotfileSource& source, const std::vector<int>& fields, int rank, Input& input) {
  const size_t value_bytes = input.value_bytes();
  for (size_t level = 0; level < input.hierarchy.levels.size(); ++level) {
    const std::vector<Box>& boxes = input.hierarchy.levels[level].boxes;
    const size_t originals = source.hierarchy().levels[level].boxes.size();
    input.local.emplace_back(boxes.size(), -1);
    for (size_t b = 0; b < boxes.size(); ++b) {
      if (input.owner[level][b] != rank) continue;
      const size_t bytes = static_cast<size_t>(boxes[b].cells()) * value_bytes;
      std::vector<std::byte>& values = input.storage.emplace_back(fields.size() * bytes);
      for (size_t c = 0; c < fields.size(); ++c) {
        NEVE_TRY(source.read_box(static_cast<int>(level), static_cast<int>(b % originals), fields[c],
                                 values.data() + c * bytes));
      }
      input.local[level][b] = static_cast<int>(input.boxes.size());
      const FrameBox shape = amr::frame_box(boxes[b], {0, 0, 0}, {1, 1, 1}, nullptr);
      input.boxes.push_back(
          {static_cast<int>(level), static_cast<int>(b), dense_box_data(values.data(), shape), {0, 0, 0}});
    }
  }
  return {};
}

Status load_own(const mpi::Comm& comm, const std::string& path, const std::vector<std::string>& fields,
                int copies, Input& input) {
  NEVE_ASSIGN(const std::unique_ptr<PlotfileSource> source, open_plotfile(path));
  input.hierarchy = source->hierarchy();
  NEVE_ASSIGN(const std::vector<int> chosen, chosen_fields(input.hierarchy, fields));
  std::vector<std::string> names;
  for (const int c : chosen) names.push_back(input.hierarchy.components[static_cast<size_t>(c)]);
  input.hierarchy.components = std::move(names);
  input.hierarchy.side_files.clear();  // the ways are of values
  NEVE_TRY(repeat_along_x(input.hierarchy, copies));
  input.owner = distribute_boxes(input.hierarchy, comm.size());
  return read_own_boxes(*source, chosen, comm.rank(), input);
}

}  // namespace

uint64_t Input::raw_bytes() const {
  uint64_t cells = 0;
  for (const Level& level : hierarchy.levels) {
    for (const Box& box : level.boxes) cells += static_cast<uint64_t>(box.cells());
  }
  return cells * components() * value_bytes();
}

Result<Input> load(const mpi::Comm& comm, const std::string& path, const std::vector<std::string>& fields,
                   int copies) {
  Input input;
  NEVE_TRY(mpi::guarded_alike(comm, path, [&] { return load_own(comm, path, fields, copies, input); }));
  return input;
}

amr::LevelChunks shares_of(const Input& input, size_t level) {
  return amr::chunk_level(input.hierarchy.levels[level], static_cast<int>(input.components()),
                          input.owner[level], std::numeric_limits<uint64_t>::max());
}

size_t own_share(const amr::LevelChunks& shares, int rank) {
  const auto found = std::find_if(shares.chunks.begin(), shares.chunks.end(),
                                  [&](const amr::Chunk& chunk) { return chunk.owner == rank; });
  return static_cast<size_t>(found - shares.chunks.begin());
}

amr::BoxIndex finer_index(const Hierarchy& hierarchy, size_t level) {
  if (level + 1 == hierarchy.levels.size()) return {};
  return amr::BoxIndex(hierarchy.levels[level + 1].boxes);
}

}  // namespace neve::layouts
