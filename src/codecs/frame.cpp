// SPDX-License-Identifier: BSD-3-Clause
// Frames from values and back: sections are drafted in parallel, agree on codebooks, and are laid down in
// order.
#include "neve/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

#include "codecs/arrangement.hpp"
#include "codecs/section_codec.hpp"
#include "format/checksum.hpp"
#include "format/codec_choices.hpp"
#include "format/frame_header.hpp"
#include "format/tiling.hpp"
#include "format/value_types.hpp"
#include "kernels/targets.hpp"
#include "stages/lossless/byte_coder.hpp"
#include "stages/lossless/byte_pack.hpp"
#include "stages/quantize/quantizer.hpp"
#include "threads/float_environment.hpp"
#include "threads/parallel_for.hpp"

namespace neve {

namespace {

// Sections share codebooks when a book is a sizeable part of one: above this many elements in the frame each
// section is finished at once instead, so that symbols of a large array need not all be kept.
constexpr uint64_t shared_books_max_elements = uint64_t{1} << 22;

std::array<int64_t, max_frame_dims> dense_strides(const Extents& size) {
  return {1, size[0], size[0] * size[1], size[0] * size[1] * size[2]};
}

int64_t offset_of(const Extents& at, const std::array<int64_t, max_frame_dims>& stride) {
  return at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3];
}

// 1 for each cell of `rect` that lies in one of the box's covered rectangles; empty when none does.
std::vector<uint8_t> covered_cells(const FrameBox& box, const Rect& rect) {
  std::vector<uint8_t> mask;
  const auto stride = dense_strides(rect.size);
  for (const Rect& covered : box.covered) {
    Extents lo{};
    Extents hi{};
    bool meets = true;
    for (size_t d = 0; d < max_frame_dims; ++d) {
      lo[d] = std::max(covered.lo[d], rect.lo[d]) - rect.lo[d];
      hi[d] = std::min(covered.lo[d] + covered.size[d], rect.lo[d] + rect.size[d]) - rect.lo[d];
      meets = meets && lo[d] < hi[d];
    }
    if (!meets) continue;
    if (mask.empty()) mask.resize(static_cast<size_t>(rect.cells()));
    for (int64_t w = lo[3]; w < hi[3]; ++w) {
      for (int64_t z = lo[2]; z < hi[2]; ++z) {
        for (int64_t y = lo[1]; y < hi[1]; ++y) {
          std::memset(mask.data() + offset_of({lo[0], y, z, w}, stride), 1,
                      static_cast<size_t>(hi[0] - lo[0]));
        }
      }
    }
  }
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

Result<std::vector<uint64_t>> read_kept(ByteReader& in, uint64_t covered) {
  std::vector<uint64_t> kept;
  const uint64_t total = in.get_varint();
  if (in.failed() || total > covered) {
    return corrupt(fmt::format("section: keeps {} of {} covered cells", total, covered));
  }
  if (total == 0) return kept;
  constexpr uint64_t gap_max_bytes = 4;
  NEVE_ASSIGN(const Bytes gaps, read_packed(in, total * gap_max_bytes));
  ByteReader reader(gaps);
  uint64_t next = 0;
  for (uint64_t k = 0; k < total; ++k) {
    const uint64_t gap = reader.get_varint();
    if (reader.failed() || gap >= covered - next) {
      return corrupt(fmt::format("section: kept cell {} lies past its {} covered cells", k, covered));
    }
    kept.push_back(next + gap);
    next += gap + 1;
    if (next == covered && k + 1 < total) return corrupt("section: more kept cells than covered ones");
  }
  return kept;
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

template <class T>
TileSource<T> tile_source(const FrameLayout& layout, const Section& section, const ComponentSpec& spec,
                          std::span<const BoxData> boxes) {
  TileSource<T> out;
  uint64_t covered_before = 0;
  for (const TileRect& tile : section.rects()) {
    const FrameBox& box = layout.boxes[tile.box];
    const BoxData& data = boxes[tile.box];
    RectRows<const T*> rows;
    rows.first = static_cast<const T*>(data.data) + section.component * data.component_stride +
                 offset_of(tile.rect.lo, data.stride);
    rows.size = tile.rect.size;
    rows.stride = data.stride;
    if (spec.drop_covered) rows.left_out = covered_cells(box, tile.rect);
    if (!rows.left_out.empty()) {
      const uint8_t* keep =
          data.keep == nullptr ? nullptr : data.keep + static_cast<int64_t>(section.component) * box.cells();
      const auto stride = dense_strides(box.size);
      const Extents& n = tile.rect.size;
      size_t cell = 0;
      for (int64_t w = 0; w < n[3]; ++w) {
        for (int64_t z = 0; z < n[2]; ++z) {
          for (int64_t y = 0; y < n[1]; ++y) {
            const Extents at{tile.rect.lo[0], tile.rect.lo[1] + y, tile.rect.lo[2] + z, tile.rect.lo[3] + w};
            const uint8_t* keep_row = keep == nullptr ? nullptr : keep + offset_of(at, stride);
            for (int64_t x = 0; x < n[0]; ++x, ++cell) {
              if (rows.left_out[cell] == 0) continue;
              if (keep_row != nullptr && keep_row[x] != 0) {
                rows.left_out[cell] = 0;
                out.kept.push_back(covered_before);
              } else {
                ++out.left_out;
              }
              ++covered_before;
            }
          }
        }
      }
    }
    out.rects.push_back(std::move(rows));
  }
  return out;
}

// `nesting`: that of arrangement nested.
template <class T>
Result<DraftedSection> draft_one(const FrameLayout& layout, const Section& section,
                                 const SectionArrangement& arrangement, RegionCache& regions,
                                 const ComponentSpec& spec, std::span<const BoxData> boxes, Effort effort,
                                 const Nesting* nesting = nullptr) {
  TileSource<T> tile = tile_source<T>(layout, section, spec, boxes);
  ArrangedSource<T> source(regions.of(*section.tile, arrangement), std::move(tile.rects));
  if constexpr (std::is_floating_point_v<T>) {
    if (nesting != nullptr) {
      NEVE_TRY(
          source.nest({nesting->coarser, nesting->ratio, static_cast<int>(section.component), spec.fill}));
    }
  }
  DraftedSection out;
  out.arrangement = arrangement;
  out.draft = draft_section(source.section(), spec, effort);
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
                                      Effort effort) {
  constexpr SectionArrangement alone{Arrangement::linear, 0};
  NEVE_ASSIGN(DraftedSection given, draft_one<T>(layout, section, arrangement, regions, spec, boxes, effort));
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
  const auto can_nest = [](Codec codec) { return codec == Codec::interpolation || codec == Codec::context; };
  if (can_nest(report.codec)) return report.codec;
  return spec.codec == Codec::automatic && can_nest(report.rival) ? report.rival : Codec::automatic;
}

// As draft_arranged, with values of the coarser level where the component may use them and that is smaller.
template <class T>
Result<DraftedSection> draft_smaller(const FrameLayout& layout, const Section& section,
                                     const SectionArrangement& arrangement, RegionCache& regions,
                                     const ComponentSpec& spec, std::span<const BoxData> boxes, Effort effort,
                                     const Nesting* nesting) {
  NEVE_ASSIGN(DraftedSection plain,
              draft_arranged<T>(layout, section, arrangement, regions, spec, boxes, effort));
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
Bytes take_finished(SectionDraft& draft, SharedBooks* shared) {
  if (draft.symbols.empty() && draft.after.empty()) return std::move(draft.before);
  return finish_section(draft, shared);
}

void merge_report(const ComponentReport& part, ComponentReport& sum, uint64_t& most_cells) {
  sum.stored_bytes += part.stored_bytes;
  sum.cells += part.cells;
  sum.left_out_cells += part.left_out_cells;
  sum.special_cells += part.special_cells;
  sum.exact_cells += part.exact_cells;
  sum.max_abs_error = std::max(sum.max_abs_error, part.max_abs_error);
  sum.rival_bytes += part.rival == Codec::automatic ? part.stored_bytes : part.rival_bytes;
  if (part.cells > most_cells) {
    most_cells = part.cells;
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
      return usage_error(
          fmt::format("an integer fill value for values of {}, which take a number", dtype_name(dtype)));
    }
    return {};
  }
  NEVE_TRY(check_integer_choices(
      dtype, spec.bound_abs == 0 ? spec.asked : Bound{BoundMode::abs, spec.bound_abs}, spec.codec));
  if (spec.fill) {
    return usage_error(fmt::format("a floating-point fill value {} for values of {}, which take an integer",
                                   *spec.fill, dtype_name(dtype)));
  }
  if (spec.integer_fill && !holds_integer(dtype, *spec.integer_fill)) {
    return usage_error(fmt::format("fill value {} does not fit into {}",
                                   integer_text(DType::i64, *spec.integer_fill), dtype_name(dtype)));
  }
  return {};
}

Status check_specs(DType dtype, const FrameLayout& layout, std::span<const ComponentSpec> specs,
                   std::span<const BoxData> boxes, const EncodeOptions& options) {
  NEVE_TRY(check_layout(layout));
  if (static_cast<int>(dtype) >= dtypes) {
    return usage_error(fmt::format("frame: dtype {} unknown", static_cast<int>(dtype)));
  }
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
    if (specs[c].codec == Codec::constant) {
      return usage_error(fmt::format("component {}: codec constant cannot be asked for", c));
    }
    if (const Status s = check_spec_of_type(dtype, specs[c]); !s.ok()) {
      return s.in(fmt::format("component {}", c));
    }
    if (const Status s = check_tuning(specs[c].tuning); !s.ok()) {
      return s.in(fmt::format("component {}", c));
    }
    if (const Status s = check_method_is_there(specs[c].tuning.method); !s.ok()) {
      return s.in(fmt::format("component {}", c));
    }
  }
  for (size_t b = 0; b < boxes.size(); ++b) {
    if (boxes[b].data == nullptr || boxes[b].stride[0] != 1) {
      return usage_error(fmt::format("box {}: data null or x stride {} not 1", b, boxes[b].stride[0]));
    }
  }
  if (options.threads < 1)
    return usage_error(fmt::format("threads: {}, must be at least 1", options.threads));
  return {};
}

Status check_nesting(DType dtype, const FrameLayout& layout, const Nesting& nesting) {
  if (is_integer(dtype)) {
    return usage_error(
        fmt::format("frame: values of {} are not coded with a coarser level", dtype_name(dtype)));
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

template <class T>
Result<Bytes> encode_typed(DType dtype, const FrameLayout& layout, std::span<const ComponentSpec> specs,
                           std::span<const BoxData> boxes, const EncodeOptions& options, FrameReport* report,
                           const Nesting* nesting) {
  std::vector<SectionArrangement> arrangements;
  bool has_arrangements = false;
  for (size_t c = 0; c < specs.size(); ++c) {
    arrangements.push_back(choose_arrangement(layout, specs[c]));
    has_arrangements = has_arrangements || needs_arrangements(specs[c], arrangements[c], options);
  }
  const std::vector<Section> sections =
      make_sections(layout, has_arrangements ? TileRule::large : TileRule::small);
  RegionCache regions(layout);
  std::vector<DraftedSection> drafted(sections.size());
  const bool share = layout.held_elements() <= shared_books_max_elements && sections.size() > 1;
  std::vector<Status> statuses(sections.size());
  parallel_for(sections.size(), options.threads, [&](size_t s) {
    const uint32_t c = sections[s].component;
    Result<DraftedSection> draft =
        draft_smaller<T>(layout, sections[s], arrangements[c], regions, specs[c], boxes, options.effort,
                         has_arrangements ? nesting : nullptr);
    statuses[s] = draft.status();
    if (!draft.ok()) return;
    drafted[s] = std::move(*draft);
    if (share) return;
    drafted[s].bytes = take_finished(drafted[s].draft, nullptr);
    recycle_symbols(std::move(drafted[s].draft.symbols));
    drafted[s].draft.before = {};
    drafted[s].draft.after = {};
  });
  for (Status& status : statuses) NEVE_TRY(std::move(status));

  FrameHeader header;
  header.dtype = dtype;
  header.layout = layout;
  header.has_arrangements = has_arrangements;
  SharedBooks books;
  std::vector<ComponentReport> reports(specs.size());
  std::vector<SelectionReport> selections(options.explain ? specs.size() : 0);
  std::vector<uint64_t> most_cells(specs.size(), 0);
  uint64_t body_bytes = 0;
  for (size_t s = 0; s < sections.size(); ++s) {
    if (share) {
      drafted[s].bytes = take_finished(drafted[s].draft, &books);
      drafted[s].draft.symbols = {};
    }
    Bytes& bytes = drafted[s].bytes;
    bytes.insert(bytes.begin(), drafted[s].kept.begin(), drafted[s].kept.end());
    const auto component = sections[s].component;
    header.sections.push_back(
        {drafted[s].draft.codec, drafted[s].arrangement, bytes.size(), checksum(bytes)});
    if (drafted[s].arrangement.arrangement == Arrangement::nested) header.coarser_ratio = nesting->ratio;
    drafted[s].draft.report.stored_bytes = bytes.size();
    merge_report(drafted[s].draft.report, reports[component], most_cells[component]);
    if (options.explain) {
      const SelectionTrace& trace = drafted[s].draft.selection;
      selections[component].add(trace.candidates, drafted[s].draft.report.cells * sizeof(T), trace.times);
    }
    body_bytes += bytes.size();
  }
  header.books = std::move(books.books);
  for (size_t c = 0; c < specs.size(); ++c) {
    ComponentInfo info;
    info.asked = specs[c].asked;
    info.bound_abs = specs[c].bound_abs;
    info.max_abs_error = reports[c].max_abs_error;
    info.fill = specs[c].fill;
    info.drops_covered = specs[c].drop_covered;
    info.integer_fill = specs[c].integer_fill;
    if constexpr (std::is_floating_point_v<T>) {
      const QuantumGrid<T> grid = make_grid<T>(specs[c]);
      info.center = static_cast<double>(grid.center);
      info.step = grid.is_usable() ? static_cast<double>(grid.step) : 0;
    }
    header.components.push_back(info);
  }
  NEVE_ASSIGN(Bytes frame, serialize_header(header));
  frame.reserve(frame.size() + body_bytes);
  for (DraftedSection& section : drafted) {
    frame.insert(frame.end(), section.bytes.begin(), section.bytes.end());
    section = {};
  }
  if (report != nullptr) {
    report->components = std::move(reports);
    report->selections = std::move(selections);
  }
  return frame;
}

}  // namespace

uint64_t FrameLayout::held_elements() const {
  if (is_split) return stream_count;
  uint64_t sum = 0;
  for (const FrameBox& box : boxes)
    sum += static_cast<uint64_t>(box.cells()) * static_cast<uint64_t>(components);
  return sum;
}

BoxData dense_box_data(const void* data, const FrameBox& box) {
  return {data, box.cells(), dense_strides(box.size), nullptr};
}

Result<std::vector<std::byte>> encode_frame(DType dtype, const FrameLayout& layout,
                                            std::span<const ComponentSpec> specs,
                                            std::span<const BoxData> boxes, const EncodeOptions& options,
                                            FrameReport* report, const Nesting* nesting) {
  const FloatEnvironment environment;
  NEVE_TRY(check_simd_environment());
  NEVE_TRY(check_specs(dtype, layout, specs, boxes, options));
  if (nesting != nullptr) NEVE_TRY(check_nesting(dtype, layout, *nesting));
  return visit_value_type(dtype, [&]<class T>(std::type_identity<T>) {
    return encode_typed<T>(dtype, layout, specs, boxes, options, report, nesting);
  });
}

// --- decoding -------------------------------------------------------------------------------------------

namespace {

using LeftOut = std::vector<std::vector<uint8_t>>;  // by rectangle of a section; empty: none

// Those of the sections asked for last. A reader asks box after box, of a level and of the finer one in
// turns, and a section holds many. A megabyte or two each, for whichever frame: readers hold hundreds of
// frames.
class RecentLeftOut {
 public:
  using Shared = std::shared_ptr<const LeftOut>;

  Shared find(uint64_t frame, size_t section) const {
    for (const Entry& entry : entries_) {
      if (entry.masks && entry.frame == frame && entry.section == section) return entry.masks;
    }
    return nullptr;
  }
  void insert(uint64_t frame, size_t section, Shared masks) {
    entries_[next_] = {frame, section, std::move(masks)};
    next_ = (next_ + 1) % entries_.size();
  }

 private:
  struct Entry {
    uint64_t frame = 0;
    size_t section = 0;
    Shared masks;
  };
  std::array<Entry, 8> entries_;
  size_t next_ = 0;
};

// Frames are told apart by a number that no other has had: one may stand where another stood.
uint64_t next_frame_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

struct Frame::State {
  const uint64_t number = next_frame_number();
  ByteSpan bytes;
  FrameHeader header;
  SharedBooks books;
  std::vector<Section> sections;
  std::vector<uint64_t> section_begin;
  std::vector<SectionInfo> infos;
  std::vector<uint64_t> box_begin;  // first element of each box in the frame

  // A section's bytes, checked.
  Result<ByteSpan> section_bytes(size_t s) const {
    const ByteSpan part = bytes.subspan(section_begin[s], header.sections[s].bytes);
    if (!checksum_matches(part, header.sections[s].checksum)) {
      return corrupt(fmt::format("frame: section {} (component {}) does not match its checksum", s,
                                 sections[s].component));
    }
    return part;
  }

  // Reads what comes ahead of the codec's bytes and works out which cells are left out.
  Result<LeftOut> left_out_of(const Section& section, ByteReader& in) const {
    LeftOut masks(section.rects().size());
    if (!header.components[section.component].drops_covered) return masks;
    uint64_t covered = 0;
    for (size_t r = 0; r < section.rects().size(); ++r) {
      masks[r] = covered_cells(header.layout.boxes[section.rects()[r].box], section.rects()[r].rect);
      covered += static_cast<uint64_t>(std::count(masks[r].begin(), masks[r].end(), uint8_t{1}));
    }
    NEVE_ASSIGN(const std::vector<uint64_t> kept, read_kept(in, covered));
    uint64_t number = 0;
    auto next = kept.begin();
    for (auto& mask : masks) {
      for (auto& cell : mask) {
        if (next == kept.end()) break;
        if (cell != 0 && number++ == *next) {
          cell = 0;
          ++next;
        }
      }
    }
    return masks;
  }

  Result<RecentLeftOut::Shared> left_out_of_section(size_t s) const {
    thread_local RecentLeftOut recent;
    if (RecentLeftOut::Shared found = recent.find(number, s)) return found;
    NEVE_ASSIGN(const ByteSpan part, section_bytes(s));
    ByteReader in(part);
    NEVE_ASSIGN(LeftOut masks, left_out_of(sections[s], in));
    auto shared = std::make_shared<const LeftOut>(std::move(masks));
    recent.insert(number, s, shared);
    return RecentLeftOut::Shared(shared);
  }

  // Decodes section s; `place(rect index)` says where each rectangle's first cell goes, null: nowhere.
  template <class T, class Place>
  Status decode_section_to(size_t s, RegionCache& regions, const CoarserLevel* coarser,
                           const Place& place) const {
    const Section& section = sections[s];
    const bool is_nested = header.sections[s].arrangement.arrangement == Arrangement::nested;
    if (is_nested && coarser == nullptr) {
      return usage_error(
          fmt::format("frame section {} (component {}) was written with cross-level prediction and needs the "
                      "next coarser level: neve convert and Neve's C++ reader decode it, the HDF5 plugin and "
                      "other readers of single frames cannot",
                      s, section.component));
    }
    NEVE_ASSIGN(const ByteSpan part, section_bytes(s));
    ByteReader in(part);
    NEVE_ASSIGN(auto masks, left_out_of(section, in));
    std::vector<RectRows<T*>> rects;
    for (size_t r = 0; r < section.rects().size(); ++r) {
      RectRows<T*> rows;
      rows.size = section.rects()[r].rect.size;
      rows.stride = dense_strides(header.layout.boxes[section.rects()[r].box].size);
      rows.first = place(section.rects()[r]);
      rows.left_out = std::move(masks[r]);
      rects.push_back(std::move(rows));
    }
    const SectionEntry& entry = header.sections[s];
    ArrangedTarget<T> target(regions.of(*section.tile, entry.arrangement), std::move(rects),
                             !decodes_without_memory(entry.codec));
    if constexpr (std::is_floating_point_v<T>) {
      if (is_nested) {
        NEVE_TRY(target.nest({coarser, *header.coarser_ratio, static_cast<int>(section.component),
                              header.components[section.component].fill}));
      }
    }
    const Status status = decode_section(part.subspan(in.position()), entry.codec,
                                         header.components[section.component], books, target.section());
    if (status.ok()) target.scatter();
    return status.in(fmt::format("frame section {} (component {})", s, section.component));
  }

  template <class T>
  Status decode_all(T* out, int threads, const CoarserLevel* coarser) const {
    const FrameLayout& layout = header.layout;
    const uint64_t held = layout.held_elements();
    std::fill(out + held, out + layout.element_count, T{0});
    RegionCache regions(layout);
    std::vector<Status> statuses(sections.size());
    parallel_for(sections.size(), threads, [&](size_t s) {
      statuses[s] = decode_section_to<T>(s, regions, coarser, [&](const TileRect& tile) {
        const FrameBox& box = layout.boxes[tile.box];
        const int64_t in_box =
            sections[s].component * box.cells() + offset_of(tile.rect.lo, dense_strides(box.size));
        return out + static_cast<int64_t>(box_begin[tile.box]) + in_box -
               static_cast<int64_t>(layout.stream_begin);
      });
    });
    for (Status& status : statuses) {
      if (!status.ok()) return std::move(status);
    }
    return {};
  }

  template <class T>
  Status decode_one(int box, int component, T* out, const CoarserLevel* coarser) const {
    RegionCache regions(header.layout);
    for (size_t s = 0; s < sections.size(); ++s) {
      if (!holds(sections[s], box, component)) continue;
      NEVE_TRY(decode_section_to<T>(s, regions, coarser, [&](const TileRect& tile) -> T* {
        if (tile.box != static_cast<uint32_t>(box)) return nullptr;
        return out + offset_of(tile.rect.lo, dense_strides(header.layout.boxes[tile.box].size));
      }));
    }
    return {};
  }

  // The elements [begin, end) of a box's component-after-component order that belong to the component and
  // that the frame holds.
  std::pair<uint64_t, uint64_t> held_of_component(const FrameBox& box, int component) const {
    const auto cells = static_cast<uint64_t>(box.cells());
    const uint64_t begin = static_cast<uint64_t>(component) * cells;
    const FrameLayout& layout = header.layout;
    if (!layout.is_split) return {begin, begin + cells};
    const uint64_t from = std::max(begin, layout.stream_begin);
    return {from, std::max(from, std::min(begin + cells, layout.stream_begin + layout.stream_count))};
  }

  template <class T>
  Status decode_component(int component, T* out, int threads, const CoarserLevel* coarser) const {
    std::vector<int64_t> first_cell;  // place in `out` of each box's first cell; negative where it is cut off
    int64_t at = 0;
    for (const FrameBox& box : header.layout.boxes) {
      const auto [begin, end] = held_of_component(box, component);
      first_cell.push_back(at - (static_cast<int64_t>(begin) - component * box.cells()));
      at += static_cast<int64_t>(end - begin);
    }
    std::vector<size_t> wanted;
    for (size_t s = 0; s < sections.size(); ++s) {
      if (sections[s].component == static_cast<uint32_t>(component)) wanted.push_back(s);
    }
    RegionCache regions(header.layout);
    std::vector<Status> statuses(wanted.size());
    parallel_for(wanted.size(), threads, [&](size_t i) {
      statuses[i] = decode_section_to<T>(wanted[i], regions, coarser, [&](const TileRect& tile) {
        const FrameBox& box = header.layout.boxes[tile.box];
        return out + (first_cell[tile.box] + offset_of(tile.rect.lo, dense_strides(box.size)));
      });
    });
    for (Status& status : statuses) {
      if (!status.ok()) return std::move(status);
    }
    return {};
  }

  static bool holds(const Section& section, int box, int component) {
    return section.component == static_cast<uint32_t>(component) &&
           std::any_of(section.rects().begin(), section.rects().end(),
                       [box](const TileRect& tile) { return tile.box == static_cast<uint32_t>(box); });
  }

  Status check_box(int box, int component) const {
    if (box < 0 || static_cast<size_t>(box) >= header.layout.boxes.size() || component < 0 ||
        component >= header.layout.components) {
      return usage_error(fmt::format("frame: box {} of {}, component {} of {}", box,
                                     header.layout.boxes.size(), component, header.layout.components));
    }
    return {};
  }
};

Frame::Frame(std::unique_ptr<State> state) : state_(std::move(state)) {}
Frame::Frame(Frame&&) noexcept = default;
Frame& Frame::operator=(Frame&&) noexcept = default;
Frame::~Frame() = default;

Result<Frame> Frame::parse(std::span<const std::byte> bytes) {
  NEVE_TRY(check_simd_environment());
  auto state = std::make_unique<State>();
  NEVE_ASSIGN(state->header, parse_header(bytes));
  const FrameHeader& header = state->header;
  state->bytes = bytes.first(header.frame_bytes);
  state->books.books = header.books;
  state->sections = make_sections(header.layout, header.has_arrangements ? TileRule::large : TileRule::small);
  if (state->sections.size() != header.sections.size()) {
    return corrupt(fmt::format("frame header: {} sections, its boxes make {}", header.sections.size(),
                               state->sections.size()));
  }
  uint64_t at = header.header_bytes;
  for (size_t s = 0; s < header.sections.size(); ++s) {
    state->section_begin.push_back(at);
    at += header.sections[s].bytes;
    const Section& section = state->sections[s];
    state->infos.push_back({static_cast<int>(section.component), static_cast<uint64_t>(section.cells()),
                            header.sections[s].bytes, header.sections[s].codec,
                            header.sections[s].arrangement.arrangement,
                            header.sections[s].arrangement.unit_cells});
  }
  uint64_t element = 0;
  for (const FrameBox& box : header.layout.boxes) {
    state->box_begin.push_back(element);
    element += static_cast<uint64_t>(box.cells()) * static_cast<uint64_t>(header.layout.components);
  }
  return Frame(std::move(state));
}

DType Frame::dtype() const { return state_->header.dtype; }
const FrameLayout& Frame::layout() const { return state_->header.layout; }
const std::vector<ComponentInfo>& Frame::components() const { return state_->header.components; }
const std::vector<SectionInfo>& Frame::sections() const { return state_->infos; }
uint64_t Frame::header_bytes() const { return state_->header.header_bytes; }

bool Frame::needs_coarser_level(int component) const {
  return std::any_of(sections().begin(), sections().end(), [component](const SectionInfo& section) {
    return section.component == component && section.arrangement == Arrangement::nested;
  });
}

Status Frame::decode(std::byte* out, uint64_t out_bytes, int threads, const CoarserLevel* coarser) const {
  const uint64_t needed = layout().element_count * dtype_bytes(dtype());
  if (out_bytes != needed) {
    return usage_error(fmt::format("frame: output of {} bytes, must be {}", out_bytes, needed));
  }
  const FloatEnvironment environment;
  return visit_value_type(dtype(), [&]<class T>(std::type_identity<T>) {
    return state_->decode_all(reinterpret_cast<T*>(out), threads, coarser);
  });
}

Status Frame::decode_box(int box, int component, std::byte* out, uint64_t out_bytes,
                         const CoarserLevel* coarser) const {
  NEVE_TRY(state_->check_box(box, component));
  const uint64_t needed =
      static_cast<uint64_t>(layout().boxes[static_cast<size_t>(box)].cells()) * dtype_bytes(dtype());
  if (out_bytes != needed) {
    return usage_error(
        fmt::format("frame: output of {} bytes for box {}, must be {}", out_bytes, box, needed));
  }
  const FloatEnvironment environment;
  return visit_value_type(dtype(), [&]<class T>(std::type_identity<T>) {
    return state_->decode_one(box, component, reinterpret_cast<T*>(out), coarser);
  });
}

uint64_t Frame::component_values(int component) const {
  uint64_t values = 0;
  if (component < 0 || component >= layout().components) return values;
  for (const FrameBox& box : layout().boxes) {
    const auto [begin, end] = state_->held_of_component(box, component);
    values += end - begin;
  }
  return values;
}

Status Frame::decode_component(int component, std::byte* out, uint64_t out_bytes, int threads,
                               const CoarserLevel* coarser) const {
  if (component < 0 || component >= layout().components) {
    return usage_error(fmt::format("frame: component {} of {}", component, layout().components));
  }
  const uint64_t needed = component_values(component) * dtype_bytes(dtype());
  if (out_bytes != needed) {
    return usage_error(
        fmt::format("frame: output of {} bytes for component {}, must be {}", out_bytes, component, needed));
  }
  const FloatEnvironment environment;
  return visit_value_type(dtype(), [&]<class T>(std::type_identity<T>) {
    return state_->decode_component(component, reinterpret_cast<T*>(out), threads, coarser);
  });
}

Result<std::vector<uint8_t>> Frame::left_out(int box, int component) const {
  NEVE_TRY(state_->check_box(box, component));
  std::vector<uint8_t> cells;
  if (!components()[static_cast<size_t>(component)].drops_covered) return cells;
  const FrameBox& whole = layout().boxes[static_cast<size_t>(box)];
  const auto stride = dense_strides(whole.size);
  for (size_t s = 0; s < state_->sections.size(); ++s) {
    const Section& section = state_->sections[s];
    if (!State::holds(section, box, component)) continue;
    NEVE_ASSIGN(const RecentLeftOut::Shared shared, state_->left_out_of_section(s));
    const LeftOut& masks = *shared;
    for (size_t r = 0; r < section.rects().size(); ++r) {
      if (section.rects()[r].box != static_cast<uint32_t>(box) || masks[r].empty()) continue;
      if (cells.empty()) cells.resize(static_cast<size_t>(whole.cells()));
      const Rect& rect = section.rects()[r].rect;
      const auto width = static_cast<size_t>(rect.size[0]);
      const uint8_t* from = masks[r].data();
      for (int64_t w = 0; w < rect.size[3]; ++w) {
        for (int64_t z = 0; z < rect.size[2]; ++z) {
          for (int64_t y = 0; y < rect.size[1]; ++y, from += width) {
            const Extents at{rect.lo[0], rect.lo[1] + y, rect.lo[2] + z, rect.lo[3] + w};
            std::memcpy(cells.data() + offset_of(at, stride), from, width);
          }
        }
      }
    }
  }
  return cells;
}

}  // namespace neve
