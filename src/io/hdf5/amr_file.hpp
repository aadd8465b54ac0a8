// SPDX-License-Identifier: BSD-3-Clause
// Which HDF5 files are plotfiles, which are checkpoints, and whose. The one place where that is decided.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "neve/status.hpp"

namespace neve::hdf5 {

enum class AmrFileKind : uint8_t {
  neve_checkpoint,
  neve_plotfile,
  amrex_plotfile,
  chombo_checkpoint,  // of Chombo itself, of BISICLES, of any code on top of Chombo
  chombo_plotfile,
};
std::string_view amr_file_kind_name(AmrFileKind kind);  // "Chombo checkpoint", ...
inline bool is_checkpoint(AmrFileKind kind) {
  return kind == AmrFileKind::neve_checkpoint || kind == AmrFileKind::chombo_checkpoint;
}

struct AmrFile {
  AmrFileKind kind = AmrFileKind::chombo_plotfile;
  std::string reason;  // what in the file decided, for people
};

// Of a file with a group Chombo_global, by the first of these that holds:
//   group /neve/variables                                             checkpoint of Neve
//   group /neve                                                       plotfile of Neve
//   attribute plotfile_type of the root                               plotfile of AMReX
//   attribute regrid_interval_<n>, steps_since_regrid_<n>, tag_buffer_size or is_periodic_<n> of the root or
//     of a level: what a run needs to go on, and nobody to draw        checkpoint of Chombo
//   dataset level_<n>/<name>:datatype=<k> with <name>:offsets=<k>, and another name than "data": one for
//     each variable, as BISICLES writes its checkpoints                checkpoint of Chombo
//   none of them                                                      plotfile of Chombo
// `iteration`, `max_level`, `time` and `dt` decide nothing, nor do the names of components: Chombo writes
// them into both. A plotfile that is taken for a checkpoint is kept exactly; the other way round values would
// be lost, so what is in doubt is a checkpoint. Errors: usage (no group Chombo_global), corrupt.
Result<AmrFile> recognize_amr_file(hid_t file);

// The same of a path. Errors: failure too.
Result<AmrFile> recognize_amr_file(const std::string& path);

// Why a file without a group Chombo_global is none.
Status no_amr_file(hid_t file);

// The name before ":datatype=<k>" of a dataset with boxes' values; empty for any other name.
std::string boxed_base(const std::string& dataset_name);

}  // namespace neve::hdf5
