// SPDX-License-Identifier: BSD-3-Clause
// From MPI_Init_thread to MPI_Finalize.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "alone/comm.hpp"
#include "alone/errors.hpp"

namespace {

struct State {
  std::atomic<bool> is_initialized = false, is_finalized = false;
  std::atomic<int> level = MPI_THREAD_SINGLE;
  std::atomic<std::thread::id> main_thread{};
};
State& state() {
  static State one;
  return one;
}

}  // namespace

int MPI_Init_thread(int*, char***, int required, int* provided) {
  State& now = state();
  if (now.is_initialized) return neve::alone::bad_argument;
  now.level = std::clamp(required, MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED);
  now.main_thread = std::this_thread::get_id();
  now.is_initialized = true;
  *provided = now.level;
  return MPI_SUCCESS;
}

int MPI_Finalize() {
  const int dropped = neve::alone::drop_attributes(MPI_COMM_SELF);
  state().is_finalized = true;
  return dropped;
}

int MPI_Initialized(int* flag) {
  *flag = state().is_initialized ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Finalized(int* flag) {
  *flag = state().is_finalized ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Query_thread(int* provided) {
  *provided = state().level;
  return MPI_SUCCESS;
}

int MPI_Is_thread_main(int* flag) {
  *flag = state().main_thread.load() == std::this_thread::get_id() ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm, int exit_code) { std::_Exit(exit_code); }

double MPI_Wtime() {
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  return now.count();
}

int MPI_Get_library_version(char* text, int* length) {
  constexpr std::string_view version = "none: one process";
  std::memcpy(text, version.data(), version.size());
  text[version.size()] = '\0';
  *length = static_cast<int>(version.size());
  return MPI_SUCCESS;
}
