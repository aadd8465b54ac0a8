// SPDX-License-Identifier: BSD-3-Clause
// Writing a hierarchy from all ranks of a communicator. Everything here is collective over `comm` unless it
// says otherwise, and every rank returns the same Status. To be called between MPI_Init and MPI_Finalize on a
// communicator of a single group; by several threads at a time under MPI_THREAD_MULTIPLE, each on a
// communicator of its own.
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
#include "neve/selection_memory.hpp"
#include "neve/span.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

// A box this rank owns. Every box of the hierarchy is owned by exactly one rank; a rank may own none.
struct LocalBox {
  int level = 0;
  int box = 0;   // index into hierarchy.levels[level].boxes
  BoxData data;  // of hierarchy.dtype, from the first valid cell on; stays the caller's
  // Layers of cells around the valid ones that data's strides reach. BoxData::data still points at the first
  // valid cell.
  IntVect ghosts{0, 0, 0};
};

// What becomes of cells that a finer level covers.
//   keep       all are stored: every value that any reader gets is within the bound
//   automatic  left out where the average of the finer values is within the bound
//   drop       left out
// Neve's readers put that average in the place of what is left out. Others (h5py, yt, VisIt) get finite
// values that stand in for it and may be far off.
enum class Covered : uint8_t { automatic, drop, keep };
// What is done unless something else is asked for; the only place that says so.
inline constexpr Covered default_covered = Covered::keep;
Result<Covered> parse_covered(const std::string& name);  // independent: "auto", "drop", "keep"
const char* covered_name(Covered covered);               // its inverse; "unknown" of no treatment

struct FieldRule {
  std::optional<Bound> bound;
  std::optional<Codec> codec;
  std::optional<CodecTuning> tuning;
  std::optional<double> fill;
};

struct WriteOptions {
  // false: a contiguous dataset a level, of the values as they are. What concerns codecs, bounds, covered
  // cells and chunks then has no effect.
  bool compress = true;
  // Layers of ghost cells written around every box; at most what every LocalBox has. Compressed, relative
  // bounds stay those of the valid cells' range, and arrangement is linear.
  IntVect ghosts{0, 0, 0};
  Bound bound;                              // for fields without a rule
  std::map<std::string, FieldRule> fields;  // by component name; an unknown name is a usage error
  Codec codec = Codec::automatic;
  CodecTuning tuning;
  Covered covered = default_covered;
  // Decoded values of the next coarser level around the boxes help to predict the finer ones, in fields whose
  // covered cells that level keeps, under codecs interpolation and context, where it is smaller. Such chunks
  // are read by Neve alone: HDF5's plugin, which sees one chunk at a time, refuses them.
  bool cross_level = false;
  bool detect_fill = true;
  // How what the ranks hold reaches the file, whose structure rank 0 has written before; pieces are frames,
  // uncompressed they are boxes. The datasets' contents are the same whichever of these is asked for:
  //   skeleton     all pieces of all levels in one collective write
  //   aggregated   the pieces of a level in one collective write, or aggregate_boxes of them after each other
  //   collective   a collective write for each rank's first piece of a level, its second, ...
  //   independent  a write of its own for every piece
  // For comparison of compressed files alone. filtered: HDF5's collective filtered write, a rank's whole
  // level one chunk (AMRIC). amrex-1d: 1024 elements a chunk, each a 1D array of its own, every cell stored
  // (AMReX).
  std::string strategy = "skeleton";
  int aggregate_boxes = 0;  // strategy aggregated: pieces of a rank that one collective write takes; 0: all
  uint64_t chunk_bytes = uint64_t{8} << 20;  // most logical bytes of skeleton's chunks, 64 KiB .. 1 GiB
  EncodeOptions encode;
  // Of a series of writes: what codec auto, and codec lossless among its methods, chose before. Null: every
  // write weighs anew.
  std::shared_ptr<SelectionMemory> memory;
  FileLayout layout;  // becomes hints
  // Of a plotfile that is written again: the HDF5 plotfile (of Chombo, AMReX or Neve, with the same levels)
  // whose attributes (dt, iteration, max_level, ...) and objects beside the levels rank 0 takes over. Empty:
  // none.
  std::string like;
  // MPI-IO hints (striping_factor, cb_nodes, ...) over those of the layout; those of the environment variable
  // NEVE_MPI_HINTS ("key=value;key=value") come on top.
  std::map<std::string, std::string> mpi_hints;
  // Called on rank 0 only, from the calling thread, as work gets done: phase name and fraction in 0..1. Must
  // not throw.
  std::function<void(const std::string& phase, double fraction)> progress;
};

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
  uint64_t stored_bytes = 0;  // frames' bytes shared out by section size
  uint64_t codec_bytes = 0;   // of its sections alone, without headers and tables that a frame shares
  double range_min = 0, range_max = 0;  // NaN in uncompressed files: not looked at
  std::optional<double> fill;
  std::string codec;                                  // of most of its cells; "none" in uncompressed files
  LosslessMethod method = LosslessMethod::automatic;  // likewise, of codec lossless
  std::string chosen;       // why that codec: "asked for", "recalled", "dual_quant would take 1.21x", ...
  std::string arrangement;  // likewise: "linear", "cluster 16", "in_place", ...
  std::string covered;      // "none", "dropped", "kept: <why>"
  std::optional<Explanation>
      explanation;  // with EncodeOptions::explain; without sections where none was weighed
};

struct LevelReport {
  uint64_t chunk_elements = 0;
  uint64_t chunks = 0;
  uint64_t stored_bytes = 0;
  std::vector<FieldReport> fields;
};

struct VariableReport {
  std::string name;
  std::vector<LevelReport> levels;  // their cells and raw bytes have the ghosts among them
};

struct WriteReport {                  // the same on every rank
  Covered covered = default_covered;  // what was asked for; FieldReport says what became of it
  uint64_t raw_bytes = 0;             // every cell of every box, no ghosts
  uint64_t file_bytes = 0;
  uint64_t data_bytes = 0;  // given to MPI-IO: the frames, or the values with their ghosts
  // MPI-IO write calls of all ranks, empty ones in collective writes among them. Calls that HDF5 makes
  // (strategy filtered) are not seen: 0.
  uint64_t mpi_writes = 0;
  // What the MPI library made of the hints for those calls, as it answers when asked; empty for filtered.
  std::map<std::string, std::string> hints;
  std::vector<LevelReport> levels;        // of a plotfile
  std::vector<VariableReport> variables;  // of a checkpoint
  // Of the slowest rank. sync: making the file durable and renaming it.
  double plan_seconds = 0, encode_seconds = 0, place_seconds = 0, put_seconds = 0, sync_seconds = 0;
};

// Writes `path` (HDF5) under a temporary name in the same directory, fsyncs and renames. On any error nothing
// is left behind and an earlier file at `path` is whole. `owned` may be empty on some ranks.
Result<WriteReport> write_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                   Span<const LocalBox> owned, const WriteOptions& options);

// Writes an AMReX native plotfile directory, same promises (directory renamed when complete).
Status write_amrex_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                            Span<const LocalBox> owned);

}  // namespace neve
#pragma GCC visibility pop
