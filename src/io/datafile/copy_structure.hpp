// SPDX-License-Identifier: BSD-3-Clause
// Everything of a copy but the frames: objects, links, attributes, and the values that Neve does not code.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/datafile/contents.hpp"
#include "io/datafile/plan.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/skip_driver.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// The file that grows. HDF5 lays it out; chunks are written here, at the places it gives them, so that these
// are known: asked for a chunk's place, HDF5 1.10 goes through all chunks.
class TargetFile {
 public:
  // Empty but for the root group, with what the source's file says of itself.
  static Result<TargetFile> create(hid_t source, const std::string& path, const CopyPlan& plan);
  TargetFile(TargetFile&& other) noexcept;
  TargetFile& operator=(TargetFile&&) = delete;
  ~TargetFile();

  hid_t id() const { return file_.id(); }
  // The chunk that begins at `first`, as it is to be stored. Gives its place in the file.
  Result<uint64_t> put_chunk(hid_t dataset, const Extent& first, uint32_t filter_mask,
                             std::span<const std::byte> bytes);
  Status close();

 private:
  TargetFile() = default;
  std::string path_;
  std::unique_ptr<hdf5::SkipDriverState> driver_ = std::make_unique<hdf5::SkipDriverState>();
  hdf5::Handle file_;  // closed before what its driver needs
  int descriptor_ = -1;
};

// Makes the objects and links of the target in the order of the source's. A coded variable is made without a
// link first, so that it can be given up again when its frames turn out to be no gain: HDF5 removes an object
// without links when it is closed, and uses its space again.
class StructureCopy {
 public:
  // All of them outlive this object, `target` is still open at its end. What `plan` says of a variable may
  // change until it is linked.
  StructureCopy(hid_t source, hid_t target, const Contents& contents, const CopyPlan& plan,
                uint64_t& lost_references);
  ~StructureCopy();

  // The coded variable with that number in the plan, as an open dataset.
  Result<hdf5::Handle> make_unlinked(size_t variable);
  // Gives it its name, after everything that stands before it. To be called in the order of the plan.
  Status link(size_t variable, hid_t dataset);
  // Whatever is not made yet; then attributes, whose references need all of that, and the values of datasets
  // that are not coded.
  Status finish();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

// What stands before the HDF5 part of the file, the user's own. HDF5 has left room for it.
Status copy_user_block(hid_t source, const std::string& source_path, const std::string& target_path);

}  // namespace neve::datafile
