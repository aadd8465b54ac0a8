// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/report.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/catalog/choices.hpp"
#include "parallel/comm/exchange.hpp"

namespace neve::mpi {
namespace {

// Arrangements with their unit blocks: arrangement x (none or a side).
constexpr size_t unit_sizes = 1 + std::size(unit_sides);
constexpr size_t arrangements = (static_cast<size_t>(Arrangement::nested) + 1) * unit_sizes;

size_t arrangement_number(const ComponentReport& report) {
  const auto smaller = std::count_if(std::begin(unit_sides), std::end(unit_sides),
                                     [&](int side) { return side <= report.unit_cells; });
  return static_cast<size_t>(report.arrangement) * unit_sizes + static_cast<size_t>(smaller);
}

std::string arrangement_of_number(size_t number) {
  const size_t place = number % unit_sizes;
  return arrangement_text(static_cast<Arrangement>(number / unit_sizes),
                          place == 0 ? 0 : unit_sides[place - 1]);
}

size_t place_of_most(std::span<const uint64_t> cells) {
  return static_cast<size_t>(std::max_element(cells.begin(), cells.end()) - cells.begin());
}

// One field of one level: counters that ranks add up. All members are uint64_t, so that a list of them is one
// array to MPI.
struct Sums {
  uint64_t held_cells = 0;
  uint64_t left_out_cells = 0;
  uint64_t special_cells = 0;
  uint64_t exact_cells = 0;
  uint64_t section_bytes = 0;
  uint64_t frame_bytes = 0;  // of the level; in its first field only
  uint64_t rival_bytes = 0;
  uint64_t estimated_cells = 0;  // whose rival is an estimate
  std::array<uint64_t, codecs> cells_by_codec{};
  std::array<uint64_t, codecs> cells_by_rival{};
  std::array<uint64_t, arrangements> cells_by_arrangement{};
  std::array<uint64_t, lossless_methods> cells_by_method{};
};
constexpr size_t counters = sizeof(Sums) / sizeof(uint64_t);
static_assert(sizeof(SelectionReport) == selection_report_words * sizeof(uint64_t));
static_assert(std::is_trivially_copyable_v<SelectionReport>);

// Headers and shared tables belong to no field: they are shared out by section size, the rest of the division
// to the first field, so that the fields add up to the level.
void share_out(uint64_t frame_bytes, std::vector<FieldReport>& fields, std::span<const Sums> sums) {
  uint64_t section_bytes = 0;
  for (const Sums& s : sums) section_bytes += s.section_bytes;
  uint64_t given = 0;
  for (size_t c = 0; c < fields.size(); ++c) {
    const double share =
        section_bytes == 0 ? 1.0 / static_cast<double>(fields.size())
                           : static_cast<double>(sums[c].section_bytes) / static_cast<double>(section_bytes);
    const auto overhead = static_cast<uint64_t>(share * static_cast<double>(frame_bytes - section_bytes));
    fields[c].stored_bytes = sums[c].section_bytes + overhead;
    given += fields[c].stored_bytes;
  }
  fields[0].stored_bytes += frame_bytes - std::min(given, frame_bytes);
}

// Why a field has the codec it has.
std::string chosen_text(const ComponentSpec& spec, const Sums& sum) {
  if (const auto method = static_cast<LosslessMethod>(place_of_most(sum.cells_by_method));
      method != LosslessMethod::automatic) {
    return "method " + std::string(lossless_method_name(method)) +
           (spec.tuning.method != LosslessMethod::automatic     ? ", asked for"
            : spec.recalled_method != LosslessMethod::automatic ? ", recalled"
                                                                : "");
  }
  if (spec.codec != Codec::automatic) return "asked for";
  if (spec.recalled != Codec::automatic) return "recalled";
  const auto rival = static_cast<Codec>(place_of_most(sum.cells_by_rival));
  if (rival == Codec::automatic || sum.section_bytes == 0) return "only codec tried";
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2fx",
                static_cast<double>(sum.rival_bytes) / static_cast<double>(sum.section_bytes));
  const bool is_estimate = 2 * sum.estimated_cells > sum.held_cells;
  return std::string(codec_name(rival)) + (is_estimate ? " might take " : " would take ") + ratio;
}

// The sums in words. `selections` by level, then component; empty: not to be explained.
WriteReport report_fields(const Hierarchy& hierarchy, const WritePlan& plan, std::span<const Sums> sums,
                          std::span<const double> worst, std::span<const SelectionReport> selections) {
  const size_t components = hierarchy.components.size();
  WriteReport report;
  for (size_t level = 0; level < plan.levels.size(); ++level) {
    LevelReport& of = report.levels.emplace_back();
    of.chunk_elements = plan.levels[level].chunks.chunk_elements;
    of.chunks = plan.levels[level].chunks.chunks.size();
    of.stored_bytes = sums[level * components].frame_bytes;
    uint64_t cells = 0;
    for (const Box& box : hierarchy.levels[level].boxes) cells += static_cast<uint64_t>(box.cells());
    for (size_t c = 0; c < components; ++c) {
      const FieldPlan& planned = plan.levels[level].fields[c];
      const Sums& sum = sums[level * components + c];
      FieldReport& field = of.fields.emplace_back();
      field.name = hierarchy.components[c];
      field.asked = planned.spec.asked;
      field.bound_abs = planned.spec.bound_abs;
      field.max_abs_error = worst[level * components + c];
      field.cells = cells;
      field.left_out_cells = sum.left_out_cells;
      field.special_cells = sum.special_cells;
      field.exact_cells = sum.exact_cells;
      field.raw_bytes = cells * dtype_bytes(hierarchy.dtype);
      field.codec_bytes = sum.section_bytes;
      field.range_min = planned.range.min;
      field.range_max = planned.range.max;
      field.fill = planned.spec.fill;
      field.codec = codec_name(static_cast<Codec>(place_of_most(sum.cells_by_codec)));
      field.method = static_cast<LosslessMethod>(place_of_most(sum.cells_by_method));
      field.arrangement = arrangement_of_number(place_of_most(sum.cells_by_arrangement));
      field.chosen = chosen_text(planned.spec, sum);
      field.covered = planned.covered;
      if (!selections.empty()) field.explanation = {selections[level * components + c], planned.spec.tuning};
      report.raw_bytes += field.raw_bytes;
    }
    share_out(of.stored_bytes, of.fields, sums.subspan(level * components, components));
  }
  return report;
}

}  // namespace

