// SPDX-License-Identifier: BSD-3-Clause
// Values from frames: all of one, a component or a box. Boxes stay packed; a tile's are listed while its
// sections are decoded.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "core/bits/checksum.hpp"
#include "core/bits/value_types.hpp"
#include "core/catalog/codecs.hpp"
#include "core/codecs/arrangement.hpp"
#include "core/codecs/covered_cells.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/codecs/tile_cache.hpp"
#include "core/format/frame_header.hpp"
#include "core/kernels/targets.hpp"
#include "core/sections/tiling.hpp"
#include "core/sections/visit_cells.hpp"
#include "core/stages/lossless/byte_pack.hpp"
#include "core/status/guarded.hpp"
#include "core/threads/float_environment.hpp"
#include "core/threads/parallel_for.hpp"

namespace neve {

namespace {

using Marks = std::vector<uint8_t>;  // of a tile's cells, 1: left out; empty: none

// Holds the covered cells that are kept: their marks become 0. `covered`: how many are marked.
Status read_kept(ByteReader& in, uint64_t covered, Marks& marks) {
  const uint64_t total = in.get_varint();
  if (in.failed() || total > covered) {
    return corrupt(fmt::format("section: keeps {} of {} covered cells", total, covered));
  }
  if (total == 0) return {};
  constexpr uint64_t gap_max_bytes = 4;
  NEVE_ASSIGN(const Bytes gaps, read_packed(in, total * gap_max_bytes));
  ByteReader reader(gaps);
  uint64_t left = covered;
  auto cell = marks.begin();
  for (uint64_t k = 0; k < total; ++k) {
    const uint64_t gap = reader.get_varint();
    if (reader.failed() || gap >= left) {
      return corrupt(fmt::format("section: kept cell {} lies past its {} covered cells", k, covered));
    }
    left -= gap + 1;
    for (uint64_t passed = 0;; ++cell) {
      if (*cell != 0 && passed++ == gap) break;
    }
    *cell++ = 0;
  }
  return {};
}

// Those of the sections asked for last. A reader asks box after box, of a level and of the finer one in
// turns, and a section holds many. Two megabytes each at most, for whichever frame: readers hold hundreds of
// frames.
class RecentMarks {
 public:
  using Shared = std::shared_ptr<const Marks>;

  Shared find(uint64_t frame, size_t section) const {
    for (const Entry& entry : entries_) {
      if (entry.marks && entry.frame == frame && entry.section == section) return entry.marks;
    }
    return nullptr;
  }
  void insert(uint64_t frame, size_t section, Shared marks) {
    entries_[next_] = {frame, section, std::move(marks)};
    next_ = (next_ + 1) % entries_.size();
  }

 private:
  struct Entry {
    uint64_t frame = 0;
    size_t section = 0;
    Shared marks;
  };
  std::array<Entry, 8> entries_;
  size_t next_ = 0;
};

// Frames are told apart by a number that no other has had: one may stand where another stood.
uint64_t next_frame_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

SectionInfo section_info(const ParsedHeader& header, size_t number) {
  const TileSpans::Place place = header.tiles.section(number);
  const SectionEntry& entry = header.sections[number];
  return {static_cast<int>(place.component),
          static_cast<uint64_t>(header.tiles.tile(place.tile).cells),
          entry.bytes,
          entry.codec,
          entry.arrangement.arrangement,
          entry.arrangement.unit_cells};
}

std::vector<SectionInfo> section_infos(const ParsedHeader& header) {
  std::vector<SectionInfo> infos;
  infos.reserve(header.sections.size());
  for (size_t s = 0; s < header.sections.size(); ++s) infos.push_back(section_info(header, s));
  return infos;
}

Status first_error(std::vector<Status>& statuses) {
  for (Status& status : statuses) {
    if (!status.ok()) return std::move(status);
  }
  return {};
}

}  // namespace

struct Frame::State {
  const uint64_t number = next_frame_number();
  ByteSpan bytes;
  ParsedHeader header;
  std::vector<uint64_t> section_begin;
  std::vector<SectionInfo> infos;

  const FrameShape& shape() const { return header.shape; }

  // A section's bytes, checked.
  Result<ByteSpan> section_bytes(size_t s) const {
    const ByteSpan part = bytes.subspan(section_begin[s], header.sections[s].bytes);
    if (!checksum_matches(part, header.sections[s].checksum)) {
      return corrupt(
          fmt::format("frame: section {} (component {}) does not match its checksum", s, infos[s].component));
    }
    return part;
  }

