// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/file_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include "core/amr/chunking.hpp"
#include "core/amr/load_balance.hpp"
#include "core/math/portable_math.hpp"

namespace neve::io_model {
namespace {

uint64_t sum(const std::vector<uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), uint64_t{0});
}

// One after another, from where the first may begin.
void place(FilePieces& file) {
  uint64_t begin = first_dataset_address;
  for (Dataset& dataset : file.datasets) {
    dataset.begin = begin;
    begin += sum(dataset.piece_bytes);
  }
}

uint64_t shrunk(uint64_t bytes, double ratio) {
  return std::max<uint64_t>(1, static_cast<uint64_t>(math::floor(static_cast<double>(bytes) / ratio + 0.5)));
}

// Size i's k-th box comes at (k + 1/2) / its count: the same mixture everywhere. Among equals the size given
// first.
std::vector<uint64_t> mixed_evenly(std::span<const std::pair<uint64_t, uint64_t>> sizes, uint64_t count) {
  using Next = std::pair<double, size_t>;  // place and which size
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  std::vector<uint64_t> taken(sizes.size(), 0), mixed;
  mixed.reserve(count);
  const auto place_next = [&](size_t i) {
    const uint64_t of_size = sizes[i].second;
    if (taken[i] == of_size) return;
    next.emplace((static_cast<double>(taken[i]) + 0.5) / static_cast<double>(of_size), i);
  };
  for (size_t i = 0; i < sizes.size(); ++i) place_next(i);
  while (!next.empty()) {
    const size_t i = next.top().second;
    next.pop();
    mixed.push_back(sizes[i].first);
    ++taken[i];
    place_next(i);
  }
  return mixed;
}

uint64_t cells_with_ghosts(const Box& box, const IntVect& ghosts) {
  uint64_t cells = 1;
  for (int d = 0; d < max_dims; ++d) cells *= static_cast<uint64_t>(box.size(d) + 2 * ghosts[d]);
  return cells;
}

}  // namespace

uint64_t FilePieces::pieces() const {
  uint64_t count = 0;
  for (const Dataset& dataset : datasets) count += dataset.piece_bytes.size();
  return count;
}

uint64_t FilePieces::bytes() const {
  uint64_t total = 0;
  for (const Dataset& dataset : datasets) total += sum(dataset.piece_bytes);
  return total;
}

FilePieces value_pieces(const Hierarchy& hierarchy, std::span<const std::vector<int>> owner, int ranks,
                        std::span<const DatasetLayout> layouts) {
  FilePieces file;
  file.ranks = ranks;
  for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
    for (const DatasetLayout& layout : layouts) {
      const uint64_t cell_bytes = dtype_bytes(hierarchy.dtype) * static_cast<uint64_t>(layout.components);
      Dataset& dataset = file.datasets.emplace_back();
      for (const Box& box : hierarchy.levels[level].boxes) {
        dataset.piece_bytes.push_back(cells_with_ghosts(box, layout.ghosts) * cell_bytes);
      }
      dataset.owner = owner[level];
    }
  }
  place(file);
  return file;
}

FilePieces frame_pieces(const Hierarchy& hierarchy, std::span<const std::vector<int>> owner, int ranks,
                        uint64_t chunk_bytes, double ratio) {
  FilePieces file;
  file.ranks = ranks;
  const uint64_t value_bytes = dtype_bytes(hierarchy.dtype);
  for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
    const amr::LevelChunks chunks =
        amr::chunk_level(hierarchy.levels[level], static_cast<int>(hierarchy.components.size()), owner[level],
                         chunk_bytes / value_bytes);
    Dataset& dataset = file.datasets.emplace_back();
    for (const amr::Chunk& chunk : chunks.chunks) {
      dataset.piece_bytes.push_back(shrunk(chunk.elements * value_bytes, ratio));
      dataset.owner.push_back(chunk.owner);
    }
  }
  place(file);
  return file;
}

Result<FilePieces> pieces_of_sizes(std::span<const std::pair<uint64_t, uint64_t>> sizes, int ranks) {
  uint64_t count = 0;
  for (const auto& [bytes, of_size] : sizes) {
    if (bytes == 0) return usage_error("a box of 0 bytes; at least 1 is needed");
    if (bytes > (uint64_t{1} << 40)) {
      return usage_error(fmt::format("a box of {} bytes; at most 2^40 are allowed", bytes));
    }
    if (of_size > max_boxes - count) {
      return usage_error(fmt::format("{} boxes of {} bytes after {} others; at most {} are allowed in all",
                                     of_size, bytes, count, max_boxes));
    }
    count += of_size;
  }
  if (count == 0) return usage_error("no boxes are given");

  FilePieces file;
  file.ranks = ranks;
  Dataset& dataset = file.datasets.emplace_back();
  dataset.piece_bytes = mixed_evenly(sizes, count);
  const std::vector<int64_t> loads(dataset.piece_bytes.begin(), dataset.piece_bytes.end());
  std::vector<int> order(loads.size());
  std::iota(order.begin(), order.end(), 0);
  dataset.owner = amr::greedy_runs(order, loads, ranks);
  place(file);
  return file;
}

FilePieces shrunk_pieces(const FilePieces& file, double ratio) {
  FilePieces result = file;
  for (Dataset& dataset : result.datasets) {
    for (uint64_t& bytes : dataset.piece_bytes) bytes = shrunk(bytes, ratio);
  }
  place(result);
  return result;
}

}  // namespace neve::io_model
