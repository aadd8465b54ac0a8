// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/local_values.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <string>

#include "core/amr/grow.hpp"
#include "core/threads/float_environment.hpp"
#include "parallel/write/box_values.hpp"

namespace neve::mpi {

struct LocalValues::Reading {
  const Hierarchy& hierarchy;
  PlotfileSource& source;
  std::mutex mutex;  // a source is used by one thread at a time

  // Components that were read last: several parts of other levels need the same one, and the parts of a large
  // box that are encoded apart.
  struct Recent {
    size_t local;
    int component;
    std::shared_ptr<const RawVector<std::byte>> values;
  };
  std::list<Recent> recent;  // latest first
  uint64_t recent_bytes = 0;

  size_t value_bytes() const { return dtype_bytes(hierarchy.dtype); }
  const Box& box(const LocalBox& local) const {
    return hierarchy.levels[static_cast<size_t>(local.level)].boxes[static_cast<size_t>(local.box)];
  }
  Result<std::shared_ptr<const RawVector<std::byte>>> component(const LocalBox& local, size_t i,
                                                                int component);
  Status read_part(const LocalBox& local, size_t i, int component, uint64_t first, uint64_t cells,
                   std::byte* out);
  Status read(const LocalBox& local, size_t i, uint64_t begin, uint64_t count, std::byte* out);
};

namespace {

constexpr uint64_t max_recent_bytes = uint64_t{8} << 20;

}  // namespace

Result<std::shared_ptr<const RawVector<std::byte>>> LocalValues::Reading::component(const LocalBox& local,
                                                                                    size_t i, int component) {
  const auto at = std::find_if(recent.begin(), recent.end(),
                               [&](const Recent& r) { return r.local == i && r.component == component; });
  if (at != recent.end()) {
    recent.splice(recent.begin(), recent, at);
    return recent.front().values;
  }
  auto values =
      std::make_shared<RawVector<std::byte>>(static_cast<size_t>(box(local).cells()) * value_bytes());
  NEVE_TRY(source.read_box(local.level, local.box, component, values->data()));
  recent_bytes += values->size();
  recent.push_front({i, component, std::move(values)});
  while (recent_bytes > max_recent_bytes && recent.size() > 1) {
    recent_bytes -= recent.back().values->size();
    recent.pop_back();
  }
  return recent.front().values;
}

Status LocalValues::Reading::read_part(const LocalBox& local, size_t i, int c, uint64_t first, uint64_t cells,
                                       std::byte* out) {
  NEVE_ASSIGN(const bool is_read, source.read_cells(local.level, local.box, c, static_cast<int64_t>(first),
                                                    static_cast<int64_t>(cells), out));
  if (is_read) return {};
  NEVE_ASSIGN(const auto whole, component(local, i, c));
  std::memcpy(out, whole->data() + first * value_bytes(), cells * value_bytes());
  return {};
}

Status LocalValues::Reading::read(const LocalBox& local, size_t i, uint64_t begin, uint64_t count,
                                  std::byte* out) {
  const auto cells = static_cast<uint64_t>(box(local).cells());
  while (count > 0) {
    const auto c = static_cast<int>(begin / cells);
    const uint64_t first = begin % cells;
    uint64_t taken = std::min(count, cells - first);
    if (first == 0 && count >= cells) {
      taken = count / cells * cells;
      NEVE_TRY(source.read_components(local.level, local.box, c, static_cast<int>(count / cells), out));
    } else {
      NEVE_TRY(read_part(local, i, c, first, taken, out));
    }
    begin += taken;
    count -= taken;
    out += taken * value_bytes();
  }
  return {};
}

LocalValues::LocalValues(std::span<const LocalBox> boxes, const Hierarchy& stored, PlotfileSource& source)
    : boxes_(boxes), reading_(new Reading{stored, source, {}, {}, 0}) {}

Result<ComponentValues> LocalValues::component(size_t i, int component) const {
  if (reading_ == nullptr) return ComponentValues{boxes_[i].data, nullptr};
  const FloatEnvironment environment;  // sources average what a file leaves out
  const std::lock_guard lock(reading_->mutex);
  NEVE_ASSIGN(auto values, reading_->component(boxes_[i], i, component));
  const FrameBox shape = plain_frame_box(reading_->box(boxes_[i]));
  ComponentValues result{dense_box_data(values->data(), shape), std::move(values)};
  result.data.component_stride = 0;
  return result;
}

Status LocalValues::read(size_t i, uint64_t begin, uint64_t count, std::byte* out) const {
  const FloatEnvironment environment;
  const std::lock_guard lock(reading_->mutex);
  return reading_->read(boxes_[i], i, begin, count, out);
}

uint64_t LocalValues::elements(size_t i) const {
  return static_cast<uint64_t>(reading_->box(boxes_[i]).cells()) * reading_->hierarchy.components.size();
}

uint64_t LocalValues::place(size_t i) const { return reading_->source.place(boxes_[i].level, boxes_[i].box); }

std::optional<std::vector<ValueRange>> LocalValues::stated_ranges() const {
  const Hierarchy& h = reading_->hierarchy;
  std::vector<ValueRange> ranges;
  for (size_t level = 0; level < h.levels.size(); ++level) {
    for (size_t c = 0; c < h.components.size(); ++c) {
      const auto stated = reading_->source.stated_range(static_cast<int>(level), static_cast<int>(c));
      if (!stated) return {};
      ranges.push_back({stated->first, stated->second, false});
    }
  }
  return ranges;
}

Status check_source(const Hierarchy& hierarchy, const Hierarchy& of_source, const IntVect& ghosts) {
  if (hierarchy.dtype != of_source.dtype || hierarchy.components.size() != of_source.components.size() ||
      hierarchy.levels.size() != of_source.levels.size()) {
    return usage_error(
        "the source of the values has another type, or other components or levels, than what is "
        "written");
  }
  for (size_t l = 0; l < hierarchy.levels.size(); ++l) {
    const std::vector<Box>& boxes = hierarchy.levels[l].boxes;
    const std::vector<Box>& found = of_source.levels[l].boxes;
    const bool are_alike = std::equal(boxes.begin(), boxes.end(), found.begin(), found.end(),
                                      [&](const Box& a, const Box& b) { return amr::grow(a, ghosts) == b; });
    if (!are_alike) {
      return usage_error("level " + std::to_string(l) +
                         ": the source of the values has other boxes than what is "
                         "written, with the ghost cells around them");
    }
  }
  return {};
}

std::vector<LocalBox> boxes_without_data(const std::vector<std::vector<int>>& owner, int rank) {
  std::vector<LocalBox> boxes;
  for (size_t level = 0; level < owner.size(); ++level) {
    for (size_t box = 0; box < owner[level].size(); ++box) {
      if (owner[level][box] != rank) continue;
      boxes.push_back({static_cast<int>(level), static_cast<int>(box), {}, {0, 0, 0}});
    }
  }
  return boxes;
}

}  // namespace neve::mpi
