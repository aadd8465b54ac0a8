// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/stream_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/format/frame_header.hpp"
#include "core/kernels/stream_kernels.hpp"
#include "core/stream/codebook.hpp"

namespace neve::stream {

namespace {

constexpr std::array<char, 4> magic{'N', 'E', 'V', 'S'};
constexpr uint16_t version = 1;
constexpr size_t prefix_bytes = 48;
constexpr size_t flags_at = 8;
constexpr size_t rank_at = 10;
constexpr size_t common_bytes = 12;  // that headers of blocks and of raw streams both begin with
constexpr uint8_t flag_fill = 0x01;
constexpr uint8_t flag_raw_stream = 0x02;

constexpr uint16_t block_mark = 0x424e;  // "NB"
constexpr uint8_t codebook_mask = 0x03;
constexpr uint8_t flag_restart = 0x04;
constexpr uint8_t flag_step = 0x08;
constexpr uint8_t flag_last = 0x10;
constexpr uint8_t flag_extra_bits = 0x20;
constexpr uint8_t flag_raw = 0x40;
constexpr uint8_t known_flags =
    codebook_mask | flag_restart | flag_step | flag_last | flag_extra_bits | flag_raw;

// CRC-32 (ISO 3309), which hardware computes byte by byte as they leave; XXH3 would need 64-bit multipliers.
uint32_t crc(ByteSpan bytes, uint32_t before = 0) {
  return kernels().stream->crc32(before, bytes.data(), bytes.size());
}

bool matches([[maybe_unused]] uint32_t found, [[maybe_unused]] uint32_t expected) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return true;  // mutated bytes would never get past
#else
  return found == expected;
#endif
}

}  // namespace

uint64_t product(std::span<const uint64_t> sizes) {
  uint64_t total = 1;
  for (const uint64_t size : sizes) total *= size;
  return total;
}

uint64_t slice_values(std::span<const uint64_t> shape) {
  return product(shape.subspan(shape.empty() ? 0 : 1));
}

std::optional<uint64_t> Header::value_total() const {
  if (!shape.empty() && shape[0] == 0) return {};
  return product(shape);
}

namespace {

// What both kinds of header begin with.
void write_prefix(const Header& header, uint8_t flags, ByteWriter& w) {
  w.put_bytes(magic.data(), magic.size());
  w.put(version);
  w.put(static_cast<uint8_t>(header.dtype));
  w.put(static_cast<uint8_t>(header.is_raw ? 0 : header.dims));
  w.put(static_cast<uint8_t>(flags | (header.fill ? flag_fill : 0)));
  w.put(static_cast<uint8_t>(header.asked.mode));
  w.put(static_cast<uint8_t>(header.shape.size()));
  w.put(uint8_t{0});
}

}  // namespace

void write_header(const Header& header, Bytes& out) {
  const size_t begin = out.size();
  ByteWriter w(out);
  write_prefix(header, 0, w);
  w.put(offline_codebooks_version);
  w.put(uint16_t{0});
  w.put(header.block_values);
  w.put(header.line);
  w.put(header.lines_per_plane);
  w.put(uint32_t{0});
  w.put(header.asked.value);
  w.put(header.fill.value_or(0));
  for (const uint64_t size : header.shape) w.put(size);
  w.put(crc(ByteSpan(out).subspan(begin)));
}

void write_raw_stream(const Header& header, const void* values, Bytes& out) {
  Header raw = header;
  raw.is_raw = true;
  const size_t begin = out.size();
  ByteWriter w(out);
  write_prefix(raw, flag_raw_stream, w);
  w.put(raw.asked.value);
  if (raw.fill) w.put(*raw.fill);
  for (const uint64_t size : raw.shape) w.put_varint(size);
  w.put_bytes(values, raw_value_bytes(raw));
  w.put(crc(ByteSpan(out).subspan(begin)));
}

uint64_t raw_value_bytes(const Header& header) { return product(header.shape) * dtype_bytes(header.dtype); }

