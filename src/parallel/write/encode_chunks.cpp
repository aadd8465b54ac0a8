// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/encode_chunks.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "core/catalog/codecs.hpp"
#include "core/codecs/component_place.hpp"
#include "parallel/write/amrex_1d_chunks.hpp"
#include "parallel/write/coarser_values.hpp"
#include "parallel/write/frame_spool.hpp"
#include "parallel/write/read_ahead.hpp"
#include "parallel/write/staged_frames.hpp"
#include "parallel/write/workers.hpp"

namespace neve::mpi {
namespace {

// One byte per cell and component, as BoxData::keep wants it; empty when nothing is missed.
std::vector<uint8_t> keep_marks(const std::vector<std::vector<uint64_t>>& missed, uint64_t cells) {
  std::vector<uint8_t> marks;
  for (size_t c = 0; c < missed.size(); ++c) {
    if (missed[c].empty()) continue;
    if (marks.empty()) marks.assign(missed.size() * cells, 0);
    for (const uint64_t cell : missed[c]) marks[c * cells + cell] = 1;
  }
  return marks;
}

// One chunk. `values_of(box of the chunk)`: where its values are.
template <class ValuesOf>
Status encode_one(const Hierarchy& hierarchy, const ValuesOf& values_of, const WritePlan& plan,
                  const MissedCells& missed, const CoarserValues* around, const EncodeOptions& options,
                  EncodedChunk& encoded) {
  const LevelPlan& level = plan.levels[encoded.level];
  const amr::Chunk& chunk = level.chunks.chunks[encoded.chunk];
  std::vector<ComponentSpec> specs;
  for (const FieldPlan& field : level.fields) {
    specs.push_back(field.spec);
    // What readers get has been told from the values then (reader_values), before any frame is there.
    specs.back().decodes_alone = !may_predict(field.spec.codec);
  }
  const bool drops =
      std::any_of(specs.begin(), specs.end(), [](const auto& spec) { return spec.drop_covered; });
  const amr::BoxIndex* finer = drops ? &plan.levels[encoded.level + 1].index : nullptr;
  const FrameLayout layout = amr::chunk_layout(hierarchy, static_cast<int>(encoded.level), level.chunks,
                                               encoded.chunk, finer, plan.ghosts);

  std::vector<BoxData> data;
  std::vector<std::vector<uint8_t>> keep(chunk.boxes.size());
  for (size_t b = 0; b < chunk.boxes.size(); ++b) {
    const auto local = static_cast<size_t>(plan.local[encoded.level][static_cast<size_t>(chunk.boxes[b])]);
    data.push_back(values_of(b));
    keep[b] = keep_marks(missed[local], static_cast<uint64_t>(layout.boxes[b].cells()));
    data.back().keep = keep[b].empty() ? nullptr : keep[b].data();
  }
  Nesting nesting;
  std::unique_ptr<CoarserLevel> coarser;
  if (around != nullptr) {
    coarser = around->around(encoded.chunk);
    nesting = {coarser.get(), around->ratio()};
  }
  const Nesting* const nested = around != nullptr ? &nesting : nullptr;
  if (encoded.averages == nullptr) {
    NEVE_ASSIGN(encoded.frame,
                encode_frame(hierarchy.dtype, layout, specs, data, options, &encoded.report, nested));
  } else {
    const auto sink = [&](const RestoredBox& restored) { encoded.averages->take(restored); };
    NEVE_ASSIGN(encoded.frame, encode_frame_telling(hierarchy.dtype, layout, specs, data, options,
                                                    &encoded.report, nested, sink));
  }
  encoded.frame_bytes = encoded.frame.size();
  encoded.needs_decoding.assign(specs.size(), 0);
  for (const SectionInfo& section : encoded.report.sections) {
    const auto c = static_cast<size_t>(section.component);
    if (may_predict(specs[c].codec) && section.codec != Codec::dual_quant) encoded.needs_decoding[c] = 1;
  }
  return {};
}

// A component that the error begins with, by its name.
Status named(const Status& status, const Hierarchy& hierarchy) {
  for (size_t c = 0; c < hierarchy.components.size() && !status.ok(); ++c) {
    const std::string place = component_place(c) + ": ";
    if (status.message().starts_with(place)) {
      return {status.code(),
              "field " + hierarchy.components[c] + ": " + status.message().substr(place.size())};
    }
  }
  return status;
}

}  // namespace

bool may_predict(Codec asked) { return asked == Codec::automatic || !traits_of(asked).decodes_alone; }

std::vector<EncodedChunk> chunks_to_encode(int rank, const WritePlan& plan, size_t begin_level,
                                           size_t end_level) {
  std::vector<EncodedChunk> chunks;
  for (size_t level = begin_level; level < end_level; ++level) {
    const std::vector<amr::Chunk>& all = plan.levels[level].chunks.chunks;
    for (size_t c = 0; c < all.size(); ++c) {
      if (all[c].owner == rank) chunks.push_back({level, c});
    }
  }
  return chunks;
}

namespace {

// All that chunks are encoded with.
struct Encoding {
  const Hierarchy& hierarchy;
  const LocalValues& owned;
  const WritePlan& plan;
  const MissedCells& missed;
  const CoarserValues* around;
  EncodeOptions inside;  // of one frame
};

std::string chunk_name(const EncodedChunk& chunk) {
  return "level " + std::to_string(chunk.level) + " chunk " + std::to_string(chunk.chunk);
}

Status encode_in_memory(const Encoding& encoding, EncodedChunk& encoded) {
  const auto& [hierarchy, owned, plan, missed, around, inside] = encoding;
  if (plan.strategy == Strategy::amrex_1d) {
    return encode_amrex_1d_chunk(hierarchy, owned, plan, inside, encoded);
  }
  const std::vector<int>& boxes = plan.levels[encoded.level].chunks.chunks[encoded.chunk].boxes;
  const auto values_of = [&](size_t b) {
    return owned[static_cast<size_t>(plan.local[encoded.level][static_cast<size_t>(boxes[b])])].data;
  };
  return encode_one(hierarchy, values_of, plan, missed, around, inside, encoded);
}

// Chunks whose values are read for them.
class PassingChunks {
 public:
  PassingChunks(const Encoding& encoding, std::span<EncodedChunk> chunks, const PassingBy& passing)
      : encoding_(encoding), chunks_(chunks), passing_(passing) {}

