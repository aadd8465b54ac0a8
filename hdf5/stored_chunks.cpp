// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/stored_chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "hdf5/errors.hpp"
#include "hdf5/handle.hpp"

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

ChunkCheck::ChunkCheck(hid_t dataset) : dataset_(dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  const int filters = H5Pget_nfilters(creation.id());
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED || filters <= 0) return;
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    size_t words = 0;
    filters_.push_back(H5Pget_filter2(creation.id(), static_cast<unsigned>(i), &flags, &words, nullptr, 0,
                                      nullptr, nullptr));
  }
  const Handle type(H5Dget_type(dataset), H5Tclose);
  // Their size in the file is none that HDF5 tells.
  if (H5Tdetect_class(type.id(), H5T_VLEN) > 0 || H5Tdetect_class(type.id(), H5T_REFERENCE) > 0) return;
  const Handle space(H5Dget_space(dataset), H5Sclose);
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
  chunk_bytes_ = H5Tget_size(type.id());
  for (const hsize_t side : chunk_) chunk_bytes_ *= side;
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
  constexpr uint64_t most_checksum_bytes = 4 * H5Z_MAX_NFILTERS;
  if (!stored || *stored >= chunk_bytes_ + most_checksum_bytes) return {};
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
  if (left && *left < chunk_bytes_) {
    return corrupt(fmt::format("a chunk is stored without compression in {} bytes; {} are needed", *stored,
                               chunk_bytes_));
  }
  return {};
}

Status ChunkCheck::check(hid_t selection) {
  const size_t rank = chunk_.size();
  if (rank == 0 || std::find(dims_.begin(), dims_.end(), 0U) != dims_.end()) return {};
  std::vector<hsize_t> first(rank, 0), last = dims_;
  for (hsize_t& end : last) --end;
  if (selection != H5S_ALL) {
    if (H5Sget_select_npoints(selection) == 0) return {};
    if (H5Sget_select_bounds(selection, first.data(), last.data()) < 0) {
      return failure(fmt::format("the bounds of a selection cannot be told: {}", last_error()));
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
