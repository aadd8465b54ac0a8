// SPDX-License-Identifier: BSD-3-Clause
// What can be asked of a write. By name and as text: neve/options.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "neve/box.hpp"
#include "neve/file_layout.hpp"
#include "neve/frame.hpp"
#include "neve/selection_memory.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

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

  auto fields() const {  // all of them, or this does not compile
    const auto& [a, b, c, d] = *this;
    return std::tie(a, b, c, d);
  }
};

// Usage error unless 64 KiB to 1 GiB.
Status check_chunk_bytes(uint64_t bytes);

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
  std::optional<double> fill;  // of fields without one in their rule; none: detected
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
  uint64_t chunk_bytes = uint64_t{8} << 20;  // most logical bytes of skeleton's chunks, as check_chunk_bytes
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

  auto members() const {  // all of them, or this does not compile
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = *this;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  }
};

}  // namespace neve
#pragma GCC visibility pop
