// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/stored_chunks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"

namespace neve::hdf5 {

Result<std::optional<uint64_t>> stored_chunk_bytes(hid_t dataset, std::span<const hsize_t> first) {
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(dataset, first.data(), &bytes) >= 0) {
    return bytes > 0 ? std::optional<uint64_t>(bytes) : std::nullopt;
  }
  // A chunk that is not there and an index that cannot be read fail alike but for the words.
  const std::string reason = last_error();
  if (reason.find("chunk storage is not allocated") != std::string::npos) return std::optional<uint64_t>();
  // Where HDF5 has other words: this call tells them apart, but goes through all chunks.
  unsigned mask = 0;
  haddr_t address = HADDR_UNDEF;
  if (H5Dget_chunk_info_by_coord(dataset, first.data(), &mask, &address, &bytes) < 0 ||
      address != HADDR_UNDEF) {
    return corrupt(fmt::format("a chunk cannot be found: {}", reason));
  }
  return std::optional<uint64_t>();
}

uint64_t address_bytes(hid_t object) {
  const Handle file(H5Iget_file_id(object), H5Fclose);
  const Handle creation(H5Fget_create_plist(file.id()), H5Pclose);
  size_t address = sizeof(haddr_t), length = 0;
  H5Pget_sizes(creation.id(), &address, &length);
  return address;
}

namespace {

// Bytes of a value in a file; H5Tget_size has those in memory, which differ where a value leads elsewhere.
uint64_t bytes_in_file(hid_t type, uint64_t address) {
  constexpr uint64_t length_bytes = 4, index_bytes = 4;
  const uint64_t in_memory = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_VLEN:
      return length_bytes + address + index_bytes;
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0 ? length_bytes + address + index_bytes : in_memory;
    case H5T_REFERENCE:
      if (H5Tequal(type, H5T_STD_REF_OBJ) > 0) return address;
      return H5Tequal(type, H5T_STD_REF_DSETREG) > 0 ? address + index_bytes : in_memory;
    case H5T_ARRAY: {
      const Handle base(H5Tget_super(type), H5Tclose);
      const uint64_t of_base = H5Tget_size(base.id());
      return of_base == 0 ? in_memory : in_memory / of_base * bytes_in_file(base.id(), address);
    }
    case H5T_COMPOUND: {
      uint64_t bytes = in_memory;
      for (int m = 0; m < H5Tget_nmembers(type); ++m) {
        const Handle member(H5Tget_member_type(type, static_cast<unsigned>(m)), H5Tclose);
        bytes += bytes_in_file(member.id(), address) - H5Tget_size(member.id());
      }
      return bytes;
    }
    default:
      return in_memory;
  }
}

}  // namespace

ChunkCheck::ChunkCheck(hid_t dataset) : dataset_(dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return;
  for (int i = 0; i < H5Pget_nfilters(creation.id()); ++i) {
    unsigned flags = 0;
    size_t words = 0;
    filters_.push_back(H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &words, nullptr, 0,
                                      nullptr, nullptr));
  }
  const Handle space(H5Dget_space(dataset), H5Sclose), type(H5Dget_type(dataset), H5Tclose);
  const int rank = std::max(H5Sget_simple_extent_ndims(space.id()), 0);
  dims_.resize(static_cast<size_t>(rank));
  chunk_.resize(dims_.size());
  unsigned options = 0;
  if (H5Sget_simple_extent_dims(space.id(), dims_.data(), nullptr) != rank ||
      H5Pget_chunk(creation.id(), rank, chunk_.data()) != rank ||
      H5Pget_chunk_opts(creation.id(), &options) < 0) {
    chunk_.clear();  // nor can HDF5 read it
    return;
  }
  has_plain_ends_ = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
  constexpr uint64_t max_bytes = std::numeric_limits<uint32_t>::max();
  uint64_t bytes = std::max<uint64_t>(bytes_in_file(type.id(), address_bytes(dataset)), 1);
  for (const hsize_t side : chunk_) {
    if (side == 0 || bytes > max_bytes / side) return;
    bytes *= side;
  }
  chunk_bytes_ = bytes;
}

