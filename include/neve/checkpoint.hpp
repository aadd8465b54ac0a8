// SPDX-License-Identifier: BSD-3-Clause
// Writing checkpoints from all ranks of a communicator. Reading them: checkpoint_reader.hpp.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "neve/checkpoint_reader.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/span.hpp"
#include "neve/status.hpp"

#pragma GCC visibility push(default)
namespace neve {

// Collective over `comm`; every rank returns the same Status. Writes all variables of all levels with the
// same strategy: `skeleton` writes all of them in one collective write, for the others a dataset is one
// variable of one level. boxes[v] are this rank's boxes of variables[v]. Every box of the hierarchy has one
// owner, which may differ between variables. All values are of type hierarchy.dtype, and no covered cell is
// left out. Only these `options` are used: strategy (not filtered, not amrex-1d), aggregate_boxes,
// chunk_bytes, encode, behind, layout, mpi_hints and progress. Same promises as write_plotfile. `earlier`: as
// of write_plotfile_if.
Result<WriteReport> write_checkpoint(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                     Span<const Variable> variables, Span<const std::vector<LocalBox>> boxes,
                                     const WriteOptions& options, Status* earlier = nullptr);

// The same for a caller who gets the other arguments out of something else: `given` as of write_plotfile_if.
Result<WriteReport> write_checkpoint_if(MPI_Comm comm, const Status& given, const std::string& path,
                                        const Hierarchy& hierarchy, Span<const Variable> variables,
                                        Span<const std::vector<LocalBox>> boxes, const WriteOptions& options,
                                        Status* earlier = nullptr);

// The same of values that do not fit into memory (write_plotfile of a source): *values[v] are those of
// variables[v], its boxes those of the hierarchy with the variable's ghosts around them.
Result<WriteReport> write_checkpoint(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                     Span<const Variable> variables, Span<PlotfileSource* const> values,
                                     const WriteOptions& options);

}  // namespace neve
#pragma GCC visibility pop
