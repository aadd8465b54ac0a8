// SPDX-License-Identifier: BSD-3-Clause
// Parts hold anything when a process was killed, or a file is damaged: an error, or counts, never a crash.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "preload/trace/json.hpp"
#include "preload/trace/model.hpp"
#include "preload/trace/part.hpp"
#include "preload/trace/part_reader.hpp"
#include "preload/trace/part_v1.hpp"

namespace neve::trace {
namespace {

// A part as the recorder lays it out: two files, the first with two phases and three sizes.
class PartBuilder {
 public:
  PartBuilder() { bytes_.resize(sizeof(PartHeader)); }

  template <class T>
  uint32_t add(const T& value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + ((sizeof value + 7) & ~size_t{7}));
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return static_cast<uint32_t>(at);
  }
  uint32_t name(const std::string& text) {
    const uint32_t at = add(PartName{0, static_cast<uint32_t>(text.size())});
    bytes_.resize(at + sizeof(PartName) + ((text.size() + 7) & ~size_t{7}));
    std::memcpy(bytes_.data() + at + sizeof(PartName), text.data(), text.size());
    return at;
  }
  std::vector<std::byte> finish(PartHeader header) {
    header.magic = part_magic;
    header.used_bytes = bytes_.size();
    std::memcpy(bytes_.data(), &header, sizeof header);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> example() {
  PartBuilder part;
  PartSize sizes[16] = {};
  sizes[3] = {100, 7};
  sizes[9] = {4096, 2};
  PartPhase second{}, first{};
  second.name = part.name("second");
  second.counters[POSIX_WRITES] = 9;
  second.counters[POSIX_BYTES_WRITTEN] = 7 * 100 + 2 * 4096;
  PartAccesses& writes = second.accesses[1][1];
  writes.bins[0] = 7;
  writes.bins[2] = 2;
  writes.map = part.add(sizes);
  writes.map_capacity = 16;
  writes.map_used = 2;
  first.next = part.add(second);
  first.counters[POSIX_WRITES] = 1;
  first.accesses[1][1].bins[0] = 1;
  PartFile a{}, b{};
  b.path = part.name("/data/b");
  a.path = part.name("/data/a");
  a.phases = part.add(first);
  a.renamed = part.add(PartRename{0, part.name("/data/c"), 0, 0, 1});
  a.next = part.add(b);
  PartHeader header{};
  header.host = part.name("host");
  header.process_id = 42;
  header.rank = 3;
  header.ranks = 4;
  header.process_start = 1000;
  header.files = part.add(a);
  return part.finish(header);
}

TEST(Part, IsRead) {
  const auto trace = read_part(example());
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  ASSERT_EQ(trace->files.size(), 2u);
  const File& file = trace->files.at("/data/a");
  EXPECT_EQ(file.renamed_to, std::vector<std::string>{"/data/c"});
  const Counters total = file.total();
  EXPECT_EQ(total.values[POSIX_WRITES], 10);
  EXPECT_EQ(total.at(Level::posix, Direction::write).sizes.at(4096), 2u);
  EXPECT_EQ(file.phases.at("second").values[POSIX_WRITES], 9);
  EXPECT_EQ(trace->processes.at(0).rank, 3);
}

TEST(Part, EveryTruncationIsAnError) {
  const auto part = example();
  for (size_t length = 0; length < part.size(); ++length) {
    const auto trace = read_part(std::span(part).first(length));
    EXPECT_FALSE(trace.ok()) << length;
  }
}

TEST(Part, AnyDamagedByteIsSurvived) {
  const auto whole = example();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      auto part = whole;
      part[at] ^= static_cast<std::byte>(flip);
      const auto trace = read_part(part);
      if (at < sizeof(uint64_t)) {
        EXPECT_FALSE(trace.ok());
      }
    }
  }
}

TEST(Part, ListsThatRunInCirclesEnd) {
  auto part = example();
  PartHeader header;
  std::memcpy(&header, part.data(), sizeof header);
  std::memcpy(part.data() + header.files, &header.files,
              sizeof header.files);  // the first file's next is itself
  EXPECT_FALSE(read_part(part).ok());
}

// A part that the first version of the library left.
TEST(Part, OfTheFirstVersionIsRead) {
  PartBuilder part;
  v1::PartPhase phase{};
  phase.counters[POSIX_WRITES] = 3;
  phase.counters[STDIO_MAX_BYTE_WRITTEN] = 99;
  phase.times[1][WRITE_TIME] = 0.5;
  phase.accesses[1][1].bins[0] = 3;
  v1::PartFile file{};
  file.path = part.name("/data/a");
  file.phases = part.add(phase);
  file.renamed = part.name("/data/b");
  v1::PartHeader header{};
  header.process_id = 42;
  header.host = part.name("host");
  header.dropped_calls = 7;
  header.files = part.add(file);
  auto bytes = part.finish(PartHeader{});
  header.magic = v1::part_magic;
  header.used_bytes = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto trace = read_part(bytes);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const File& read = trace->files.at("/data/a");
  EXPECT_EQ(read.renamed_to, std::vector<std::string>{"/data/b"});
  EXPECT_EQ(read.total().values[POSIX_WRITES], 3);
  EXPECT_EQ(read.total().values[STDIO_MAX_BYTE_WRITTEN], 99);
  EXPECT_EQ(read.total().values[STDIO_BYTES_INLINED], 0);
  EXPECT_EQ(read.shares.at(0).calls[1][1], 3u);
  EXPECT_EQ(read.size.at_open, -1);
  EXPECT_EQ(trace->dropped_calls, 7u);
  EXPECT_EQ(trace->processes.at(0).id, 42u);
}

// Each member of a list names all that follows it: a few bytes would become a square of them.
TEST(Part, NamesThatOverlapAreRefused) {
  PartBuilder part;
  constexpr uint32_t names = 1000;
  const uint32_t first = part.add(PartName{});
  for (uint32_t n = 1; n < names; ++n) part.add(PartName{});
  PartFile file{};
  for (uint32_t n = 0; n < names; ++n) {
    const uint32_t name = first + n * static_cast<uint32_t>(sizeof(PartName));
    file.renamed = part.add(PartRename{file.renamed, name, 0, 0, 0});
  }
  PartHeader header{};
  header.files = part.add(file);
  auto bytes = part.finish(header);
  for (uint32_t n = 0; n < names; ++n) {
    const uint32_t at = first + n * static_cast<uint32_t>(sizeof(PartName));
    const uint32_t after = at + static_cast<uint32_t>(sizeof(PartName));
    const PartName name{n + 1 < names ? after : 0, static_cast<uint32_t>(bytes.size()) - after};
    std::memcpy(bytes.data() + at, &name, sizeof name);
  }
  EXPECT_EQ(read_part(bytes).status().code(), Code::corrupt);
}

Trace random_trace(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(random); };
  Trace trace;
  for (int p = 0; p < 3; ++p) {
    Process process;
    process.host = "host" + std::to_string(below(2));
    process.id = below(5);
    process.start = 1000 + static_cast<double>(below(3));
    process.end = process.start + 5;
    process.rank = static_cast<int64_t>(below(4)) - 1;
    process.ranks = 4;
    process.heatmap.bin_seconds = first_bin_seconds * static_cast<double>(1 << below(3));
    process.heatmap.bytes[1][1] = {below(9), 0, below(9), 1 + below(9)};
    process.overflow.calls[2][1] = below(3);
    bool known = false;
    for (const Process& other : trace.processes) known = known || other.same_as(process);
    if (!known) trace.processes.push_back(process);
  }
  for (int f = 0; f < 4; ++f) {
    File& file = trace.files["/f" + std::to_string(below(6))];
    for (const char* phase : {"", "one"}) {
      Counters& counters = file.phases[phase];
      for (auto& value : counters.values) value = static_cast<int64_t>(below(1000));
      for (auto& level : counters.times) {
        for (auto& time : level) time = 1000 + static_cast<double>(below(8));
      }
      for (auto& level : counters.accesses) {
        for (Accesses& accesses : level) {
          for (auto& bin : accesses.bins) bin = below(9);
          for (int i = 0; i < 5; ++i) accesses.sizes[below(100)] += below(7);
          accesses.overflow_calls = below(2);
          accesses.overflow_bytes = accesses.overflow_calls * 7;
        }
      }
    }
    file.size = {static_cast<int64_t>(below(9)),       static_cast<int64_t>(below(90)),
                 1000 + static_cast<double>(below(9)), 1010 + static_cast<double>(below(9)),
                 static_cast<int64_t>(below(50)),      below(50)};
    Share& share = file.shares[static_cast<int>(below(trace.processes.size()))];
    share.calls[1][1] += 1 + below(9);
    share.bytes[1][1] += below(1000);
  }
  trace.dropped_calls = below(3);
  trace.overflow.values[POSIX_WRITES] = static_cast<int64_t>(1 + below(9));
  trace.overflow.accesses[1][1].bins[2] = below(9);
  return trace;
}

