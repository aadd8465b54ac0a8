// SPDX-License-Identifier: BSD-3-Clause
// The value range of every field over all ranks, which relative bounds are of, and fill values found in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/write/local_values.hpp"

namespace neve::mpi {

// Of the values of fields, [level * components + component].
using FieldRanges = std::vector<ValueRange>;
using FieldFills = std::vector<std::optional<double>>;

// What a rule of the options says of a field; null: nothing.
const FieldRule* rule_of(const WriteOptions& options, const std::string& name);
// The fill values that are given.
FieldFills given_fills(const Hierarchy& hierarchy, const WriteOptions& options);

struct MeasuredFields {
  MeasuredFields() = default;
  // Nothing measured yet.
  MeasuredFields(const Hierarchy& hierarchy, const WriteOptions& options)
      : ranges(hierarchy.levels.size() * hierarchy.components.size()),
        fills(given_fills(hierarchy, options)) {}

  FieldRanges ranges;  // of the values that are no fill values
  FieldFills fills;    // given, or found
};

// This rank's part of a measurement of values in memory, and what all ranks' parts come to. The parts travel
// as words of which each is the least of all ranks' (exchange.hpp): each field's range, and, because nobody
// knows yet which fill value the ranges of all ranks suggest, that without the one which this rank's
// suggests.
class FieldScan {
 public:
  // Room for everything, so that nothing is allocated later.
  FieldScan(const Hierarchy& hierarchy, const LocalValues& owned, const WriteOptions& options);

  static constexpr size_t words_a_field = 10;
  size_t words() const { return parts_.size() * words_a_field; }

  // Not collective.
  Status scan();
  void put(std::span<uint64_t> words) const;
  // Collective where the ranks suspect several fill values in one field, which takes another look at its
  // values; else not.
  Status conclude(const Comm& comm, std::span<const uint64_t> words, MeasuredFields& measured);

 private:
  // Of values without a fill value that an end of their range suggests.
  struct Side {
    std::optional<double> suspect;
    ValueRange others;  // the whole range where nothing is suspected
  };
  struct Part {
    ValueRange all;
    Side high, low;
  };
  Status scan_sides(bool is_high);

  const Hierarchy& hierarchy_;
  LocalValues owned_;
  const WriteOptions& options_;
  FieldFills fills_;
  std::vector<Part> parts_;
  FieldRanges ranges_, others_;
  FieldFills suspects_;
  std::vector<char> wanted_;
};

// Collective. The same of values in memory or read, with exchanges of its own.
Status measure_ranges(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                      const WriteOptions& options, MeasuredFields& measured);

// Collective. The ranges that the source states, where they serve on all ranks: no fill value is among them,
// and none could be found by another look at the values.
Result<bool> take_stated_ranges(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                                const WriteOptions& options, MeasuredFields& measured);

}  // namespace neve::mpi