  // Reads what comes ahead of the codec's bytes and works out which cells are left out.
  Result<Marks> left_out_of(uint32_t component, const PreparedTile& tile, TileCache& tiles,
                            ByteReader& in) const {
    if (!header.components[component].drops_covered) return Marks();
    Marks marks = tiles.covered(tile, component);
    const uint64_t covered = static_cast<uint64_t>(count_marked(marks));
    NEVE_TRY(read_kept(in, covered, marks));
    return marks;
  }

  // Those of a section, kept for a while. The tile's lists are made only where they are not.
  Result<RecentMarks::Shared> left_out_of_section(size_t s, TileCache& tiles) const {
    thread_local RecentMarks recent;
    if (RecentMarks::Shared found = recent.find(number, s)) return found;
    NEVE_ASSIGN(const ByteSpan part, section_bytes(s));
    ByteReader in(part);
    const std::shared_ptr<PreparedTile> tile = tiles.of(header.tiles.section(s).tile);
    NEVE_ASSIGN(Marks marks, left_out_of(static_cast<uint32_t>(infos[s].component), *tile, tiles, in));
    auto shared = std::make_shared<const Marks>(std::move(marks));
    recent.insert(number, s, shared);
    return RecentMarks::Shared(shared);
  }

  // Where the rectangles of a tile are in memory, and what they leave out; `place(rectangle, first element of
  // its box)` says where each one's first cell goes, null: nowhere.
  template <class T, class Place>
  static std::vector<RectRows<T*>> rows_of(const PreparedTile& prepared, const Marks& marks,
                                           const Place& place) {
    std::vector<RectRows<T*>> rects;
    const std::vector<TileRect>& from = prepared.tile.rects;
    rects.reserve(from.size());
    size_t cell = 0;
    for (size_t r = 0; r < from.size(); ++r) {
      RectRows<T*> rows;
      rows.size = from[r].rect.size;
      rows.stride = dense_strides(from[r].box_size);
      rows.first = place(from[r], prepared.first_element[r]);
      const auto cells = static_cast<size_t>(from[r].rect.cells());
      if (!marks.empty() && std::memchr(marks.data() + cell, 1, cells) != nullptr) {
        rows.left_out.assign(marks.begin() + static_cast<ptrdiff_t>(cell),
                             marks.begin() + static_cast<ptrdiff_t>(cell + cells));
      }
      cell += cells;
      rects.push_back(std::move(rows));
    }
    return rects;
  }

  template <class T, class Place>
  Status decode_section_to(size_t s, TileCache& tiles, const CoarserLevel* coarser,
                           const Place& place) const {
    const auto component = static_cast<uint32_t>(infos[s].component);
    const SectionEntry& entry = header.sections[s];
    const bool is_nested = entry.arrangement.arrangement == Arrangement::nested;
    if (is_nested && coarser == nullptr) {
      return corrupt(
          fmt::format("frame section {} (component {}) was written with cross-level prediction and needs the "
                      "next coarser level: neve convert and Neve's C++ reader decode it, the HDF5 plugin and "
                      "other readers of single frames cannot",
                      s, component));
    }
    NEVE_ASSIGN(const ByteSpan part, section_bytes(s));
    ByteReader in(part);
    const std::shared_ptr<PreparedTile> prepared = tiles.of(header.tiles.section(s).tile);
    std::vector<RectRows<T*>> rects;
    {
      NEVE_ASSIGN(const Marks marks, left_out_of(component, *prepared, tiles, in));
      rects = rows_of<T>(*prepared, marks, place);
    }
    const bool needs_memory = !traits_of(entry.codec).decodes_alone;
    const bool is_as_it_lies = entry.arrangement == SectionArrangement{};
    ArrangedTarget<T> target =
        is_as_it_lies ? ArrangedTarget<T>(std::move(rects), needs_memory)
                      : ArrangedTarget<T>(prepared->regions.of(prepared->tile, entry.arrangement),
                                          std::move(rects), needs_memory);
    if (is_nested) {
      NEVE_TRY(target.nest(
          {coarser, *header.coarser_ratio, static_cast<int>(component), header.components[component].fill}));
    }
    const Status status = decode_section(part.subspan(in.position()), entry.codec,
                                         header.components[component], header.codebooks, target.section());
    if (status.ok()) target.scatter();
    return status.in(fmt::format("frame section {} (component {})", s, component));
  }