nlohmann::json as_json(const Trace& trace) { return to_json(trace); }

TEST(Trace, ComesBackFromJson) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const nlohmann::json j = as_json(random_trace(seed));
    const auto back = from_json(j);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(as_json(*back), j);
    const auto cbor = from_json(nlohmann::json::from_cbor(nlohmann::json::to_cbor(j)));
    ASSERT_TRUE(cbor.ok());
    EXPECT_EQ(as_json(*cbor), j);
  }
}

TEST(Trace, MergesInAnyOrderToTheSameSums) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Trace a = random_trace(seed), b = random_trace(seed + 1000), c = random_trace(seed + 2000);
    Trace left = a, right = b;
    left.merge(b);
    left.merge(c);
    right.merge(c);
    right.merge(a);
    EXPECT_EQ(left.processes.size(), right.processes.size());
    ASSERT_EQ(left.files.size(), right.files.size());
    for (const auto& [path, file] : left.files) {
      const Counters one = file.total(), other = right.files.at(path).total();
      EXPECT_EQ(one.values, other.values);
      EXPECT_EQ(one.at(Level::posix, Direction::write).sizes, other.at(Level::posix, Direction::write).sizes);
      uint64_t calls = 0, other_calls = 0;
      for (const auto& [process, share] : file.shares) calls += share.calls[1][1];
      for (const auto& [process, share] : right.files.at(path).shares) other_calls += share.calls[1][1];
      EXPECT_EQ(calls, other_calls);
    }
  }
}

