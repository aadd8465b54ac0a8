/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small adaptive code with Neve for its files. Blocks of cells with ghost cells lie on three levels,
 * distributed over the ranks, each field of a block in an array of its own (blocks_mesh.h: mesh and solver).
 * Two fields are advected across a periodic square. Plotfiles are compressed, checkpoints lossless: a run
 * that goes on from one, on any number of ranks, ends with the same values bit for bit.
 *
 *   mpicc blocks_amr.c $(pkg-config --cflags --libs neve_mpi) -lm
 *   mpirun -n 4 ./a.out 40 out                       40 steps: out/plt00020.h5, out/chk00020.h5, ...
 *   mpirun -n 2 ./a.out 40 again out/chk00020.h5     goes on from there
 */
#include <neve/checkpoint.h>
#include <neve/plotfile.h>
#include <stdio.h>

#include "blocks_mesh.h"

enum { steps_between_grids = 4, steps_between_files = 20 };
static const char* const field_names[fields] = {"density", "tracer"};

static void stop_on(int code) {
  if (code == NEVE_OK) return;
  fprintf(stderr, "rank %d: %s\n", rank, neve_last_error());
  MPI_Abort(MPI_COMM_WORLD, code);
}

/* All levels and blocks, with pointers to this rank's fields: nothing is copied. */
static neve_hierarchy* build_hierarchy(void) {
  neve_hierarchy* h = neve_hierarchy_create(2, sizeof(double), fields, field_names);
  if (h == NULL) stop_on(NEVE_FAILURE);
  stop_on(neve_hierarchy_set_time(h, time_now));
  for (int level = 0; level < levels; ++level) {
    int has_level = 0;
    for (int i = 0; i < side(level) * side(level); ++i) {
      const block* b = &grid[level][i];
      if (b->owner < 0) continue;
      const int n = side(level), first[2] = {0, 0}, last[2] = {n * cells - 1, n * cells - 1};
      const int lo[2] = {i % n * cells, i / n * cells}, hi[2] = {lo[0] + cells - 1, lo[1] + cells - 1};
      if (!has_level) {
        stop_on(neve_hierarchy_add_level(h, first, last, 2));
        stop_on(neve_hierarchy_set_level_step(h, level, step));
      }
      has_level = 1;
      const void* mine[fields] = {b->field[0], b->field[1]};
      stop_on(neve_hierarchy_add_box(h, lo, hi, NULL, ghosts));
      stop_on(neve_hierarchy_set_box_fields(h, b->owner == rank ? mine : NULL));
    }
  }
  return h;
}

static void print_report(const char* path, const neve_report* report) {
  neve_write_report totals = NEVE_WRITE_REPORT_INIT;
  stop_on(neve_report_totals(report, &totals));
  if (rank != 0) return;
  printf("%s: %.1f times smaller, error at most %.3f of the bound\n", path,
         (double)totals.raw_bytes / (double)totals.file_bytes, totals.worst_error_over_bound);
  for (int level = 0; level < totals.levels; ++level) {
    for (int c = 0; c < fields; ++c) {
      neve_field_report field = NEVE_FIELD_REPORT_INIT;
      stop_on(neve_report_field(report, 0, level, c, &field));
      printf("  level %d %-8s %8llu -> %7llu bytes, bound %.3g, error %.3g, %s\n", level, field.name,
             (unsigned long long)field.raw_bytes, (unsigned long long)field.stored_bytes, field.bound_abs,
             field.max_abs_error, field.codec);
    }
  }
}

static void write_plotfile(const char* folder) {
  char path[1024];
  neve_report* report = NULL;
  neve_hierarchy* h = build_hierarchy();
  snprintf(path, sizeof path, "%s/plt%05d.h5", folder, step);
  stop_on(neve_write_plotfile_report(MPI_COMM_WORLD, path, h, "rel=1e-4;field:tracer=abs=1e-3", &report));
  print_report(path, report);
  neve_report_free(report);
  neve_hierarchy_free(h);
}

static void write_checkpoint(const char* folder) {
  char path[1024], state[64];
  neve_hierarchy* h = build_hierarchy();
  neve_variable variable = NEVE_VARIABLE_INIT;
  variable.name = "state";
  variable.values = h;
  snprintf(path, sizeof path, "%s/chk%05d.h5", folder, step);
  snprintf(state, sizeof state, "%d %a\n", step, time_now); /* what a restart needs besides the values */
  stop_on(neve_hierarchy_add_side_file(h, "state.txt", state, strlen(state)));
  stop_on(neve_write_checkpoint(MPI_COMM_WORLD, path, 1, &variable, NULL, NULL));
  neve_hierarchy_free(h);
}

/* Blocks are where the checkpoint has boxes; each rank reads its own, into fields with ghost cells. */
static void restart(const char* path) {
  neve_checkpoint* checkpoint = NULL;
  stop_on(neve_checkpoint_open(path, 0, &checkpoint));
  const neve_hierarchy* h = neve_checkpoint_hierarchy(checkpoint);
  const char* state = NULL;
  size_t size = 0;
  stop_on(neve_hierarchy_side_file(h, "state.txt", &state, &size));
  if (sscanf(state, "%d %la", &step, &time_now) != 2) MPI_Abort(MPI_COMM_WORLD, NEVE_CORRUPT);
  make_mesh(grid);
  for (int pass = 0; pass < 2; ++pass) { /* where the blocks are; then this rank's values */
    neve_hierarchy_description whole = NEVE_HIERARCHY_DESCRIPTION_INIT;
    stop_on(neve_hierarchy_info(h, &whole));
    for (int level = 0; level < whole.levels; ++level) {
      neve_level_description of_level = NEVE_LEVEL_DESCRIPTION_INIT;
      stop_on(neve_level_info(h, level, &of_level));
      for (int box = 0; box < of_level.boxes; ++box) {
        int lo[2], hi[2];
        stop_on(neve_hierarchy_box(h, level, box, lo, hi));
        block* b = at(grid, level, lo[0] / cells, lo[1] / cells);
        if (pass == 0) b->owner = 0;
        for (int c = 0; c < fields && pass == 1 && b->owner == rank; ++c) {
          stop_on(neve_checkpoint_read_box(checkpoint, 0, level, box, c, b->field[c], ghosts, 0, 0));
        }
      }
    }
    if (pass == 0) distribute(grid);
  }
  neve_checkpoint_close(checkpoint);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int last_step = argc > 1 ? atoi(argv[1]) : 40;
  const char* folder = argc > 2 ? argv[2] : ".";
  if (argc > 3) {
    restart(argv[3]);
  } else {
    start();
  }
  while (step < last_step) {
    if (step % steps_between_grids == 0) make_grid();
    advance(0.4 * cell_size(levels - 1));
    if (step % steps_between_files != 0 && step != last_step) continue;
    write_plotfile(folder);
    write_checkpoint(folder);
  }
  free_mesh(grid);
  free(moves);
  MPI_Finalize();
  return 0;
}
