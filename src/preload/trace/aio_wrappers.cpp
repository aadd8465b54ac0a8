// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous POSIX I/O, which MPI libraries use for nonblocking calls. Inside the C library it ends in
// calls that no wrapper sees, so it is counted when its result is fetched.
#include <aio.h>

#include "preload/trace/next.hpp"
#include "preload/trace/recorder.hpp"

using namespace neve::trace;

namespace {

// What is under way; an operation beyond this number is counted at once, with the bytes it asked for.
constexpr size_t max_under_way = 1024;
struct Operation {
  const void* control;
  Direction direction;
  double begin;
};
Operation operations[max_under_way];  // guarded by the right to record

void started(const void* control, int fd, Direction direction, int64_t offset, uint64_t bytes, double begin) {
  Recording recording;
  if (!recording) return;
  for (Operation& operation : operations) {
    if (operation.control != nullptr && operation.control != control) continue;
    operation = {control, direction, begin};
    return;
  }
  posix_transfer(fd, direction, offset, static_cast<int64_t>(bytes), {begin, now()});
}

void ended(const void* control, int fd, int64_t offset, ssize_t bytes) {
  const double end = now();
  Recording recording;
  if (!recording) return;
  for (Operation& operation : operations) {
    if (operation.control != control) continue;
    operation.control = nullptr;
    posix_transfer(fd, operation.direction, offset, bytes, {operation.begin, end});
    return;
  }
}

template <class Control>
void started_list(int mode, Control* const* list, int count, double begin) {
  (void)mode;
  for (int i = 0; i < count; ++i) {
    const Control* one = list[i];
    if (one == nullptr || (one->aio_lio_opcode != LIO_READ && one->aio_lio_opcode != LIO_WRITE)) continue;
    if (!may_count(one->aio_fildes)) continue;
    started(one, one->aio_fildes, one->aio_lio_opcode == LIO_WRITE ? Direction::write : Direction::read,
            one->aio_offset, one->aio_nbytes, begin);
  }
}

int no_function() {
  errno = ENOSYS;
  return -1;
}

}  // namespace

#define AIO_START(name, type, direction)                                                                    \
  NEVE_EXPORT int name(type* control) noexcept {                                                            \
    NEVE_NEXT(name);                                                                                        \
    if (next == nullptr) return no_function();                                                              \
    const bool counted = may_count(control->aio_fildes);                                                    \
    const double begin = counted ? now() : 0;                                                               \
    const int result = next(control);                                                                       \
    if (result == 0 && counted) {                                                                           \
      started(control, control->aio_fildes, Direction::direction, control->aio_offset, control->aio_nbytes, \
              begin);                                                                                       \
    }                                                                                                       \
    return result;                                                                                          \
  }
AIO_START(aio_write, aiocb, write)
AIO_START(aio_write64, aiocb64, write)
AIO_START(aio_read, aiocb, read)
AIO_START(aio_read64, aiocb64, read)

#define AIO_RETURN(name, type)                                                                           \
  NEVE_EXPORT ssize_t name(type* control) noexcept {                                                     \
    NEVE_NEXT(name);                                                                                     \
    if (next == nullptr) return no_function();                                                           \
    const ssize_t bytes = next(control);                                                                 \
    if (may_count(control->aio_fildes)) ended(control, control->aio_fildes, control->aio_offset, bytes); \
    return bytes;                                                                                        \
  }
AIO_RETURN(aio_return, aiocb)
AIO_RETURN(aio_return64, aiocb64)

#define AIO_LIST(name, type)                                              \
  NEVE_EXPORT int name(int mode, type* const* __restrict list, int count, \
                       sigevent* __restrict event) noexcept {             \
    NEVE_NEXT(name);                                                      \
    if (next == nullptr) return no_function();                            \
    const double begin = now();                                           \
    const int result = next(mode, list, count, event);                    \
    if (result == 0) started_list(mode, list, count, begin);              \
    return result;                                                        \
  }
AIO_LIST(lio_listio, aiocb)
AIO_LIST(lio_listio64, aiocb64)
