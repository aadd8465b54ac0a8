// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/lossless/byte_pack.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>

#include "core/stages/lossless/zstd_context.hpp"

namespace neve {

namespace {

enum class Packing : uint8_t { raw = 0, zstd = 1 };
// Below this zstd's own frame costs more than it can save.
constexpr size_t zstd_min_bytes = 32;

}  // namespace

void write_packed(ByteSpan bytes, ByteWriter& out) {
  if (bytes.size() >= zstd_min_bytes) {
    Bytes packed(ZSTD_compressBound(bytes.size()));
    const size_t size = ZSTD_compressCCtx(zstd_context(), packed.data(), packed.size(), bytes.data(),
                                          bytes.size(), side_zstd_level);
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

namespace {

// A stretch of packed bytes, found but not unpacked.
struct Stretch {
  Packing packing = Packing::raw;
  uint64_t bytes = 0;
  ByteSpan packed;
};

Result<Stretch> find_packed(ByteReader& in, uint64_t max_bytes) {
  Stretch found;
  found.packing = in.get<Packing>();
  found.bytes = in.get_varint();
  if (in.failed()) return corrupt("packed bytes: no room for their header");
  if (found.bytes > max_bytes) {
    return corrupt(
        fmt::format("packed bytes: declared size {} above the {} possible here", found.bytes, max_bytes));
  }
  if (found.packing == Packing::raw) {
    found.packed = in.get_bytes(found.bytes);
    if (in.failed()) return corrupt(fmt::format("packed bytes: {} declared, fewer are there", found.bytes));
    return found;
  }
  if (found.packing != Packing::zstd) {
    return corrupt(fmt::format("packed bytes: packing {} unknown; 0 (raw) and 1 (zstd) are",
                               static_cast<int>(found.packing)));
  }
  found.packed = in.get_bytes(in.get_varint());
  if (in.failed()) return corrupt("packed bytes: zstd data run past the end of their section");
  // The frame must claim what we are about to allocate, so that a lie costs the liar's bytes only.
  if (ZSTD_getFrameContentSize(found.packed.data(), found.packed.size()) != found.bytes) {
    return corrupt(fmt::format("packed bytes: zstd frame does not hold the {} bytes declared", found.bytes));
  }
  return found;
}

Status unpack(const Stretch& from, Bytes& out) {
  out.resize(from.bytes);
  const size_t size = ZSTD_decompress(out.data(), out.size(), from.packed.data(), from.packed.size());
  if (ZSTD_isError(size) == 0U && size == from.bytes) return {};
  return corrupt(
      fmt::format("packed bytes: zstd: {}", ZSTD_isError(size) != 0U ? ZSTD_getErrorName(size) : "short"));
}

}  // namespace

Result<Bytes> read_packed(ByteReader& in, uint64_t max_bytes) {
  NEVE_ASSIGN(const Stretch found, find_packed(in, max_bytes));
  if (found.packing == Packing::raw) return Bytes(found.packed.begin(), found.packed.end());
  Bytes out;
  NEVE_TRY(unpack(found, out));
  return out;
}

// --- piece by piece -------------------------------------------------------------------------------------

namespace {

// Shorter ones are unpacked at once: zstd's buffers would be larger.
constexpr uint64_t piecewise_min_bytes = uint64_t{1} << 18;
constexpr size_t piece_bytes = size_t{1} << 17;
// What zstd looks back at, and its buffers therefore hold: no more than the level that writers use does.
constexpr int max_window_log = 21;

}  // namespace

struct PackedReader::Unpacker {
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context{ZSTD_createDCtx(), ZSTD_freeDCtx};
};

PackedReader::PackedReader() = default;
PackedReader::PackedReader(PackedReader&&) noexcept = default;
PackedReader& PackedReader::operator=(PackedReader&&) noexcept = default;
PackedReader::~PackedReader() = default;

Result<PackedReader> PackedReader::open(ByteReader& in, uint64_t max_bytes) {
  NEVE_ASSIGN(const Stretch found, find_packed(in, max_bytes));
  PackedReader reader;
  if (found.packing == Packing::zstd && found.bytes < piecewise_min_bytes) {
    NEVE_TRY(unpack(found, reader.held_));
    reader.filled_ = reader.held_.size();
    return reader;
  }
  reader.unread_ = found.bytes;
  reader.packed_ = found.packed;
  if (found.packing == Packing::raw) return reader;
  reader.unpacker_ = std::make_unique<Unpacker>();
  ZSTD_DCtx* const context = reader.unpacker_->context.get();
  if (context == nullptr) return failure("zstd: no memory to unpack with");
  ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, max_window_log);
  reader.held_.resize(2 * piece_bytes);
  return reader;
}

Status PackedReader::fill() {
  std::copy(held_.begin() + static_cast<ptrdiff_t>(at_), held_.begin() + static_cast<ptrdiff_t>(filled_),
            held_.begin());
  filled_ -= at_;
  at_ = 0;
  ZSTD_inBuffer in{packed_.data(), packed_.size(), 0};
  size_t left = 1;  // bytes that the zstd frame still wants; 0 at its end
  while (unread_ > 0 && filled_ < piece_bytes) {
    const size_t room = std::min<uint64_t>(held_.size() - filled_, unread_);
    ZSTD_outBuffer out{held_.data() + filled_, room, 0};
    const size_t consumed_before = in.pos;
    left = ZSTD_decompressStream(unpacker_->context.get(), &out, &in);
    if (ZSTD_isError(left) != 0U) {
      return corrupt(fmt::format("packed bytes: zstd: {}", ZSTD_getErrorName(left)));
    }
    if (out.pos == 0 && in.pos == consumed_before) return corrupt("packed bytes: zstd: short");
    filled_ += out.pos;
    unread_ -= out.pos;
    if (unread_ > 0 && left == 0) return corrupt("packed bytes: zstd: short");
  }
  if (unread_ == 0) {
    // Behind the last byte of all there may be a checksum.
    ZSTD_outBuffer none{nullptr, 0, 0};
    if (left != 0) left = ZSTD_decompressStream(unpacker_->context.get(), &none, &in);
    if (left != 0 || in.pos != in.size) return corrupt("packed bytes: zstd: bytes left over");
  }
  packed_ = packed_.subspan(in.pos);
  return {};
}

Result<ByteSpan> PackedReader::ahead(size_t record) {
  if (unpacker_ != nullptr && filled_ - at_ < record && unread_ > 0) NEVE_TRY(fill());
  if (unpacker_ == nullptr && held_.empty()) {
    const ByteSpan rest = packed_.subspan(at_);
    return rest;
  }
  return ByteSpan(held_).subspan(at_, filled_ - at_);
}

}  // namespace neve
