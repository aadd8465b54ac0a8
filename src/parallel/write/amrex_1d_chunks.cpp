// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/amrex_1d_chunks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "parallel/write/special_value.hpp"

namespace neve::mpi {
namespace {

constexpr uint64_t no_limit = std::numeric_limits<uint64_t>::max();

// Consecutive cells of one component of one box.
struct Run {
  int box = 0;
  int component = 0;
  int64_t cell = 0;  // the first
  int64_t cells = 0;
};

std::vector<Run> runs_of(const amr::Chunk& chunk, const Level& level, size_t components) {
  std::vector<Run> runs;
  uint64_t at = chunk.split_begin;
  uint64_t left = chunk.elements;
  for (const int box : chunk.boxes) {
    const auto cells = static_cast<uint64_t>(level.boxes[static_cast<size_t>(box)].cells());
    while (left > 0 && at < cells * components) {
      const uint64_t cell = at % cells;
      const uint64_t count = std::min(left, cells - cell);
      runs.push_back(
          {box, static_cast<int>(at / cells), static_cast<int64_t>(cell), static_cast<int64_t>(count)});
      at += count;
      left -= count;
    }
    at = 0;
  }
  return runs;
}

// The run's values, out of a box held with any strides.
void gather(const Run& run, const Box& box, const BoxData& data, size_t value_bytes, std::byte* out) {
  const auto* base = static_cast<const std::byte*>(data.data);
  int64_t cell = run.cell;
  for (int64_t left = run.cells; left > 0;) {
    const int64_t x = cell % box.size(0);
    const int64_t y = cell / box.size(0) % box.size(1);
    const int64_t z = cell / box.size(0) / box.size(1);
    const int64_t count = std::min(left, box.size(0) - x);
    const int64_t from = data.component_begin(run.component) + x + y * data.stride[1] + z * data.stride[2];
    std::memcpy(out, base + from * static_cast<int64_t>(value_bytes),
                static_cast<size_t>(count) * value_bytes);
    out += static_cast<size_t>(count) * value_bytes;
    cell += count;
    left -= count;
  }
}

// One array has one bound, one codec and one fill value. Where components of a chunk disagree, the tightest
// bound holds for all, and different fill values make it exact.
ArrayOptions array_options(const std::vector<Run>& runs, const LevelPlan& level,
                           const EncodeOptions& encode) {
  const auto spec_of = [&](const Run& run) -> const ComponentSpec& {
    return level.fields[static_cast<size_t>(run.component)].spec;
  };
  ArrayOptions options;
  options.encode = encode;
  options.detect_fill = false;  // the plan has found it
  options.fill = spec_of(runs.front()).fill;
  // The closest to what AMReX users have there, SZ on one dimension.
  options.codec = spec_of(runs.front()).codec == Codec::automatic ? Codec::lorenzo_regression
                                                                  : spec_of(runs.front()).codec;
  double bound_abs = spec_of(runs.front()).bound_abs;
  for (const Run& run : runs) {
    const ComponentSpec& spec = spec_of(run);
    bound_abs = std::min(bound_abs, spec.bound_abs);
    if (spec.fill != options.fill || spec.codec == Codec::exact) bound_abs = 0;
  }
  options.bound = bound_abs > 0 ? Bound{BoundMode::abs, bound_abs} : Bound{BoundMode::lossless, 0};
  return options;
}

// Shares out what is known of the whole chunk. The worst error is measured again where there are several
// components; exact cells, which nobody counts one by one, go to the component with most of the cells.
template <class T>
Status report_runs(const std::vector<Run>& runs, const LevelPlan& level, const std::vector<T>& values,
                   const ComponentReport& of_chunk, EncodedChunk& encoded) {
  std::vector<ComponentReport>& reports = encoded.report.components;
  reports.assign(level.fields.size(), {});
  std::vector<T> decoded;
  if (std::any_of(runs.begin(), runs.end(), [&](const Run& r) { return r.component != runs[0].component; })) {
    decoded.resize(values.size());
    NEVE_ASSIGN(const Frame frame, Frame::parse(encoded.frame));
    NEVE_TRY(frame.decode(reinterpret_cast<std::byte*>(decoded.data()), decoded.size() * sizeof(T)));
  }
  int64_t total = 0;
  for (const Run& run : runs) total += run.cells;
  size_t at = 0;
  int64_t shared_before = 0;
  const Run* longest = &runs.front();
  for (const Run& run : runs) {
    const std::optional<double>& fill = level.fields[static_cast<size_t>(run.component)].spec.fill;
    ComponentReport& report = reports[static_cast<size_t>(run.component)];
    report.codec = of_chunk.codec;
    report.cells += static_cast<uint64_t>(run.cells);
    // Differences of running shares: they add up to the whole.
    const auto share = [&](int64_t cells) {
      return of_chunk.stored_bytes * static_cast<uint64_t>(cells) / static_cast<uint64_t>(total);
    };
    report.stored_bytes += share(shared_before + run.cells) - share(shared_before);
    shared_before += run.cells;
    if (decoded.empty()) report.max_abs_error = of_chunk.max_abs_error;
    for (int64_t i = 0; i < run.cells; ++i, ++at) {
      if (is_special(values[at], fill)) {
        ++report.special_cells;
      } else if (!decoded.empty()) {
        const double error = std::abs(static_cast<double>(values[at]) - static_cast<double>(decoded[at]));
        report.max_abs_error = std::max(report.max_abs_error, error);
      }
    }
    if (run.cells > longest->cells) longest = &run;
  }
  ComponentReport& most = reports[static_cast<size_t>(longest->component)];
  most.exact_cells = std::min(of_chunk.exact_cells, most.cells - most.special_cells);
  return {};
}

template <class T>
Status encode_values(const Hierarchy& hierarchy, const LocalValues& owned, const WritePlan& plan,
                     const EncodeOptions& options, EncodedChunk& encoded) {
  const LevelPlan& level = plan.levels[encoded.level];
  const Level& of = hierarchy.levels[encoded.level];
  const std::vector<Run> runs = runs_of(level.chunks.chunks[encoded.chunk], of, hierarchy.components.size());
  std::vector<T> values(level.chunks.chunk_elements);
  size_t at = 0;
  for (const Run& run : runs) {
    const auto box = static_cast<size_t>(run.box);
    const auto local = static_cast<size_t>(plan.local[encoded.level][box]);
    gather(run, of.boxes[box], owned[local].data, sizeof(T), reinterpret_cast<std::byte*>(&values[at]));
    at += static_cast<size_t>(run.cells);
  }
  std::fill(values.begin() + static_cast<ptrdiff_t>(at), values.end(), values[at - 1]);  // costs least
  FrameReport report;
  const std::vector<uint64_t> shape{values.size()};
  NEVE_ASSIGN(encoded.frame, encode_array(hierarchy.dtype, shape, values.data(),
                                          array_options(runs, level, options), &report));
  encoded.frame_bytes = encoded.frame.size();
  return report_runs(runs, level, values, report.components.front(), encoded);
}

}  // namespace

amr::LevelChunks amrex_1d_chunks(const Level& level, int components, std::span<const int> owner,
                                 uint64_t chunk_elements) {
  const amr::LevelChunks by_rank = amr::chunk_level(level, components, owner, no_limit);
  amr::LevelChunks result;
  result.chunk_elements = chunk_elements;
  result.box_offsets.resize(level.boxes.size());
  result.box_first_chunk.resize(level.boxes.size());
  for (const amr::Chunk& rank : by_rank.chunks) {
    const uint64_t rank_begin = result.dataset_elements();
    for (uint64_t begin = 0; begin < rank.elements; begin += chunk_elements) {
      result.chunks.push_back({rank.owner, {}, std::min(chunk_elements, rank.elements - begin), false, 0});
    }
    uint64_t offset = rank_begin;
    for (const int box : rank.boxes) {
      const uint64_t elements = static_cast<uint64_t>(level.boxes[static_cast<size_t>(box)].cells()) *
                                static_cast<uint64_t>(components);
      result.box_offsets[static_cast<size_t>(box)] = offset;
      result.box_first_chunk[static_cast<size_t>(box)] = offset / chunk_elements;
      for (uint64_t c = offset / chunk_elements; c * chunk_elements < offset + elements; ++c) {
        amr::Chunk& chunk = result.chunks[c];
        if (chunk.boxes.empty()) chunk.split_begin = c * chunk_elements - offset;
        chunk.boxes.push_back(box);
      }
      offset += elements;
    }
  }
  return result;
}

Status encode_amrex_1d_chunk(const Hierarchy& hierarchy, const LocalValues& owned, const WritePlan& plan,
                             const EncodeOptions& options, EncodedChunk& encoded) {
  return hierarchy.dtype == DType::f32 ? encode_values<float>(hierarchy, owned, plan, options, encoded)
                                       : encode_values<double>(hierarchy, owned, plan, options, encoded);
}

}  // namespace neve::mpi
