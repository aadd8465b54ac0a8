// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/plan_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>
#include <vector>

#include "core/amr/distribution_names.hpp"
#include "core/amr/load_balance.hpp"
#include "core/amr/sample_grids.hpp"
#include "tools/neve/plan_rows.hpp"
#include "tools/neve/source.hpp"

namespace neve::cli::plan {
namespace {

using io_model::FilePieces;

// Rounds x ranks of a collective write per box, of all plans of a sweep.
constexpr uint64_t most_calls = 50'000'000;
// Boxes, and stripes or windows of a buffer that the file is cut at, of all plans of a sweep. So many take
// some seconds and some hundred megabytes.
constexpr uint64_t most_requests = 8'000'000;

uint64_t plans_of(const Args& args) { return 1 + static_cast<uint64_t>(std::ranges::count(args.sweep, ',')); }

std::string plans_text(uint64_t plans) {
  return plans == 1 ? std::string() : fmt::format(" in each of {} plans", plans);
}

// Each box is a request or more in each dataset.
Status check_pieces(const Args& args, uint64_t boxes, uint64_t datasets) {
  const uint64_t plans = plans_of(args);
  if (boxes * datasets <= most_requests / plans) return {};
  return usage_error(fmt::format("{} boxes in {} datasets of a level are {} pieces{}; at most {} are allowed",
                                 boxes, datasets, boxes * datasets, plans_text(plans),
                                 most_requests / plans));
}

// A range is cut at stripes, or at windows of a buffer.
Status check_requests(const Args& args, const FilePieces& file) {
  const uint64_t plans = plans_of(args), bytes = file.bytes(), allowed = most_requests / plans;
  uint64_t largest = 0;
  for (const io_model::Dataset& dataset : file.datasets) {
    for (const uint64_t piece : dataset.piece_bytes) largest = std::max(largest, piece);
  }
  const uint64_t cut = smallest_cut(args, largest);
  const uint64_t requests = bytes / cut + file.pieces();
  if (requests <= allowed) return {};
  return usage_error(fmt::format(
      "{} bytes in {} boxes, cut at {} of {} bytes, are {} requests{}; at most {} are allowed: give fewer "
      "bytes{}",
      bytes, file.pieces(), args.is_striped() ? "stripes" : "windows", cut, requests, plans_text(plans),
      allowed,
      args.is_striped() ? ", or larger stripes by --stripe-size and --stripe-count" : " or fewer plans"));
}

Status check_frames(const Args& args, uint64_t bytes, uint64_t chunk_bytes) {
  const uint64_t plans = plans_of(args), frames = bytes / chunk_bytes;
  if (frames <= most_requests / plans) return {};
  return usage_error(fmt::format(
      "{} bytes in chunks of {} are {} frames{}; at most {} are allowed: give a larger --chunk-size", bytes,
      chunk_bytes, frames, plans_text(plans), most_requests / plans));
}

Status check_boxes(uint64_t boxes) {
  if (boxes <= io_model::max_boxes) return {};
  return usage_error(
      fmt::format("{} boxes are too many to plan for; at most {} are allowed", boxes, io_model::max_boxes));
}

// "8x8x4": units along x, y, z.
Result<IntVect> parse_units(const std::string& text) {
  IntVect units{0, 0, 0};
  const char* at = text.data();
  const char* end = at + text.size();
  double boxes = amr::chombo_boxes_per_unit;
  for (int d = 0; d < max_dims; ++d) {
    const auto [rest, error] = std::from_chars(at, end, units[d]);
    const bool is_last = d + 1 == max_dims;
    if (error != std::errc() || (is_last ? rest != end : rest == end || *rest != 'x')) {
      return usage_error(fmt::format("--chombo '{}' is not NXxNYxNZ, as in 8x8x8", text));
    }
    at = rest + 1;
    boxes *= std::max(units[d], 0);
  }
  if (boxes > static_cast<double>(io_model::max_boxes)) {
    return usage_error(fmt::format("--chombo {} has {:.3g} boxes; at most {} are allowed", text, boxes,
                                   io_model::max_boxes));
  }
  return units;
}

// "4599936:115200", "72KiB:1429": bytes and how many.
Result<std::pair<uint64_t, uint64_t>> parse_boxes(const std::string& text) {
  const size_t colon = text.find(':');
  uint64_t count = 0;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, count);
    if (error == std::errc() && rest == end && count > 0) {
      NEVE_ASSIGN(const uint64_t bytes, parse_bytes("--boxes", text.substr(0, colon)));
      return std::pair(bytes, count);
    }
  }
  return usage_error(fmt::format("--boxes '{}' is not SIZE:COUNT, as in 4599936:115200", text));
}

