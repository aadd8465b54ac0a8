// SPDX-License-Identifier: BSD-3-Clause
// What a reader will get for cells of this rank's boxes: restored value by value where decoding does that,
// decoded from the frames this rank has just made where a codec predicts from decoded neighbours.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/threads/scratch.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

class CoarserValues;

struct BoxRegion {
  int box = 0;  // of the level
  Box cells;    // inside it
};

// Values of one component where they lie: x fastest, without gaps, of a box.
struct HeldValues {
  const std::byte* values = nullptr;
  Box box;
};

// Values of one component in a region: get(part of the region, room for its values) says where they are, for
// as long as the call of `use` lasts: written into `room`, or in a box around the part that holds them
// already.
using GetValues = std::function<HeldValues(const Box& cells, std::byte* room)>;

// The same into `out`, x fastest, without gaps.
void get_into(const GetValues& get, const Box& cells, size_t value_bytes, std::byte* out);

class ReaderValues {
 public:
  // `frames`: all of this rank's chunks of the level, in order, or none; none stands for a level whose codecs
  // all decode value by value. `around`: what nested frames of the level need; null: none is nested.
  ReaderValues(const Hierarchy& hierarchy, const LocalValues& owned, const WritePlan& plan, size_t level,
               std::span<const EncodedChunk> frames, const CoarserValues* around = nullptr)
      : hierarchy_(hierarchy), owned_(owned), plan_(plan), level_(level), frames_(frames), around_(around) {}

  // Calls use(i, values of regions[i]) for each region, in any order, in threads. A chunk is decoded at most
  // once a call; beside it a thread holds a part of a box that is cut over several chunks. Left-out cells
  // have values of no meaning.
  Status visit(std::span<const BoxRegion> regions, int component, int threads,
               const std::function<void(size_t region, const GetValues&)>& use) const;

 private:
  // Regions that need the same decoded chunk; where `frame` is null they are restored value by value.
  struct Job {
    const EncodedChunk* frame = nullptr;
    std::vector<size_t> regions;
    int64_t cells = 0;  // of the regions
  };
  using Use = std::function<void(size_t, const GetValues&)>;

  const Level& level() const { return hierarchy_.levels[level_]; }
  const ComponentSpec& spec(int component) const {
    return plan_.levels[level_].fields[static_cast<size_t>(component)].spec;
  }
  std::vector<Job> make_jobs(std::span<const BoxRegion> regions, int component) const;
  const EncodedChunk* frame_to_decode(int box, int component) const;
  Status decode_component(const EncodedChunk& chunk, int component, ScratchBytes& values) const;
  Status restore_region(const BoxRegion& region, size_t number, int component, const Use& use) const;
  Status decode_chunk(const Job& job, std::span<const BoxRegion> regions, int component,
                      const Use& use) const;
  Status decode_split_box(const Job& job, std::span<const BoxRegion> regions, int component,
                          const Use& use) const;

  const Hierarchy& hierarchy_;
  LocalValues owned_;
  const WritePlan& plan_;
  size_t level_;
  std::span<const EncodedChunk> frames_;
  const CoarserValues* around_;
};

}  // namespace neve::mpi
