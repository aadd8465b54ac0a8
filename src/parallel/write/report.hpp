// SPDX-License-Identifier: BSD-3-Clause
// What was written, added up over chunks and ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

// Of the values of all boxes, with so many components.
uint64_t valid_bytes(const Hierarchy& hierarchy, size_t components);

// Adds up what the ranks say of their chunks of one set of fields, on their way through an exchange.
class ReportSums {
 public:
  // Of the plan's levels and components; `explain`: with what was weighed. Nothing is allocated behind this
  // but by report().
  ReportSums(size_t levels, size_t components, bool explain);
  ~ReportSums();
  ReportSums(ReportSums&&) noexcept;

  size_t minima() const;  // words that it takes of an exchange
  size_t sums() const;

  // This rank's.
  void add(std::span<const EncodedChunk> chunks);
  void put(std::span<uint64_t> minima, std::span<uint64_t> sums) const;
  // All ranks'. The report but for file_bytes and the times.
  void take(std::span<const uint64_t> minima, std::span<const uint64_t> sums);
  WriteReport report(const Hierarchy& hierarchy, const WritePlan& plan) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace neve::mpi