std::vector<uint64_t> bytes_by_rank(const FilePieces& file) {
  std::vector<uint64_t> of_rank(static_cast<size_t>(file.ranks), 0);
  for (const io_model::Dataset& dataset : file.datasets) {
    for (size_t i = 0; i < dataset.owner.size(); ++i) {
      of_rank[static_cast<size_t>(dataset.owner[i])] += dataset.piece_bytes[i];
    }
  }
  return of_rank;
}

// Each round of a dataset is a call of every rank.
Status check_calls(const Args& args, const FilePieces& file) {
  uint64_t calls = 0;
  for (const io_model::Dataset& dataset : file.datasets) {
    std::vector<uint64_t> of_rank(static_cast<size_t>(file.ranks), 0);
    for (int owner : dataset.owner) ++of_rank[static_cast<size_t>(owner)];
    calls += *std::max_element(of_rank.begin(), of_rank.end()) * static_cast<uint64_t>(file.ranks);
    if (calls > most_calls) break;
  }
  const uint64_t plans = plans_of(args);
  if (calls <= most_calls / plans) return {};
  return usage_error(fmt::format(
      "{} boxes on {} ranks are more than {} calls of strategy collective, a round of all ranks for each box "
      "of the busiest{}; give fewer ranks or boxes",
      file.pieces(), file.ranks, most_calls / plans, plans_text(plans)));
}

Result<Subject> subject_of_sizes(const Args& args, const Source& source) {
  std::vector<std::pair<uint64_t, uint64_t>> sizes;
  for (const std::string& text : args.boxes) {
    NEVE_ASSIGN(const auto size, parse_boxes(text));
    sizes.push_back(size);
  }
  Subject subject;
  subject.what = source.what;
  NEVE_ASSIGN(subject.values, io_model::pieces_of_sizes(sizes, args.ranks));
  const std::vector<uint64_t> of_rank = bytes_by_rank(subject.values);
  subject.busiest_rank_bytes = *std::max_element(of_rank.begin(), of_rank.end());
  if (args.ratio > 0) subject.frames = io_model::shrunk_pieces(subject.values, args.ratio);
  subject.max_over_mean = static_cast<double>(subject.busiest_rank_bytes) * args.ranks /
                          static_cast<double>(subject.values.bytes());
  return subject;
}

// A plotfile's one dataset a level, or a checkpoint's for each variable: the sample grids' own, else one for
// each component.
Result<std::vector<io_model::DatasetLayout>> layouts_of(const Args& args, const Hierarchy& h, int ghosts) {
  const auto components = static_cast<int>(h.components.size());
  const auto layout = [&](int of_dataset, int layers) {
    io_model::DatasetLayout result{of_dataset, {0, 0, 0}};
    for (int d = 0; d < h.dims; ++d) result.ghosts[d] = layers;
    return result;
  };
  if (!args.checkpoint) return std::vector{layout(components, ghosts)};
  std::vector<io_model::DatasetLayout> layouts;
  if (args.is_grid()) {
    NEVE_ASSIGN(const auto variables, amr::checkpoint_variables(components));
    for (const amr::SampleVariable& v : variables) layouts.push_back(layout(v.components, v.ghosts));
  } else {
    layouts.assign(h.components.size(), layout(1, ghosts));
  }
  return layouts;
}

std::pair<int, int> fewest_and_most(std::span<const int> owners, int ranks) {
  std::vector<int> of_rank(static_cast<size_t>(ranks), 0);
  for (const int rank : owners) ++of_rank[static_cast<size_t>(rank)];
  const auto [fewest, most] = std::minmax_element(of_rank.begin(), of_rank.end());
  return {*fewest, *most};
}

