// SPDX-License-Identifier: BSD-3-Clause
// What each strategy would do: counts of writes, times.
#pragma once

#include <string>
#include <vector>

#include "core/io_model/predict.hpp"
#include "core/io_model/write_calls.hpp"
#include "tools/neve/plan_options.hpp"
#include "tools/neve/plan_subject.hpp"

namespace neve::cli::plan {

// The least stripe or window of a buffer that some row of a plan cuts the file at, of boxes of up to so many
// bytes.
uint64_t smallest_cut(const Args& args, uint64_t largest_box);

struct Row {
  std::string name;
  io_model::WriteCounts counts;
  io_model::Prediction prediction;
  double encode_seconds = 0, structure_seconds = 0;
  uint64_t buffer_bytes = 0;  // of copies that the rank with the most makes of its boxes for a call
  uint64_t metadata_writes = 0;
  bool is_neves = true;  // Neve can be told to write so; else it is counted beside that
  bool compresses = false;
  uint64_t posix_writes() const { return io_model::total_count(counts.posix) + metadata_writes; }
  double total() const { return prediction.total() + encode_seconds + structure_seconds; }
  // Bytes that reach the file system over bytes of data.
  double amplification(uint64_t data_bytes) const {
    return data_bytes == 0
               ? 1
               : static_cast<double>(io_model::total_bytes(counts.posix)) / static_cast<double>(data_bytes);
  }
};

// Striping as given; what is not given as the fastest pair of uncompressed strategy and striping has it.
// Without stripes: one target, and aggregators as the MPI library chooses them.
Result<io_model::Striping> striping_of(const Args& args, const io_model::FilePieces& file,
                                       const io_model::FileSystem& system);

std::vector<Row> rows_of(const Args& args, const Subject& subject, const io_model::Striping& striping,
                         const io_model::FileSystem& system);

// POSIX writes of the file's structure: as given; those of the paper's tables where requests are those of
// Lustre, of the BISICLES-like files or else of the Chombo benchmark's; else those that rank 0 makes of
// Neve's own structure, or HDF5 of the same.
uint64_t metadata_writes(const Args& args, const Subject& subject, io_model::Writer writer);

}  // namespace neve::cli::plan