  size_t most_bytes() const {
    uint64_t elements = 0;
    for (const EncodedChunk& chunk : chunks_) elements = std::max(elements, of_plan(chunk).elements);
    return static_cast<size_t>(elements) * value_bytes();
  }

  // In the order in which the boxes lie in the source.
  Status read(size_t i, std::byte* out) const {
    const amr::Chunk& chunk = of_plan(chunks_[i]);
    if (chunk.is_split) {
      NEVE_TRY(encoding_.owned.read(local_box(i, 0), chunk.split_begin, chunk.elements, out));
    } else {
      std::vector<Part> parts = parts_of(i);
      std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.place < b.place; });
      for (const Part& part : parts) {
        NEVE_TRY(encoding_.owned.read(part.local, 0, encoding_.owned.elements(part.local),
                                      out + part.begin * value_bytes()));
      }
    }
    return passing_.ranges == nullptr ? Status() : look_at(i, out);
  }

  Status encode(size_t i, std::byte* values) const {
    EncodedChunk& encoded = chunks_[i];
    std::vector<BoxData> data = data_of(i, values);
    NEVE_TRY(encode_one(
        encoding_.hierarchy, [&](size_t b) { return data[b]; }, encoding_.plan, encoding_.missed,
        encoding_.around, encoding_.inside, encoded));
    NEVE_ASSIGN(encoded.spooled_at, passing_.spool->put(encoded.frame));
    encoded.spool = passing_.spool;
    // Empty ones in their places, since `= {}` would keep their memory.
    encoded.frame = std::vector<std::byte>();
    encoded.report.sections = std::vector<SectionInfo>();
    return {};
  }