  // Sections in the order that lets those of a tile share its lists: tile by tile.
  size_t nth_section(size_t i) const {
    if (shape().is_split) return i;
    const auto components = static_cast<size_t>(shape().components);
    return i % components * header.tiles.size() + i / components;
  }

  template <class T>
  Status decode_all(T* out, int threads, const CoarserLevel* coarser) const {
    std::fill(out + header.held_elements, out + shape().element_count, T{0});
    TileCache tiles(header, static_cast<size_t>(threads));
    std::vector<Status> statuses(infos.size());
    parallel_for(infos.size(), threads, [&](size_t i) {
      const size_t s = nth_section(i);
      statuses[s] =
          decode_section_to<T>(s, tiles, coarser, [&](const TileRect& tile, uint64_t first_element) {
            const int64_t cells = Rect{{}, tile.box_size}.cells();
            const int64_t in_box =
                infos[s].component * cells + offset_of(tile.rect.lo, dense_strides(tile.box_size));
            return out + static_cast<int64_t>(first_element) + in_box -
                   static_cast<int64_t>(shape().split_begin);
          });
    });
    return first_error(statuses);
  }

  // Sections of that component that hold cells of the box.
  std::vector<size_t> sections_of(uint64_t box, int component) const {
    std::vector<size_t> found;
    if (shape().is_split) {
      for (size_t s = 0; s < infos.size(); ++s) {
        if (infos[s].component == component) found.push_back(s);
      }
      return found;
    }
    for (size_t t = header.tiles.first_of_box(box); t < header.tiles.size(); ++t) {
      if (!header.tiles.tile(t).holds(box)) break;
      found.push_back(static_cast<size_t>(component) * header.tiles.size() + t);
    }
    return found;
  }

  template <class T>
  Status decode_one(uint64_t box, int component, T* out, const CoarserLevel* coarser) const {
    TileCache tiles(header, 1);
    for (const size_t s : sections_of(box, component)) {
      NEVE_TRY(decode_section_to<T>(s, tiles, coarser, [&](const TileRect& tile, uint64_t) -> T* {
        if (tile.box != box) return nullptr;
        return out + offset_of(tile.rect.lo, dense_strides(tile.box_size));
      }));
    }
    return {};
  }

  // Where the values of a component that the frame holds begin in its one box, when it is split, and how many
  // there are.
  std::pair<uint64_t, uint64_t> held_of_component(int component) const {
    const auto components = static_cast<uint64_t>(shape().components);
    if (!shape().is_split) return {0, header.held_elements / components};
    const auto cells = static_cast<uint64_t>(header.box_table.at(0).cells());
    const uint64_t begin = static_cast<uint64_t>(component) * cells;
    const uint64_t from = std::max(begin, shape().split_begin);
    const uint64_t to = std::min(begin + cells, shape().split_begin + shape().split_count);
    return {from - begin, to > from ? to - from : 0};
  }

  template <class T>
  Status decode_component(int component, T* out, int threads, const CoarserLevel* coarser) const {
    const auto components = static_cast<uint64_t>(shape().components);
    const uint64_t first_cell = held_of_component(component).first;
    std::vector<size_t> wanted;
    for (size_t s = 0; s < infos.size(); ++s) {
      if (infos[s].component == component) wanted.push_back(s);
    }
    TileCache tiles(header, static_cast<size_t>(threads));
    std::vector<Status> statuses(wanted.size());
    parallel_for(wanted.size(), threads, [&](size_t i) {
      statuses[i] =
          decode_section_to<T>(wanted[i], tiles, coarser, [&](const TileRect& tile, uint64_t first_element) {
            return out + static_cast<int64_t>(first_element / components) +
                   offset_of(tile.rect.lo, dense_strides(tile.box_size)) - static_cast<int64_t>(first_cell);
          });
    });
    return first_error(statuses);
  }

  // Marks of the box's cells.
  Result<std::vector<uint8_t>> left_out(uint64_t box, int component) const {
    std::vector<uint8_t> cells;
    if (!header.components[static_cast<size_t>(component)].drops_covered) return cells;
    TileCache tiles(header, 1);
    for (const size_t s : sections_of(box, component)) {
      const size_t tile = header.tiles.section(s).tile;
      NEVE_ASSIGN(const RecentMarks::Shared marks, left_out_of_section(s, tiles));
      if (marks->empty()) continue;
      if (header.tiles.tile(tile).pieces.empty()) {
        const auto begin = marks->begin() + static_cast<ptrdiff_t>(cells_before(box, tile));
        cells.assign(begin, begin + static_cast<ptrdiff_t>(header.box_table.at(box).cells()));
      } else {
        copy_pieces(box, tiles.of(tile)->tile, marks->data(), cells);
      }
    }
    if (std::find(cells.begin(), cells.end(), uint8_t{1}) == cells.end()) cells.clear();
    return cells;
  }

