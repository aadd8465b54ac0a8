// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/frame_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace neve {

Status decode_values(ByteSpan bytes, DType dtype, uint64_t values, std::byte* out, int threads) {
  NEVE_ASSIGN(const Frame frame, Frame::parse(bytes));
  if (frame.dtype() != dtype || frame.shape().element_count != values) {
    return corrupt(fmt::format("the frame holds {} {} values; {} {} values are expected",
                               frame.shape().element_count, dtype_name(frame.dtype()), values,
                               dtype_name(dtype)));
  }
  return frame.decode(out, values * dtype_bytes(dtype), threads);
}

Status check_run(const FrameFileIndex& index, const ValueRun& run) {
  if (run.first <= index.values && run.count <= index.values - run.first) return {};
  return usage_error(fmt::format("{} values from {} on are asked for; the file holds {}", run.count,
                                 run.first, index.values));
}

std::vector<size_t> entries_of(const FrameFileIndex& index, const ValueRun& run) {
  std::vector<size_t> found;
  for (size_t i = 0; i < index.entries.size(); ++i) {
    const FrameFileEntry& entry = index.entries[i];
    if (entry.first < run.first + run.count && run.first < entry.first + entry.values) found.push_back(i);
  }
  return found;
}

bool has_holes(const FrameFileIndex& index, const std::vector<size_t>& entries, const ValueRun& run) {
  std::vector<std::pair<uint64_t, uint64_t>> held;
  for (const size_t i : entries) {
    held.emplace_back(index.entries[i].first, index.entries[i].first + index.entries[i].values);
  }
  std::sort(held.begin(), held.end());
  uint64_t next = run.first;  // everything before it is held
  for (const auto& [first, end] : held) {
    if (first > next) return true;
    next = std::max(next, end);
  }
  return next < run.first + run.count;
}

Status put_values(const FrameFileEntry& entry, ByteSpan frame, DType dtype, const ValueRun& run,
                  std::byte* out, int threads) {
  const size_t value_bytes = dtype_bytes(dtype);
  const uint64_t begin = std::max(entry.first, run.first);
  const uint64_t end = std::min(entry.first + entry.values, run.first + run.count);
  std::byte* const place = out + (begin - run.first) * value_bytes;
  if (begin == entry.first && end == entry.first + entry.values) {
    return decode_values(frame, dtype, entry.values, place, threads);
  }
  // Nothing is held for a frame that cannot be what the index says.
  NEVE_TRY(Frame::parse(frame).status());
  Bytes all(entry.values * value_bytes);
  NEVE_TRY(decode_values(frame, dtype, entry.values, all.data(), threads));
  std::copy_n(all.data() + (begin - entry.first) * value_bytes, (end - begin) * value_bytes, place);
  return {};
}

}  // namespace neve