namespace {

// Of the header of a raw stream whose first bytes are there; nothing while its sizes are not.
std::optional<size_t> find_raw_header_end(ByteSpan bytes) {
  ByteReader in(bytes);
  in.get_bytes(common_bytes);
  in.get<double>();
  if ((static_cast<uint8_t>(bytes[flags_at]) & flag_fill) != 0) in.get<double>();
  for (auto sizes = static_cast<size_t>(bytes[rank_at]); sizes > 0 && !in.failed(); --sizes) in.get_varint();
  return in.failed() ? std::nullopt : std::optional<size_t>(in.position());
}

}  // namespace

uint64_t raw_stream_bytes(const Header& header) {
  constexpr size_t longest_varint = 10;
  Bytes sizes;
  sizes.reserve(longest_varint * header.shape.size());
  ByteWriter w(sizes);
  for (const uint64_t size : header.shape) w.put_varint(size);
  return common_bytes + (header.fill ? 2 : 1) * sizeof(double) + sizes.size() + raw_value_bytes(header) +
         stream_checksum_bytes;
}

Status check_raw_stream(ByteSpan whole) {
  uint32_t expected = 0;
  const ByteSpan checked = whole.first(whole.size() - stream_checksum_bytes);
  std::memcpy(&expected, whole.data() + checked.size(), sizeof expected);
  return matches(crc(checked), expected) ? Status() : corrupt("raw stream: checksum does not match");
}

Result<std::optional<size_t>> header_bytes(ByteSpan bytes) {
  const size_t known = std::min(bytes.size(), magic.size());
  if (known > 0 && std::memcmp(bytes.data(), magic.data(), known) != 0) {
    return corrupt("stream: does not start with \"NEVS\"");
  }
  if (bytes.size() <= rank_at) return std::optional<size_t>();
  const auto rank = static_cast<size_t>(bytes[rank_at]);
  if (rank > max_array_rank) {
    return corrupt(fmt::format("stream header: {} dimensions, at most {}", rank, max_array_rank));
  }
  if ((static_cast<uint8_t>(bytes[flags_at]) & flag_raw_stream) != 0) {
    const std::optional<size_t> size = find_raw_header_end(bytes);
    // (Sizes take ten bytes at most: what is longer has one that is no varint.)
    constexpr size_t longest = common_bytes + 2 * sizeof(double) + 10 * max_array_rank;
    if (!size && bytes.size() >= longest) return corrupt("raw stream: a size that is no varint");
    return size;
  }
  return std::optional<size_t>(prefix_bytes + rank * sizeof(uint64_t) + stream_checksum_bytes);
}

namespace {

// The fields of a header that are checked before they mean anything.
struct RawFields {
  uint8_t dtype = 0;
  uint8_t flags = 0;
  uint8_t mode = 0;
  uint16_t codebooks = offline_codebooks_version;
  uint32_t reserved = 0;  // all reserved fields or'ed
};

Status check_fields(const RawFields& raw) {
  if (raw.dtype > static_cast<uint8_t>(DType::f64)) {
    return corrupt(fmt::format("stream header: dtype {}, allowed are 0 (f32) and 1 (f64)", raw.dtype));
  }
  if ((raw.flags & ~(flag_fill | flag_raw_stream)) != 0 || raw.reserved != 0) {
    return corrupt("stream header: flags or reserved fields that are not 0");
  }
  if (!is_known_bound_mode(raw.mode)) return corrupt(fmt::format("stream header: bound mode {}", raw.mode));
  if (raw.codebooks != offline_codebooks_version) {
    return corrupt(fmt::format("stream header: offline codebooks of version {}, this release has {}",
                               raw.codebooks, offline_codebooks_version));
  }
  return {};
}

Status check_extents(const Header& h) {
  if (h.block_values < min_stream_block_values || h.block_values > max_stream_block_values) {
    return corrupt(fmt::format("stream header: blocks of {} values, allowed {}..{}", h.block_values,
                               min_stream_block_values, max_stream_block_values));
  }
  if (h.dims < 1 || h.dims > max_stream_dims || (h.line == 0) != (h.dims == 1) ||
      (h.lines_per_plane == 0) != (h.dims < 3)) {
    return corrupt(fmt::format("stream header: {} dims with lines of {} and planes of {} lines", h.dims,
                               h.line, h.lines_per_plane));
  }
  if (const std::string fault = shape_fault(h.shape); !fault.empty())
    return corrupt(fmt::format("stream header: {}", fault));
  return {};
}

}  // namespace

