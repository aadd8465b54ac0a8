// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/plotfile_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "core/amr/average_down.hpp"
#include "core/amr/box_index.hpp"
#include "core/amr/coverage.hpp"
#include "core/amr/grow.hpp"
#include "core/amr/rect_box.hpp"
#include "core/status/guarded.hpp"
#include "io/hdf5/carry_over.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/frame_reader.hpp"
#include "io/hdf5/ghosted_source.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/plain_box.hpp"
#include "io/hdf5/plotfile_header.hpp"
#include "io/hdf5/recent_boxes.hpp"

namespace neve::hdf5 {
namespace {

// Finer boxes that are kept for the averages of coarser ones where boxes are read in order.
constexpr uint64_t max_ordered_bytes = uint64_t{16} << 20;

class Hdf5Source : public PlotfileSource, public GhostedSource {
 public:
  explicit Hdf5Source(PlotfileHeader header)
      : header_(std::move(header)), frames_(header_), finer_index_(header_.levels.size()) {}

  const Hierarchy& hierarchy() const override { return header_.hierarchy; }
  std::string kind() const override { return header_.kind; }
  std::vector<std::string> left_behind() const override { return header_.left_behind; }

  Status read_box(int level, int box, int component, std::byte* out) override {
    return guarded("reading a box", [&]() -> Status {
      const QuietErrors quiet;
      NEVE_TRY(check_arguments(level, box, component));
      if (out == nullptr) return usage_error("the output of a box is null");
      return read(static_cast<size_t>(level), static_cast<size_t>(box), component, out);
    });
  }

  Status read_components(int level, int box, int first, int count, std::byte* out) override;
  uint64_t place(int level, int box) const override { return place_of(header_, level, box); }
  void expect_all() override {
    frames_.expect_all();
    recent_.keep_at_most(max_ordered_bytes);
  }

  IntVect stored_ghosts(int level) const override {
    const bool exists = level >= 0 && static_cast<size_t>(level) < header_.levels.size();
    return exists ? header_.levels[static_cast<size_t>(level)].ghosts : amr::no_ghosts;
  }
  std::vector<IntVect> ghosts() const override {
    std::vector<IntVect> layers;
    for (const LevelData& level : header_.levels) layers.push_back(level.ghosts);
    return layers;
  }

  Status read_with_ghosts(int level, int box, int component, std::byte* out) override {
    const QuietErrors quiet;
    NEVE_TRY(check_arguments(level, box, component));
    return read_grown(static_cast<size_t>(level), static_cast<size_t>(box), component, out);
  }

  Result<std::vector<std::string>> other_attributes() const override {
    const QuietErrors quiet;
    return carried_attributes(header_.file.id(), header_.levels.size());
  }

  Result<std::vector<uint8_t>> left_out(int level, int box, int component) override {
    return guarded("reading a box", [&]() -> Result<std::vector<uint8_t>> {
      const QuietErrors quiet;
      NEVE_TRY(check_arguments(level, box, component));
      const auto l = static_cast<size_t>(level);
      const auto b = static_cast<size_t>(box);
      NEVE_ASSIGN(const bool in_frames, is_in_frames(l, b, component));
      if (!in_frames) return std::vector<uint8_t>{};
      return left_out_of_frames(l, b, component);
    });
  }

 private:
  Status check_arguments(int level, int box, int component) const;
  Result<bool> is_in_frames(size_t level, size_t box, int component);
  Status read(size_t level, size_t box, int component, std::byte* out);
  Status read_grown(size_t level, size_t box, int component, std::byte* out);
  Status read_frames(size_t level, size_t box, int component, std::byte* out);
  Result<std::vector<uint8_t>> left_out_of_frames(size_t level, size_t box, int component);
  Status fill_left_out(size_t level, size_t box, int component, std::vector<uint8_t> left_out,
                       std::byte* out);
  Result<RecentBoxes::Values> finer_values(size_t level, size_t box, int component);
  const amr::BoxIndex& index(size_t level);

