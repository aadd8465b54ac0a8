// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/layouts/chunk_filter.hpp"

#include <mpi.h>

#include <cstdlib>

#include "core/status/guarded.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/stand_in.hpp"

namespace neve::layouts {

ChunkFilter::ChunkFilter() {
  const hdf5::QuietErrors quiet;
  current_ = this;
  if (H5Zregister(&description()) < 0) {
    status_ = failure("HDF5 refuses the filter: " + hdf5::last_error());
  }
}

ChunkFilter::~ChunkFilter() {
  const hdf5::QuietErrors quiet;
  current_ = nullptr;
  H5Zregister(&hdf5::filter_class());
}

const H5Z_class2_t& ChunkFilter::description() {
  static const H5Z_class2_t description = [] {
    H5Z_class2_t neve = hdf5::filter_class();
    neve.filter = call;
    return neve;
  }();
  return description;
}

size_t ChunkFilter::call(unsigned flags, size_t word_count, const unsigned* words, size_t bytes,
                         size_t* buffer_bytes, void** buffer) noexcept {
  if (current_ == nullptr) return hdf5::run_callback(flags, word_count, words, bytes, buffer_bytes, buffer);
  if ((flags & H5Z_FLAG_REVERSE) != 0) {
    // Of a chunk that is not selected as a whole HDF5 wants what is there before, which is nothing yet.
    const hdf5::StandIn nothing(nullptr);
    return hdf5::run_callback(flags, word_count, words, bytes, buffer_bytes, buffer);
  }
  return current_->encode(bytes, buffer_bytes, buffer);
}

size_t ChunkFilter::encode(size_t bytes, size_t* buffer_bytes, void** buffer) {
  if (encoder_ == nullptr) return hdf5::StandIn(nullptr).encode(bytes, buffer_bytes, buffer);
  const double begin_seconds = MPI_Wtime();
  ++calls_;
  hdf5::PreparedFrame frame;
  const Status encoded = guarded("encode", [&]() -> Status {
    NEVE_ASSIGN(const std::vector<std::byte> made,
                (*encoder_)({static_cast<const std::byte*>(*buffer), bytes}));
    NEVE_ASSIGN(frame, hdf5::PreparedFrame::copy_of(made));
    return {};
  });
  encode_seconds_ += MPI_Wtime() - begin_seconds;
  if (encoded.ok()) return hdf5::StandIn(&frame).encode(bytes, buffer_bytes, buffer);
  if (status_.ok()) status_ = encoded;
  return hdf5::StandIn(nullptr).encode(bytes, buffer_bytes, buffer);
}

}  // namespace neve::layouts
