// SPDX-License-Identifier: BSD-3-Clause
// Writing a hierarchy from all ranks of a communicator. Everything here is collective over `comm` unless it
// says otherwise, and every rank returns the same Status. Call it between MPI_Init and MPI_Finalize on a
// communicator of a single group. Under MPI_THREAD_MULTIPLE several threads may call it at the same time,
// each on a communicator of its own.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neve/distribution.hpp"
#include "neve/file_layout.hpp"
#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "neve/local_box.hpp"
#include "neve/selection_memory.hpp"
#include "neve/span.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"
#include "neve/write_options.hpp"

#pragma GCC visibility push(default)
namespace neve {

struct FieldReport {
  std::string name;
  Bound asked;
  double bound_abs = 0;
  double max_abs_error = 0;     // over the values the file holds
  uint64_t cells = 0;           // all cells of all boxes of the level
  uint64_t left_out_cells = 0;  // covered cells the file does not hold
  uint64_t special_cells = 0;
  uint64_t exact_cells = 0;
  uint64_t raw_bytes = 0;
  uint64_t stored_bytes = 0;            // the field's share of the frames' bytes, by section size
  uint64_t codec_bytes = 0;             // only its sections, without headers and tables that fields share
  double range_min = 0, range_max = 0;  // NaN in uncompressed files, where it is not computed
  std::optional<double> fill;
  std::string codec;                                  // of most of its cells; "none" in uncompressed files
  LosslessMethod method = LosslessMethod::automatic;  // likewise, of codec lossless
  std::string chosen;       // why that codec: "asked for", "recalled", "dual_quant would take 1.21x", ...
  std::string arrangement;  // likewise: "linear", "cluster 16", "in_place", ...
  std::string covered;      // "none", "dropped", "kept: <why>"
  std::optional<Explanation>
      explanation;  // with EncodeOptions::explain; without sections if there was no choice
};

struct LevelReport {
  uint64_t chunk_elements = 0;
  uint64_t chunks = 0;
  uint64_t stored_bytes = 0;
  std::vector<FieldReport> fields;
};

struct VariableReport {
  std::string name;
  std::vector<LevelReport> levels;  // their cells and raw bytes include the ghosts
};

// The same on every rank. Of a file that is written behind (WriteOptions::behind) what comes when the call
// has returned is 0: file_bytes, mpi_writes, the times of placing, writing and making durable; with copy also
// data_bytes and the time of encoding, and levels and variables are empty.
struct WriteReport {
  Covered covered = default_covered;  // what was asked for; FieldReport has the outcome for each field
  uint64_t raw_bytes = 0;             // every cell of every box, no ghosts
  uint64_t file_bytes = 0;
  uint64_t data_bytes = 0;  // put into the file: the frames, or the values with their ghosts
  // Of data_bytes, what went to the ranks' stages (WriteOptions::stage); less than all where one was full.
  uint64_t staged_bytes = 0;
  // MPI-IO write calls of all ranks, including empty ones in collective writes; where each rank writes for
  // itself, the regions that they write. Calls that HDF5 makes (strategy filtered) are not counted: 0.
  uint64_t mpi_writes = 0;
  // The hints for those calls, as the MPI library reports them; where each rank writes for itself, those that
  // the file was made with; empty for filtered.
  std::map<std::string, std::string> hints;
  std::vector<LevelReport> levels;        // of a plotfile
  std::vector<VariableReport> variables;  // of a checkpoint
  // Times of the slowest rank. sync: making the file durable and renaming it.
  double plan_seconds = 0, encode_seconds = 0, place_seconds = 0, write_seconds = 0, sync_seconds = 0;
};

// Writes `path` (HDF5) under a temporary name in the same directory, fsyncs and renames. On any error nothing
// is left behind and an earlier file at `path` is whole. `owned` may be empty on some ranks.
// Where an earlier call's file is lost that was written behind (WriteOptions::behind), the error is that
// file's, which it names, and says so; the file of this call is written all the same.
Result<WriteReport> write_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                   Span<const LocalBox> owned, const WriteOptions& options);

// The same for a caller who gets the other arguments out of something else: `given` is what has become of
// that on this rank. An error there is the error of the write, on all ranks, which need not agree on it
// before: they do so in the write's first exchange. The other arguments of a rank that passes an error are
// not looked at. `earlier`: where it is given, the error of an earlier call's file goes there, which is the
// same on every rank, and the result is of this call's file alone.
Result<WriteReport> write_plotfile_if(MPI_Comm comm, const Status& given, const std::string& path,
                                      const Hierarchy& hierarchy, Span<const LocalBox> owned,
                                      const WriteOptions& options, Status* earlier = nullptr);

// The same of values that do not fit into memory: each rank reads its boxes (distribute_boxes) from `values`,
// a few chunks at a time, ahead of encoding and writing them; the frames wait in a scratch file beside
// `path`. The boxes of values.hierarchy() are those of `hierarchy` in the same order, with options.ghosts
// layers around them. Values are read once where `values` states its ranges and they turn out to be true,
// else twice; with strategies filtered and amrex-1d and with cross_level all are held in memory. They are
// read by another thread than the caller's.
Result<WriteReport> write_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                   PlotfileSource& values, const WriteOptions& options);

// Waits until every file that calls on `comm` write behind (WriteOptions::behind) has its name. An error is
// that of the first file that is lost and that no call has told of.
Status wait_for_writes(MPI_Comm comm);

// Writes an AMReX native plotfile directory, with the same promises (the directory is renamed when complete).
Status write_amrex_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                            Span<const LocalBox> owned);

// The same of values that do not fit into memory, of values.hierarchy(): each rank reads its boxes a few MiB
// at a time, ahead of writing them. `progress`: called on rank 0 only, from the calling thread, with a
// fraction in 0..1. Must not throw.
Status write_amrex_plotfile(MPI_Comm comm, const std::string& path, PlotfileSource& values,
                            const std::function<void(double fraction)>& progress = {});

}  // namespace neve
#pragma GCC visibility pop
