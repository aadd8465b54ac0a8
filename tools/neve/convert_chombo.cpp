// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/convert_chombo.hpp"

#include "io/hdf5/amr_file.hpp"
#include "tools/neve/data_file.hpp"

namespace neve::cli {

Result<bool> is_chombo_checkpoint(const std::string& path) {
  NEVE_ASSIGN(const hdf5::AmrFile found, hdf5::recognize_amr_file(path));
  return found.kind == hdf5::AmrFileKind::chombo_checkpoint;
}

Status convert_chombo_checkpoint(const Ranks& ranks, const std::string& source,
                                 const std::string& destination,
                                 const datafile::CheckpointCopyOptions& options, bool bound_is_default,
                                 bool json) {
  const std::string kind(hdf5::amr_file_kind_name(hdf5::AmrFileKind::chombo_checkpoint));
  return copy_and_report(ranks, source, destination, kind, options.copy, bound_is_default, json,
                         [&](const datafile::CopyOptions& copy) {
                           return datafile::copy_checkpoint(source, destination, {copy, options.compress});
                         });
}

}  // namespace neve::cli
