// SPDX-License-Identifier: BSD-3-Clause
// Frames from values: sections are drafted in parallel, agree on codebooks, and are laid down in order.
#include "neve/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/bits/checksum.hpp"
#include "core/bits/value_types.hpp"
#include "core/catalog/codecs.hpp"
#include "core/catalog/refusals.hpp"
#include "core/codecs/arrangement.hpp"
#include "core/codecs/component_place.hpp"
#include "core/codecs/covered_cells.hpp"
#include "core/codecs/listed_methods.hpp"
#include "core/codecs/restored_values.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/format/codec_choices.hpp"
#include "core/format/frame_header.hpp"
#include "core/format/header_limits.hpp"
#include "core/kernels/targets.hpp"
#include "core/sections/tiling.hpp"
#include "core/sections/visit_cells.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/stages/lossless/byte_pack.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/status/guarded.hpp"
#include "core/threads/float_environment.hpp"
#include "core/threads/parallel_for.hpp"

namespace neve {

namespace {

// Sections share codebooks when a codebook is a sizeable part of one: above this many elements in the frame
// each section is finished at once instead, so that symbols of a large array need not all be kept.
constexpr uint64_t shared_codebooks_max_elements = uint64_t{1} << 22;

// 1 for each cell of `rect` that lies in one of the box's covered rectangles; empty when none does.
std::vector<uint8_t> covered_cells(const FrameBox& box, const Rect& rect) {
  if (box.covered.empty()) return {};
  std::vector<uint8_t> mask(static_cast<size_t>(rect.cells()));
  bool any = false;
  for (const Rect& covered : box.covered) any |= mark_covered(covered, rect, mask.data());
  if (!any) mask.clear();
  return mask;
}

// Covered cells that are kept, by their number among the covered cells of the section, as rising gaps.
void write_kept(const std::vector<uint64_t>& kept, ByteWriter& out) {
  out.put_varint(kept.size());
  if (kept.empty()) return;
  Bytes gaps;
  ByteWriter writer(gaps);
  uint64_t next = 0;
  for (const uint64_t position : kept) {
    writer.put_varint(position - next);
    next = position + 1;
  }
  write_packed(gaps, out);
}

struct DraftedSection {
  SectionArrangement arrangement;
  Bytes kept;  // ahead of the codec's bytes, when the component drops covered cells
  SectionDraft draft;
  Bytes bytes;  // finished
};

// The rectangles of a section's tile, with what they leave out.
template <class T>
struct TileSource {
  std::vector<RectRows<const T*>> rects;
  std::vector<uint64_t> kept;  // as write_kept takes them
  uint64_t left_out = 0;
};

// Cells of a rectangle that must be kept although they are covered: their marks become 0, and `kept` gets
// their numbers among all covered cells of the section, of which there are `covered_before` before the
// rectangle.
void keep_missed(const Rect& rect, const FrameBox& box, const uint8_t* keep, uint64_t covered_before,
                 std::vector<uint8_t>& left_out, std::vector<uint64_t>& kept) {
  size_t cell = 0;
  visit_row_begins(rect, dense_strides(box.size), [&](int64_t row) {
    for (int64_t x = 0; x < rect.size[0]; ++x, ++cell) {
      if (left_out[cell] == 0) continue;
      if (keep[row + x] != 0) {
        left_out[cell] = 0;
        kept.push_back(covered_before);
      }
      ++covered_before;
    }
  });
}

template <class T>
TileSource<T> tile_source(const FrameLayout& layout, const Section& section, const ComponentSpec& spec,
                          std::span<const BoxData> boxes) {
  TileSource<T> out;
  uint64_t covered_before = 0;
  for (const TileRect& tile : section.rects()) {
    const FrameBox& box = layout.boxes[tile.box];
    const BoxData& data = boxes[tile.box];
    RectRows<const T*> rows;
    rows.first = static_cast<const T*>(data.data) + data.component_begin(section.component) +
                 offset_of(tile.rect.lo, data.stride);
    rows.size = tile.rect.size;
    rows.stride = data.stride;
    if (spec.drop_covered) rows.left_out = covered_cells(box, tile.rect);
    if (!rows.left_out.empty()) {
      const uint8_t* keep =
          data.keep == nullptr ? nullptr : data.keep + static_cast<int64_t>(section.component) * box.cells();
      const auto covered = static_cast<uint64_t>(count_marked(rows.left_out));
      const size_t kept_before = out.kept.size();
      if (keep != nullptr) keep_missed(tile.rect, box, keep, covered_before, rows.left_out, out.kept);
      out.left_out += covered - (out.kept.size() - kept_before);
      covered_before += covered;
    }
    out.rects.push_back(std::move(rows));
  }
  return out;
}

// Tells of whole boxes. `restored`: of the regions, one after another.
void tell_restored(const Section& section, const std::vector<Region>& regions, size_t value_bytes,
                   const std::byte* restored, const RestoredSink& sink) {
  for (const Region& region : regions) {
    for (const RegionPart& part : region.parts) {
      const TileRect& tile = section.rects()[part.rect];
      if (part.from.size != tile.box_size) continue;
      RestoredBox box{static_cast<int>(section.component), tile.box, restored, {tile.place, region.size}};
      for (size_t d = 0; d < max_frame_dims; ++d) box.held.lo[d] -= part.to[d];
      sink(box);
    }
    restored += static_cast<size_t>(region.cells()) * value_bytes;
  }
}

// `nesting`: that of arrangement nested. `sink`: of what the section decodes to; null: not wanted.
template <class T>
Result<DraftedSection> draft_one(const FrameLayout& layout, const Section& section,
                                 const SectionArrangement& arrangement, RegionCache& regions,
                                 const ComponentSpec& spec, std::span<const BoxData> boxes, Effort effort,
                                 const Nesting* nesting = nullptr, const RestoredSink* sink = nullptr) {
  TileSource<T> tile = tile_source<T>(layout, section, spec, boxes);
  const std::vector<Region>& arranged = regions.of(*section.tile, arrangement);
  ArrangedSource<T> source(arranged, std::move(tile.rects));
  if (sink != nullptr) source.want_restored();
  if (nesting != nullptr) {
    NEVE_TRY(source.nest({nesting->coarser, nesting->ratio, static_cast<int>(section.component), spec.fill}));
  }
  DraftedSection out;
  out.arrangement = arrangement;
  out.draft = draft_section(source.section(), spec, effort);
  NEVE_TRY(out.draft.refused.in(component_place(section.component)));
  if (!out.draft.restored.empty()) {
    tell_restored(section, arranged, sizeof(T), reinterpret_cast<const std::byte*>(out.draft.restored.data()),
                  *sink);
    recycle_values(std::exchange(out.draft.restored, {}));
  }
  out.draft.report.left_out_cells = tile.left_out;
  out.draft.report.arrangement = arrangement.arrangement;
  out.draft.report.unit_cells = arrangement.unit_cells;
  if (spec.drop_covered) {
    ByteWriter writer(out.kept);
    write_kept(tile.kept, writer);
  }
  return out;
}

// Whether the boxes of a section, which would be coded in place, may be coded each alone as well.
bool may_weigh_arrangement(const Section& section, const SectionArrangement& arrangement,
                           const ComponentSpec& spec) {
  return section.rects().size() > 1 && arrangement.arrangement == Arrangement::in_place &&
         spec.tuning.arrangement == Arrangement::automatic && spec.recalled == Codec::automatic;
}

// In place mostly wins, but prediction across a front that lies between two boxes costs more than it saves,
// and so may holes. Which is smaller shows only when both are coded: at effort max they are, at balanced
// where a sample says that boxes alone may win.
template <class T>
Result<DraftedSection> draft_arranged(const FrameLayout& layout, const Section& section,
                                      const SectionArrangement& arrangement, RegionCache& regions,
                                      const ComponentSpec& spec, std::span<const BoxData> boxes,
                                      Effort effort, const RestoredSink* sink) {
  constexpr SectionArrangement alone{Arrangement::linear, 0};
  // At other efforts this draft may not be the one that stays.
  const RestoredSink* told = effort == Effort::fast ? sink : nullptr;
  NEVE_ASSIGN(DraftedSection given,
              draft_one<T>(layout, section, arrangement, regions, spec, boxes, effort, nullptr, told));
  if constexpr (std::is_floating_point_v<T>) {
    const std::optional<double>& estimate = given.draft.interpolation_estimate;
    if (!estimate || effort == Effort::fast || !may_weigh_arrangement(section, arrangement, spec))
      return given;
    if (effort == Effort::balanced) {
      TileSource<T> tile = tile_source<T>(layout, section, spec, boxes);
      const ArrangedSource<T> source(regions.of(*section.tile, alone), std::move(tile.rects));
      if (!(estimate_section(source.section(), spec) < *estimate)) return given;
    }
    NEVE_ASSIGN(DraftedSection other, draft_one<T>(layout, section, alone, regions, spec, boxes, effort));
    if (drafted_bytes(other.draft) < drafted_bytes(given.draft)) return other;
  }
  return given;
}

// The codec that a section would have among values of the coarser level: of the two that can use them the one
// it has, or the one that `auto` found larger, which may now be smaller. automatic: none.
Codec nested_codec(const ComponentSpec& spec, const ComponentReport& report) {
  if (traits_of(report.codec).can_nest) return report.codec;
  return spec.codec == Codec::automatic && traits_of(report.rival).can_nest ? report.rival : Codec::automatic;
}

// As draft_arranged, with values of the coarser level where the component may use them and that is smaller.
template <class T>
Result<DraftedSection> draft_smaller(const FrameLayout& layout, const Section& section,
                                     const SectionArrangement& arrangement, RegionCache& regions,
                                     const ComponentSpec& spec, std::span<const BoxData> boxes, Effort effort,
                                     const Nesting* nesting, const RestoredSink* sink) {
  NEVE_ASSIGN(DraftedSection plain, draft_arranged<T>(layout, section, arrangement, regions, spec, boxes,
                                                      effort, nesting == nullptr ? sink : nullptr));
  if (nesting == nullptr || !spec.may_nest) return plain;
  ComponentSpec nested_spec = spec;
  nested_spec.codec = nested_codec(spec, plain.draft.report);
  if (nested_spec.codec == Codec::automatic) return plain;
  NEVE_ASSIGN(DraftedSection nested, draft_one<T>(layout, section, {Arrangement::nested, 0}, regions,
                                                  nested_spec, boxes, effort, nesting));
  const uint64_t plain_bytes = drafted_bytes(plain.draft);
  if (nested.draft.codec != nested_spec.codec || drafted_bytes(nested.draft) >= plain_bytes) return plain;
  ComponentReport& report = nested.draft.report;
  const ComponentReport& other = plain.draft.report;
  if (other.codec == report.codec) {
    report.rival = other.rival;
    report.rival_bytes = other.rival_bytes;
    report.rival_is_estimate = other.rival_is_estimate;
  } else {
    report.rival = other.codec;
    report.rival_bytes = plain_bytes;
  }
  return nested;
}

// finish_section, without a copy where nothing is left to be done.
Bytes take_finished(SectionDraft& draft, SharedCodebooks* shared) {
  if (draft.symbols.empty() && draft.after.empty()) return std::move(draft.before);
  return finish_section(draft, shared);
}

void merge_report(const ComponentReport& part, ComponentReport& sum, uint64_t& max_cells) {
  sum.stored_bytes += part.stored_bytes;
  sum.cells += part.cells;
  sum.left_out_cells += part.left_out_cells;
  sum.special_cells += part.special_cells;
  sum.exact_cells += part.exact_cells;
  sum.max_abs_error = std::max(sum.max_abs_error, part.max_abs_error);
  sum.rival_bytes += part.rival == Codec::automatic ? part.stored_bytes : part.rival_bytes;
  if (part.cells > max_cells) {
    max_cells = part.cells;
    sum.codec = part.codec;
    sum.arrangement = part.arrangement;
    sum.unit_cells = part.unit_cells;
    sum.method = part.method;
    sum.rival = part.rival;
    sum.rival_is_estimate = part.rival_is_estimate;
  }
}

Status check_method_is_there(LosslessMethod method) {
  const std::optional<ByteCoder> coder = coder_of(method);
  if (!coder || has_byte_coder(*coder)) return {};
  return usage_error(fmt::format("lossless method {}: the library of {} is not installed",
                                 lossless_method_name(method), byte_coder_name(*coder)));
}

// What a component may ask for depends on the type of its values.
Status check_spec_of_type(DType dtype, const ComponentSpec& spec) {
  if (!is_integer(dtype)) {
    if (spec.integer_fill) {
      return usage_error(fmt::format(
          "an integer fill value for values of {}, which need a floating-point number", dtype_name(dtype)));
    }
    return spec.lattice ? check_repeats_values(spec.codec) : Status{};
  }
  if (spec.lattice || spec.missing != MissingValues{}) {
    return usage_error(fmt::format(
        "a lattice or missing values for values of {}, which are always stored exactly", dtype_name(dtype)));
  }
  NEVE_TRY(check_integer_choices(
      dtype, spec.bound_abs == 0 ? spec.asked : Bound{BoundMode::abs, spec.bound_abs}, spec.codec));
  if (spec.fill) {
    return usage_error(fmt::format("a floating-point fill value {} for values of {}, which need an integer",
                                   *spec.fill, dtype_name(dtype)));
  }
  if (spec.integer_fill && !holds_integer(dtype, *spec.integer_fill)) {
    return usage_error(fmt::format("fill value {} does not fit into {}",
                                   integer_text(DType::i64, *spec.integer_fill), dtype_name(dtype)));
  }
  return {};
}

// Choices that numbers were cast to.
Status check_spec(DType dtype, const ComponentSpec& spec) {
  NEVE_TRY(check_codec(spec.codec));
  NEVE_TRY(check_codec(spec.recalled));
  NEVE_TRY(check_spec_of_type(dtype, spec));
  NEVE_TRY(check_tuning(spec.tuning));
  CodecTuning recalled;
  recalled.arrangement = spec.recalled_arrangement;
  recalled.method = spec.recalled_method;
  NEVE_TRY(check_tuning(recalled));
  if (!is_known_bound_mode(static_cast<unsigned>(spec.asked.mode))) return check_bound(spec.asked);
  NEVE_TRY(check_candidates_are_there(spec.tuning.candidates));
  return check_method_is_there(spec.tuning.method);
}

Status check_specs(DType dtype, const FrameLayout& layout, std::span<const ComponentSpec> specs,
                   std::span<const BoxData> boxes, const EncodeOptions& options) {
  NEVE_TRY(check_layout(layout));
  NEVE_TRY(check_dtype(dtype).in("frame"));
  NEVE_TRY(check_effort(options.effort));
  if (specs.size() != static_cast<size_t>(layout.components) || boxes.size() != layout.boxes.size()) {
    return usage_error(
        fmt::format("frame: {} component specs and {} boxes of data for {} components and {} boxes",
                    specs.size(), boxes.size(), layout.components, layout.boxes.size()));
  }
  for (size_t c = 0; c < specs.size(); ++c) {
    if (!(specs[c].bound_abs >= 0) || !std::isfinite(specs[c].bound_abs)) {
      return usage_error(fmt::format("component {}: absolute bound {}, must be finite and not negative", c,
                                     specs[c].bound_abs));
    }
    if (const Status s = check_spec(dtype, specs[c]); !s.ok()) return s.in(component_place(c));
  }
  for (size_t b = 0; b < boxes.size(); ++b) {
    if (boxes[b].data == nullptr || boxes[b].stride[0] != 1) {
      return usage_error(fmt::format("box {}: data null or x stride {} not 1", b, boxes[b].stride[0]));
    }
  }
  return check_threads(options.threads);
}

Status check_nesting(DType dtype, const FrameLayout& layout, const Nesting& nesting) {
  if (is_integer(dtype)) {
    return usage_error(
        fmt::format("frame: values of {} cannot be coded with a coarser level", dtype_name(dtype)));
  }
  if (nesting.coarser == nullptr) return usage_error("frame: nesting without a coarser level");
  for (int d = 0; d < max_frame_dims; ++d) {
    const int64_t ratio = nesting.ratio[d];
    if (ratio < 1 || ratio > max_coarser_ratio || (d >= layout.ndim && ratio != 1)) {
      return usage_error(fmt::format("frame: refinement by {} in direction {}, must be 1 to {}", ratio, d,
                                     d < layout.ndim ? max_coarser_ratio : 1));
    }
  }
  return {};
}

// The arrangement of each component; whether the frame says them. Where boxes are many and tiny none is
// chosen.
Result<bool> choose_arrangements(const FrameLayout& layout, std::span<const ComponentSpec> specs,
                                 const EncodeOptions& options,
                                 std::vector<SectionArrangement>& arrangements) {
  bool has_arrangements = false;
  for (const ComponentSpec& spec : specs) {
    arrangements.push_back(choose_arrangement(layout, spec));
    has_arrangements = has_arrangements || needs_arrangements(spec, arrangements.back(), options);
  }
  uint64_t boxes = layout.boxes.size();
  for (const FrameBox& box : layout.boxes) boxes += box.covered.size();
  const uint64_t most = max_arranged_boxes(layout.held_elements());
  if (!has_arrangements || boxes <= most) return has_arrangements;
  for (const ComponentSpec& spec : specs) {
    if (spec.tuning.arrangement == Arrangement::automatic && spec.tuning.unit_cells == 0) continue;
    return usage_error(
        fmt::format("frame: {} boxes and covered rectangles of {} values; with an arrangement or unit blocks "
                    "at most {} are possible",
                    boxes, layout.held_elements(), most));
  }
  arrangements.assign(specs.size(), {});
  return false;
}

// A frame between its steps.
struct FrameDraft {
  bool has_arrangements = false;
  std::vector<Section> sections;
  std::vector<DraftedSection> drafted;  // of each section
  bool shares_codebooks = false;        // then symbols wait to be coded until all sections are drafted
};

template <class T>
Result<FrameDraft> draft_frame(const FrameLayout& layout, std::span<const ComponentSpec> specs,
                               std::span<const BoxData> boxes, const EncodeOptions& options,
                               const Nesting* nesting, const RestoredSink* sink) {
  FrameDraft frame;
  std::vector<SectionArrangement> arrangements;
  NEVE_ASSIGN(frame.has_arrangements, choose_arrangements(layout, specs, options, arrangements));
  frame.sections = make_sections(layout, frame.has_arrangements ? TileRule::large : TileRule::small);
  frame.shares_codebooks =
      layout.held_elements() <= shared_codebooks_max_elements && frame.sections.size() > 1;
  frame.drafted.resize(frame.sections.size());
  RegionCache regions(layout.ndim);
  std::vector<Status> statuses(frame.sections.size());
  parallel_for(frame.sections.size(), options.threads, [&](size_t s) {
    const uint32_t c = frame.sections[s].component;
    Result<DraftedSection> draft =
        draft_smaller<T>(layout, frame.sections[s], arrangements[c], regions, specs[c], boxes, options.effort,
                         frame.has_arrangements ? nesting : nullptr, sink);
    statuses[s] = draft.status();
    if (!draft.ok()) return;
    DraftedSection& section = frame.drafted[s] = std::move(*draft);
    if (frame.shares_codebooks) return;
    section.bytes = take_finished(section.draft, nullptr);
    recycle_symbols(std::move(section.draft.symbols));
    section.draft.before = {};
    section.draft.after = {};
  });
  for (Status& status : statuses) NEVE_TRY(std::move(status));
  return frame;
}

// Completes the sections' bytes, and notes them in the header and in the report.
template <class T>
void finish_sections(FrameDraft& frame, const EncodeOptions& options, FrameHeader& header,
                     FrameReport& report) {
  SharedCodebooks shared;
  std::vector<uint64_t> max_cells(report.components.size(), 0);
  for (size_t s = 0; s < frame.sections.size(); ++s) {
    DraftedSection& section = frame.drafted[s];
    if (frame.shares_codebooks) {
      section.bytes = take_finished(section.draft, &shared);
      section.draft.symbols = {};
    }
    Bytes& bytes = section.bytes;
    bytes.insert(bytes.begin(), section.kept.begin(), section.kept.end());
    const uint32_t component = frame.sections[s].component;
    header.sections.push_back({section.draft.codec, section.arrangement, bytes.size(), checksum(bytes)});
    report.sections.push_back(
        {static_cast<int>(component), static_cast<uint64_t>(frame.sections[s].tile->cells), bytes.size(),
         section.draft.codec, section.arrangement.arrangement, section.arrangement.unit_cells});
    section.draft.report.stored_bytes = bytes.size();
    merge_report(section.draft.report, report.components[component], max_cells[component]);
    if (options.explain) {
      const SelectionTrace& trace = section.draft.selection;
      report.selections[component].add(trace.candidates, section.draft.report.cells * sizeof(T), trace.times);
    }
  }
  header.codebooks = std::move(shared.codebooks);
}

template <class T>
ComponentInfo component_info(const ComponentSpec& spec, double max_abs_error) {
  ComponentInfo info;
  info.asked = spec.asked;
  info.bound_abs = spec.bound_abs;
  info.max_abs_error = max_abs_error;
  info.fill = spec.fill;
  info.drops_covered = spec.drop_covered;
  info.integer_fill = spec.integer_fill;
  if constexpr (std::is_floating_point_v<T>) {
    const QuantizationGrid<T> grid = make_grid<T>(spec);
    info.center = static_cast<double>(grid.center);
    info.step = grid.is_usable() ? static_cast<double>(grid.step) : 0;
  }
  return info;
}

template <class T>
Result<Bytes> encode_typed(DType dtype, const FrameLayout& layout, std::span<const ComponentSpec> specs,
                           std::span<const BoxData> boxes, const EncodeOptions& options, FrameReport* report,
                           const Nesting* nesting, const RestoredSink* sink) {
  NEVE_ASSIGN(FrameDraft frame, draft_frame<T>(layout, specs, boxes, options, nesting, sink));
  FrameHeader header;
  header.dtype = dtype;
  header.layout = layout;
  header.has_arrangements = frame.has_arrangements;
  FrameReport made;
  made.components.resize(specs.size());
  made.selections.resize(options.explain ? specs.size() : 0);
  finish_sections<T>(frame, options, header, made);
  const bool is_nested = std::any_of(
      header.sections.begin(), header.sections.end(),
      [](const SectionEntry& entry) { return entry.arrangement.arrangement == Arrangement::nested; });
  if (is_nested) header.coarser_ratio = nesting->ratio;
  for (size_t c = 0; c < specs.size(); ++c) {
    made.components[c].bound_abs = specs[c].bound_abs;
    header.components.push_back(component_info<T>(specs[c], made.components[c].max_abs_error));
  }
  NEVE_ASSIGN(Bytes bytes, serialize_header(header));
  uint64_t body_bytes = 0;
  for (const SectionEntry& entry : header.sections) body_bytes += entry.bytes;
  bytes.reserve(bytes.size() + body_bytes);
  for (DraftedSection& section : frame.drafted) {
    bytes.insert(bytes.end(), section.bytes.begin(), section.bytes.end());
    section = {};
  }
  if (report != nullptr) *report = std::move(made);
  return bytes;
}

}  // namespace

uint64_t FrameLayout::held_elements() const {
  if (is_split) return split_count;
  uint64_t sum = 0;
  for (const FrameBox& box : boxes)
    sum += static_cast<uint64_t>(box.cells()) * static_cast<uint64_t>(components);
  return sum;
}

BoxData dense_box_data(const void* data, const FrameBox& box) {
  return {data, box.cells(), dense_strides(box.size), nullptr};
}

Result<std::vector<int64_t>> component_offsets(DType dtype, Span<const void* const> components) {
  return guarded("components", [&]() -> Result<std::vector<int64_t>> {
    const auto value_bytes = static_cast<int64_t>(dtype_bytes(dtype));
    if (value_bytes == 0) return out_of_range("dtype", static_cast<int>(dtype), 0, dtypes - 1);
    std::vector<int64_t> offsets;
    for (size_t c = 0; c < components.size(); ++c) {
      if (components[c] == nullptr) return usage_error(component_place(c) + ": its data is null");
      // Of other objects: as numbers.
      const auto bytes = static_cast<int64_t>(reinterpret_cast<uintptr_t>(components[c]) -
                                              reinterpret_cast<uintptr_t>(components[0]));
      if (bytes % value_bytes != 0) {
        return usage_error(
            fmt::format("{}: it begins {} bytes from the first one; a multiple of {} bytes, as values of {} "
                        "have, is needed",
                        component_place(c), bytes, value_bytes, dtype_name(dtype)));
      }
      offsets.push_back(bytes / value_bytes);
    }
    return offsets;
  });
}

static Result<Bytes> encode_guarded(DType dtype, const FrameLayout& layout,
                                    std::span<const ComponentSpec> specs, std::span<const BoxData> boxes,
                                    const EncodeOptions& options, FrameReport* report, const Nesting* nesting,
                                    const RestoredSink* sink) {
  const FloatEnvironment environment;
  return guarded("encoding a frame", [&]() -> Result<Bytes> {
    NEVE_TRY(check_simd_environment());
    NEVE_TRY(check_specs(dtype, layout, specs, boxes, options));
    if (nesting != nullptr) NEVE_TRY(check_nesting(dtype, layout, *nesting));
    return visit_value_type(dtype, [&]<class T>(std::type_identity<T>) {
      return encode_typed<T>(dtype, layout, specs, boxes, options, report, nesting, sink);
    });
  });
}

Result<std::vector<std::byte>> encode_frame(DType dtype, const FrameLayout& layout,
                                            Span<const ComponentSpec> specs, Span<const BoxData> boxes,
                                            const EncodeOptions& options, FrameReport* report,
                                            const Nesting* nesting) {
  return encode_guarded(dtype, layout, specs, boxes, options, report, nesting, nullptr);
}

Result<std::vector<std::byte>> encode_frame_telling(DType dtype, const FrameLayout& layout,
                                                    Span<const ComponentSpec> specs,
                                                    Span<const BoxData> boxes, const EncodeOptions& options,
                                                    FrameReport* report, const Nesting* nesting,
                                                    const RestoredSink& sink) {
  return encode_guarded(dtype, layout, specs, boxes, options, report, nesting, &sink);
}

}  // namespace neve