  PlotfileHeader header_;
  FrameReader frames_;
  std::vector<std::optional<amr::BoxIndex>> finer_index_;
  RecentBoxes recent_;
};

Status Hdf5Source::check_arguments(int level, int box, int component) const {
  NEVE_TRY(check_alive(header_.file));
  const Hierarchy& h = header_.hierarchy;
  if (level < 0 || static_cast<size_t>(level) >= h.levels.size()) {
    return usage_error(fmt::format("level {} asked for; 0 to {} exist", level, h.levels.size() - 1));
  }
  const size_t boxes = h.levels[static_cast<size_t>(level)].boxes.size();
  if (box < 0 || static_cast<size_t>(box) >= boxes) {
    return usage_error(fmt::format("box {} of level {} asked for; 0 to {} exist", box, level, boxes - 1));
  }
  if (component < 0 || static_cast<size_t>(component) >= h.components.size()) {
    return usage_error(
        fmt::format("component {} asked for; 0 to {} exist", component, h.components.size() - 1));
  }
  return {};
}

// Components that follow each other in a plain dataset are one read of HDF5.
Status Hdf5Source::read_components(int level, int box, int first, int count, std::byte* out) {
  return guarded("reading a box", [&]() -> Status {
    const QuietErrors quiet;
    NEVE_TRY(check_arguments(level, box, first));
    const int most = static_cast<int>(header_.hierarchy.components.size()) - first;
    if (count < 1 || count > most) {
      return usage_error(
          fmt::format("{} components from {} on asked for; 1 to {} are there", count, first, most));
    }
    if (out == nullptr) return usage_error("the output of a box is null");
    const auto l = static_cast<size_t>(level);
    const auto b = static_cast<size_t>(box);
    const bool is_plain = !header_.written_by_neve || !header_.levels[l].holds_frames();
    if (is_plain && header_.levels[l].ghosts == amr::no_ghosts) {
      for (int i = 0; i < count; ++i) NEVE_TRY(is_in_frames(l, b, first + i).status());
      return read_stored_components(header_, l, b, first, count, out);
    }
    const size_t bytes = static_cast<size_t>(header_.hierarchy.levels[l].boxes[b].cells()) *
                         dtype_bytes(header_.hierarchy.dtype);
    for (int i = 0; i < count; ++i, out += bytes) NEVE_TRY(read(l, b, first + i, out));
    return {};
  });
}

// Neve's files may have been repacked by another tool, with another filter or through ours. Then the values
// are there, but not which of them are placeholders for left-out cells.
Result<bool> Hdf5Source::is_in_frames(size_t level, size_t box, int component) {
  if (!header_.written_by_neve) return false;
  const LevelData& data = header_.levels[level];
  if (data.holds_frames()) {
    NEVE_ASSIGN(const bool knows_boxes, frames_.knows_boxes(level, box));
    if (knows_boxes) return true;
  }
  if (data.fields.empty() || data.fields[static_cast<size_t>(component)].left_out_cells > 0) {
    return corrupt(
        fmt::format("{}: another tool has repacked this file; the information about which covered cells "
                    "component {} leaves out is lost",
                    level_name(level), header_.hierarchy.components[static_cast<size_t>(component)]));
  }
  return false;
}

Status Hdf5Source::read(size_t level, size_t box, int component, std::byte* out) {
  NEVE_ASSIGN(const bool in_frames, is_in_frames(level, box, component));
  if (!in_frames) return read_plain_box(header_, level, box, component, out);
  NEVE_TRY(read_frames(level, box, component, out));
  NEVE_ASSIGN(std::vector<uint8_t> left_out, left_out_of_frames(level, box, component));
  if (left_out.empty()) return {};
  return fill_left_out(level, box, component, std::move(left_out), out);
}

// The valid cells of frames are read on their own: left-out ones come from the finer level.
Status Hdf5Source::read_grown(size_t level, size_t box, int component, std::byte* out) {
  NEVE_ASSIGN(const bool in_frames, is_in_frames(level, box, component));
  if (!in_frames) return read_stored_box(header_, level, box, component, out);
  NEVE_TRY(frames_.read(level, box, component, out));
  NEVE_ASSIGN(const std::vector<uint8_t> left_out, frames_.left_out(level, box, component));
  if (left_out.empty()) return {};
  const Box& valid = header_.hierarchy.levels[level].boxes[box];
  const Box grown = amr::grow(valid, header_.levels[level].ghosts);
  const size_t value_bytes = dtype_bytes(header_.hierarchy.dtype);
  std::vector<std::byte> values(static_cast<size_t>(valid.cells()) * value_bytes);
  NEVE_TRY(read(level, box, component, values.data()));
  amr::for_each_common_row(valid, valid, grown, [&](size_t from, size_t to, size_t cells) {
    std::memcpy(out + to * value_bytes, values.data() + from * value_bytes, cells * value_bytes);
  });
  return {};
}

// A frame's boxes have their ghosts in them.
Status Hdf5Source::read_frames(size_t level, size_t box, int component, std::byte* out) {
  const IntVect& ghosts = header_.levels[level].ghosts;
  if (ghosts == amr::no_ghosts) return frames_.read(level, box, component, out);
  const Box& valid = header_.hierarchy.levels[level].boxes[box];
  const size_t value_bytes = dtype_bytes(header_.hierarchy.dtype);
  std::vector<std::byte> values(static_cast<size_t>(amr::grow(valid, ghosts).cells()) * value_bytes);
  NEVE_TRY(frames_.read(level, box, component, values.data()));
  strip_ghosts(valid, ghosts, value_bytes, values.data(), out);
  return {};
}

Result<std::vector<uint8_t>> Hdf5Source::left_out_of_frames(size_t level, size_t box, int component) {
  NEVE_ASSIGN(std::vector<uint8_t> with_ghosts, frames_.left_out(level, box, component));
  const IntVect& ghosts = header_.levels[level].ghosts;
  if (with_ghosts.empty() || ghosts == amr::no_ghosts) return with_ghosts;
  const Box& valid = header_.hierarchy.levels[level].boxes[box];
  std::vector<uint8_t> marks(static_cast<size_t>(valid.cells()));
  strip_ghosts(valid, ghosts, 1, std::as_bytes(std::span(with_ghosts)).data(),
               std::as_writable_bytes(std::span(marks)).data());
  return marks;
}

const amr::BoxIndex& Hdf5Source::index(size_t level) {
  std::optional<amr::BoxIndex>& index = finer_index_[level];
  if (!index) index.emplace(header_.hierarchy.levels[level].boxes);
  return *index;
}

Result<RecentBoxes::Values> Hdf5Source::finer_values(size_t level, size_t box, int component) {
  if (RecentBoxes::Values recent = recent_.find(level, box, component)) return recent;
  const Box& cells = header_.hierarchy.levels[level].boxes[box];
  std::vector<std::byte> values(static_cast<size_t>(cells.cells()) * dtype_bytes(header_.hierarchy.dtype));
  NEVE_TRY(read(level, box, component, values.data()));
  auto shared = std::make_shared<const std::vector<std::byte>>(std::move(values));
  recent_.insert(level, box, component, shared);
  return RecentBoxes::Values(shared);
}

// Left-out cells become the average of the finer ones, which may have been left out themselves.
Status Hdf5Source::fill_left_out(size_t level, size_t box, int component, std::vector<uint8_t> left_out,
                                 std::byte* out) {
  const Hierarchy& h = header_.hierarchy;
  const Box& coarse = h.levels[level].boxes[box];
  auto missing = static_cast<uint64_t>(
      std::count_if(left_out.begin(), left_out.end(), [](uint8_t m) { return m != 0; }));
  if (missing == 0) return {};
  const size_t value_bytes = dtype_bytes(h.dtype);
  std::vector<amr::CoveredPart> parts;
  if (level + 1 < h.levels.size())
    parts = amr::covered_parts(coarse, index(level + 1), h.levels[level].ref_ratio);
  for (const amr::CoveredPart& part : parts) {
    std::vector<std::byte> averages;
    for (int32_t z = part.cells.lo[2]; z <= part.cells.hi[2]; ++z) {
      for (int32_t y = part.cells.lo[1]; y <= part.cells.hi[1]; ++y) {
        for (int32_t x = part.cells.lo[0]; x <= part.cells.hi[0]; ++x) {
          const auto cell = static_cast<size_t>(
              (x - coarse.lo[0]) +
              coarse.size(0) * ((y - coarse.lo[1]) + coarse.size(1) * (z - coarse.lo[2])));
          if (left_out[cell] == 0) continue;
          if (averages.empty()) {  // a part that is held costs no finer box
            const auto finer = static_cast<size_t>(part.fine_box);
            NEVE_ASSIGN(const RecentBoxes::Values fine, finer_values(level + 1, finer, component));
            averages.resize(static_cast<size_t>(part.cells.cells()) * value_bytes);
            amr::average_down(h.dtype, part.cells, h.levels[level].ref_ratio, fine->data(),
                              h.levels[level + 1].boxes[finer], averages.data(), part.cells);
          }
          const auto in_part = static_cast<size_t>(
              (x - part.cells.lo[0]) +
              part.cells.size(0) * ((y - part.cells.lo[1]) + part.cells.size(1) * (z - part.cells.lo[2])));
          std::memcpy(out + cell * value_bytes, averages.data() + in_part * value_bytes, value_bytes);
          left_out[cell] = 0;
          --missing;
        }
      }
    }
  }
  if (missing > 0) {
    return corrupt(fmt::format("{}: box {} leaves out {} cells that no finer box covers", level_name(level),
                               box, missing));
  }
  return {};
}

Status check_filters(const PlotfileHeader& header, const std::string& path) {
  for (size_t l = 0; l < header.levels.size(); ++l) {
    for (const FilterName& filter : header.levels[l].filters) {
      if (H5Zfilter_avail(filter.id) > 0) continue;
      return {Code::plugin_missing,
              fmt::format(
                  "{}: {}/{} is compressed with HDF5 filter {} ({}), which HDF5 cannot find; put its plugin "
                  "into a folder named in HDF5_PLUGIN_PATH",
                  path, level_name(l), data_name, filter.id, filter.name.empty() ? "unnamed" : filter.name)};
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<PlotfileSource>> open_hdf5_plotfile(const std::string& path,
                                                           const OpenOptions& options) {
  return guarded(path, [&]() -> Result<std::unique_ptr<PlotfileSource>> {
    const QuietErrors quiet;
    NEVE_TRY(register_filter());
    NEVE_ASSIGN(PlotfileHeader header, read_plotfile_header(path, options));
    NEVE_TRY(check_filters(header, path));
    return std::unique_ptr<PlotfileSource>(std::make_unique<Hdf5Source>(std::move(header)));
  });
}

LevelStorage level_storage(LevelData& data) {
  LevelStorage level;
  level.elements = data.elements;
  level.chunk_elements = data.chunk_elements;
  if (data.chunk_elements > 0) level.chunks = (data.elements + data.chunk_elements - 1) / data.chunk_elements;
  level.stored_bytes = data.stored_bytes;
  level.ghosts = data.ghosts;
  for (const FilterName& filter : data.filters) {
    level.filters.push_back(fmt::format("{} ({})", filter.name.empty() ? "unnamed" : filter.name, filter.id));
  }
  level.fields = std::move(data.fields);
  return level;
}

Result<PlotfileStorage> describe_hdf5_plotfile(const std::string& path, const OpenOptions& options) {
  const QuietErrors quiet;
  NEVE_ASSIGN(PlotfileHeader header, read_plotfile_header(path, options));
  PlotfileStorage storage;
  storage.kind = header.kind;
  storage.reason = header.reason;
  storage.written_by_neve = header.written_by_neve;
  storage.file_bytes = header.file_bytes;
  for (LevelData& data : header.levels) storage.levels.push_back(level_storage(data));
  storage.hierarchy = std::move(header.hierarchy);
  return storage;
}

}  // namespace neve::hdf5
