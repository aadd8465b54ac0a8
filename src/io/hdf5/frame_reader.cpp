// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/frame_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "core/amr/grow.hpp"
#include "core/amr/rect_box.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/layout_names.hpp"

namespace neve::hdf5 {
namespace {

// Frames are small against what they hold, so this is hundreds of megabytes of values.
constexpr uint64_t max_recent_bytes = uint64_t{64} << 20;
// Values of components that are kept decoded: several chunks of the default size.
constexpr uint64_t max_decoded_bytes = uint64_t{64} << 20;
// Where boxes are asked for in the order of the chunks, the last chunk is enough, and a few of a finer level
// for what it leaves out.
constexpr uint64_t ordered_bytes = uint64_t{8} << 20;

bool same_box(const Rect& in_frame, const Box& box) {
  for (int d = 0; d < max_dims; ++d) {
    if (in_frame.lo[d] != box.lo[d] || in_frame.size[d] != box.size(d)) return false;
  }
  return true;
}

}  // namespace

FrameReader::FrameReader(const PlotfileHeader& header)
    : header_(header),
      max_recent_bytes_(max_recent_bytes),
      max_decoded_bytes_(max_decoded_bytes),
      index_(header.levels.size()) {}

void FrameReader::expect_all() {
  expects_all_ = true;
  uint64_t chunk_bytes = 0;
  bool leaves_out = false;
  for (const LevelData& level : header_.levels) {
    chunk_bytes = std::max(chunk_bytes, level.chunk_elements * dtype_bytes(header_.hierarchy.dtype));
    leaves_out = leaves_out || level.fields.empty() ||
                 std::any_of(level.fields.begin(), level.fields.end(),
                             [](const auto& field) { return field.left_out_cells > 0; });
  }
  // Averages for what a chunk leaves out come from several chunks of the finer level, box by box: all of them
  // are decoded again and again where they are not kept.
  if (leaves_out) return;
  max_recent_bytes_ = ordered_bytes;
  max_decoded_bytes_ = std::clamp(chunk_bytes, ordered_bytes, max_decoded_bytes);
  coarser_values_.keep_at_most(ordered_bytes);
  coarser_left_out_.keep_at_most(ordered_bytes);
}

void FrameReader::forget() {
  last_.reset();
  recent_.clear();
  recent_bytes_ = 0;
  decoded_.clear();
  decoded_bytes_ = 0;
  coarser_values_.forget();
  coarser_left_out_.forget();
}

std::string FrameReader::chunk_name(size_t level, uint64_t chunk) const {
  return fmt::format("{}/{} chunk {}", level_name(level), header_.levels[level].name, chunk);
}

Box FrameReader::stored_box(size_t level, size_t box) const {
  return amr::grow(header_.hierarchy.levels[level].boxes[box], header_.levels[level].ghosts);
}

// Reads through the frame reader itself, so a coarser frame that needs one coarser still finds it. Cells that
// the coarser level leaves out have no value here: their averages would need the finer level that is being
// decoded.
class FrameReader::Coarser : public CoarserLevel {
 public:
  Coarser(FrameReader& reader, size_t level) : reader_(reader), level_(level) {}

  Status read(int component, const Rect& cells, std::byte* values, uint8_t* held) const override {
    const Hierarchy& h = reader_.header_.hierarchy;
    const size_t value_bytes = dtype_bytes(h.dtype);
    std::fill(held, held + cells.cells(), uint8_t{0});
    std::fill(values, values + static_cast<size_t>(cells.cells()) * value_bytes, std::byte{0});
    const Box wanted = amr::box_of(cells);
    if (wanted.empty()) return {};
    for (const int box : reader_.boxes_in(level_, wanted)) {
      const Box& whole = h.levels[level_].boxes[static_cast<size_t>(box)];
      const Box common = intersect(whole, wanted);
      NEVE_ASSIGN(const CoarserBox from, reader_.coarser_box(level_, static_cast<size_t>(box), component));
      amr::for_each_common_row(common, whole, cells, [&](size_t first, size_t to, size_t width) {
        std::memcpy(values + to * value_bytes, from.values->data() + first * value_bytes,
                    width * value_bytes);
        for (size_t x = 0; x < width; ++x) {
          const bool is_left_out = !from.left_out->empty() && (*from.left_out)[first + x] != std::byte{0};
          held[to + x] = is_left_out ? 0 : 1;
        }
      });
    }
    return {};
  }