TEST(Trace, HeatmapsGetOneWidthAndLoseNothing) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Trace a = random_trace(seed);
    const Trace b = random_trace(seed + 1000);
    uint64_t bytes = 0;
    for (const Trace* trace : {&std::as_const(a), &b}) {
      for (const Process& process : trace->processes) {
        for (const uint64_t bin : process.heatmap.bytes[1][1]) bytes += bin;
      }
    }
    a.merge(b);
    for (const Process& process : a.processes) {
      EXPECT_EQ(process.heatmap.bin_seconds, a.processes[0].heatmap.bin_seconds);
      for (const uint64_t bin : process.heatmap.bytes[1][1]) bytes -= bin;
    }
    EXPECT_EQ(bytes, 0u);
  }
  Heatmap narrow, wide;
  narrow.bytes[1][1] = {1, 2, 3, 4, 5};
  wide.bin_seconds = 2 * first_bin_seconds;
  wide.bytes[1][1] = {10};
  narrow.merge(wide);
  EXPECT_EQ(narrow.bytes[1][1], (std::vector<uint64_t>{13, 7, 5}));
}

TEST(Trace, WhatNoProcessExplainsIsTold) {
  // One process made the file and wrote up to 100, another appended 50; at the end it has 400 bytes.
  FileSize one{0, 100, 1, 2, 100, 0}, other{100, 400, 3, 4, 0, 50};
  FileSize both = one;
  both.merge(other);
  EXPECT_EQ(both.at_open, 0);
  EXPECT_EQ(both.at_close, 400);
  EXPECT_EQ(both.unexplained_bytes(), 300u);
  FileSize turned = other;
  turned.merge(one);
  EXPECT_EQ(turned.unexplained_bytes(), 300u);
  one.explained_end = 400;
  both.merge(one);
  EXPECT_EQ(both.unexplained_bytes(), 0u);
  EXPECT_EQ(FileSize().unexplained_bytes(), 0u);
}

TEST(Trace, WhatIsNoTraceIsRefused) {
  EXPECT_FALSE(from_json(nlohmann::json::object()).ok());
  EXPECT_FALSE(from_json(nlohmann::json::array()).ok());
  EXPECT_FALSE(from_json(nlohmann::json{{"neve_trace", 2}}).ok());
  nlohmann::json j = as_json(random_trace(1));
  j["files"][0]["shares"][0]["process"] = 99;
  EXPECT_FALSE(from_json(j).ok());
  for (const double width : {0.0, -0.1, 0.15, 1e300}) {
    j = as_json(random_trace(1));
    j["processes"][0]["heatmap"]["bin_seconds"] = width;
    EXPECT_FALSE(from_json(j).ok()) << width;
  }
  j = as_json(random_trace(1));
  j["processes"][0]["heatmap"]["posix"]["write"] = std::vector<int>(heat_bins + 1, 1);
  EXPECT_FALSE(from_json(j).ok());
}

TEST(Trace, BinsAreDarshans) {
  EXPECT_EQ(bin_of(0), 0);
  EXPECT_EQ(bin_of(100), 0);
  EXPECT_EQ(bin_of(101), 1);
  EXPECT_EQ(bin_of(1024), 1);
  EXPECT_EQ(bin_of(1025), 2);
  EXPECT_EQ(bin_of(1048576), 4);
  EXPECT_EQ(bin_of(1048577), 5);
  EXPECT_EQ(bin_of(4194304), 5);
  EXPECT_EQ(bin_of(10485761), 7);
  EXPECT_EQ(bin_of(1073741824), 8);
  EXPECT_EQ(bin_of(1073741825), 9);
}

}  // namespace
}  // namespace neve::trace
