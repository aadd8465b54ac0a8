// SPDX-License-Identifier: BSD-3-Clause
// What happens to each dataset of a data file, decided before anything is written.
#pragma once

#include <hdf5.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/datafile/boxed_frames.hpp"
#include "io/datafile/contents.hpp"
#include "io/datafile/copy.hpp"
#include "io/datafile/grid.hpp"
#include "io/datafile/variable.hpp"
#include "neve/frame.hpp"

namespace neve::datafile {

// VariablePlan::why_not where a rule says that it stays.
inline constexpr const char* stays_by_rule = "a rule";

struct VariablePlan {
  Variable variable;
  bool is_coded = false;
  std::string why_not;
  // Where it keeps every bit although a bound was given for the whole file or by a pattern: why.
  std::optional<GridReason> kept_as_grid;
  Extent chunk;         // of the result, where it is coded
  Bound asked;          // what the user said
  ArrayOptions encode;  // of a chunk: `asked` as an absolute bound
  // The source's chunks are the result's: one that is not stored is not stored again.
  bool same_chunks = false;
  bool can_stay = true;  // HDF5 can write the filters that it has
  // Frames that take as much in all are no gain: the variable then stays as it is stored. The indices of
  // chunks are taken into account. Nothing where a codec or method is asked for by name, or it cannot stay.
  std::optional<uint64_t> no_gain_bytes;
  // Its elements are those of boxes, and `encode` does not count but for its EncodeOptions. Null: an array.
  std::shared_ptr<const BoxedPlan> boxed;
  bool is_plain = false;  // not coded, and stored without any filter

  ChunkGrid grid() const { return {variable.dims, chunk}; }
  hdf5::FilterParameters filter() const;
};

struct CopyPlan {
  std::vector<VariablePlan> variables;  // datasets in the order of Contents::entries

  // All that decides what the frames hold, as text: equal for two copies whose frames may be exchanged.
  std::string key() const;
};

// Reads values only where a bound is relative to their range. Errors: usage (a rule that matches nothing),
// corrupt, plugin_missing.
Result<CopyPlan> make_plan(hid_t file, const Contents& contents, const CopyOptions& options);

}  // namespace neve::datafile