Result<Subject> subject_of_hierarchy(const Args& args, const Source& source) {
  const Hierarchy& h = *source.hierarchy;
  Subject subject;
  subject.what = source.what;
  subject.levels = h.levels.size();
  NEVE_ASSIGN(const DistributionMethod method, parse_distribution_method(args.distribution));
  NEVE_ASSIGN(const auto layouts, layouts_of(args, h, source.ghosts));
  uint64_t boxes = 0;
  for (const Level& level : h.levels) boxes += level.boxes.size();
  NEVE_TRY(check_pieces(args, boxes, layouts.size()));
  const amr::Loads loads = amr::cell_loads(h);
  const amr::Owners owner = amr::share_boxes(h, args.ranks, loads, method);
  subject.values = io_model::value_pieces(h, owner, args.ranks, layouts);
  const amr::Balance balance = amr::balance_of_all(loads, owner, args.ranks);
  subject.max_over_mean = balance.max_over_mean();
  subject.finest_boxes = fewest_and_most(owner.back(), args.ranks);
  subject.busiest_rank_bytes =
      static_cast<uint64_t>(balance.largest) * h.components.size() * dtype_bytes(h.dtype);
  if (args.ratio > 0) {
    NEVE_ASSIGN(const uint64_t chunk_bytes, parse_bytes("--chunk-size", args.chunk_size));
    if (chunk_bytes < dtype_bytes(h.dtype)) return usage_error("--chunk-size is too small for a value");
    NEVE_TRY(check_frames(args, subject.values.bytes(), chunk_bytes));
    subject.frames = io_model::frame_pieces(h, owner, args.ranks, chunk_bytes, args.ratio);
  }
  return subject;
}

}  // namespace

Result<Source> source_of(const Args& args) {
  Source source;
  if (!args.boxes.empty()) {
    source.what = "boxes of the sizes given, one dataset";
    return source;
  }
  if (!args.chombo.empty()) {
    amr::ChomboGrid grid;
    NEVE_ASSIGN(grid.replicas, parse_units(args.chombo));
    if (args.box_cells != 0) grid.box_cells = args.box_cells;
    if (args.components != 0) grid.components = args.components;
    source.ghosts = amr::chombo_ghosts;
    source.what = fmt::format("Chombo I/O benchmark, {} units of {} boxes of {}^3", args.chombo,
                              amr::chombo_boxes_per_unit, grid.box_cells);
    NEVE_ASSIGN(source.hierarchy, amr::chombo_grid(grid));
  } else if (args.ice) {
    amr::IceGrid grid;
    if (args.checkpoint) grid.file = amr::IceFile::checkpoint;
    if (args.box_cells != 0) grid.tile_cells = args.box_cells;
    grid.components = args.components != 0 ? args.components : amr::ice_components(grid.file);
    source.ghosts = amr::ice_plot_ghosts;
    source.what = fmt::format("BISICLES-like 2D hierarchy of 5 levels, tiles of {}^2", grid.tile_cells);
    NEVE_ASSIGN(source.hierarchy, amr::ice_grid(grid));
  } else {
    NEVE_ASSIGN(const auto file, open_source(args.plotfile, args.open));
    source.what = fmt::format("{} ({})", args.plotfile, file->kind());
    source.hierarchy = file->hierarchy();
  }
  if (args.ghosts >= 0) source.ghosts = args.ghosts;
  uint64_t boxes = 0;
  for (const Level& level : source.hierarchy->levels) boxes += level.boxes.size();
  NEVE_TRY(check_boxes(boxes));
  return source;
}

Result<Subject> subject_of(const Args& args, const Source& source) {
  Result<Subject> subject =
      source.hierarchy ? subject_of_hierarchy(args, source) : subject_of_sizes(args, source);
  if (!subject.ok()) return subject;
  NEVE_TRY(check_calls(args, subject->values));
  NEVE_TRY(check_requests(args, subject->values));
  return subject;
}

}  // namespace neve::cli::plan
