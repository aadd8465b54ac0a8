// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/paid_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"

namespace neve::hdf5 {
namespace {

// Deflate, the densest filter in use on such lists, reaches 1032:1.
constexpr uint64_t densest_filter = 1032;
constexpr uint64_t slack_bytes = 4096;
// Beside its values a file has few of them.
constexpr uint64_t list_bytes_per_file_byte = 16;
constexpr uint64_t free_list_bytes = uint64_t{1} << 20;

}  // namespace

uint64_t max_list_bytes(uint64_t file_bytes) {
  return list_bytes_per_file_byte * file_bytes + free_list_bytes;
}

Status check_paid_for(hid_t dataset, const std::string& name, uint64_t count, uint64_t element_bytes,
                      uint64_t before) {
  const uint64_t stored = H5Dget_storage_size(dataset);
  const uint64_t each = std::max<uint64_t>(element_bytes, 1);
  if (count > (stored * densest_filter + slack_bytes) / each) {
    return corrupt(fmt::format("dataset {} claims {} elements of {} bytes but stores only {} bytes", name,
                               count, each, stored));
  }
  const Handle file(H5Iget_file_id(dataset), H5Fclose);
  hsize_t file_bytes = 0;
  if (H5Fget_filesize(file.id(), &file_bytes) < 0) {
    return failure(fmt::format("the size of the file of dataset {} cannot be read: {}", name, last_error()));
  }
  const uint64_t most = max_list_bytes(file_bytes);
  if (before <= most && count <= (most - before) / each) return {};
  return corrupt(
      fmt::format("dataset {} claims {} elements of {} bytes after {} bytes of the same kind; a file of {} "
                  "bytes may list {} bytes",
                  name, count, each, before, file_bytes, most));
}

}  // namespace neve::hdf5
