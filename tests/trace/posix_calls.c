/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI that makes known calls: posix_calls MODE FOLDER. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "neve/trace.h"

static char folder[3000];
static char data[1 << 16];

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "posix_calls: %s failed: %s\n", #condition, strerror(errno)); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

static const char* in_folder(const char* name) {
  static __thread char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static int create(const char* name) {
  const int fd = open(in_folder(name), O_CREAT | O_RDWR | O_TRUNC, 0666);
  CHECK(fd >= 0);
  return fd;
}

/* Every way to write and read once, with a size of its own. */
static void every(void) {
  const int fd = create("every");
  struct iovec two[2] = {{data, 30}, {data, 40}};
  CHECK(write(fd, data, 10) == 10);
  CHECK(pwrite(fd, data, 20, 10) == 20);
  CHECK(pwrite64(fd, data, 21, 30) == 21);
  CHECK(lseek(fd, 100, SEEK_SET) == 100);
  CHECK(writev(fd, two, 2) == 70);
  CHECK(pwritev(fd, two, 1, 200) == 30);
  CHECK(pwritev2(fd, two + 1, 1, 300, 0) == 40);
  CHECK(read(fd, data, 0) == 0);
  CHECK(pread(fd, data, 11, 0) == 11);
  CHECK(pread64(fd, data, 12, 0) == 12);
  CHECK(preadv(fd, two, 2, 0) == 70);
  CHECK(ftruncate(fd, 1000) == 0);
  CHECK(posix_fallocate(fd, 0, 2000) == 0);
  CHECK(fsync(fd) == 0);
  CHECK(fdatasync(fd) == 0);
  CHECK(write(-1, data, 10) < 0); /* fails: counted nowhere */
  CHECK(close(fd) == 0);
}

/* 5 writes by one descriptor, 3 by its copy, 2 by a copy of another number; then the number is another
 * file's. */
static void duplicates(void) {
  const int fd = create("duplicates");
  for (int i = 0; i < 5; ++i) CHECK(write(fd, data, 100) == 100);
  const int copy = dup(fd);
  for (int i = 0; i < 3; ++i) CHECK(write(copy, data, 100) == 100);
  CHECK(dup2(fd, 77) == 77);
  CHECK(close(fd) == 0);
  CHECK(close(copy) == 0);
  for (int i = 0; i < 2; ++i) CHECK(write(77, data, 100) == 100);
  const int other = create("other");
  CHECK(dup2(other, 77) == 77);
  CHECK(write(77, data, 9) == 9);
  CHECK(fcntl(other, F_DUPFD, 90) == 90);
  CHECK(write(90, data, 9) == 9);
}

static void* write_alone(void* name) {
  const int fd = create(name);
  for (int i = 0; i < 1000; ++i) CHECK(write(fd, data, 32) == 32);
  CHECK(close(fd) == 0);
  return NULL;
}
static int common_fd;
static void* write_common(void* number) {
  for (int i = 0; i < 1000; ++i) CHECK(pwrite(common_fd, data, 48, (i * 8 + *(int*)number) * 48) == 48);
  return NULL;
}
/* 8 threads with 1000 writes each to a file of their own and to a common one. */
static void threads(void) {
  static char names[8][16];
  static int numbers[8];
  pthread_t alone[8], together[8];
  common_fd = create("common");
  for (int t = 0; t < 8; ++t) {
    snprintf(names[t], sizeof names[t], "thread%d", t);
    numbers[t] = t;
    CHECK(pthread_create(&alone[t], NULL, write_alone, names[t]) == 0);
    CHECK(pthread_create(&together[t], NULL, write_common, &numbers[t]) == 0);
  }
  for (int t = 0; t < 8; ++t) {
    pthread_join(alone[t], NULL);
    pthread_join(together[t], NULL);
  }
}

/* 3 writes before fork; the child makes 4 through the inherited descriptor and leaves by _exit, one after
 * vfork moves descriptors about, the parent makes 2. */
static void forks(void) {
  const int fd = create("forked");
  for (int i = 0; i < 3; ++i) CHECK(write(fd, data, 50) == 50);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 4; ++i) CHECK(write(fd, data, 60) == 60);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  const int null = open("/dev/null", O_WRONLY);
  const pid_t other = vfork();
  if (other == 0) {
    dup2(null, fd); /* in the child only: the parent's descriptor is still the file */
    _exit(0);
  }
  waitpid(other, NULL, 0);
  for (int i = 0; i < 2; ++i) CHECK(write(fd, data, 50) == 50);
}

static void killed(void) {
  const int fd = create("killed");
  for (int i = 0; i < 6; ++i) CHECK(write(fd, data, 70) == 70);
  raise(SIGKILL);
}

