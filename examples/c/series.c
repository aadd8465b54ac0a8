/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compresses time steps of variables without loss, by the methods that perform best, and says what was
 * chosen.
 *
 *   cc series.c $(pkg-config --cflags --libs neve)
 *   ./a.out "candidates=acomps;speed_weight=1" 64 128 temperature pressure
 *
 * Each file holds steps of 64 x 128 values of double precision, one after another, as a simulation may have
 * left them. Step 3 of temperature becomes the frame temperature.3.neve, which `neve decompress` reads.
 */
#include <inttypes.h>
#include <neve/series.h>
#include <stdio.h>
#include <stdlib.h>

enum { name_bytes = 4096 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, neve_last_error());
  return 1;
}

static int save(const char* variable, uint64_t step, const void* frame, size_t bytes) {
  char name[name_bytes];
  snprintf(name, sizeof name, "%s.%" PRIu64 ".neve", variable, step);
  FILE* file = fopen(name, "wb");
  if (file == NULL) return -1;
  const size_t written = fwrite(frame, 1, bytes, file);
  return fclose(file) == 0 && written == bytes ? 0 : -1;
}

/* Returns 1 where a step was read and compressed, 0 at the end of the file. */
static int next_step(neve_series* series, const char* variable, FILE* file, const uint64_t* shape,
                     uint64_t step, double* values) {
  const size_t count = (size_t)(shape[0] * shape[1]);
  if (fread(values, sizeof *values, count, file) < count) return 0;
  const void* pieces[] = {values};
  void* frame = NULL;
  size_t bytes = 0;
  if (neve_series_step(series, variable, NEVE_F64, 2, shape, 1, pieces, &frame, &bytes) != NEVE_OK)
    exit(fail(variable));
  if (save(variable, step, frame, bytes) != 0) perror(variable);
  neve_free(frame);
  return 1;
}

static void tell(const neve_series* series) {
  uint64_t choices = 0;
  neve_series_choices(series, &choices, NULL);
  for (uint64_t c = 0; c < choices; ++c) {
    neve_choice choice = NEVE_CHOICE_INIT;
    if (neve_series_choice(series, c, &choice) != NEVE_OK) exit(fail("log"));
    printf("%s %" PRIu64 " %s %s %.17g\n", choice.variable, choice.step, choice.method, choice.reason,
           choice.performance);
  }
}

int main(int argc, char** argv) {
  enum { first_file = 4 };
  if (argc <= first_file) {
    fprintf(stderr, "usage: %s OPTIONS ROWS COLUMNS FILE...\n", argv[0]);
    return 2;
  }
  const uint64_t shape[] = {strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10)};
  double* values = malloc((size_t)(shape[0] * shape[1]) * sizeof *values + 1);
  FILE** files = calloc((size_t)argc, sizeof *files);
  if (values == NULL || files == NULL) return 1;
  neve_series* series = NULL;
  if (neve_series_create(argv[1], &series) != NEVE_OK) return fail(argv[1]);
  for (int f = first_file; f < argc; ++f) {
    files[f] = fopen(argv[f], "rb");
    if (files[f] == NULL) return perror(argv[f]), 1;
  }
  int more = 1;
  for (uint64_t step = 0; more; ++step) {
    more = 0;
    for (int f = first_file; f < argc; ++f) more |= next_step(series, argv[f], files[f], shape, step, values);
  }
  tell(series);
  for (int f = first_file; f < argc; ++f) fclose(files[f]);
  neve_series_free(series);
  free(files);
  free(values);
  return 0;
}
