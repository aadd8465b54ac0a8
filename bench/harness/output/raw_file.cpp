// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>

#include "bench/harness/output/containers.hpp"
#include "parallel/file/openable_path.hpp"
#include "parallel/file/space.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/file/written.hpp"

namespace neve::apps {
namespace {

using mpi::mpi_status;

MPI_Datatype mpi_type(DType dtype) {
  switch (dtype_bytes(dtype)) {
    case 1:
      return MPI_BYTE;
    case 2:
      return MPI_INT16_T;
    case 4:
      return MPI_INT32_T;
    default:
      return MPI_INT64_T;
  }
}

// A region of an array in a file, as MPI-IO wants it.
class Region {
 public:
  static Result<Region> make(const ArraySpec& spec, const Shape& start, const Shape& count) {
    Region region;
    region.element_ = mpi_type(spec.dtype);
    region.is_empty_ = value_count(count) == 0;
    if (value_count(count) > static_cast<uint64_t>(INT32_MAX) ||
        *std::max_element(spec.shape.begin(), spec.shape.end()) > static_cast<uint64_t>(INT32_MAX)) {
      return usage_error(fmt::format("{}: a rank's part has {} values; at most 2147483647 can be written raw",
                                     spec.name, value_count(count)));
    }
    region.count_ = static_cast<int>(value_count(count));
    if (region.is_empty_) return region;
    const std::vector<int> shape(spec.shape.begin(), spec.shape.end()), sizes(count.begin(), count.end()),
        first(start.begin(), start.end());
    NEVE_TRY(mpi_status(MPI_Type_create_subarray(static_cast<int>(shape.size()), shape.data(), sizes.data(),
                                                 first.data(), MPI_ORDER_C, region.element_, &region.view_),
                        "MPI_Type_create_subarray"));
    NEVE_TRY(mpi_status(MPI_Type_commit(&region.view_), "MPI_Type_commit"));
    return region;
  }
  Region(Region&& other) noexcept
      : element_(other.element_),
        view_(std::exchange(other.view_, MPI_DATATYPE_NULL)),
        count_(other.count_),
        is_empty_(other.is_empty_) {}
  Region& operator=(Region&&) = delete;
  ~Region() {
    if (view_ != MPI_DATATYPE_NULL) MPI_Type_free(&view_);
  }

  Status select(MPI_File file, uint64_t offset) const {
    return mpi_status(MPI_File_set_view(file, static_cast<MPI_Offset>(offset), element_,
                                        is_empty_ ? element_ : view_, "native", MPI_INFO_NULL),
                      "MPI_File_set_view");
  }
  int count() const { return count_; }
  MPI_Datatype element() const { return element_; }
  uint64_t bytes(DType dtype) const { return static_cast<uint64_t>(count_) * dtype_bytes(dtype); }

 private:
  Region() = default;
  MPI_Datatype element_ = MPI_BYTE, view_ = MPI_DATATYPE_NULL;
  int count_ = 0;
  bool is_empty_ = true;
};

uint64_t bytes_of(const ArraySpec& spec) { return value_count(spec.shape) * dtype_bytes(spec.dtype); }

class RawReader : public ArrayReader {
 public:
  RawReader(MPI_File file, mpi::OpenablePath name, std::span<const ArraySpec> arrays)
      : name_(std::move(name)), file_(file), arrays_(arrays.begin(), arrays.end()) {}
  ~RawReader() override { MPI_File_close(&file_); }
  RawReader(const RawReader&) = delete;
  RawReader& operator=(const RawReader&) = delete;

  Status read(size_t index, const Shape& start, const Shape& count, void* out) override {
    uint64_t offset = 0;
    for (size_t i = 0; i < index; ++i) offset += bytes_of(arrays_[i]);
    NEVE_ASSIGN(const Region region, Region::make(arrays_[index], start, count));
    NEVE_TRY(region.select(file_, offset));
    MPI_Status status;
    NEVE_TRY(mpi_status(MPI_File_read_all(file_, out, region.count(), region.element(), &status),
                        arrays_[index].name));
    int got = 0;
    MPI_Get_count(&status, region.element(), &got);
    if (got == region.count()) return {};
    return corrupt(
        fmt::format("{}: {} of {} values are in the file", arrays_[index].name, got, region.count()));
  }

 private:
  mpi::OpenablePath name_;
  MPI_File file_;
  std::vector<ArraySpec> arrays_;
};

}  // namespace

Status write_raw(const mpi::Comm& comm, const std::string& path, std::span<const ArrayPart> parts) {
  MPI_File file = MPI_FILE_NULL;
  mpi::OpenablePath name;
  NEVE_TRY(mpi::open_file(comm, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, name,
                          file));
  // The room first: a full disk is not found by collective writes under every MPI.
  uint64_t total = 0;
  for (const ArrayPart& part : parts) total += bytes_of(part.spec);
  Status status =
      mpi::agree(comm, comm.rank() == 0 && total > 0 ? mpi::reserve_space(path, total) : Status());
  uint64_t offset = 0;
  for (const ArrayPart& part : parts) {
    if (!status.ok()) break;
    // Parts of every rank are known to be well, or none writes: the calls are collective.
    const Result<Region> region = Region::make(part.spec, part.start, part.count);
    status = mpi::agree(comm, region.ok() ? region->select(file, offset) : region.status());
    if (!status.ok()) break;
    MPI_Status written;
    status = mpi_status(MPI_File_write_all(file, part.values, region->count(), region->element(), &written),
                        path + ": " + part.spec.name);
    if (status.ok())
      status = mpi::check_written(written, region->bytes(part.spec.dtype), path + ": " + part.spec.name);
    status = mpi::agree(comm, status);
    if (!status.ok()) break;
    offset += bytes_of(part.spec);
  }
  const Status closed = mpi_status(MPI_File_close(&file), path + ": closing");
  return mpi::agree(comm, status.ok() ? closed : status);
}

Result<std::unique_ptr<ArrayReader>> open_raw(const std::string& path, std::span<const ArraySpec> arrays) {
  NEVE_ASSIGN(mpi::OpenablePath name, mpi::OpenablePath::of(path));
  MPI_File file = MPI_FILE_NULL;
  NEVE_TRY(
      mpi_status(MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file), path));
  return std::unique_ptr<ArrayReader>(std::make_unique<RawReader>(file, std::move(name), arrays));
}

}  // namespace neve::apps
