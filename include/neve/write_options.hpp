// SPDX-License-Identifier: BSD-3-Clause
// Options of a write. The same by name and as text: neve/options.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "neve/box.hpp"
#include "neve/file_layout.hpp"
#include "neve/frame.hpp"
#include "neve/members.hpp"
#include "neve/selection_memory.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

// How cells that a finer level covers are stored.
//   keep       all are stored: every value that any reader gets is within the bound
//   automatic  left out where the average of the finer values is within the bound
//   drop       left out
// Neve's readers return that average for left-out cells. Others (h5py, yt, VisIt) get finite stand-in values,
// which may be far off.
enum class Covered : uint8_t { automatic, drop, keep };
// The default, defined only here.
inline constexpr Covered default_covered = Covered::keep;
Result<Covered> parse_covered(const std::string& name);  // independent: "auto", "drop", "keep"
const char* covered_name(Covered covered);               // its inverse; "unknown" for any other number

// What a write still does when its call has returned. The data go into the file behind the caller's back, by
// a thread of each rank that calls neither MPI nor HDF5.
//   none    nothing: the file is whole and has its name
//   encode  the values are compressed in the call, and the caller's again when it returns
//   copy    the values are only copied in the call, and compressed behind
// The file gets its name when all ranks have put their parts, without any further call (with copy the next
// call has to agree on its place); at the latest in wait_for_writes, when the communicator is freed, or in
// MPI_Finalize, which tells errors to standard error. When a call returns, at most two files are still on
// their way: it waits until there is room. Its report says what is known then. With copy the ranks must not
// have to meet while they compress: covered is keep or drop, and cross_level false.
enum class Behind : uint8_t { none, encode, copy };
Result<Behind> parse_behind(const std::string& name);  // independent: "none", "encode", "copy"
const char* behind_name(Behind behind);                // its inverse; "unknown" for any other number

struct FieldRule {
  std::optional<Bound> bound;
  std::optional<Codec> codec;
  std::optional<CodecTuning> tuning;
  std::optional<double> fill;

  auto fields() const { return all_members<4>(*this); }
};

// Usage error unless 64 KiB to 1 GiB.
Status check_chunk_bytes(uint64_t bytes);

inline constexpr int default_chunk_values = 1024;  // AMReX's
// Usage error unless 1 to 2^24.
Status check_chunk_values(int64_t values);

struct WriteOptions {
  // false: one contiguous dataset for each level, with uncompressed values. Options of codecs, bounds,
  // covered cells and chunks then have no effect.
  bool compress = true;
  // Layers of ghost cells written around every box; every LocalBox must have at least as many. In compressed
  // files relative bounds still refer to the range of the valid cells, and arrangement is linear.
  IntVect ghosts{0, 0, 0};
  Bound bound;                              // for fields without a rule
  std::map<std::string, FieldRule> fields;  // by component name; an unknown name is a usage error
  Codec codec = Codec::automatic;
  CodecTuning tuning;
  Covered covered = default_covered;
  // Finer levels may be predicted with decoded values of the next coarser level around their boxes: with
  // codecs interpolation and context, in fields whose covered cells that level keeps, where it is smaller.
  // Only Neve reads such chunks: HDF5's plugin, which sees one chunk at a time, refuses them.
  bool cross_level = false;
  std::optional<double> fill;  // for fields without one in their rule; none: detected
  bool detect_fill = true;
  // How the ranks' data are written into the file, before rank 0 writes its structure. Pieces are frames,
  // in uncompressed files boxes. All of these give the same contents of the datasets:
  //   skeleton     frames by each rank for itself, unless something is asked of MPI-IO (layout, mpi_hints);
  //                boxes all in one collective write
  //   aggregated   the pieces of a level in one collective write, or in several of aggregate_boxes pieces
  //   collective   a collective write for each rank's first piece of a level, its second, ...
  //   independent  a write of its own for every piece
  // For comparison of compressed files alone. filtered: HDF5's collective filtered write, a rank's whole
  // level one chunk (AMRIC). amrex-1d: chunk_values elements a chunk, each a 1D array of its own, every cell
  // stored (AMReX).
  std::string strategy = "skeleton";
  int aggregate_boxes = 0;  // strategy aggregated: pieces of a rank in one collective write; 0: all
  int chunk_values = default_chunk_values;  // strategy amrex-1d: elements in a chunk, see check_chunk_values
  uint64_t chunk_bytes =
      uint64_t{8} << 20;  // most bytes of values in a chunk, see check_chunk_bytes; not in those two
  EncodeOptions encode;
  // Other than none: with compressed values in memory, strategies skeleton and amrex-1d, no aggregators, no
  // buffer_bytes and no `like`. Hints that are not about how a file is made then have no effect.
  Behind behind = Behind::none;
  // A folder on a fast device of each rank's machine (NVMe, a burst buffer, /dev/shm), for files that are
  // written behind; behind none is encode with it. Frames go there as they are made, and from there into the
  // file behind the caller's back, so that the run holds none, and up to 64 files may be under way. Ranks may
  // name different folders, but all or none name one. Where it is full the write waits while earlier files
  // leave it; frames for which there is no room then stay in memory. What lies there has no name, and is gone
  // with the process. Empty: none.
  std::string stage;
  uint64_t stage_bytes = 0;  // most that a rank's frames may take there; 0: until it is full
  // For a series of writes: remembers what codec auto, and codec lossless among its methods, chose before.
  // Null: every write chooses anew. Each rank has its own, or none.
  std::shared_ptr<SelectionMemory> memory;
  FileLayout layout;  // becomes hints
  // When a plotfile is written again: the HDF5 plotfile (of Chombo, AMReX or Neve, with the same levels) from
  // which rank 0 copies attributes (dt, iteration, max_level, ...) and objects beside the levels. Empty:
  // none.
  std::string like;
  // MPI-IO hints (striping_factor, cb_nodes, ...); they override those of the layout. Hints of the
  // environment variable NEVE_MPI_HINTS ("key=value;key=value") override both.
  std::map<std::string, std::string> mpi_hints;
  // Called during the write on rank 0 only, from the calling thread: phase name and fraction in 0..1. Must
  // not throw.
  std::function<void(const std::string& phase, double fraction)> progress;

  auto members() const { return all_members<23>(*this); }
};

// Independent. What is done behind: as WriteOptions::behind says, and encode where only a stage is named.
Behind behind_of(const WriteOptions& options);
// Independent. Usage error where WriteOptions::behind or stage is not allowed with the other options.
Status check_behind(const WriteOptions& options);

}  // namespace neve
#pragma GCC visibility pop
