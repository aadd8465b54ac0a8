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

// Regions that are restored value by value are dealt out together until they have so many cells.
constexpr int64_t restored_together_cells = int64_t{1} << 15;

}  // namespace

void get_into(const GetValues& get, const Box& cells, size_t value_bytes, std::byte* out) {
  const HeldValues held = get(cells, out);
  if (held.values == out) return;
  gather_region(cells, held.box, dense_box_data(held.values, plain_frame_box(held.box)), 0, value_bytes, out);
}

// One component of what a frame holds, into memory for as many values.
Status ReaderValues::decode_component(const EncodedChunk& chunk, int component, ScratchBytes& values) const {
  std::vector<std::byte> storage;
  NEVE_ASSIGN(const std::span<const std::byte> frame_span, frame_bytes(chunk, storage));
  NEVE_ASSIGN(const Frame frame, Frame::parse(frame_span));
  const size_t bytes = frame.component_values(component) * dtype_bytes(hierarchy_.dtype);
  const std::unique_ptr<CoarserLevel> coarser = around_ != nullptr ? around_->around(chunk.chunk) : nullptr;
  return frame.decode_component(component, values.data(), bytes, 1, coarser.get());
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
  Job restored;
  for (size_t i = 0; i < regions.size(); ++i) {
    const EncodedChunk* frame = frame_to_decode(regions[i].box, component);
    if (frame == nullptr) {
      restored.regions.push_back(i);
      restored.cells += regions[i].cells.cells();
      if (restored.cells >= restored_together_cells) jobs.push_back(std::exchange(restored, {}));
      continue;
    }
    const auto [at, is_new] = job_of.emplace(frame, jobs.size());
    if (is_new) jobs.push_back({frame, {}, 0});
    jobs[at->second].regions.push_back(i);
  }
  if (!restored.regions.empty()) jobs.push_back(std::move(restored));
  return jobs;
}

Status ReaderValues::visit(std::span<const BoxRegion> regions, int component, int threads,
                           const Use& use) const {
  const std::vector<Job> jobs = make_jobs(regions, component);
  return run_workers(threads, jobs.size(), "coverage check", [&](size_t j) -> Status {
    const Job& job = jobs[j];
    if (job.frame == nullptr) {
      for (const size_t i : job.regions) NEVE_TRY(restore_region(regions[i], i, component, use));
      return {};
    }
    const amr::Chunk& chunk = plan_.levels[level_].chunks.chunks[job.frame->chunk];
    const Status status = chunk.is_split ? decode_split_box(job, regions, component, use)
                                         : decode_chunk(job, regions, component, use);
    return status.in("level " + std::to_string(level_) + " chunk " + std::to_string(job.frame->chunk) +
                     " as it was encoded");
  });
}

Status ReaderValues::restore_region(const BoxRegion& region, size_t number, int component,
                                    const Use& use) const {
  const auto box = static_cast<size_t>(region.box);
  const auto local = static_cast<size_t>(plan_.local[level_][box]);
  NEVE_ASSIGN(const ComponentValues values, owned_.component(local, component));
  use(number, [&](const Box& cells, std::byte* room) {
    gather_region(cells, level().boxes[box], values.data, component, dtype_bytes(hierarchy_.dtype), room);
    reconstruct_values(hierarchy_.dtype, room, room, cells.cells(), spec(component));
    return HeldValues{room, cells};
  });
  return {};
}

Status ReaderValues::decode_chunk(const Job& job, std::span<const BoxRegion> regions, int component,
                                  const Use& use) const {
  const amr::LevelChunks& chunks = plan_.levels[level_].chunks;
  const size_t value_bytes = dtype_bytes(hierarchy_.dtype);
  const size_t components = hierarchy_.components.size();
  const uint64_t first_element = job.frame->chunk * chunks.chunk_elements;
  ScratchBytes values(chunks.chunks[job.frame->chunk].elements / components * value_bytes);
  NEVE_TRY(decode_component(*job.frame, component, values));
  for (const size_t i : job.regions) {
    const auto box = static_cast<size_t>(regions[i].box);
    // Boxes of a chunk follow one another there, each with all components.
    const size_t cells_before = (chunks.box_offsets[box] - first_element) / components;
    use(i, [&](const Box&, std::byte*) {
      return HeldValues{values.data() + cells_before * value_bytes, level().boxes[box]};
    });
  }
  return {};
}

// Regions that share layers across the last direction are served together, from a run of whole layers: that
// is one run of cells of the box, and of the chunks it is cut into only the newest is held.
Status ReaderValues::decode_split_box(const Job& job, std::span<const BoxRegion> regions, int component,
                                      const Use& use) const {
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
  ScratchBytes newest(piece_elements * value_bytes);
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
        NEVE_TRY(decode_component(job.frame[piece], component, newest));
        newest_piece = piece;
      }
      const uint64_t held_begin = std::max(component_begin, piece * piece_elements);
      const uint64_t held_end = std::min(component_end, (piece + 1) * piece_elements);
      const uint64_t from = std::max(run_begin, held_begin);
      const uint64_t to = std::min(run_end, held_end);
      std::memcpy(run.data() + (from - run_begin) * value_bytes,
                  newest.data() + (from - held_begin) * value_bytes, (to - from) * value_bytes);
    }
    for (; first < last; ++first) {
      use(order[first], [&](const Box&, std::byte*) { return HeldValues{run.data(), layers}; });
    }
  }
  return {};
}

}  // namespace neve::mpi
