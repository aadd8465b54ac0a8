/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that writes in ways that are hard to see: trace_odd_writes MODE FOLDER [NUMBER]. Each mode leaves
 * files whose sizes tell what was written. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[3000];
static char data[1 << 16];
static int number;

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "odd_writes: %s failed: %s\n", #condition, strerror(errno)); \
      exit(1);                                                                     \
    }                                                                              \
  } while (0)

static const char* in_folder(const char* name) {
  static __thread char path[4][4096];
  static __thread int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static int create(const char* name) {
  const int fd = open(in_folder(name), O_CREAT | O_RDWR | O_TRUNC, 0666);
  CHECK(fd >= 0);
  return fd;
}

/* 40 bytes to each of NUMBER files, then 5 bytes to each by stdio, and 10 are read back. */
static void many_files(void) {
  for (int i = 0; i < number; ++i) {
    char name[32];
    snprintf(name, sizeof name, "file%06d", i);
    const int fd = create(name);
    CHECK(write(fd, data, 40) == 40);
    CHECK(pread(fd, data, 10, 0) == 10);
    CHECK(close(fd) == 0);
    FILE* stream = fopen(in_folder(name), "a");
    CHECK(stream != NULL);
    CHECK(fputs("12345", stream) >= 0);
    CHECK(fclose(stream) == 0);
  }
}

/* dprintf alone and after a write. */
static void formatted(void) {
  const int fd = create("formatted");
  CHECK(dprintf(fd, "%s %d\n", "hello", 12345) == 12);
  CHECK(write(fd, data, 100) == 100);
  CHECK(dprintf(fd, "%5000d", 1) == 5000);
  CHECK(close(fd) == 0);
}

/* Characters that the compiler stores into the buffer itself: alone, between calls, around a flush and a
 * seek; the second file is left open for exit to close. */
static void inlined(void) {
  FILE* stream = fopen(in_folder("inlined"), "w");
  CHECK(stream != NULL);
  for (int i = 0; i < 10000; ++i) putc_unlocked('a', stream);
  for (int i = 0; i < 1000; ++i) {
    CHECK(fputs("bcd", stream) >= 0);
    putc_unlocked('\n', stream);
  }
  CHECK(fflush(stream) == 0);
  for (int i = 0; i < 77; ++i) putc_unlocked('e', stream);
  CHECK(fseek(stream, 5, SEEK_SET) == 0);
  for (int i = 0; i < 6; ++i) putc_unlocked('f', stream);
  CHECK(fclose(stream) == 0);
  stream = fopen(in_folder("left"), "w");
  for (int i = 0; i < 5000; ++i) putc_unlocked('g', stream);
  CHECK(fprintf(stream, "%d", 123) == 3);
  putc_unlocked('h', stream);
}

static FILE* common;
static void* print(void* unused) {
  for (int i = 0; i < 20000; ++i) CHECK(fputs("0123456789", common) >= 0);
  return unused;
}
/* Threads that share a stream: not a byte more than they wrote. */
static void threads(void) {
  common = fopen(in_folder("common"), "w");
  pthread_t all[4];
  for (int t = 0; t < 4; ++t) CHECK(pthread_create(&all[t], NULL, print, NULL) == 0);
  for (int t = 0; t < 4; ++t) pthread_join(all[t], NULL);
  CHECK(fclose(common) == 0);
}

/* 300 bytes that are counted and 700 that no function of the C library has written. */
static void direct(void) {
  const int fd = create("direct");
  CHECK(write(fd, data, 300) == 300);
  CHECK(syscall(SYS_write, fd, data, 700) == 700);
  CHECK(close(fd) == 0);
  const int left = create("direct-left");
  CHECK(syscall(SYS_pwrite64, left, data, 50, 0) == 50);
}

/* Opened and closed again at once, often; the last time with 900 bytes past the C library. */
static const char* open_again_and_again(const char* name) {
  CHECK(close(create(name)) == 0);
  const char* path = in_folder(name);
  for (int i = 0; i < 200; ++i) {
    const int fd = open(path, O_WRONLY);
    if (i == 199) CHECK(syscall(SYS_pwrite64, fd, data, 900, 0) == 900);
    CHECK(close(fd) == 0);
  }
  return path;
}

/* So to three files, of which one is renamed and one removed right after. Then a link takes the place of a
 * file that was just open: the 20 bytes that follow go to the file behind it. */
static void reopened(void) {
  open_again_and_again("stays");
  CHECK(rename(open_again_and_again("moves"), in_folder("moved")) == 0);
  CHECK(unlink(open_again_and_again("goes")) == 0);
  CHECK(close(create("behind")) == 0);
  CHECK(close(create("link")) == 0);
  CHECK(remove(in_folder("link")) == 0);
  CHECK(symlink(in_folder("behind"), in_folder("link")) == 0);
  const int fd = open(in_folder("link"), O_WRONLY);
  CHECK(write(fd, data, 20) == 20 && close(fd) == 0);
}

static int held;

static int use_the_number_otherwise(void* name) {
  close(held);
  _exit(open(in_folder(name), O_CREAT | O_RDWR, 0666) == held ? 0 : 1);
}

/* Children in this process's memory close its file and open another by the same number: that is theirs alone.
 */
static void children(void) {
  held = create("parent");
  CHECK(write(held, data, 50) == 50);
  int status = 1;
  const pid_t first = vfork();
  if (first == 0) use_the_number_otherwise("of-vfork");
  CHECK(waitpid(first, &status, 0) == first && status == 0);
  CHECK(write(held, data, 50) == 50);
  CHECK(close(create("between")) == 0);
  static char stack[1 << 18];
  char name[] = "of-clone";
  const pid_t second =
      clone(use_the_number_otherwise, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, name);
  CHECK(waitpid(second, &status, 0) == second && status == 0);
  CHECK(write(held, data, 50) == 50);
  CHECK(close(held) == 0);
  CHECK(close(create("after")) == 0);
}

static void write_and_open(int fd, const char* name) {
  CHECK(write(fd, data, 500) == 500);
  const int own = create(name);
  CHECK(write(own, data, 77) == 77 && close(own) == 0);
}

static int in_clone(void* fd) {
  write_and_open(*(int*)fd, "of-clone");
  return 0;
}

/* Children that no handler of fork sees write to a file of their parent's and to one of their own. */
static void unseen_children(void) {
  int fd = create("parent"), status = 1;
  CHECK(write(fd, data, 100) == 100);
  static char stack[1 << 18];
  const pid_t first = clone(in_clone, stack + sizeof stack, SIGCHLD, &fd);
  CHECK(waitpid(first, &status, 0) == first && status == 0);
  CHECK(write(fd, data, 10) == 10);
  const pid_t second = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (second == 0) {
    write_and_open(fd, "of-call");
    _exit(0);
  }
  CHECK(waitpid(second, &status, 0) == second && status == 0);
  CHECK(write(fd, data, 10) == 10);
  CHECK(close(fd) == 0);
}

/* One file by two names, each of which says nothing of the other's bytes. The second file has more. */
static void linked(void) {
  const char* names[][2] = {{"first", "second"}, {"third", "fourth"}};
  for (int i = 0; i < 2; ++i) {
    const int one = create(names[i][0]);
    CHECK(link(in_folder(names[i][0]), in_folder(names[i][1])) == 0);
    const int two = open(in_folder(names[i][1]), O_WRONLY);
    CHECK(write(one, data, 10) == 10 && pwrite(two, data, 10, 10) == 10);
    if (i == 1) CHECK(syscall(SYS_pwrite64, two, data, 30, 20) == 30);
    CHECK(close(one) == 0 && close(two) == 0);
  }
}

/* What waits in a buffer: written by a child too, by exit, and by nobody. */
static void left_in_buffers(void) {
  int status = 1;
  FILE* const twice = fopen(in_folder("twice"), "w");
  CHECK(twice != NULL && fputs("0123456789", twice) >= 0);
  const pid_t child = fork();
  if (child == 0) exit(0);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(fclose(twice) == 0);
  FILE* const shared = fopen(in_folder("shared"), "w");
  CHECK(shared != NULL && fputs("0123456789", shared) >= 0 && fflush(shared) == 0);
  const pid_t other = fork();
  if (other == 0) {
    fputs("01234", shared);
    exit(0);
  }
  CHECK(waitpid(other, &status, 0) == other && status == 0);
  CHECK(fputs("01234", shared) >= 0 && fclose(shared) == 0);
  const pid_t third = fork();
  if (third == 0) {
    FILE* const at_exit = fopen(in_folder("at-exit"), "w");
    for (int i = 0; i < 70; ++i) putc_unlocked('a', at_exit);
    exit(0);
  }
  CHECK(waitpid(third, &status, 0) == third && status == 0);
  FILE* const again = fopen(in_folder("again"), "w");
  CHECK(again != NULL && fputs("0123456789", again) >= 0);
  CHECK(freopen(in_folder("other"), "w", again) == again && fputs("01234", again) >= 0);
  CHECK(fclose(again) == 0);
  FILE* const nobody = fopen(in_folder("nobody"), "w");
  for (int i = 0; i < 700; ++i) putc_unlocked('a', nobody);
  _exit(0);
}

/* Longer by other means than a write: all of it is explained. */
static void resized(void) {
  const int fd = create("resized");
  CHECK(ftruncate(fd, 5000) == 0);
  CHECK(posix_fallocate(fd, 0, 6000) == 0);
  CHECK(close(fd) == 0);
  CHECK(truncate(in_folder("resized"), 9000) == 0);
  const int again = open(in_folder("resized"), O_WRONLY);
  CHECK(lseek(again, 0, SEEK_END) == 9000);
  CHECK(write(again, data, 10) == 10);
  CHECK(close(again) == 0);
}

/* A descriptor by way of stdio and of write in turns. */
static void both_levels(void) {
  const int fd = create("both");
  CHECK(write(fd, data, 200) == 200);
  FILE* stream = fdopen(fd, "w");
  CHECK(stream != NULL && fprintf(stream, "%0100d", 1) == 100);
  CHECK(fflush(stream) == 0);
  CHECK(write(fd, data, 50) == 50);
  CHECK(fprintf(stream, "%010d", 1) == 10);
  CHECK(fclose(stream) == 0);
}

/* NUMBER processes append to one file, each by itself and by a descriptor they share, with pwrite too. */
static void append(void) {
  const int before = open(in_folder("append"), O_CREAT | O_WRONLY, 0666);
  CHECK(write(before, data, 1000) == 1000);
  CHECK(close(before) == 0);
  const int shared = open(in_folder("append"), O_WRONLY | O_APPEND);
  for (int p = 0; p < number; ++p) {
    if (fork() != 0) continue;
    const int own = open(in_folder("append"), O_WRONLY | O_APPEND);
    CHECK(own >= 0);
    for (int i = 0; i < 50; ++i) {
      CHECK(write(own, data, 100) == 100);
      CHECK(pwrite(own, data, 10, 0) == 10);
      CHECK(write(shared, data, 7) == 7);
    }
    exit(0);
  }
  while (wait(NULL) > 0) {
  }
  CHECK(close(shared) == 0);
}

/* One process: offsets of appends by write, pwrite, a duplicate, RWF_APPEND, and after F_SETFL. */
static void append_alone(void) {
  int fd = open(in_folder("alone"), O_CREAT | O_WRONLY | O_APPEND, 0666);
  CHECK(write(fd, data, 100) == 100);
  CHECK(pwrite(fd, data, 100, 0) == 100);
  const int copy = dup(fd);
  CHECK(write(copy, data, 100) == 100);
  CHECK(close(fd) == 0);
  CHECK(write(copy, data, 100) == 100);
  CHECK(close(copy) == 0);
  fd = open(in_folder("alone"), O_WRONLY);
  struct iovec one = {data, 100};
  CHECK(pwritev2(fd, &one, 1, 0, RWF_APPEND) == 100);
  CHECK(fcntl(fd, F_SETFL, O_APPEND) == 0);
  CHECK(write(fd, data, 100) == 100);
  CHECK(close(fd) == 0);
}

/* Names: a chain, a replaced file, a folder, two exchanged. */
static void renames(void) {
  int fd = create("a");
  CHECK(write(fd, data, 1) == 1 && close(fd) == 0);
  CHECK(rename(in_folder("a"), in_folder("b")) == 0);
  CHECK(rename(in_folder("b"), in_folder("c")) == 0);
  fd = create("new");
  CHECK(write(fd, data, 2) == 2 && close(fd) == 0);
  fd = create("old");
  CHECK(write(fd, data, 3) == 3 && close(fd) == 0);
  CHECK(rename(in_folder("new"), in_folder("old")) == 0);
  CHECK(rename(in_folder("old"), in_folder("kept")) == 0);
  CHECK(mkdir(in_folder("tmp"), 0777) == 0 && mkdir(in_folder("tmp/deep"), 0777) == 0);
  fd = create("tmp/deep/f");
  CHECK(write(fd, data, 4) == 4 && close(fd) == 0);
  CHECK(rename(in_folder("tmp"), in_folder("plt")) == 0);
  CHECK(rename(in_folder("plt/"), in_folder("plt00000/")) == 0);
  fd = create("left");
  CHECK(write(fd, data, 5) == 5 && close(fd) == 0);
  fd = create("right");
  CHECK(write(fd, data, 6) == 6 && close(fd) == 0);
  CHECK(renameat2(AT_FDCWD, in_folder("left"), AT_FDCWD, in_folder("right"), RENAME_EXCHANGE) == 0);
}

/* One file by names that change their meaning: through folders the process works in, and links. */
static void names(void) {
  CHECK(mkdir(in_folder("one"), 0777) == 0 && mkdir(in_folder("two"), 0777) == 0);
  for (int i = 0; i < 4; ++i) {
    CHECK(chdir(in_folder(i % 2 == 0 ? "one" : "two")) == 0);
    const int fd = open("x", O_CREAT | O_WRONLY, 0666);
    CHECK(write(fd, data, 10 + i % 2) == 10 + i % 2 && close(fd) == 0);
  }
  for (int i = 0; i < 4; ++i) {
    unlink(in_folder("link"));
    CHECK(symlink(i % 2 == 0 ? "one" : "two", in_folder("link")) == 0);
    const int fd = open(in_folder("link/x"), O_WRONLY);
    CHECK(write(fd, data, 20 + i % 2) == 20 + i % 2 && close(fd) == 0);
  }
  /* A number of a file that is gone may be another's. */
  for (int i = 0; i < 20; ++i) {
    CHECK(chdir(in_folder(i % 2 == 0 ? "one" : "two")) == 0);
    const int fd = open("y", O_CREAT | O_WRONLY | O_EXCL, 0666);
    CHECK(write(fd, data, 30 + i % 2) == 30 + i % 2 && close(fd) == 0 && unlink("y") == 0);
  }
}

/* 100000 bytes now and, after NUMBER tenths of a second, 50000 more. */
static void slow(void) {
  const int fd = create("slow");
  CHECK(write(fd, data, 50000) == 50000 && write(fd, data, 50000) == 50000);
  const struct timespec time = {number / 10, number % 10 * 100000000L};
  nanosleep(&time, NULL);
  CHECK(write(fd, data, 50000) == 50000);
}

/* Seconds of the processor that an open and a close of a file that exists take, the shortest of five times.
 */
static void opens(void) {
  const int count = 60000;
  double best = 1e9;
  CHECK(close(create("opened")) == 0);
  const char* path = in_folder("opened");
  for (int repeat = 0; repeat < 5; ++repeat) {
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (int i = 0; i < count; ++i) {
      const int fd = open(path, number == 0 ? O_RDONLY : O_WRONLY);
      CHECK(fd >= 0 && close(fd) == 0);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double taken = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (taken / count < best) best = taken / count;
  }
  printf("%g\n", best);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } modes[] = {{"many-files", many_files},
               {"formatted", formatted},
               {"inlined", inlined},
               {"threads", threads},
               {"direct", direct},
               {"reopened", reopened},
               {"children", children},
               {"unseen-children", unseen_children},
               {"linked", linked},
               {"left-in-buffers", left_in_buffers},
               {"resized", resized},
               {"both-levels", both_levels},
               {"append", append},
               {"append-alone", append_alone},
               {"renames", renames},
               {"names", names},
               {"slow", slow},
               {"opens", opens}};
  memset(data, 'y', sizeof data);
  if (argc >= 3) {
    snprintf(folder, sizeof folder, "%s", argv[2]);
    number = argc > 3 ? atoi(argv[3]) : 0;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
      if (strcmp(argv[1], modes[i].name) != 0) continue;
      modes[i].run();
      return 0;
    }
  }
  fprintf(stderr, "usage: trace_odd_writes MODE FOLDER [NUMBER]\n");
  return 2;
}
