// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/encode_chunks.hpp"

#include <algorithm>
#include <memory>

#include "core/catalog/codecs.hpp"
#include "core/codecs/component_place.hpp"
#include "parallel/write/amrex_1d_chunks.hpp"
#include "parallel/write/coarser_values.hpp"
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

Status encode_one(const Hierarchy& hierarchy, std::span<const LocalBox> owned, const WritePlan& plan,
                  const MissedCells& missed, const CoarserValues* around, const EncodeOptions& options,
                  EncodedChunk& encoded) {
  if (plan.strategy == Strategy::amrex_1d) {
    return encode_amrex_1d_chunk(hierarchy, owned, plan, options, encoded);
  }
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
    data.push_back(owned[local].data);
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
      if (all[c].owner == rank) chunks.push_back({level, c, {}, {}, {}, nullptr});
    }
  }
  return chunks;
}

Status encode_chunks(const Hierarchy& hierarchy, std::span<const LocalBox> owned, const WriteOptions& options,
                     const WritePlan& plan, const MissedCells& missed, const CoarserValues* around,
                     std::span<EncodedChunk> chunks, const std::function<void(size_t)>& finished) {
  // Threads go to different chunks first, and inside a frame where there are more threads than chunks.
  const int across =
      std::min<int>(options.encode.threads, static_cast<int>(std::max<size_t>(chunks.size(), 1)));
  EncodeOptions inside = options.encode;
  inside.threads = options.encode.threads / across;
  return run_workers(
      across, chunks.size(), "encode",
      [&](size_t i) {
        const std::string name =
            "level " + std::to_string(chunks[i].level) + " chunk " + std::to_string(chunks[i].chunk);
        return named(encode_one(hierarchy, owned, plan, missed, around, inside, chunks[i]), hierarchy)
            .in(name);
      },
      finished);
}

}  // namespace neve::mpi
