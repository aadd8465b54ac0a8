// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/frame_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/bits/checksum.hpp"
#include "core/format/frame_header.hpp"

namespace neve {
namespace {

constexpr std::string_view magic = "NEVEFILE";
constexpr uint32_t version = 1;

}  // namespace

bool is_frame_file(ByteSpan beginning) {
  return beginning.size() >= magic.size() && std::memcmp(beginning.data(), magic.data(), magic.size()) == 0;
}

Bytes index_bytes(const FrameFileIndex& index) {
  Bytes bytes;
  bytes.reserve(index.entries.size() * frame_file_entry_bytes);
  ByteWriter out(bytes);
  for (const FrameFileEntry& entry : index.entries) {
    out.put(entry.first);
    out.put(entry.values);
    out.put(entry.at);
    out.put(entry.bytes);
  }
  return bytes;
}

Bytes header_bytes(const FrameFileIndex& index, uint64_t index_at, ByteSpan index_bytes) {
  Bytes bytes;
  bytes.reserve(frame_file_header_bytes);
  ByteWriter out(bytes);
  out.put_bytes(magic.data(), magic.size());
  out.put(version);
  out.put(static_cast<uint32_t>(index.dtype));
  out.put(index.values);
  out.put(index_at);
  out.put(static_cast<uint64_t>(index.entries.size()));
  out.put(checksum(index_bytes));
  out.put(uint64_t{0});
  out.put(checksum(bytes));
  return bytes;
}

Result<FrameFileHeader> parse_header(ByteSpan bytes, uint64_t file_bytes) {
  if (!is_frame_file(bytes)) return corrupt("not a frame file: it does not begin with NEVEFILE");
  if (bytes.size() < frame_file_header_bytes) {
    return corrupt(fmt::format("the file ends after {} of its header's {} bytes", bytes.size(),
                               frame_file_header_bytes));
  }
  ByteReader in(bytes.first(frame_file_header_bytes));
  in.get_bytes(magic.size());
  const auto found_version = in.get<uint32_t>();
  const auto dtype = in.get<uint32_t>();
  FrameFileHeader header;
  header.values = in.get<uint64_t>();
  header.index_at = in.get<uint64_t>();
  header.entries = in.get<uint64_t>();
  header.index_checksum = in.get<uint64_t>();
  const auto reserved = in.get<uint64_t>();
  const size_t checked_bytes = in.position();
  if (!checksum_matches(bytes.first(checked_bytes), in.get<uint64_t>())) {
    return corrupt("the frame file's header does not match its checksum");
  }
  if (found_version != version || reserved != 0) {
    return corrupt(fmt::format("frame file of version {}; this neve reads {}", found_version, version));
  }
  if (dtype >= static_cast<uint32_t>(dtypes)) return corrupt(fmt::format("dtype is {}", dtype));
  header.dtype = static_cast<DType>(dtype);
  if (header.values > max_elements) {
    return corrupt(fmt::format("{} values; at most {} are allowed", header.values, max_elements));
  }
  if (header.index_at < frame_file_header_bytes || header.index_at > file_bytes ||
      header.entries > (file_bytes - header.index_at) / frame_file_entry_bytes) {
    return corrupt(fmt::format("an index of {} entries at byte {} lies outside the file's {} bytes",
                               header.entries, header.index_at, file_bytes));
  }
  return header;
}

Result<FrameFileIndex> parse_index(const FrameFileHeader& header, ByteSpan bytes, uint64_t file_bytes) {
  if (bytes.size() != header.index_bytes() || !checksum_matches(bytes, header.index_checksum)) {
    return corrupt("the frame file's index does not match its checksum");
  }
  FrameFileIndex index{header.dtype, header.values, {}};
  index.entries.reserve(header.entries);
  const uint64_t max_values = max_frame_value_bytes / dtype_bytes(header.dtype);
  ByteReader in(bytes);
  for (uint64_t i = 0; i < header.entries; ++i) {
    FrameFileEntry entry;
    entry.first = in.get<uint64_t>();
    entry.values = in.get<uint64_t>();
    entry.at = in.get<uint64_t>();
    entry.bytes = in.get<uint64_t>();
    if (entry.values == 0 || entry.values > max_values || entry.first > header.values ||
        entry.values > header.values - entry.first) {
      return corrupt(fmt::format("frame {}: {} values from {} on, of {} in the file; 1 to {} are allowed", i,
                                 entry.values, entry.first, header.values, max_values));
    }
    if (entry.at < frame_file_header_bytes || entry.at > file_bytes || entry.bytes > file_bytes - entry.at) {
      return corrupt(fmt::format("frame {}: {} bytes at byte {} lie outside the file's {} bytes", i,
                                 entry.bytes, entry.at, file_bytes));
    }
    index.entries.push_back(entry);
  }
  return index;
}

}  // namespace neve
