// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/reader_values.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "core/codecs/reconstruct.hpp"
#include "parallel/write/box_values.hpp"
#include "parallel/write/coarser_values.hpp"
#include "parallel/write/workers.hpp"

namespace neve::mpi {
namespace {

BoxData dense(const std::byte* values, const Box& box) {
  return dense_box_data(values, plain_frame_box(box));
}

}  // namespace

// One component of what a frame holds.
Result<std::vector<std::byte>> ReaderValues::decode_component(const EncodedChunk& chunk,
                                                              int component) const {
  std::vector<std::byte> storage;
  NEVE_ASSIGN(const std::span<const std::byte> bytes, frame_bytes(chunk, storage));
  NEVE_ASSIGN(const Frame frame, Frame::parse(bytes));
  std::vector<std::byte> values(frame.component_values(component) * dtype_bytes(hierarchy_.dtype));
  const std::unique_ptr<CoarserLevel> coarser = around_ != nullptr ? around_->around(chunk.chunk) : nullptr;
  NEVE_TRY(frame.decode_component(component, values.data(), values.size(), 1, coarser.get()));
  return values;
}

const EncodedChunk* ReaderValues::frame_to_decode(int box, int component) const {
  if (frames_.empty()) return nullptr;
  const amr::LevelChunks& chunks = plan_.levels[level_].chunks;
  // A rank's chunks are neighbours in the level's list, and so are those of a box that is cut.
  const size_t first = chunks.box_first_chunk[static_cast<size_t>(box)] - frames_.front().chunk;
  for (size_t i = first; i < frames_.size(); ++i) {
    if (i > first && chunks.chunks[frames_[i].chunk].boxes.front() != box) break;
    if (frames_[i].needs_decoding[static_cast<size_t>(component)] != 0) return &frames_[first];
  }
  return nullptr;
}

std::vector<ReaderValues::Job> ReaderValues::make_jobs(std::span<const BoxRegion> regions,
                                                       int component) const {
  std::vector<Job> jobs;
  std::map<const EncodedChunk*, size_t> job_of;
  for (size_t i = 0; i < regions.size(); ++i) {
    const EncodedChunk* frame = frame_to_decode(regions[i].box, component);
    if (frame == nullptr) {
      jobs.push_back({nullptr, {i}});
      continue;
    }
    const auto [at, is_new] = job_of.emplace(frame, jobs.size());
    if (is_new) jobs.push_back({frame, {}});
    jobs[at->second].regions.push_back(i);
  }
  return jobs;
}

Status ReaderValues::visit(std::span<const BoxRegion> regions, int component, int threads,
                           const std::function<void(size_t, const GetValues&)>& use) const {
  const std::vector<Job> jobs = make_jobs(regions, component);
  return run_workers(threads, jobs.size(), "coverage check", [&](size_t j) -> Status {
    const Job& job = jobs[j];
    if (job.frame != nullptr) {
      const amr::Chunk& chunk = plan_.levels[level_].chunks.chunks[job.frame->chunk];
      const Status status = chunk.is_split ? decode_split_box(job, regions, component, use)
                                           : decode_chunk(job, regions, component, use);
      return status.in("level " + std::to_string(level_) + " chunk " + std::to_string(job.frame->chunk) +
                       " as it was encoded");
    }
    const size_t i = job.regions.front();
    const auto box = static_cast<size_t>(regions[i].box);
    const auto local = static_cast<size_t>(plan_.local[level_][box]);
    NEVE_ASSIGN(const ComponentValues values, owned_.component(local, component));
    use(i, [&](const Box& cells, std::byte* out) {
      gather_region(cells, level().boxes[box], values.data, component, dtype_bytes(hierarchy_.dtype), out);
      reconstruct_values(hierarchy_.dtype, out, out, cells.cells(), spec(component));
    });
    return {};
  });
}

Status ReaderValues::decode_chunk(const Job& job, std::span<const BoxRegion> regions, int component,
                                  const std::function<void(size_t, const GetValues&)>& use) const {
  const size_t value_bytes = dtype_bytes(hierarchy_.dtype);
  NEVE_ASSIGN(const std::vector<std::byte> values, decode_component(*job.frame, component));
  std::map<int, const std::byte*> values_of;
  const std::byte* at = values.data();
  for (const int box : plan_.levels[level_].chunks.chunks[job.frame->chunk].boxes) {
    values_of[box] = at;
    at += static_cast<size_t>(level().boxes[static_cast<size_t>(box)].cells()) * value_bytes;
  }
  for (const size_t i : job.regions) {
    const Box& box = level().boxes[static_cast<size_t>(regions[i].box)];
    const BoxData data = dense(values_of[regions[i].box], box);
    use(i, [&](const Box& cells, std::byte* out) { gather_region(cells, box, data, 0, value_bytes, out); });
  }
  return {};
}

// Regions that share layers across the last direction are served together, from a run of whole layers: that
// is one run of cells of the box, and of the chunks it is cut into only the newest is held.
Status ReaderValues::decode_split_box(const Job& job, std::span<const BoxRegion> regions, int component,
                                      const std::function<void(size_t, const GetValues&)>& use) const {
  const auto d = static_cast<size_t>(hierarchy_.dims - 1);
  const size_t value_bytes = dtype_bytes(hierarchy_.dtype);
  const Box& box = level().boxes[static_cast<size_t>(regions[job.regions.front()].box)];
  const auto layer_cells = static_cast<uint64_t>(box.cells() / box.size(static_cast<int>(d)));
  const uint64_t component_begin = static_cast<uint64_t>(component) * static_cast<uint64_t>(box.cells());
  const uint64_t component_end = component_begin + static_cast<uint64_t>(box.cells());
  const uint64_t piece_elements = plan_.levels[level_].chunks.chunk_elements;

  std::vector<size_t> order = job.regions;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return regions[a].cells.lo[d] < regions[b].cells.lo[d]; });
  std::vector<std::byte> newest;
  uint64_t newest_piece = UINT64_MAX;
  for (size_t first = 0; first < order.size();) {
    Box layers = box;
    layers.lo[d] = regions[order[first]].cells.lo[d];
    layers.hi[d] = regions[order[first]].cells.hi[d];
    size_t last = first + 1;
    for (; last < order.size() && regions[order[last]].cells.lo[d] <= layers.hi[d]; ++last) {
      layers.hi[d] = std::max(layers.hi[d], regions[order[last]].cells.hi[d]);
    }
    std::vector<std::byte> run(static_cast<size_t>(layers.cells()) * value_bytes);
    const uint64_t run_begin =
        component_begin + static_cast<uint64_t>(layers.lo[d] - box.lo[d]) * layer_cells;
    const uint64_t run_end = run_begin + static_cast<uint64_t>(layers.cells());
    for (uint64_t piece = run_begin / piece_elements; piece * piece_elements < run_end; ++piece) {
      if (piece != newest_piece) {
        NEVE_ASSIGN(newest, decode_component(job.frame[piece], component));
        newest_piece = piece;
      }
      const uint64_t held_begin = std::max(component_begin, piece * piece_elements);
      const uint64_t held_end = std::min(component_end, (piece + 1) * piece_elements);
      const uint64_t from = std::max(run_begin, held_begin);
      const uint64_t to = std::min(run_end, held_end);
      std::memcpy(run.data() + (from - run_begin) * value_bytes,
                  newest.data() + (from - held_begin) * value_bytes, (to - from) * value_bytes);
    }
    const BoxData data = dense(run.data(), layers);
    for (; first < last; ++first) {
      use(order[first],
          [&](const Box& cells, std::byte* out) { gather_region(cells, layers, data, 0, value_bytes, out); });
    }
  }
  return {};
}

}  // namespace neve::mpi