 private:
  struct Part {
    uint64_t place;
    size_t local;
    uint64_t begin;  // element of the chunk
  };

  size_t value_bytes() const { return dtype_bytes(encoding_.hierarchy.dtype); }
  const amr::Chunk& of_plan(const EncodedChunk& chunk) const {
    return encoding_.plan.levels[chunk.level].chunks.chunks[chunk.chunk];
  }
  size_t local_box(size_t i, size_t b) const {
    const auto box = static_cast<size_t>(of_plan(chunks_[i]).boxes[b]);
    return static_cast<size_t>(encoding_.plan.local[chunks_[i].level][box]);
  }
  const Box& box(size_t i, size_t b) const {
    return encoding_.hierarchy.levels[chunks_[i].level]
        .boxes[static_cast<size_t>(of_plan(chunks_[i]).boxes[b])];
  }

  std::vector<Part> parts_of(size_t i) const {
    std::vector<Part> parts;
    uint64_t begin = 0;
    for (size_t b = 0; b < of_plan(chunks_[i]).boxes.size(); ++b) {
      const size_t local = local_box(i, b);
      parts.push_back({encoding_.owned.place(local), local, begin});
      begin += encoding_.owned.elements(local);
    }
    return parts;
  }

  // Of a box that is cut only the elements of the chunk are there: its first one may lie before them.
  std::vector<BoxData> data_of(size_t i, std::byte* values) const {
    const amr::Chunk& chunk = of_plan(chunks_[i]);
    std::vector<BoxData> data;
    uintptr_t at = reinterpret_cast<uintptr_t>(values) - chunk.split_begin * value_bytes();
    for (size_t b = 0; b < chunk.boxes.size(); ++b) {
      data.push_back(dense_box_data(reinterpret_cast<const void*>(at), plain_frame_box(box(i, b))));
      at += encoding_.owned.elements(local_box(i, b)) * value_bytes();
    }
    return data;
  }

  // Boxes with ghosts are not looked at: what their source states is not of the valid cells alone.
  Status look_at(size_t i, std::byte* values) const {
    const amr::Chunk& chunk = of_plan(chunks_[i]);
    const uint64_t end = chunk.split_begin + chunk.elements;
    uint64_t at = chunk.split_begin;  // element of the box, of all of which only the first may be cut
    for (size_t b = 0; b < chunk.boxes.size(); ++b) {
      const auto cells = static_cast<uint64_t>(box(i, b).cells());
      const uint64_t box_end = chunk.is_split ? end : cells * encoding_.hierarchy.components.size();
      while (at < box_end) {
        const uint64_t c = at / cells;
        const uint64_t count = std::min(box_end, (c + 1) * cells) - at;
        NEVE_TRY(look_at_run(i, c, count, values));
        values += count * value_bytes();
        at += count;
      }
      at = 0;
    }
    return {};
  }

  Status look_at_run(size_t i, uint64_t component, uint64_t count, const std::byte* values) const {
    const size_t components = encoding_.hierarchy.components.size();
    FrameBox run;
    run.size[0] = static_cast<int64_t>(count);
    NEVE_ASSIGN(const ValueRange range,
                scan_range(encoding_.hierarchy.dtype, run, dense_box_data(values, run), 0, {}));
    (*passing_.ranges)[chunks_[i].level * components + component].merge(range);
    return {};
  }

  const Encoding& encoding_;
  std::span<EncodedChunk> chunks_;
  const PassingBy& passing_;
};

// Chunks that are encoded at the same time.
struct Turn {
  std::vector<size_t> chunks;
  int across = 1, inside = 1;  // threads: over the chunks, and in each
};

