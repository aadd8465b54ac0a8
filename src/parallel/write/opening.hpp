// SPDX-License-Identifier: BSD-3-Clause
// The first exchange of a write: what every rank has to know of the others before it can encode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/kept_comm.hpp"
#include "parallel/write/field_ranges.hpp"
#include "parallel/write/local_values.hpp"
#include "parallel/write/ownership.hpp"
#include "parallel/write/plan.hpp"
#include "parallel/write/target.hpp"

namespace neve::mpi {

// A set of fields that is written: a plotfile's, or a variable's of a checkpoint. Made and prepared on each
// rank, whole on all ranks behind open_write().
class OpeningFields {
 public:
  // Not collective; with no allocation left for later. `owned` is checked (check_owned), which ghosts that
  // are part of the boxes would hide: they move where their data begin. The boxes of `stored` have in them
  // the ghosts that are compressed. `options` as the encoder takes them; uncompressed, only owners are
  // needed. Of values in memory the ranges are measured.
  Status prepare(const Comm& comm, const Hierarchy& stored, const LocalValues& owned,
                 const WriteOptions& options);

  // What it takes of the exchange, and of which what all ranks have put comes back.
  size_t minima() const { return scan_ ? scan_->words() : 0; }
  size_t sums() const;
  void put(int rank, std::span<uint64_t> minima, std::span<uint64_t> sums) const;
  // Not collective, the same on all ranks.
  Status take(std::span<const uint64_t> sums);
  // Collective where ranges are unclear (FieldScan::conclude).
  Status conclude(const Comm& comm, std::span<const uint64_t> minima);

  Ownership owners;
  MeasuredFields measured;  // of compressed values in memory
  WritePlan plan;           // of compressed ones; its levels have no chunks yet

 private:
  const Hierarchy* stored_ = nullptr;
  std::optional<LocalValues> owned_;
  std::optional<FieldScan> scan_;
};

// What all ranks must pass alike.
struct SameArgument {
  std::string_view what;
  std::function<std::string()> key;
};

struct OpeningWork {
  const Status& given;  // what has become of this rank's work before; an error says nothing of its arguments
  std::span<const SameArgument> same;  // at most Exchange::max_same
  const WriteOptions& options;
  const std::string& path;
  // Not collective: checks that come to the same on all ranks, whose errors name none.
  std::function<Status()> check_arguments;
  // Not collective: all else, if those are right. What it makes are this rank's parts.
  std::function<Status()> prepare;
  std::vector<OpeningFields>& parts;
  Target& target;
  Status& earlier;    // becomes the error of a file that was written behind and is lost; the same on all
  uint64_t& lacking;  // 1 where this rank lacks something; becomes how many ranks do
};

// Collective: one exchange. Where ranges are unclear, and where there is more to say than in any write before
// on this communicator, one more each. `mine`: of this rank's work since the exchange.
Status open_write(KeptComm& kept, const OpeningWork& work, Status& mine);

}  // namespace neve::mpi
