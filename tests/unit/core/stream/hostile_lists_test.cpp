// SPDX-License-Identifier: BSD-3-Clause
// Every list of a frame at its limit: what reading costs stays within docs/guarantees.md, "Hostile input".
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "core/stream/codebook.hpp"
#include "core/stream/stream_format.hpp"
#include "neve/frame.hpp"
#include "neve/stream.hpp"
#include "tests/support/hostile_lists.hpp"
#include "tests/support/measured_cost.hpp"

namespace neve {
namespace {

constexpr int64_t mebibyte = int64_t{1} << 20;

// The promises, in bytes.
int64_t most_to_describe(int64_t input, int64_t values) { return 16 * input + values / 2 + 4 * mebibyte; }
int64_t most_to_decode(int64_t input, int64_t values, int64_t value_bytes) {
  const int64_t in_work = std::min<int64_t>(values, 1 << 21);
  return 16 * input + 2 * values * value_bytes + 64 * in_work + 20 * mebibyte;
}
// Processor time, in seconds: a constant for starting, then by bytes and values. Honest frames of one core's
// slowest codec take 10 ns a value; a list whose work is quadratic is over by far.
double max_seconds(int64_t input, int64_t values) {
  return 0.5 + 3e-6 * static_cast<double>(input) + 3e-6 * static_cast<double>(values);
}

struct Cost {
  test::MeasuredCost describe;
  test::MeasuredCost decode;
  int64_t values = 0;
  int64_t value_bytes = 4;
};

Cost cost_of(const Bytes& frame) {
  Cost cost;
  if (const auto described = describe_frame(frame); described.ok()) {
    cost.values = static_cast<int64_t>(described->shape.element_count);
    cost.value_bytes = static_cast<int64_t>(dtype_bytes(described->dtype));
  }
  const auto nothing = [] { return 0; };
  cost.describe = test::measure_cost(nothing, [&](int) { return describe_frame(frame).ok(); });
  const auto output = [&] {
    return std::vector<std::byte>(static_cast<size_t>(cost.values * cost.value_bytes), std::byte{1});
  };
  cost.decode = test::measure_cost(output, [&](std::vector<std::byte>& out) {
    const auto parsed = Frame::parse(frame);
    return parsed.ok() && parsed->decode(out.data(), out.size()).ok();
  });
  return cost;
}

void check_costs(const test::HostileList& list, int64_t entries) {
  SCOPED_TRACE(list.name + ", " + std::to_string(entries) + " entries");
  const Bytes frame = list.make(entries);
  const auto input = static_cast<int64_t>(frame.size());
  const Cost cost = cost_of(frame);
  ASSERT_TRUE(cost.describe.ran);
  ASSERT_TRUE(cost.decode.ran);
  std::printf(
      "| %s | %ld | %ld | %ld | %s | %.2f | %.2f | %.3f | %.3f |\n", list.name.c_str(),
      static_cast<long>(entries), static_cast<long>(input), static_cast<long>(cost.values),
      cost.decode.ok ? "decoded" : "refused", static_cast<double>(cost.describe.peak_bytes) / mebibyte,
      static_cast<double>(cost.decode.peak_bytes) / mebibyte, cost.describe.seconds, cost.decode.seconds);
  EXPECT_LE(cost.describe.seconds, max_seconds(input, 0));
  EXPECT_LE(cost.decode.seconds, max_seconds(input, cost.values));
  if (!test::counts_memory) return;
  EXPECT_LE(cost.describe.peak_bytes, most_to_describe(input, cost.values));
  EXPECT_LE(cost.decode.peak_bytes, most_to_decode(input, cost.values, cost.value_bytes));
}

TEST(HostileLists, CostWhatBytesAndValuesPayFor) {
  for (const test::HostileList& list : test::hostile_lists()) {
    for (const int64_t entries : {int64_t{1} << 14, int64_t{1} << 17, int64_t{1} << 19}) {
      check_costs(list, entries);
    }
  }
}

TEST(HostileLists, CostWhatBytesAndValuesPayForAtEverySize) {
  if (std::getenv("NEVE_TEST_LONG") == nullptr) GTEST_SKIP() << "NEVE_TEST_LONG is not set";
  for (const test::HostileList& list : test::hostile_lists()) {
    for (int64_t entries = 16; entries <= int64_t{1} << 24; entries *= 4) check_costs(list, entries);
  }
}

// A stream whose lines have one value each, all of them runs that an escape began.
Bytes stream_of_short_lines(int64_t values) {
  stream::Header header;
  header.dtype = DType::f32;
  header.dims = 3;
  header.line = 1;
  header.lines_per_plane = uint32_t{1} << 31;
  header.block_values = uint32_t{1} << 22;
  header.asked = {BoundMode::abs, 1};
  header.shape = {static_cast<uint64_t>(values)};
  Bytes bytes;
  stream::write_header(header, bytes);
  for (int64_t left = values; left > 0;) {
    stream::BlockHeader block;
    block.values = static_cast<uint32_t>(std::min<int64_t>(left, header.block_values));
    left -= block.values;
    block.restarts = block.has_step = true;
    block.codebook = CodebookKind::rebuilt;
    block.is_last = left == 0;
    Bytes payload;
    ByteWriter out(payload);
    out.put(1.0);
    out.put(1.0);
    stream::Codebook codebook;
    codebook.length[0] = 1;  // the escape
    stream::write_codebook(codebook, payload);
    Bytes side;
    ByteWriter runs(side);
    for (uint32_t rest = block.values; rest > 0; ++block.symbols) {
      const uint32_t run = std::min<uint32_t>(rest - 1, UINT16_MAX);
      runs.put(std::numeric_limits<float>::quiet_NaN());
      runs.put(static_cast<uint16_t>(run));
      rest -= 1 + run;
    }
    payload.resize(payload.size() + (block.symbols + 7) / 8);
    out.put_bytes(side);
    block.side_bytes = static_cast<uint32_t>(side.size());
    block.payload_bytes = static_cast<uint32_t>(payload.size());
    const size_t begin = bytes.size();
    bytes.resize(begin + stream::block_header_bytes);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    stream::write_block_header(block, bytes.data() + begin);
  }
  return bytes;
}

TEST(HostileLists, LinesOfAStreamCostWhatValuesPayFor) {
  for (const int64_t values : {int64_t{1} << 12, int64_t{1} << 18, int64_t{1} << 20}) {
    SCOPED_TRACE(values);
    const Bytes bytes = stream_of_short_lines(values);
    const auto output = [&] { return std::vector<std::byte>(static_cast<size_t>(values) * 4, std::byte{1}); };
    const test::MeasuredCost cost = test::measure_cost(output, [&](std::vector<std::byte>& out) {
      return decode_stream(bytes, out.data(), out.size()).ok();
    });
    ASSERT_TRUE(cost.ran);
    EXPECT_TRUE(cost.ok) << decode_stream(bytes, nullptr, 0).message();
    EXPECT_LE(cost.seconds, max_seconds(static_cast<int64_t>(bytes.size()), values));
    if (test::counts_memory) {
      EXPECT_LE(cost.peak_bytes, 4 * mebibyte + (16 + 4 + 192) * values);
    }
  }
}

}  // namespace
}  // namespace neve