  // Of whole boxes in a tile, those ahead of one of them: a frame that is not split holds all components of
  // each.
  uint64_t cells_before(uint64_t box, size_t tile) const {
    const uint64_t first_box = header.tiles.tile(tile).first_box;
    return (header.box_table.at(box).first_element - header.box_table.at(first_box).first_element) /
           static_cast<uint64_t>(shape().components);
  }

  static void copy_pieces(uint64_t box, const Tile& tile, const uint8_t* from, std::vector<uint8_t>& cells) {
    for (const TileRect& rect : tile.rects) {
      if (rect.box == box) {
        cells.resize(static_cast<size_t>(Rect{{}, rect.box_size}.cells()));
        copy_marks(from, rect, cells);
      }
      from += rect.rect.cells();
    }
  }

  static void copy_marks(const uint8_t* from, const TileRect& tile, std::vector<uint8_t>& to) {
    const auto width = static_cast<size_t>(tile.rect.size[0]);
    visit_row_begins(tile.rect, dense_strides(tile.box_size), [&](int64_t row) {
      std::memcpy(to.data() + row, from, width);
      from += width;
    });
  }

  Status check_box(int box, int component) const {
    if (box < 0 || static_cast<uint64_t>(box) >= header.boxes || component < 0 ||
        component >= shape().components) {
      return usage_error(fmt::format("frame: box {} of {}, component {} of {}", box, header.boxes, component,
                                     shape().components));
    }
    return {};
  }
};

Frame::Frame(std::unique_ptr<State> state) : state_(std::move(state)) {}
Frame::Frame(Frame&&) noexcept = default;
Frame& Frame::operator=(Frame&&) noexcept = default;
Frame::~Frame() = default;

static Result<FrameDescription> describe_unguarded(std::span<const std::byte> bytes) {
  NEVE_ASSIGN(ParsedHeader header, parse_header(bytes, KeepBoxes::no));
  FrameDescription found;
  found.dtype = header.dtype;
  found.sections = section_infos(header);
  found.shape = std::move(header.shape);
  found.boxes = header.boxes;
  found.held_elements = header.held_elements;
  found.components = std::move(header.components);
  found.header_bytes = header.header_bytes;
  found.frame_bytes = header.frame_bytes;
  return found;
}

Result<FrameDescription> describe_frame(Span<const std::byte> bytes) {
  return guarded("reading a frame's header", [&] { return describe_unguarded(bytes); });
}

Result<Frame> Frame::parse(Span<const std::byte> bytes) {
  return guarded("reading a frame's header", [&] { return parse_unguarded(bytes); });
}

Result<Frame> Frame::parse_unguarded(Span<const std::byte> bytes) {
  NEVE_TRY(check_simd_environment());
  auto state = std::make_unique<State>();
  NEVE_ASSIGN(state->header, parse_header(bytes, KeepBoxes::yes));
  state->bytes = bytes.first(state->header.frame_bytes);
  state->infos = section_infos(state->header);
  state->section_begin.reserve(state->infos.size());
  uint64_t at = state->header.header_bytes;
  for (const SectionEntry& entry : state->header.sections) {
    state->section_begin.push_back(at);
    at += entry.bytes;
  }
  return Frame(std::move(state));
}

Status Frame::check_stands_alone(uint64_t bytes) const {
  const uint64_t frame_bytes = state_->header.frame_bytes;
  if (bytes == frame_bytes) return {};
  return corrupt(fmt::format("{} bytes, but the frame in them ends after {}", bytes, frame_bytes));
}

DType Frame::dtype() const { return state_->header.dtype; }
const FrameShape& Frame::shape() const { return state_->header.shape; }
uint64_t Frame::held_elements() const { return state_->header.held_elements; }
uint64_t Frame::box_count() const { return state_->header.boxes; }
Rect Frame::box(uint64_t number) const {
  if (number >= box_count()) return {{0, 0, 0, 0}, {0, 0, 0, 0}};
  return state_->header.box_table.at(number).place;
}
const std::vector<ComponentInfo>& Frame::components() const { return state_->header.components; }
const std::vector<SectionInfo>& Frame::sections() const { return state_->infos; }
uint64_t Frame::header_bytes() const { return state_->header.header_bytes; }

uint64_t Frame::first_element(uint64_t box) const {
  return box < box_count() ? state_->header.box_table.at(box).first_element : held_elements();
}

std::optional<uint64_t> Frame::find_box(uint64_t element) const {
  const uint64_t found = state_->header.box_table.find(element);
  return found < box_count() ? std::optional(found) : std::nullopt;
}

uint64_t Frame::memory_bytes() const {
  const ParsedHeader& header = state_->header;
  return sizeof(State) + header.box_table.memory_bytes() + header.codebooks.memory_bytes() +
         header.tiles.memory_bytes() + header.components.capacity() * sizeof(ComponentInfo) +
         header.sections.capacity() * sizeof(SectionEntry) +
         state_->infos.capacity() * (sizeof(SectionInfo) + sizeof(uint64_t));
}

bool Frame::needs_coarser_level(int component) const {
  return std::any_of(sections().begin(), sections().end(), [component](const SectionInfo& section) {
    return section.component == component && section.arrangement == Arrangement::nested;
  });
}

namespace {

Status check_output(const std::byte* out, uint64_t bytes) {
  if (out != nullptr || bytes == 0) return {};
  return usage_error(fmt::format("frame: output is null for {} bytes", bytes));
}

}  // namespace

// visit(std::type_identity<T>()), T the type of the values.
template <class Visit>
Status Frame::decoded(const Visit& visit) const {
  const FloatEnvironment environment;
  return guarded("decoding a frame", [&] { return visit_value_type(dtype(), visit); });
}

Status Frame::decode(std::byte* out, uint64_t out_bytes, int threads, const CoarserLevel* coarser) const {
  const uint64_t needed = shape().element_count * dtype_bytes(dtype());
  if (out_bytes != needed) {
    return usage_error(fmt::format("frame: output of {} bytes, must be {}", out_bytes, needed));
  }
  NEVE_TRY(check_output(out, needed));
  NEVE_TRY(check_threads(threads));
  return decoded([&]<class T>(std::type_identity<T>) {
    return state_->decode_all(reinterpret_cast<T*>(out), threads, coarser);
  });
}

Status Frame::decode_box(int box, int component, std::byte* out, uint64_t out_bytes,
                         const CoarserLevel* coarser) const {
  NEVE_TRY(state_->check_box(box, component));
  const auto number = static_cast<uint64_t>(box);
  const uint64_t needed = static_cast<uint64_t>(this->box(number).cells()) * dtype_bytes(dtype());
  if (out_bytes != needed) {
    return usage_error(
        fmt::format("frame: output of {} bytes for box {}, must be {}", out_bytes, box, needed));
  }
  NEVE_TRY(check_output(out, needed));
  return decoded([&]<class T>(std::type_identity<T>) {
    return state_->decode_one(number, component, reinterpret_cast<T*>(out), coarser);
  });
}

uint64_t Frame::component_values(int component) const {
  if (component < 0 || component >= shape().components || box_count() == 0) return 0;
  return state_->held_of_component(component).second;
}

Status Frame::decode_component(int component, std::byte* out, uint64_t out_bytes, int threads,
                               const CoarserLevel* coarser) const {
  if (component < 0 || component >= shape().components) {
    return usage_error(fmt::format("frame: component {} of {}", component, shape().components));
  }
  const uint64_t needed = component_values(component) * dtype_bytes(dtype());
  if (out_bytes != needed) {
    return usage_error(
        fmt::format("frame: output of {} bytes for component {}, must be {}", out_bytes, component, needed));
  }
  NEVE_TRY(check_output(out, needed));
  NEVE_TRY(check_threads(threads));
  if (needed == 0) return {};
  return decoded([&]<class T>(std::type_identity<T>) {
    return state_->decode_component(component, reinterpret_cast<T*>(out), threads, coarser);
  });
}

Result<std::vector<uint8_t>> Frame::left_out(int box, int component) const {
  return guarded("decoding a frame", [&] { return left_out_unguarded(box, component); });
}

Result<std::vector<uint8_t>> Frame::left_out_unguarded(int box, int component) const {
  NEVE_TRY(state_->check_box(box, component));
  return state_->left_out(static_cast<uint64_t>(box), component);
}

}  // namespace neve