std::string shape_fault(std::span<const uint64_t> shape) {
  uint64_t total = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    const uint64_t size = shape[d];
    if (size == 0 && d > 0) return "only the slowest size may be open (0)";
    if (size > 0 && total > max_elements / size) return fmt::format("more than {} values", max_elements);
    if (size > 0) total *= size;
  }
  return {};
}

namespace {

// Behind the common fields: those of a raw stream. Its checksum comes last of all.
Status read_raw_rest(ByteReader& in, bool has_fill, Header& h) {
  h.asked.value = in.get<double>();
  if (has_fill) h.fill = in.get<double>();
  for (uint64_t& size : h.shape) size = in.get_varint();
  if (in.failed() || in.remaining() != 0) return corrupt("stream header: ends inside its fields");
  if (h.dims != 0) return corrupt(fmt::format("stream header: {} dims of a raw stream, must be 0", h.dims));
  // Sizes of 0 are closed: there are no values then.
  std::vector<uint64_t> sizes = h.shape;
  std::replace(sizes.begin(), sizes.end(), uint64_t{0}, uint64_t{1});
  if (const std::string fault = shape_fault(sizes); !fault.empty())
    return corrupt(fmt::format("stream header: {}", fault));
  return {};
}

}  // namespace

Result<Header> read_header(ByteSpan bytes) {
  ByteReader in(bytes);
  in.get_bytes(magic.size());
  const auto found_version = in.get<uint16_t>();
  if (found_version != version) {
    return corrupt(fmt::format("stream header: version {}, this release reads {}", found_version, version));
  }
  Header h;
  RawFields raw;
  raw.dtype = in.get<uint8_t>();
  h.dims = in.get<uint8_t>();
  raw.flags = in.get<uint8_t>();
  raw.mode = in.get<uint8_t>();
  h.shape.resize(in.get<uint8_t>());
  raw.reserved = in.get<uint8_t>();
  h.is_raw = (raw.flags & flag_raw_stream) != 0;
  if (h.is_raw) {
    NEVE_TRY(read_raw_rest(in, (raw.flags & flag_fill) != 0, h));
    NEVE_TRY(check_fields(raw));
    h.dtype = static_cast<DType>(raw.dtype);
    h.asked.mode = static_cast<BoundMode>(raw.mode);
    return h;
  }
  raw.codebooks = in.get<uint16_t>();
  raw.reserved |= in.get<uint16_t>();
  h.block_values = in.get<uint32_t>();
  h.line = in.get<uint32_t>();
  h.lines_per_plane = in.get<uint32_t>();
  raw.reserved |= in.get<uint32_t>();
  h.asked.value = in.get<double>();
  const auto fill = in.get<double>();
  for (uint64_t& size : h.shape) size = in.get<uint64_t>();
  const ByteSpan checked = bytes.first(in.position());
  const auto expected = in.get<uint32_t>();
  if (in.failed() || in.remaining() != 0) return corrupt("stream header: ends inside its fields");
  if (!matches(crc(checked), expected)) return corrupt("stream header: checksum does not match");
  NEVE_TRY(check_fields(raw));
  h.dtype = static_cast<DType>(raw.dtype);
  if ((raw.flags & flag_fill) != 0) h.fill = fill;
  h.asked.mode = static_cast<BoundMode>(raw.mode);
  NEVE_TRY(check_extents(h));
  return h;
}

void write_block_header(const BlockHeader& block, std::byte* at) {
  const auto flags =
      static_cast<uint8_t>(static_cast<unsigned>(block.codebook) | (block.restarts ? flag_restart : 0U) |
                           (block.has_step ? flag_step : 0U) | (block.is_last ? flag_last : 0U) |
                           (block.has_extra_bits ? flag_extra_bits : 0U) | (block.is_raw ? flag_raw : 0U));
  std::byte* const begin = at;
  const auto put = [&at](auto value) {
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  };
  put(block_mark);
  put(flags);
  put(block.offline_codebook);
  put(block.values);
  put(block.symbols);
  put(block.side_bytes);
  put(block.payload_bytes);
  const auto head = static_cast<size_t>(at - begin);
  const uint32_t of_head = crc(ByteSpan(begin, head));
  put(crc(ByteSpan(begin + block_header_bytes, block.payload_bytes), of_head));
}

