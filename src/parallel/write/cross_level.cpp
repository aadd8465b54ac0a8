// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/cross_level.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/catalog/codecs.hpp"
#include "parallel/write/coarser_values.hpp"

namespace neve::mpi {
namespace {

constexpr const char* kept_reason = "kept: smaller with cross-level prediction";

// The chunks of one level among chunks sorted by level.
std::span<EncodedChunk> of_level(std::vector<EncodedChunk>& chunks, size_t level) {
  const auto less = [](const EncodedChunk& chunk, size_t l) { return chunk.level < l; };
  const auto begin = std::lower_bound(chunks.begin(), chunks.end(), level, less);
  const auto end = std::lower_bound(begin, chunks.end(), level + 1, less);
  return {begin, end};
}

class CrossLevel {
 public:
  CrossLevel(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
             const WriteOptions& options, const MissedCells& missed, WritePlan& plan,
             const std::function<void(double)>& progress)
      : comm_(comm),
        hierarchy_(hierarchy),
        owned_(owned),
        options_(options),
        missed_(missed),
        plan_(plan),
        progress_(progress) {}

  Status run(std::vector<EncodedChunk>& chunks) {
    NEVE_TRY(code_levels(chunks, false));
    const std::vector<size_t> dropped = dropped_fields();
    if (options_.covered != Covered::automatic || dropped.empty()) return {};
    std::vector<EncodedChunk> kept;
    std::vector<LevelPlan> settled;
    const Status changed = guarded("encode", [&]() -> Status {
      settled = plan_.levels;
      keep_whole(dropped);
      return {};
    });
    NEVE_TRY(agree(comm_, changed));
    NEVE_TRY(code_all(kept));
    NEVE_ASSIGN(const std::vector<uint64_t> bytes_dropped, field_bytes(chunks));
    NEVE_ASSIGN(const std::vector<uint64_t> bytes_kept, field_bytes(kept));
    std::vector<size_t> better;
    for (const size_t c : dropped) {
      if (bytes_kept[c] < bytes_dropped[c]) better.push_back(c);
    }
    if (better.size() == dropped.size()) {
      chunks = std::move(kept);
      return {};
    }
    plan_.levels = std::move(settled);
    if (better.empty()) return {};
    keep_whole(better);
    kept.clear();
    NEVE_TRY(code_all(kept));
    chunks = std::move(kept);
    return {};
  }

 private:
  bool may_nest(size_t level, size_t component) const {
    const ComponentSpec& spec = plan_.levels[level].fields[component].spec;
    const CodecTuning& tuning = spec.tuning;
    const bool lies_in_place = tuning.arrangement == Arrangement::in_place ||
                               (tuning.arrangement == Arrangement::automatic && tuning.unit_cells == 0);
    return level > 0 && lies_in_place && spec.bound_abs > 0 &&
           neve::may_nest(spec.codec, options_.encode.effort);
  }

  // Those that could lean on a coarser level if that kept its covered cells.
  std::vector<size_t> dropped_fields() const {
    std::vector<size_t> fields;
    for (size_t c = 0; c < hierarchy_.components.size(); ++c) {
      for (size_t level = 1; level < plan_.levels.size(); ++level) {
        if (!plan_.levels[level - 1].fields[c].spec.drop_covered || !may_nest(level, c)) continue;
        fields.push_back(c);
        break;
      }
    }
    return fields;
  }

  void keep_whole(const std::vector<size_t>& components) {
    for (LevelPlan& level : plan_.levels) {
      for (const size_t c : components) {
        if (!level.fields[c].spec.drop_covered) continue;
        level.fields[c].spec.drop_covered = false;
        level.fields[c].covered = kept_reason;
      }
    }
  }

  // Collective.
  Status code_all(std::vector<EncodedChunk>& chunks) {
    const Status listed = guarded("encode", [&]() -> Status {
      chunks = chunks_to_encode(comm_.rank(), plan_, 0, plan_.levels.size());
      return {};
    });
    NEVE_TRY(agree(comm_, listed));
    return code_levels(chunks, true);
  }

  // Collective. From the coarsest to the finest level; those that have nothing to lean on only if `all`.
  Status code_levels(std::vector<EncodedChunk>& chunks, bool all) {
    std::optional<CoarserValues> around_coarser;
    size_t before = 0;
    for (size_t level = 0; level < plan_.levels.size(); ++level) {
      std::vector<int> nesting;
      for (size_t c = 0; c < hierarchy_.components.size(); ++c) {
        ComponentSpec& spec = plan_.levels[level].fields[c].spec;
        spec.may_nest = may_nest(level, c) && !plan_.levels[level - 1].fields[c].spec.drop_covered;
        if (spec.may_nest) nesting.push_back(static_cast<int>(c));
      }
      std::optional<CoarserValues> around;
      if (!nesting.empty()) {
        NEVE_ASSIGN(around, CoarserValues::exchange(
                                comm_, hierarchy_, owned_, plan_, level, nesting, of_level(chunks, level - 1),
                                around_coarser ? &*around_coarser : nullptr, options_.encode.threads));
      }
      if (around || all) {
        const Status encoded = guarded("encode", [&] {
          return encode_chunks(hierarchy_, owned_, options_, plan_, missed_, around ? &*around : nullptr,
                               of_level(chunks, level),
                               [&](size_t finished) { show(before + finished, chunks.size()); });
        });
        NEVE_TRY(agree(comm_, encoded));
      }
      around_coarser = std::move(around);
      before += of_level(chunks, level).size();
    }
    ++passes_;
    return {};
  }

  // Collective. Of each field over all levels and ranks.
  Result<std::vector<uint64_t>> field_bytes(std::span<const EncodedChunk> chunks) const {
    std::vector<uint64_t> bytes;
    const Status counted = guarded("encode", [&]() -> Status {
      bytes.assign(hierarchy_.components.size(), 0);
      for (const EncodedChunk& chunk : chunks) {
        for (size_t c = 0; c < bytes.size(); ++c) bytes[c] += chunk.report.components[c].stored_bytes;
      }
      return {};
    });
    NEVE_TRY(agree(comm_, counted));
    NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, bytes.data(), static_cast<int>(bytes.size()),
                                      MPI_UINT64_T, MPI_SUM, comm_.get()),
                        "sum of bytes by field"));
    return bytes;
  }

  void show(size_t done, size_t chunks) const {
    progress_((passes_ + static_cast<double>(done) / static_cast<double>(chunks)) / max_passes);
  }

  static constexpr int max_passes = 3;

  const Comm& comm_;
  const Hierarchy& hierarchy_;
  LocalValues owned_;
  const WriteOptions& options_;
  const MissedCells& missed_;
  WritePlan& plan_;
  const std::function<void(double)>& progress_;
  int passes_ = 0;
};

}  // namespace

Status predict_across_levels(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                             const WriteOptions& options, const MissedCells& missed, WritePlan& plan,
                             std::vector<EncodedChunk>& chunks,
                             const std::function<void(double fraction)>& progress) {
  return CrossLevel(comm, hierarchy, owned, options, missed, plan, progress).run(chunks);
}

}  // namespace neve::mpi
