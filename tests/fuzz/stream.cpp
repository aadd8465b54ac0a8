// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes through every reading function of a stream, whole and cut into pieces.
// Checksums are taken for right, as in frame.cpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "neve/stream.hpp"

namespace {

constexpr uint64_t max_values = uint64_t{1} << 22;

void refuse_other_codes(const neve::Status& status) {
  if (!status.ok() && status.code() != neve::Code::corrupt) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto contents = neve::describe_stream(bytes);
  refuse_other_codes(contents.status());
  std::vector<std::byte> whole;
  bool is_whole = false;
  if (contents.ok() && contents->values <= max_values) {
    whole.resize(contents->values * neve::dtype_bytes(contents->info.dtype));
    const neve::Status status = neve::decode_stream(bytes, whole.data(), whole.size());
    refuse_other_codes(status);
    is_whole = status.ok();
  }
  // Runs may make much of few bytes: what is decoded leaves at once.
  neve::StreamDecoder decoder;
  uint64_t decoded = 0;
  bool is_same = true;
  const size_t piece = 1 + size % 97;
  for (size_t at = 0; at < size && decoded <= max_values * sizeof(double); at += piece) {
    const neve::Status status = decoder.push(bytes.subspan(at, std::min(piece, size - at)));
    refuse_other_codes(status);
    const auto output = decoder.output();
    if (is_whole) {
      const auto expected = std::span(whole).subspan(std::min<uint64_t>(decoded, whole.size()));
      is_same &=
          output.size() <= expected.size() && std::equal(output.begin(), output.end(), expected.begin());
    }
    decoded += output.size();
    decoder.clear_output();
    if (!status.ok()) return 0;
  }
  // In pieces it is the same stream.
  if (is_whole && (!is_same || decoded != whole.size() || !decoder.finish().ok())) std::abort();
  return 0;
}
