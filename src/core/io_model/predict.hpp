// SPDX-License-Identifier: BSD-3-Clause
// What a write would take on a striped parallel file system. A model of a few numbers: good for telling
// strategies apart, not for the second.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/io_model/file_pieces.hpp"
#include "core/io_model/write_calls.hpp"
#include "neve/status.hpp"

namespace neve::io_model {

struct FileSystem {
  std::string name;
  int targets = 1;                     // storage targets (OSTs) a file may be spread over
  double target_bytes_per_second = 0;  // of one of them
  double node_bytes_per_second = 0;    // that one compute node sends or receives
  int ranks_per_node = 1;
  // What a target spends, besides the bytes, on a request that does not fill a stripe: the next one lies
  // elsewhere. Requests of whole stripes follow each other.
  double request_seconds = 0;
  double lock_seconds = 0;  // a target waits when a stripe's lock goes to another writer
  // What a collective call takes besides bytes, for every rank: all of them tell all others what they have.
  double call_seconds_per_rank = 0;
  double call_seconds = 0;  // the same, whatever the number of ranks
};

// "edison", "cori": the paper's machines. Peak bandwidths and targets as published; ranks_per_node as the
// paper ran; node bandwidth assumed; the last three fitted to the paper's scaling section by
// `neve bench model --fit`.
Result<FileSystem> named_file_system(const std::string& name);

struct Striping {
  int stripe_count = 1;
  uint64_t stripe_bytes = uint64_t{1} << 20;
  int aggregators = 1;
};

struct Prediction {
  double exchange_seconds = 0;  // bytes on their way to aggregators
  double target_seconds = 0;    // the slowest target, call by call: bytes, requests, locks
  double call_seconds = 0;      // ranks waiting for each other
  double metadata_seconds = 0;  // all ranks waiting for the one that writes metadata
  double total() const { return exchange_seconds + target_seconds + call_seconds + metadata_seconds; }
};

// What one step puts on each target: stripe i lies on target i modulo stripe_count.
struct TargetLoads {
  std::vector<double> bytes;
  std::vector<double> part_stripes;  // requests that do not fill a stripe
  std::vector<double> locks;         // that change hands
};
// Of the steps that `strategy` takes; all of independent writes together, which wait for nobody.
void for_each_load(const FilePieces& file, Strategy strategy, int aggregate_boxes, const Striping& striping,
                   const std::function<void(const TargetLoads&, bool is_collective)>& visit);

// Adds what a step of such loads takes: what its slowest target takes. A collective one also brings the bytes
// to the aggregators and makes all ranks wait for each other.
void add_step(Prediction& prediction, const TargetLoads& loads, bool is_collective, int ranks,
              const Striping& striping, const FileSystem& system);

// Each write of metadata is a request that does not fill a stripe, and waits for the one before.
double metadata_seconds(uint64_t writes, const FileSystem& system);

// All steps of a strategy, one after another. Independent writers get in each other's way in stripes that
// several of them write.
Prediction predict(const FilePieces& file, Strategy strategy, int aggregate_boxes, const Striping& striping,
                   const FileSystem& system);

// Of the stripes that best_striping() tries.
inline constexpr uint64_t least_tried_stripe = uint64_t{1} << 20;

// What of a striping is given; 0: it is to be chosen.
struct GivenStriping {
  int stripe_count = 0;
  uint64_t stripe_bytes = 0;
  int aggregators = 0;
};

// The striping that `strategy` would be fastest with: of those within 5 % of the best the fewest stripes,
// then the largest. An aggregator per stripe, no more than ranks.
Striping best_striping(const FilePieces& file, Strategy strategy, const FileSystem& system,
                       const GivenStriping& given = {});

}  // namespace neve::io_model
