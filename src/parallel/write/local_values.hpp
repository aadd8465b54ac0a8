// SPDX-License-Identifier: BSD-3-Clause
// The values of this rank's boxes: in memory, as a simulation has them, or read from a source whenever they
// are needed, because all of them do not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/threads/scratch.hpp"
#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"

namespace neve::mpi {

// One component of a box. `data` stands for it under any component's number.
struct ComponentValues {
  BoxData data;
  std::shared_ptr<const RawVector<std::byte>> held;  // keeps what was read; null where the caller holds it
};

// A view: copies stand for the same values. Whatever is asked of one is safe in several threads.
class LocalValues {
 public:
  // In memory. Not explicit: the boxes are the values.
  LocalValues(std::span<const LocalBox> boxes) : boxes_(boxes) {}     // NOLINT
  LocalValues(const std::vector<LocalBox>& boxes) : boxes_(boxes) {}  // NOLINT
  // Read from `source`, whose boxes have those layers of ghosts in them that `stored` has. `boxes` have no
  // data. All three must outlive the values.
  LocalValues(std::span<const LocalBox> boxes, const Hierarchy& stored, PlotfileSource& source);

  std::span<const LocalBox> boxes() const { return boxes_; }
  size_t size() const { return boxes_.size(); }
  const LocalBox& operator[](size_t i) const { return boxes_[i]; }
  bool are_in_memory() const { return reading_ == nullptr; }

  Result<ComponentValues> component(size_t i, int component) const;

  // The rest is for values that are read.

  // Elements of a box, which follow each other component after component, x fastest.
  Status read(size_t i, uint64_t begin, uint64_t count, std::byte* out) const;
  uint64_t elements(size_t i) const;
  // As PlotfileSource::place, over all levels.
  uint64_t place(size_t i) const;
  // By level, then component, where the source states all of them.
  std::optional<std::vector<ValueRange>> stated_ranges() const;

 private:
  struct Reading;
  std::span<const LocalBox> boxes_;
  std::shared_ptr<Reading> reading_;
};

// Usage error where the boxes of a source are not those of the hierarchy that is written, with `ghosts`
// layers around them.
Status check_source(const Hierarchy& hierarchy, const Hierarchy& of_source, const IntVect& ghosts);

// Boxes of a rank as a write of values that are read takes them: without data.
std::vector<LocalBox> boxes_without_data(const std::vector<std::vector<int>>& owner, int rank);

}  // namespace neve::mpi
