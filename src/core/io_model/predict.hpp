// SPDX-License-Identifier: BSD-3-Clause
// What a write would take on a striped parallel file system. A model of a few numbers: good for telling
// strategies apart, not for the second.
#pragma once

#include <cstdint>
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
  double request_seconds = 0;  // a target spends on a request besides its bytes
  double lock_seconds = 0;     // a target waits when a stripe's lock goes to another writer
  double call_seconds = 0;     // a collective call takes besides bytes: ranks waiting for each other
};

// "edison", "cori": the paper's machines. Peak bandwidths and targets as published; ranks_per_node as the
// paper ran; node bandwidth assumed; the three latencies calibrated, so that the ratios of the strategies'
// times lie where the paper measured them.
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
  double total() const { return exchange_seconds + target_seconds + call_seconds; }
};

// Each step takes what its slowest target takes; stripe i lies on target i modulo stripe_count. Independent
// writers get in each other's way in stripes that several of them write.
Prediction predict(const FilePieces& file, Strategy strategy, int aggregate_boxes, const Striping& striping,
                   const FileSystem& system);

// The striping that `strategy` would be fastest with: of those within 5 % of the best the fewest stripes,
// then the smallest. An aggregator per stripe, no more than ranks.
Striping best_striping(const FilePieces& file, Strategy strategy, const FileSystem& system);

}  // namespace neve::io_model