struct ReportSums::State {
  size_t components;
  std::vector<Sums> sums;  // by level, then component
  std::vector<double> worst;
  std::vector<SelectionReport> selections;  // empty: not to be explained
};

uint64_t valid_bytes(const Hierarchy& hierarchy, size_t components) {
  uint64_t cells = 0;
  for (const Level& level : hierarchy.levels) {
    for (const Box& box : level.boxes) cells += static_cast<uint64_t>(box.cells());
  }
  return cells * components * dtype_bytes(hierarchy.dtype);
}

ReportSums::ReportSums(size_t levels, size_t components, bool explain)
    : state_(new State{components,
                       std::vector<Sums>(levels * components),
                       std::vector<double>(levels * components, 0),
                       {}}) {
  if (explain) state_->selections.resize(levels * components);
}
ReportSums::~ReportSums() = default;
ReportSums::ReportSums(ReportSums&&) noexcept = default;

size_t ReportSums::minima() const { return state_->worst.size(); }
size_t ReportSums::sums() const {
  return state_->sums.size() * counters + state_->selections.size() * selection_report_words;
}

void ReportSums::add(std::span<const EncodedChunk> chunks) {
  for (const EncodedChunk& chunk : chunks) {
    Sums* const level = state_->sums.data() + chunk.level * state_->components;
    level->frame_bytes += chunk.frame_bytes;
    for (size_t c = 0; c < state_->components; ++c) {
      const ComponentReport& report = chunk.report.components[c];
      Sums& field = level[c];
      field.held_cells += report.cells;
      field.left_out_cells += report.left_out_cells;
      field.special_cells += report.special_cells;
      field.exact_cells += report.exact_cells;
      field.section_bytes += report.stored_bytes;
      field.cells_by_codec[static_cast<size_t>(report.codec)] += report.cells;
      field.rival_bytes += report.rival_bytes;
      field.cells_by_rival[static_cast<size_t>(report.rival)] += report.cells;
      if (report.rival_is_estimate) field.estimated_cells += report.cells;
      field.cells_by_method[static_cast<size_t>(report.method)] += report.cells;
      field.cells_by_arrangement[arrangement_number(report)] += report.cells;
      double& worst = state_->worst[chunk.level * state_->components + c];
      worst = std::max(worst, report.max_abs_error);
    }
    if (state_->selections.empty()) continue;
    for (size_t c = 0; c < chunk.report.selections.size(); ++c)
      state_->selections[chunk.level * state_->components + c].add(chunk.report.selections[c]);
  }
}

void ReportSums::put(std::span<uint64_t> minima, std::span<uint64_t> sums) const {
  std::ranges::transform(state_->worst, minima.begin(),
                         [](double worst) { return reversed(ordered(worst)); });
  const size_t counted = state_->sums.size() * sizeof(Sums);
  std::memcpy(sums.data(), state_->sums.data(), counted);
  if (state_->selections.empty()) return;
  std::memcpy(sums.data() + counted / sizeof(uint64_t), state_->selections.data(),
              state_->selections.size() * sizeof(SelectionReport));
}

void ReportSums::take(std::span<const uint64_t> minima, std::span<const uint64_t> sums) {
  std::ranges::transform(minima, state_->worst.begin(),
                         [](uint64_t word) { return from_ordered(reversed(word)); });
  const size_t counted = state_->sums.size() * sizeof(Sums);
  std::memcpy(static_cast<void*>(state_->sums.data()), sums.data(), counted);
  if (state_->selections.empty()) return;
  std::memcpy(static_cast<void*>(state_->selections.data()), sums.data() + counted / sizeof(uint64_t),
              state_->selections.size() * sizeof(SelectionReport));
}

WriteReport ReportSums::report(const Hierarchy& hierarchy, const WritePlan& plan) const {
  return report_fields(hierarchy, plan, state_->sums, state_->worst, state_->selections);
}

}  // namespace neve::mpi