// As many chunks as come out even over the threads, the largest first, so that nobody begins a large one when
// the others are done; then the smallest ones that are left, each by several threads.
std::vector<Turn> make_turns(std::span<const EncodedChunk> chunks, const WritePlan& plan, int threads) {
  std::vector<size_t> order(chunks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (threads == 1 || chunks.empty()) return {{std::move(order), 1, threads}};
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) {
    return plan.levels[chunks[i].level].chunks.chunks[chunks[i].chunk].elements;
  });
  const size_t rest = order.size() % static_cast<size_t>(threads);
  const auto middle = order.end() - static_cast<ptrdiff_t>(rest);
  std::vector<Turn> turns;
  if (middle != order.begin()) turns.push_back({{order.begin(), middle}, threads, 1});
  if (rest > 0)
    turns.push_back({{middle, order.end()}, static_cast<int>(rest), threads / static_cast<int>(rest)});
  return turns;
}

// Not collective. Of values in memory.
Status encode_in_turns(Encoding encoding, std::span<EncodedChunk> chunks, int threads, StagedFrames* stage,
                       const std::function<Status(size_t, const Status&)>& named_chunk,
                       const std::function<void(size_t)>& finished) {
  size_t before = 0;
  for (const Turn& turn : make_turns(chunks, encoding.plan, threads)) {
    encoding.inside.threads = turn.inside;
    NEVE_TRY(run_workers(
        turn.across, turn.chunks.size(), "encode",
        [&](size_t i) {
          const size_t chunk = turn.chunks[i];
          const Status encoded = encode_in_memory(encoding, chunks[chunk]);
          if (encoded.ok() && stage != nullptr) stage->take(chunks[chunk]);
          return named_chunk(chunk, encoded);
        },
        [&](size_t done) {
          if (finished) finished(before + done);
        }));
    before += turn.chunks.size();
  }
  return {};
}

}  // namespace

Result<std::span<const std::byte>> frame_bytes(const EncodedChunk& chunk, std::vector<std::byte>& storage) {
  if (chunk.spool == nullptr) return std::span<const std::byte>(chunk.frame);
  storage.resize(chunk.frame_bytes);
  NEVE_TRY(chunk.spool->get(chunk.spooled_at, storage));
  return std::span<const std::byte>(storage);
}

Status encode_chunks(const Hierarchy& hierarchy, const LocalValues& owned, const WriteOptions& options,
                     const WritePlan& plan, const MissedCells& missed, const CoarserValues* around,
                     std::span<EncodedChunk> chunks, const std::function<void(size_t)>& finished,
                     const PassingBy& passing) {
  Encoding encoding{hierarchy, owned, plan, missed, around, options.encode};
  const auto in_chunk = [&](size_t i, const Status& status) {
    return status.ok() ? status : named(status, hierarchy).in(chunk_name(chunks[i]));
  };
  if (owned.are_in_memory())
    return encode_in_turns(encoding, chunks, options.encode.threads, passing.stage, in_chunk, finished);
  // Threads go to different chunks first, and inside a frame where there are more threads than chunks.
  const int across =
      std::min<int>(options.encode.threads, static_cast<int>(std::max<size_t>(chunks.size(), 1)));
  encoding.inside.threads = options.encode.threads / across;
  const PassingChunks passing_chunks(encoding, chunks, passing);
  PiecewiseWork work;
  work.threads = across;
  work.pieces = chunks.size();
  work.piece_bytes = passing_chunks.most_bytes();
  work.phase = "encode";
  work.done = finished;
  work.read = [&](size_t i, std::byte* out) { return passing_chunks.read(i, out); };
  work.work = [&](size_t i, std::byte* values) { return in_chunk(i, passing_chunks.encode(i, values)); };
  return run_reading_ahead(work);
}

}  // namespace neve::mpi
