// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/signal_end.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "io/files/descriptor.hpp"

namespace neve::apps {
namespace {

constexpr int ending[] = {SIGTERM, SIGINT, SIGHUP};
constexpr char in_peace = 0;

std::atomic<int> told{-1};  // the pipe's end that the handler writes to

void tell(int number) {
  const int before = errno;
  const char signal_number = static_cast<char>(number);
  [[maybe_unused]] const ssize_t written = ::write(told.load(), &signal_number, 1);
  errno = before;
}

void change_handlers(void (*from)(int), void (*to)(int)) {
  for (const int number : ending) {
    struct sigaction found = {};
    if (::sigaction(number, nullptr, &found) != 0 || (found.sa_flags & SA_SIGINFO) != 0) continue;
    if (found.sa_handler != from) continue;
    struct sigaction changed = {};
    changed.sa_handler = to;
    changed.sa_flags = SA_RESTART;
    ::sigaction(number, &changed, nullptr);
  }
}

void watch(int read_end, const std::function<void()>& last) {
  char number = in_peace;
  while (::read(read_end, &number, 1) < 0 && errno == EINTR) {
  }
  if (number == in_peace) return;
  last();
  ::signal(number, SIG_DFL);
  ::kill(::getpid(), number);
}

}  // namespace

Result<std::unique_ptr<SignalEnd>> SignalEnd::call(std::function<void()> last) {
  std::unique_ptr<SignalEnd> made(new SignalEnd);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return files::system_failure("a pipe for signals");
  made->read_end_ = ends[0];
  made->write_end_ = ends[1];
  try {
    made->watcher_ = std::thread(watch, made->read_end_, std::move(last));
  } catch (const std::system_error& error) {
    return failure(std::string("a thread for signals: ") + error.what());
  }
  told = made->write_end_;
  change_handlers(SIG_DFL, tell);
  return made;
}

SignalEnd::~SignalEnd() {
  if (watcher_.joinable()) {
    change_handlers(tell, SIG_DFL);
    [[maybe_unused]] const ssize_t written = ::write(write_end_, &in_peace, 1);
    watcher_.join();  // where a signal came first, the process ends here
  }
  if (read_end_ >= 0) ::close(read_end_);
  if (write_end_ >= 0) ::close(write_end_);
}

}  // namespace neve::apps
