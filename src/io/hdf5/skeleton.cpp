// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/skeleton.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <cstring>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/skeleton_objects.hpp"
#include "io/hdf5/skip_driver.hpp"

namespace neve::hdf5 {
namespace {

constexpr uint64_t max_chunk_bytes = 0xffffffff;  // HDF5 keeps a chunk's size in 32 bits

Status check_placement(const Hierarchy& h, size_t l, const LevelPlacement& placement) {
  const Level& level = h.levels[l];
  if (placement.box_offsets.size() != level.boxes.size() + 1 ||
      placement.processors.size() != level.boxes.size()) {
    return usage_error(
        fmt::format("level {}: {} box offsets and {} owners for {} boxes; {} and {} are needed", l,
                    placement.box_offsets.size(), placement.processors.size(), level.boxes.size(),
                    level.boxes.size() + 1, level.boxes.size()));
  }
  const size_t places = placement.compressed ? placement.frame_bytes.size() : 1;
  if (!placement.addresses.empty() && placement.addresses.size() != places) {
    return usage_error(fmt::format("level {}: {} addresses for {} pieces of data; as many are needed", l,
                                   placement.addresses.size(), places));
  }
  if (!placement.compressed) return {};
  if (placement.chunk_elements < 1 || placement.chunk_elements > max_chunk_bytes / dtype_bytes(h.dtype)) {
    return usage_error(fmt::format("level {}: a chunk of {} elements; 1 to {} are allowed", l,
                                   placement.chunk_elements, max_chunk_bytes / dtype_bytes(h.dtype)));
  }
  if (placement.frame_bytes.empty()) return usage_error(fmt::format("level {} has no frames", l));
  for (size_t k = 0; k < placement.frame_bytes.size(); ++k) {
    if (placement.frame_bytes[k] < 1 || placement.frame_bytes[k] > max_chunk_bytes) {
      return usage_error(fmt::format("level {}: frame {} has {} bytes; 1 to {} are allowed", l, k,
                                     placement.frame_bytes[k], max_chunk_bytes));
    }
  }
  return {};
}

// The system's reason says more than HDF5's "unable to write": put it first when there is one.
Status explain(const Status& status, const std::string& path, const SkipDriverState& driver) {
  if (driver.system_error == 0) return status.in(path);
  return failure(
      fmt::format("{}: cannot {}: {}", path, driver.failed_operation, std::strerror(driver.system_error)));
}

// Calls write(file, driver) on the file, which is emptied or has values up to `data_end`.
template <class Write>
auto write_whole_file(const std::string& path, uint64_t data_end, HeldFile* held, Write&& write)
    -> decltype(write(hid_t{}, static_cast<SkipDriverState*>(nullptr))) {
  const QuietErrors quiet;
  NEVE_TRY(register_filter());
  SkipDriverState driver;
  driver.data_end = data_end;
  driver.held = held;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  NEVE_TRY(use_skip_driver(access.id(), &driver));
  // Newer formats index 1e5 chunks twenty times slower than the oldest one.
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file.valid()) {
    return explain(failure("HDF5 cannot create it: " + last_error()), path, driver);
  }
  auto addresses = write(file.id(), &driver);
  if (!addresses.ok()) return explain(addresses.status(), path, driver);
  if (!file.close()) {
    return explain(failure("HDF5 cannot finish it: " + last_error()), path, driver);
  }
  if (driver.system_error != 0) return explain(failure("it is incomplete"), path, driver);
  return addresses;
}

Status check_placements(const std::string& path, const Hierarchy& h,
                        const std::vector<LevelPlacement>& levels) {
  if (levels.size() != h.levels.size()) {
    return usage_error(fmt::format("{}: {} placements for {} levels", path, levels.size(), h.levels.size()));
  }
  for (size_t l = 0; l < levels.size(); ++l) NEVE_TRY(check_placement(h, l, levels[l]).in(path));
  return {};
}

Result<FrameAddresses> write_plotfile_skeleton(const std::string& path, const Hierarchy& h,
                                               const std::vector<LevelPlacement>& levels,
                                               const std::string& like, uint64_t data_end, HeldFile* held,
                                               bool with_datasets) {
  NEVE_TRY(check_placements(path, h, levels));
  return write_whole_file(path, data_end, held, [&](hid_t file, SkipDriverState* driver) {
    return make_plotfile_objects({file, driver}, h, levels, like, with_datasets);
  });
}

}  // namespace

Result<FrameAddresses> write_skeleton(const std::string& path, const Hierarchy& h,
                                      const std::vector<LevelPlacement>& levels, const std::string& like,
                                      uint64_t data_end, HeldFile* held) {
  return write_plotfile_skeleton(path, h, levels, like, data_end, held, true);
}

Status write_description(const std::string& path, const Hierarchy& h,
                         const std::vector<LevelPlacement>& levels, const std::string& like) {
  return write_plotfile_skeleton(path, h, levels, like, 0, nullptr, false).status();
}

Result<CheckpointAddresses> write_checkpoint_skeleton(const std::string& path, const Hierarchy& h,
                                                      const std::vector<VariablePlacement>& variables,
                                                      uint64_t data_end, HeldFile* held) {
  if (variables.empty()) return usage_error(path + ": a checkpoint needs at least one variable");
  for (const VariablePlacement& variable : variables) NEVE_TRY(check_placements(path, h, variable.levels));
  return write_whole_file(path, data_end, held, [&](hid_t file, SkipDriverState* driver) {
    return make_checkpoint_objects({file, driver}, h, variables);
  });
}

}  // namespace neve::hdf5
