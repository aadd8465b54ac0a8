// SPDX-License-Identifier: BSD-3-Clause
// What a write would take where files have no stripes: a disk of the machine that the ranks share.
#pragma once

#include "core/io_model/file_pieces.hpp"
#include "core/io_model/mpi_io.hpp"
#include "core/io_model/predict.hpp"

namespace neve::io_model {

// One target. Its numbers were measured on one machine, whose page cache takes what is written
// (docs/plan.md): node_bytes_per_second is the rate at which bytes are copied from rank to rank and into the
// cache.
FileSystem local_disk();

// Ranks copy side by side into the page cache, aggregators for the others, to whom the bytes are brought
// first; then the disk takes them. Bytes that are read and written back are copied twice. A call of which
// each rank writes its own part makes nobody wait.
Prediction predict_unstriped(const FilePieces& file, const Way& way, const Buffering& buffering,
                             const FileSystem& disk);

// Of frames that each rank writes for itself.
Prediction predict_direct(const FilePieces& file, const FileSystem& disk);

}  // namespace neve::io_model