Status ChunkCheck::check_sizes() const {
  if (chunk_.empty()) return {};
  if (!chunk_bytes_) {
    return corrupt(fmt::format("a chunk of {} elements; HDF5 takes chunks of less than 4 GiB",
                               fmt::join(chunk_, " x ")));
  }
  const uint64_t stored = filters_.empty() ? H5Dget_storage_size(dataset_) : 0;
  if (stored % *chunk_bytes_ == 0) return {};
  return corrupt(
      fmt::format("its chunks without filters take {} bytes, which is no multiple of the {} of one", stored,
                  *chunk_bytes_));
}

std::optional<uint64_t> ChunkCheck::undone(uint64_t bytes, uint32_t mask) const {
  constexpr uint64_t fletcher32_bytes = 4;
  for (size_t i = filters_.size(); i-- > 0;) {
    if (i < 32 && (mask >> i & 1) != 0) continue;
    if (filters_[i] == H5Z_FILTER_SHUFFLE) continue;
    if (filters_[i] != H5Z_FILTER_FLETCHER32) return {};
    bytes -= std::min(bytes, fletcher32_bytes);
  }
  return bytes;
}

Status ChunkCheck::check_chunk(const std::vector<hsize_t>& first) {
  NEVE_ASSIGN(const auto stored, stored_chunk_bytes(dataset_, first));
  constexpr uint64_t max_checksum_bytes = 4 * H5Z_MAX_NFILTERS;
  if (!stored || *stored >= *chunk_bytes_ + max_checksum_bytes) return {};
  bool is_plain = false;
  for (size_t d = 0; d < first.size(); ++d) is_plain |= dims_[d] - first[d] < chunk_[d];
  is_plain &= has_plain_ends_;
  uint32_t mask = ~uint32_t{0};
  if (!is_plain) {
    std::vector<std::byte> bytes(*stored);
    if (H5Dread_chunk(dataset_, H5P_DEFAULT, first.data(), &mask, bytes.data()) < 0) {
      return corrupt(fmt::format("a chunk cannot be read: {}", last_error()));
    }
  }
  const std::optional<uint64_t> left = undone(*stored, mask);
  if (left && *left < *chunk_bytes_) {
    return corrupt(fmt::format("a chunk is stored without compression in {} bytes; {} are needed", *stored,
                               *chunk_bytes_));
  }
  return {};
}

Status ChunkCheck::check(hid_t selection) {
  const size_t rank = chunk_.size();
  if (rank > 0 && !chunk_bytes_) return check_sizes();
  if (filters_.empty() || rank == 0 || std::find(dims_.begin(), dims_.end(), 0U) != dims_.end()) return {};
  std::vector<hsize_t> first(rank, 0), last = dims_;
  for (hsize_t& end : last) --end;
  if (selection != H5S_ALL) {
    if (H5Sget_select_npoints(selection) == 0) return {};
    if (H5Sget_select_bounds(selection, first.data(), last.data()) < 0) {
      return failure(fmt::format("the bounds of a selection cannot be read: {}", last_error()));
    }
  }
  std::vector<hsize_t> begin(rank), at(rank);
  for (size_t d = 0; d < rank; ++d) begin[d] = at[d] = first[d] / chunk_[d] * chunk_[d];
  while (true) {
    uint64_t number = 0;
    for (size_t d = 0; d < rank; ++d) number = number * ((dims_[d] - 1) / chunk_[d] + 1) + at[d] / chunk_[d];
    if (checked_.insert(number).second) NEVE_TRY(check_chunk(at));
    size_t d = rank;
    while (d-- > 0) {
      if (last[d] - at[d] >= chunk_[d]) {
        at[d] += chunk_[d];
        break;
      }
      at[d] = begin[d];
    }
    if (d == SIZE_MAX) return {};
  }
}

}  // namespace neve::hdf5