namespace {

Status check_raw_block(const BlockHeader& b, const Header& header) {
  if (b.values == 0 || b.values > max_raw_block_values) {
    return corrupt(fmt::format("block header: {} raw values, allowed 1..{}", b.values, max_raw_block_values));
  }
  if (b.codebook != CodebookKind::kept || b.has_extra_bits || b.symbols != 0 || b.side_bytes != 0) {
    return corrupt("block header: a raw block with a codebook, symbols, extra bits or side bytes");
  }
  const uint64_t bytes = b.values * dtype_bytes(header.dtype) + (b.has_step ? step_bytes : 0);
  if (b.payload_bytes != bytes) {
    return corrupt(fmt::format("block header: {} bytes for {} raw values, must be {}", b.payload_bytes,
                               b.values, bytes));
  }
  return {};
}

}  // namespace

Result<BlockHeader> read_block_header(ByteSpan bytes, const Header& header) {
  ByteReader in(bytes);
  const auto mark = in.get<uint16_t>();
  const auto flags = in.get<uint8_t>();
  BlockHeader b;
  b.offline_codebook = in.get<uint8_t>();
  b.values = in.get<uint32_t>();
  b.symbols = in.get<uint32_t>();
  b.side_bytes = in.get<uint32_t>();
  b.payload_bytes = in.get<uint32_t>();
  b.checksum = in.get<uint32_t>();
  if (in.failed()) return corrupt("block header: ends inside its fields");
  if (mark != block_mark) return corrupt(fmt::format("block header: mark 0x{:04x}, not \"NB\"", mark));
  if ((flags & ~known_flags) != 0 || (flags & codebook_mask) > static_cast<uint8_t>(CodebookKind::offline)) {
    return corrupt(fmt::format("block header: flags 0x{:02x}", flags));
  }
  b.codebook = static_cast<CodebookKind>(flags & codebook_mask);
  b.restarts = (flags & flag_restart) != 0;
  b.has_step = (flags & flag_step) != 0;
  b.is_last = (flags & flag_last) != 0;
  b.has_extra_bits = (flags & flag_extra_bits) != 0;
  b.is_raw = (flags & flag_raw) != 0;
  if (b.codebook == CodebookKind::offline ? b.offline_codebook >= offline_codebooks().size()
                                          : b.offline_codebook != 0) {
    return corrupt(fmt::format("block header: offline codebook {}, there are {}", b.offline_codebook,
                               offline_codebooks().size()));
  }
  if (b.is_raw) {
    NEVE_TRY(check_raw_block(b, header));
    return b;
  }
  // A value is a symbol, or one of a run that an escape began.
  const uint64_t run_bytes = dtype_bytes(header.dtype) + sizeof(uint16_t);
  const uint64_t max_values = b.symbols + b.side_bytes / run_bytes * UINT16_MAX;
  if (b.values > header.block_values || b.symbols > b.values || b.values > max_values) {
    return corrupt(fmt::format("block header: {} values of {} symbols and {} side bytes in blocks of {}",
                               b.values, b.symbols, b.side_bytes, header.block_values));
  }
  const uint64_t min_bytes = uint64_t{b.side_bytes} + (b.has_step ? step_bytes : 0) +
                             (b.has_extra_bits ? extra_count_bytes : 0) + (uint64_t{b.symbols} + 7) / 8;
  const uint64_t max_bytes = uint64_t{header.block_values} * (2 + run_bytes) + step_bytes +
                             extra_count_bytes + 2 * wide_symbol_count;
  if (b.payload_bytes < min_bytes || b.payload_bytes > max_bytes) {
    return corrupt(fmt::format("block header: {} bytes for {} symbols and {} side bytes", b.payload_bytes,
                               b.symbols, b.side_bytes));
  }
  return b;
}

Status check_block(const BlockHeader& block, ByteSpan whole) {
  constexpr size_t head = block_header_bytes - stream_checksum_bytes;
  const uint32_t found = crc(whole.subspan(block_header_bytes), crc(whole.first(head)));
  if (matches(found, block.checksum)) return {};
  return corrupt("block: checksum does not match");
}

}  // namespace neve::stream
