// SPDX-License-Identifier: BSD-3-Clause
// Frames that no encoder makes: headers put together record by record, packed however small that is, and
// signed.
#pragma once

#include <zstd.h>

#include <cstring>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/bits/checksum.hpp"
#include "core/format/frame_prefix.hpp"
#include "core/stages/lossless/byte_pack.hpp"

namespace neve::test {

class HostileFrame {
 public:
  HostileFrame(DType dtype, int ndim, int components, uint64_t elements) {
    prefix_.magic = frame_magic;
    prefix_.version = frame_version;
    prefix_.dtype = static_cast<uint8_t>(dtype);
    prefix_.ndim = static_cast<uint8_t>(ndim);
    prefix_.components = static_cast<uint16_t>(components);
    prefix_.element_count = elements;
  }
  ByteWriter body() { return ByteWriter(body_); }

  // Each section says its arrangement.
  HostileFrame& arranged() {
    prefix_.arrangement = arrangement_per_section;
    return *this;
  }
  HostileFrame& split(uint64_t begin, uint64_t count) {
    prefix_.flags |= flag_split;
    body().put_varint(begin);
    body().put_varint(count);
    return *this;
  }
  // `step`: from the box before. Rectangles of put_rect follow.
  void put_box(const Extents& step, const Extents& size, uint64_t rects = 0) {
    ByteWriter out(body_);
    for (int d = 0; d < prefix_.ndim; ++d) out.put_signed_varint(step[d]);
    for (int d = 0; d < prefix_.ndim; ++d) out.put_varint(static_cast<uint64_t>(size[d]));
    out.put_varint(rects);
    ++prefix_.boxes;
  }
  void put_rect(const Extents& lo, const Extents& size) {
    ByteWriter out(body_);
    for (int d = 0; d < prefix_.ndim; ++d) out.put_varint(static_cast<uint64_t>(lo[d]));
    for (int d = 0; d < prefix_.ndim; ++d) out.put_varint(static_cast<uint64_t>(size[d]));
  }
  void put_components(bool drops_covered) {
    ByteWriter out(body_);
    for (int c = 0; c < prefix_.components; ++c) {
      out.put(uint8_t{1});
      out.put(drops_covered ? component_drops_covered : uint8_t{0});
      for (const double number : {1.0, 1.0, 0.0, 1.0, 0.0}) out.put(number);
    }
  }
  void put_codebooks(uint64_t count, const Bytes& each) {
    ByteWriter out(body_);
    out.put_varint(count);
    for (uint64_t b = 0; b < count; ++b) out.put_bytes(each);
  }
  void put_section(Codec codec, const Bytes& bytes, Arrangement arrangement = Arrangement::linear,
                   uint8_t unit = 0) {
    ByteWriter out(body_);
    out.put(codec);
    if (prefix_.arrangement == arrangement_per_section) {
      out.put(arrangement);
      out.put(unit);
    }
    out.put_varint(bytes.size());
    out.put(checksum(bytes));
    sections_.insert(sections_.end(), bytes.begin(), bytes.end());
    ++prefix_.sections;
  }

  uint64_t body_bytes() const { return body_.size(); }
  // Packed as well as zstd can within the window that a reader has; raw: as it is.
  Bytes finish(bool raw = false) {
    Bytes frame(sizeof prefix_);
    ByteWriter out(frame);
    if (raw) {
      write_raw(body_, out);
    } else {
      Bytes packed(ZSTD_compressBound(body_.size()));
      const size_t size = ZSTD_compress(packed.data(), packed.size(), body_.data(), body_.size(), 3);
      out.put(uint8_t{1});
      out.put_varint(body_.size());
      out.put_varint(size);
      out.put_bytes(packed.data(), size);
    }
    prefix_.header_bytes = static_cast<uint32_t>(frame.size() + checksum_bytes);
    prefix_.frame_bytes = prefix_.header_bytes + sections_.size();
    std::memcpy(frame.data(), &prefix_, sizeof prefix_);
    out.put(checksum(frame));
    out.put_bytes(sections_);
    return frame;
  }

 private:
  FramePrefix prefix_{};
  Bytes body_;
  Bytes sections_;
};

}  // namespace neve::test
