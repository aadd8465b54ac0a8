// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: writes below a folder take as long as on a device of a given speed that all ranks share. The
// bytes go where they would go; the caller sleeps until the device would have taken them.
//
//   LD_PRELOAD=libneve_slow_device.so NEVE_SLOW_DEVICE=FOLDER:CLOCK:BYTES_PER_SECOND
//
// CLOCK: a file, not there yet or from an earlier run, that the ranks share.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

namespace {

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

struct Device {
  std::string folder;
  double ns_per_byte = 0;
  std::atomic<int64_t>* free_from = nullptr;  // shared by the ranks, as the clock is

  Device() {
    const char* const text = std::getenv("NEVE_SLOW_DEVICE");
    if (text == nullptr) return;
    const std::string all = text;
    const size_t first = all.find(':'), second = all.rfind(':');
    folder = all.substr(0, first);
    ns_per_byte = 1e9 / std::atof(all.c_str() + second + 1);
    const std::string clock = all.substr(first + 1, second - first - 1);
    const int file = ::open(clock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(int64_t)) != 0) std::abort();
    void* const shared = ::mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) std::abort();
    free_from = static_cast<std::atomic<int64_t>*>(shared);
    ::close(file);
  }
};
const Device& device() {
  static const Device one;
  return one;
}

// Waits until the device has taken what a call has put: `bytes`, which it returns.
ssize_t take(int file, ssize_t bytes) {
  if (bytes <= 0 || device().free_from == nullptr) return bytes;
  char name[PATH_MAX];
  const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), name, sizeof name);
  if (length <= 0 || std::string(name, static_cast<size_t>(length)).rfind(device().folder, 0) != 0)
    return bytes;
  const auto needed = static_cast<int64_t>(static_cast<double>(bytes) * device().ns_per_byte);
  int64_t before = device().free_from->load(), end = 0;
  do {
    end = std::max(before, now()) + needed;
  } while (!device().free_from->compare_exchange_weak(before, end));
  const timespec until{end / 1000000000, end % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
  return bytes;
}

template <class Call>
Call* next(const char* name) {
  return reinterpret_cast<Call*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
ssize_t write(int file, const void* bytes, size_t count) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return take(file, real(file, bytes, count));
}
ssize_t writev(int file, const iovec* parts, int count) {
  static auto* const real = next<ssize_t(int, const iovec*, int)>("writev");
  return take(file, real(file, parts, count));
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return take(file, real(file, bytes, count, offset));
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return take(file, real(file, bytes, count, offset));
}
ssize_t pwritev(int file, const iovec* parts, int count, off_t offset) {
  static auto* const real = next<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  return take(file, real(file, parts, count, offset));
}
}
#pragma GCC visibility pop
