// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/streams.hpp"

#include <atomic>

namespace neve::trace {
namespace {

constexpr int stream_limit = 65536;

struct Known {
  std::atomic<FILE*> stream;
  std::atomic<char*> seen;      // where its pointer stood; nullptr: not known
  std::atomic<uint64_t> calls;  // under way in the low half, begun in the high one
};
constinit Known streams[stream_limit]{};
std::atomic<int> highest{-1};

constexpr uint64_t one_begun = (uint64_t{1} << 32) + 1;

bool is_in_table(int fd) { return fd >= 0 && fd < stream_limit; }

uint64_t distance(const char* from, const char* to) {
  return to > from ? static_cast<uint64_t>(to - from) : 0;
}

// A pointer outside of the bytes that wait tells that the buffer was flushed since.
uint64_t put_since(const FILE* stream, const char* seen) {
  const char *begin = stream->_IO_write_base, *end = stream->_IO_write_ptr;
  return distance(seen >= begin && seen <= end ? seen : begin, end);
}

}  // namespace

void meet_stream(FILE* stream, int fd) {
  if (!is_in_table(fd)) return;
  Known& known = streams[fd];
  known.calls.store(0);
  known.seen.store(stream->_IO_write_base);
  known.stream.store(stream);
  for (int seen = highest.load(); fd > seen && !highest.compare_exchange_weak(seen, fd);) {
  }
}

StreamCall begin_stream_call(FILE* stream, int fd) {
  if (!is_in_table(fd)) return {fd, false, 0, 0};
  Known& known = streams[fd];
  const bool is_first = known.stream.load() != stream;
  if (is_first) meet_stream(stream, fd);
  const uint64_t begun = known.calls.fetch_add(one_begun) + one_begun;
  const auto number = static_cast<uint32_t>(begun >> 32);
  const char* const seen = known.seen.load();
  const bool is_alone = (begun & 0xffffffff) == 1 && (seen != nullptr || is_first);
  const uint64_t inlined = is_alone ? put_since(stream, seen) : 0;
  return {fd, is_first, number, known.calls.load() == begun ? inlined : 0};
}

void end_stream_call(FILE* stream, const StreamCall& call) {
  if (!is_in_table(call.fd)) return;
  Known& known = streams[call.fd];
  const uint64_t calls = known.calls.load();
  const bool is_alone = (calls & 0xffffffff) == 1 && calls >> 32 == call.number;
  known.seen.store(is_alone ? stream->_IO_write_ptr : nullptr);
  known.calls.fetch_sub(1);
}

uint64_t bytes_waiting(int fd) {
  FILE* const stream = is_in_table(fd) ? streams[fd].stream.load() : nullptr;
  return stream == nullptr ? 0 : distance(stream->_IO_write_base, stream->_IO_write_ptr);
}

void forget_stream(int fd) {
  if (is_in_table(fd) && streams[fd].stream.load() != nullptr) streams[fd].stream.store(nullptr);
}

FILE* next_stream(int& fd) {
  for (const int last = highest.load(); fd <= last; ++fd) {
    if (FILE* const stream = streams[fd].stream.load()) return stream;
  }
  return nullptr;
}

}  // namespace neve::trace