 private:
  FrameReader& reader_;
  size_t level_;
};

std::vector<int> FrameReader::boxes_in(size_t level, const Box& region) {
  std::optional<amr::BoxIndex>& index = index_[level];
  if (!index) index.emplace(header_.hierarchy.levels[level].boxes);
  return index->intersecting(region);
}

Result<FrameReader::CoarserBox> FrameReader::coarser_box(size_t level, size_t box, int component) {
  CoarserBox found{coarser_values_.find(level, box, component),
                   coarser_left_out_.find(level, box, component)};
  if (found.left_out == nullptr) {
    NEVE_ASSIGN(const std::vector<uint8_t> marks, left_out(level, box, component));
    const auto bytes = std::as_bytes(std::span(marks));
    found.left_out = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    coarser_left_out_.insert(level, box, component, found.left_out);
  }
  if (found.values == nullptr) {
    const Box& cells = header_.hierarchy.levels[level].boxes[box];
    std::vector<std::byte> values(static_cast<size_t>(cells.cells()) * dtype_bytes(header_.hierarchy.dtype));
    NEVE_TRY(read(level, box, component, values.data()));
    found.values = std::make_shared<const std::vector<std::byte>>(std::move(values));
    coarser_values_.insert(level, box, component, found.values);
  }
  return found;
}

Result<std::vector<std::byte>> FrameReader::read_chunk_bytes(size_t level, uint64_t chunk) const {
  const LevelData& data = header_.levels[level];
  const hsize_t offset = chunk * data.chunk_elements;
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(data.dataset.id(), &offset, &bytes) < 0) {
    return corrupt(fmt::format("cannot be found: {}", last_error()));
  }
  if (bytes < 1 || bytes > header_.file_bytes) {
    return corrupt(fmt::format("has {} bytes; the file has {}", bytes, header_.file_bytes));
  }
  std::vector<std::byte> frame(bytes);
  uint32_t skipped_filters = 0;
  if (H5Dread_chunk(data.dataset.id(), H5P_DEFAULT, &offset, &skipped_filters, frame.data()) < 0) {
    return corrupt(fmt::format("cannot be read: {}", last_error()));
  }
  if (skipped_filters != 0) return corrupt("was stored without Neve's filter");
  return frame;
}

Result<FrameReader::LoadedPtr> FrameReader::load(size_t level, uint64_t chunk) {
  const auto at = std::find_if(recent_.begin(), recent_.end(),
                               [&](const LoadedPtr& l) { return l->level == level && l->chunk == chunk; });
  if (at != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, at);
    return *at;
  }
  Result<std::vector<std::byte>> bytes = read_chunk_bytes(level, chunk);
  if (!bytes.ok()) return bytes.status().in(chunk_name(level, chunk));
  Result<Frame> frame = Frame::parse(*bytes);
  if (!frame.ok()) return frame.status().in(chunk_name(level, chunk));

  const Hierarchy& h = header_.hierarchy;
  const FrameShape& shape = frame->shape();
  const uint64_t chunk_elements = header_.levels[level].chunk_elements;
  if (frame->dtype() != h.dtype || shape.element_count != chunk_elements) {
    return corrupt(fmt::format("{}: frame holds {} {} values, the dataset's chunks {} {}",
                               chunk_name(level, chunk), shape.element_count, dtype_name(frame->dtype()),
                               chunk_elements, dtype_name(h.dtype)));
  }
  const bool is_array = !shape.array_shape.empty();
  if (!is_array && static_cast<size_t>(shape.components) != h.components.size()) {
    return corrupt(fmt::format("{}: frame holds {} components, the file {}", chunk_name(level, chunk),
                               shape.components, h.components.size()));
  }
  // The frame looks at the bytes' heap memory, which moving the vector leaves where it is.
  LoadedPtr loaded =
      std::make_shared<const Loaded>(Loaded{level, chunk, std::move(*bytes), std::move(*frame), {}});
  recent_bytes_ += loaded->memory_bytes();
  recent_.push_front(loaded);
  while (recent_bytes_ > max_recent_bytes_ && recent_.size() > 1) {
    recent_bytes_ -= recent_.back()->memory_bytes();
    recent_.pop_back();
  }
  return loaded;
}

Result<FrameReader::Piece> FrameReader::find_piece(size_t level, size_t box, uint64_t chunk) {
  if (last_ && last_->level == level && last_->box == box && last_->chunk == chunk) return last_->piece;
  NEVE_ASSIGN(Piece piece, look_for_piece(level, box, chunk));
  last_ = LastPiece{level, box, chunk, piece};
  return piece;
}

Result<FrameReader::Piece> FrameReader::look_for_piece(size_t level, size_t box, uint64_t chunk) {
  const LevelData& data = header_.levels[level];
  const auto box_begin = static_cast<uint64_t>(data.box_offsets[box]);
  const uint64_t chunk_begin = chunk * data.chunk_elements;
  NEVE_ASSIGN(LoadedPtr loaded, load(level, chunk));
  Piece piece{std::move(loaded), 0, 0};
  const Frame& frame = piece.loaded->frame;
  bool found = false;
  if (frame.shape().is_split) {
    found = chunk_begin >= box_begin && frame.shape().split_begin == chunk_begin - box_begin;
  } else if (box_begin >= chunk_begin) {
    const std::optional<uint64_t> number = frame.find_box(box_begin - chunk_begin);
    found = number.has_value();
    piece.box_in_frame = static_cast<int>(number.value_or(0));
    piece.first_element = box_begin - chunk_begin;
  }
  if (!found || !same_box(frame.box(static_cast<uint64_t>(piece.box_in_frame)), stored_box(level, box))) {
    return corrupt(
        fmt::format("{}: box {} of the level should begin there at element {}; the frame has no such box",
                    chunk_name(level, chunk), box, box_begin));
  }
  return piece;
}

