// SPDX-License-Identifier: BSD-3-Clause
#include "stages/lossless/byte_pack.hpp"

#include <fmt/format.h>
#include <zstd.h>

namespace neve {

namespace {

enum class Packing : uint8_t { raw = 0, zstd = 1 };
// Below this zstd's own frame costs more than it can save.
constexpr size_t zstd_min_bytes = 32;

}  // namespace

void write_packed(ByteSpan bytes, ByteWriter& out) {
  if (bytes.size() >= zstd_min_bytes) {
    Bytes packed(ZSTD_compressBound(bytes.size()));
    const size_t size =
        ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), side_stream_zstd_level);
    if (ZSTD_isError(size) == 0U && size + 4 < bytes.size()) {
      out.put(Packing::zstd);
      out.put_varint(bytes.size());
      out.put_varint(size);
      out.put_bytes(packed.data(), size);
      return;
    }
  }
  write_raw(bytes, out);
}

void write_raw(ByteSpan bytes, ByteWriter& out) {
  out.put(Packing::raw);
  out.put_varint(bytes.size());
  out.put_bytes(bytes);
}

Result<Bytes> read_packed(ByteReader& in, uint64_t max_bytes) {
  const auto packing = in.get<Packing>();
  const uint64_t bytes = in.get_varint();
  if (in.failed()) return corrupt("packed bytes: no room for their header");
  if (bytes > max_bytes) {
    return corrupt(
        fmt::format("packed bytes: declared size {} above the {} possible here", bytes, max_bytes));
  }
  if (packing == Packing::raw) {
    const ByteSpan raw = in.get_bytes(bytes);
    if (in.failed()) return corrupt(fmt::format("packed bytes: {} declared, fewer there", bytes));
    return Bytes(raw.begin(), raw.end());
  }
  if (packing != Packing::zstd) {
    return corrupt(
        fmt::format("packed bytes: packing {} unknown; 0 (raw) and 1 (zstd) are", static_cast<int>(packing)));
  }
  const ByteSpan packed = in.get_bytes(in.get_varint());
  if (in.failed()) return corrupt("packed bytes: zstd data run past the end of their section");
  // The frame must claim what we are about to allocate, so that a lie costs the liar's bytes only.
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != bytes) {
    return corrupt(fmt::format("packed bytes: zstd frame does not hold the {} bytes declared", bytes));
  }
  Bytes out(bytes);
  const size_t size = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) != 0U || size != bytes) {
    return corrupt(
        fmt::format("packed bytes: zstd: {}", ZSTD_isError(size) != 0U ? ZSTD_getErrorName(size) : "short"));
  }
  return out;
}

}  // namespace neve
