// SPDX-License-Identifier: BSD-3-Clause
// Header of a stream and of a block: the only code that knows their offsets (docs/format.md).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/bits/bytes.hpp"
#include "neve/stream.hpp"

namespace neve::stream {

struct Header {
  DType dtype = DType::f32;
  int dims = 1;
  uint32_t line = 0;             // values in a line, with 2 or 3 dims
  uint32_t lines_per_plane = 0;  // with 3
  uint32_t block_values = 0;
  Bound asked;
  std::optional<double> fill;
  std::vector<uint64_t> shape;
  bool is_raw = false;  // no blocks follow, but the values and a checksum; dims, line, blocks mean nothing

  // Values of the whole stream; nothing while the slowest size is open.
  std::optional<uint64_t> value_total() const;
};

uint64_t product(std::span<const uint64_t> sizes);
// Values of one slice of the slowest direction: an open stream has a multiple of them.
uint64_t slice_values(std::span<const uint64_t> shape);
// What is wrong with the sizes of a stream; empty: nothing.
std::string shape_fault(std::span<const uint64_t> shape);
void write_header(const Header& header, Bytes& out);
// How long the header at the start of `bytes` is; nothing while too few bytes are there to say.
Result<std::optional<size_t>> header_bytes(ByteSpan bytes);
Result<Header> read_header(ByteSpan bytes);  // exactly header_bytes

// A raw stream: values as they are, which is what incompressible ones take least as. `header` is that of
// blocks, its shape closed.
void write_raw_stream(const Header& header, const void* values, Bytes& out);
uint64_t raw_stream_bytes(const Header& header);
// Of a header that is_raw: values and checksum that follow it.
inline constexpr size_t stream_checksum_bytes = sizeof(uint32_t);
uint64_t raw_value_bytes(const Header& header);
// `whole` ends with the checksum.
Status check_raw_stream(ByteSpan whole);

inline constexpr size_t block_header_bytes = 24;
inline constexpr size_t step_bytes = 2 * sizeof(double);
inline constexpr size_t extra_count_bytes = sizeof(uint32_t);  // how many bytes extra bits take
// Beside codebook, codes, extra bits and side stream.
inline constexpr size_t max_block_overhead = block_header_bytes + step_bytes + extra_count_bytes;
// A raw block has at most so many, whatever the header says.
inline constexpr uint32_t max_raw_block_values = max_stream_block_values;

struct BlockHeader {
  CodebookKind codebook = CodebookKind::kept;
  bool restarts = false;
  bool has_step = false;
  bool is_last = false;
  bool has_extra_bits = false;
  bool is_raw = false;
  uint8_t offline_codebook = 0;
  uint32_t values = 0;
  uint32_t symbols = 0;
  uint32_t side_bytes = 0;
  uint32_t payload_bytes = 0;
  uint32_t checksum = 0;
};

// `at` has room for block_header_bytes; the payload stands right behind them. Fills in the checksum.
void write_block_header(const BlockHeader& block, std::byte* at);
// Errors: corrupt; sizes are checked against each other and against `header`, not against the checksum.
Result<BlockHeader> read_block_header(ByteSpan bytes, const Header& header);
// `whole` is block header and payload.
Status check_block(const BlockHeader& block, ByteSpan whole);

}  // namespace neve::stream