Result<std::vector<FrameReader::Piece>> FrameReader::pieces(size_t level, size_t box, int component) {
  const LevelData& data = header_.levels[level];
  const auto cells = static_cast<uint64_t>(stored_box(level, box).cells());
  const uint64_t begin =
      static_cast<uint64_t>(data.box_offsets[box]) + cells * static_cast<uint64_t>(component);
  const uint64_t first_chunk = begin / data.chunk_elements;
  const uint64_t last_chunk = (begin + cells - 1) / data.chunk_elements;
  std::vector<Piece> found;
  for (uint64_t chunk = first_chunk; chunk <= last_chunk; ++chunk) {
    NEVE_ASSIGN(Piece piece, find_piece(level, box, chunk));
    if (first_chunk != last_chunk && !piece.loaded->frame.shape().is_split) {
      return corrupt(fmt::format("{}: box {} reaches over chunks {} to {} but the frame is not cut",
                                 chunk_name(level, chunk), box, first_chunk, last_chunk));
    }
    found.push_back(std::move(piece));
  }
  return found;
}

Result<bool> FrameReader::knows_boxes(size_t level, size_t box) {
  const LevelData& data = header_.levels[level];
  NEVE_ASSIGN(const LoadedPtr loaded,
              load(level, static_cast<uint64_t>(data.box_offsets[box]) / data.chunk_elements));
  return loaded->frame.shape().array_shape.empty();
}

const std::byte* FrameReader::decoded(const LoadedPtr& loaded, int component, const CoarserLevel* coarser) {
  const auto at = std::find_if(decoded_.begin(), decoded_.end(), [&](const Decoded& d) {
    return d.loaded == loaded && d.component == component;
  });
  if (at != decoded_.end()) {
    decoded_.splice(decoded_.begin(), decoded_, at);
    return at->values.data();
  }
  const Frame& frame = loaded->frame;
  const uint64_t bytes = frame.component_values(component) * dtype_bytes(frame.dtype());
  if (component >= frame.shape().components || frame.shape().is_split || frame.box_count() < 2 ||
      bytes > max_decoded_bytes_)
    return nullptr;
  std::vector<bool>& asked = loaded->was_asked_for;
  asked.resize(static_cast<size_t>(frame.shape().components));
  if (!expects_all_ && !asked[static_cast<size_t>(component)]) {
    asked[static_cast<size_t>(component)] = true;
    return nullptr;
  }
  Decoded fresh{loaded, component, RawVector<std::byte>(bytes)};
  // Damage to another box's section must not reach this one: whoever reads it alone finds out.
  if (!frame.decode_component(component, fresh.values.data(), bytes, 1, coarser).ok()) return nullptr;
  decoded_.push_front(std::move(fresh));
  decoded_bytes_ += bytes;
  while (decoded_bytes_ > max_decoded_bytes_) {
    decoded_bytes_ -= decoded_.back().values.size();
    decoded_.pop_back();
  }
  return decoded_.front().values.data();
}

Status FrameReader::read(size_t level, size_t box, int component, std::byte* out) {
  const uint64_t bytes =
      static_cast<uint64_t>(stored_box(level, box).cells()) * dtype_bytes(header_.hierarchy.dtype);
  NEVE_ASSIGN(const std::vector<Piece> found, pieces(level, box, component));
  std::optional<Coarser> coarser;
  // Boxes that overlap with their ghosts have no nested frames.
  const bool may_nest = level > 0 && header_.levels[level].ghosts == amr::no_ghosts &&
                        header_.levels[level - 1].ghosts == amr::no_ghosts;
  if (may_nest) coarser.emplace(*this, level - 1);
  const CoarserLevel* const below = coarser ? &*coarser : nullptr;
  for (const Piece& piece : found) {
    if (const std::byte* values = decoded(piece.loaded, component, below); values != nullptr) {
      const Frame& frame = piece.loaded->frame;
      const uint64_t cells_before = piece.first_element / static_cast<uint64_t>(frame.shape().components);
      std::memcpy(out, values + cells_before * dtype_bytes(header_.hierarchy.dtype), bytes);
      continue;
    }
    NEVE_TRY(piece.loaded->frame.decode_box(piece.box_in_frame, component, out, bytes, below)
                 .in(chunk_name(level, piece.loaded->chunk)));
  }
  return {};
}

Result<std::vector<uint8_t>> FrameReader::left_out(size_t level, size_t box, int component) {
  NEVE_ASSIGN(const std::vector<Piece> found, pieces(level, box, component));
  std::vector<uint8_t> all;
  for (const Piece& piece : found) {
    Result<std::vector<uint8_t>> mask = piece.loaded->frame.left_out(piece.box_in_frame, component);
    if (!mask.ok()) return mask.status().in(chunk_name(level, piece.loaded->chunk));
    if (all.empty()) {
      all = std::move(*mask);
    } else {
      for (size_t i = 0; i < mask->size(); ++i) all[i] |= (*mask)[i];
    }
  }
  return all;
}

}  // namespace neve::hdf5
