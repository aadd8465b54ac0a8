// SPDX-License-Identifier: BSD-3-Clause
// As H5Z-ZFP (LLNL) writes it: client data of a dataset are one word of versions and the stream's header, a
// chunk is the stream without it.
#include <H5PLextern.h>
#include <fmt/format.h>
#include <zfp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/harness/output/containers.hpp"
#include "io/hdf5/errors.hpp"

namespace neve::apps {
namespace {

constexpr unsigned plugin_version = 0x0110;
constexpr unsigned version_word = ZFP_VERSION << 16 | ZFP_CODEC << 12 | plugin_version;
// What H5Z-ZFP's own users give: mode, nothing, and for accuracy the bits of a double.
constexpr unsigned mode_accuracy = 3, mode_reversible = 5;
constexpr size_t asked_words = 4;

template <class T, void (*Free)(T*)>
struct Deleter {
  void operator()(T* p) const { Free(p); }
};
using Field = std::unique_ptr<zfp_field, Deleter<zfp_field, zfp_field_free>>;
using Stream = std::unique_ptr<zfp_stream, Deleter<zfp_stream, zfp_stream_close>>;
using Bits = std::unique_ptr<bitstream, Deleter<bitstream, stream_close>>;

// HDF5 frees what a filter returns with free().
using MallocBytes = std::unique_ptr<void, decltype(&std::free)>;

Field make_field() { return Field(zfp_field_alloc()); }

bool has_type(hid_t type, zfp_type& found) {
  const size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      found = bytes == sizeof(float) ? zfp_type_float : zfp_type_double;
      return bytes == sizeof(float) || bytes == sizeof(double);
    case H5T_INTEGER:
      found = bytes == sizeof(int32_t) ? zfp_type_int32 : zfp_type_int64;
      return bytes == sizeof(int32_t) || bytes == sizeof(int64_t);
    default:
      return false;
  }
}

htri_t can_apply(hid_t, hid_t type, hid_t) {
  zfp_type unused;
  return has_type(type, unused) ? 1 : 0;
}

// Replaces what the user asked for by the header that chunks are decoded with.
herr_t set_local(hid_t creation, hid_t type, hid_t space) {
  unsigned flags = 0, words[64] = {};
  size_t count = std::size(words);
  if (H5Pget_filter_by_id2(creation, zfp_filter_id, &flags, &count, words, 0, nullptr, nullptr) < 0)
    return -1;
  const Field field = make_field();
  if (count != asked_words || !has_type(type, field->type)) return -1;
  hsize_t shape[H5S_MAX_RANK];
  const int dims = H5Sget_simple_extent_dims(space, shape, nullptr);
  std::array<size_t*, 4> sizes = {&field->nx, &field->ny, &field->nz, &field->nw};
  size_t used = 0;
  for (int d = dims - 1; d >= 0; --d) {
    if (shape[d] == 1 && dims > 1) continue;
    if (used == sizes.size()) return -1;
    *sizes[used++] = shape[d];
  }
  if (used == 0) field->nx = 1;
  std::array<uint64_t, 4> header{};
  const Bits bits(stream_open(header.data(), sizeof header));
  const Stream stream(zfp_stream_open(bits.get()));
  if (words[0] == mode_reversible) {
    zfp_stream_set_reversible(stream.get());
  } else {
    double accuracy = 0;
    std::memcpy(&accuracy, words + 2, sizeof accuracy);
    zfp_stream_set_accuracy(stream.get(), accuracy);
  }
  const size_t header_bits = zfp_write_header(stream.get(), field.get(), ZFP_HEADER_FULL);
  if (header_bits == 0) return -1;
  stream_flush(bits.get());
  std::array<unsigned, 1 + sizeof header / sizeof(unsigned)> client{version_word};
  std::memcpy(client.data() + 1, header.data(), sizeof header);
  const size_t header_words = (header_bits + 31) / 32;
  return H5Pmodify_filter(creation, zfp_filter_id, H5Z_FLAG_MANDATORY, 1 + header_words, client.data());
}

size_t run(unsigned flags, size_t words, const unsigned client[], size_t bytes, size_t* buffer_bytes,
           void** buffer) {
  if (words < 2 || words > 9) return 0;
  std::array<uint64_t, 5> header{};
  std::memcpy(header.data(), client + 1, (words - 1) * sizeof(unsigned));
  const Bits header_bits(stream_open(header.data(), sizeof header));
  const Stream stream(zfp_stream_open(header_bits.get()));
  const Field field = make_field();
  if (zfp_read_header(stream.get(), field.get(), ZFP_HEADER_FULL) == 0) return 0;
  const bool decode = (flags & H5Z_FLAG_REVERSE) != 0;
  const size_t value_bytes = zfp_field_size(field.get(), nullptr) * zfp_type_size(field->type);
  const size_t room = decode ? value_bytes : zfp_stream_maximum_size(stream.get(), field.get());
  if (!decode && bytes < value_bytes) return 0;
  MallocBytes target(std::malloc(room), std::free);
  // zfp reads on past a stream that was cut: into zeros of ours.
  const size_t most = zfp_stream_maximum_size(stream.get(), field.get());
  const MallocBytes source(decode ? std::calloc(1, std::max(most, bytes)) : nullptr, std::free);
  if (!target || (decode && !source)) return 0;
  if (decode) std::memcpy(source.get(), *buffer, bytes);
  const Bits bits(decode ? stream_open(source.get(), std::max(most, bytes))
                         : stream_open(target.get(), room));
  zfp_stream_set_bit_stream(stream.get(), bits.get());
  zfp_stream_rewind(stream.get());
  zfp_field_set_pointer(field.get(), decode ? target.get() : *buffer);
  const size_t done =
      decode ? zfp_decompress(stream.get(), field.get()) : zfp_compress(stream.get(), field.get());
  if (done == 0) return 0;
  std::free(*buffer);
  *buffer = target.release();
  *buffer_bytes = room;
  return decode ? value_bytes : done;
}

}  // namespace

Status register_zfp_filter() {
  static const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, zfp_filter_id, 1,  1, "zfp",
                                      can_apply,        set_local,     run};
  const hdf5::QuietErrors quiet;
  if (H5Zregister(&filter) < 0) return failure("HDF5 refuses the filter zfp: " + hdf5::last_error());
  return {};
}

Status set_zfp_filter(hid_t creation, double accuracy) {
  std::array<unsigned, asked_words> words = {accuracy == 0 ? mode_reversible : mode_accuracy, 0, 0, 0};
  std::memcpy(words.data() + 2, &accuracy, sizeof accuracy);
  if (H5Pset_filter(creation, zfp_filter_id, H5Z_FLAG_MANDATORY, words.size(), words.data()) < 0) {
    return failure("filter zfp: " + hdf5::last_error());
  }
  return {};
}

}  // namespace neve::apps
