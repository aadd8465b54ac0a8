// SPDX-License-Identifier: BSD-3-Clause
// A slower link than the one at hand: calls of MPI come back no sooner than the link would have brought their
// bytes.
#pragma once

#include <chrono>
#include <thread>

namespace neve::apps {

// Bytes a second; 0: as fast as the machine.
struct ImitatedLink {
  double into_rank = 0;  // messages into a rank, one after another
  double to_file = 0;    // what a rank writes to files
};

// Of this process, until the next call; a thread calls it that calls MPI alone. MPI_Gather, and receives by
// MPI_Imrecv and MPI_Test, are slowed at the rank that gets values, MPI_File_write_at and ..._write_at_all
// where they are called. All other calls, and the latency of messages, are the machine's own.
void imitate_link(const ImitatedLink& link);
const ImitatedLink& imitated_link();

inline std::chrono::steady_clock::duration time_on_link(double bytes, double bytes_per_second) {
  using Duration = std::chrono::steady_clock::duration;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(bytes / bytes_per_second));
}

// What the call returns, when the link has brought the bytes.
template <class Call>
auto through_link(double bytes, double bytes_per_second, Call&& call) {
  if (bytes_per_second <= 0) return call();
  const auto begin = std::chrono::steady_clock::now();
  const auto result = call();
  std::this_thread::sleep_until(begin + time_on_link(bytes, bytes_per_second));
  return result;
}

}  // namespace neve::apps