/* 10 of fwrite with 4 x 25 bytes, an fprintf of 12, an fputs of 5, an fputc; 3 reads. */
static void stream(void) {
  FILE* file = fopen(in_folder("stream"), "w+");
  CHECK(file != NULL);
  for (int i = 0; i < 10; ++i) CHECK(fwrite(data, 25, 4, file) == 4);
  CHECK(fprintf(file, "%s %d\n", "hello", 12345) == 12);
  CHECK(fputs("12345", file) >= 0);
  CHECK(fputc('x', file) == 'x');
  CHECK(fflush(file) == 0);
  CHECK(fseek(file, 0, SEEK_SET) == 0);
  CHECK(fread(data, 1, 100, file) == 100);
  CHECK(fgetc(file) != EOF);
  CHECK(fgets(data, 10, file) != NULL);
  CHECK(fclose(file) == 0);
}

/* 3 writes of aio with 123 bytes, one read of 100. */
static void asynchronous(void) {
  const int fd = create("asynchronous");
  struct aiocb control;
  for (int i = 0; i < 4; ++i) {
    memset(&control, 0, sizeof control);
    control.aio_fildes = fd;
    control.aio_buf = data;
    control.aio_nbytes = i < 3 ? 123 : 100;
    control.aio_offset = i < 3 ? i * 123 : 0;
    CHECK((i < 3 ? aio_write(&control) : aio_read(&control)) == 0);
    const struct aiocb* const list[1] = {&control};
    while (aio_error(&control) == EINPROGRESS) aio_suspend(list, 1, NULL);
    CHECK(aio_return(&control) == (i < 3 ? 123 : 100));
  }
  CHECK(close(fd) == 0);
}

/* 300 different sizes, twice each. */
static void sizes(void) {
  const int fd = create("sizes");
  for (int twice = 0; twice < 2; ++twice) {
    for (int size = 1; size <= 300; ++size) CHECK(pwrite(fd, data, size, 0) == size);
  }
  CHECK(close(fd) == 0);
}

static void phases(void) {
  const int fd = create("phases");
  CHECK(write(fd, data, 1) == 1);
  neve_trace_phase("one");
  CHECK(write(fd, data, 2) == 2);
  neve_trace_phase("two");
  CHECK(write(fd, data, 3) == 3);
  neve_trace_phase("one");
  CHECK(write(fd, data, 4) == 4);
}

static int signal_fd;
static void write_in_signal(int number) {
  (void)number;
  if (write(signal_fd, data, 8) != 8) _exit(3);
}
/* A timer whose handler writes while the program writes: nothing may hang. */
static void signals(void) {
  const int fd = create("signals");
  signal_fd = create("handler");
  struct sigaction action = {.sa_handler = write_in_signal, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  struct itimerspec often = {{0, 100000}, {0, 100000}};
  CHECK(timer_settime(timer, 0, &often, NULL) == 0);
  for (int i = 0; i < 50000; ++i) CHECK(pwrite(fd, data, 16, 0) == 16);
  timer_delete(timer);
}

static void mapped(void) {
  const int fd = create("mapped");
  CHECK(ftruncate(fd, 4096) == 0);
  char* bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(bytes != MAP_FAILED);
  memset(bytes, 1, 4096);
}

/* 1000 files with one write of 40 bytes each. */
static void files(void) {
  for (int i = 0; i < 1000; ++i) {
    char name[32];
    snprintf(name, sizeof name, "file%04d", i);
    const int fd = create(name);
    CHECK(write(fd, data, 40) == 40);
    CHECK(close(fd) == 0);
  }
}

/* Appends: where each write lands is the kernel's choice. */
static void append(void) {
  const int fd = open(in_folder("append"), O_CREAT | O_WRONLY | O_APPEND, 0666);
  CHECK(fd >= 0);
  for (int i = 0; i < 4; ++i) CHECK(write(fd, data, 250) == 250);
}

/* Seconds a write of 64 bytes takes. */
static void many(void) {
  const int fd = create("many");
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const int count = 300000;
  for (int i = 0; i < count; ++i) CHECK(pwrite(fd, data, 64, (i % 1024) * 64) == 64);
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%g\n",
         ((double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec)) / count);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } modes[] = {{"every", every},
               {"duplicates", duplicates},
               {"threads", threads},
               {"forks", forks},
               {"killed", killed},
               {"stream", stream},
               {"asynchronous", asynchronous},
               {"sizes", sizes},
               {"phases", phases},
               {"signals", signals},
               {"mapped", mapped},
               {"files", files},
               {"append", append},
               {"many", many}};
  memset(data, 'y', sizeof data);
  if (argc == 3) {
    snprintf(folder, sizeof folder, "%s", argv[2]);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
      if (strcmp(argv[1], modes[i].name) != 0) continue;
      modes[i].run();
      return 0;
    }
  }
  fprintf(stderr, "usage: posix_calls MODE FOLDER\n");
  return 2;
}
