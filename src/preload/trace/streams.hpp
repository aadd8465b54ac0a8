// SPDX-License-Identifier: BSD-3-Clause
// What a program puts into a stream's buffer by itself. putc_unlocked and its kin are compiled into the
// program: they store a character and move the stream's pointer, and call the C library only when the buffer
// is full. So the pointer is remembered at the end of each call that is counted; how far it has moved by the
// next one is what no call put there.
#pragma once

#include <stdio.h>

#include <cstdint>

namespace neve::trace {

struct StreamCall {
  int fd;
  bool is_first;     // this stream was not met before
  uint32_t number;   // of the call on this stream
  uint64_t inlined;  // bytes that the program put into the buffer before this call, and since the last
};

// Around a call that writes to, flushes or moves a stream; also of several threads at once, which then are
// not told what was put there meanwhile, and no byte twice.
StreamCall begin_stream_call(FILE* stream, int fd);
void end_stream_call(FILE* stream, const StreamCall& call);

// Bytes that wait in the buffer of the stream over this descriptor.
uint64_t bytes_waiting(int fd);

void meet_stream(FILE* stream, int fd);
void forget_stream(int fd);

// The streams met and not forgotten, by descriptor: the next one from `fd` on, nullptr after the last.
FILE* next_stream(int& fd);

}  // namespace neve::trace
