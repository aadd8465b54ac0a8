/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mesh and the solver of blocks_amr.c, which know nothing of Neve: blocks of 16 x 16 cells with ghost
 * cells on three levels, each field of a block in an array of its own. All results are the same on any number
 * of ranks, bit for bit.
 */
#ifndef BLOCKS_MESH_H
#define BLOCKS_MESH_H

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { cells = 16, ghosts = 2, width = cells + 2 * ghosts, levels = 3, base_blocks = 4, fields = 2 };
static const double velocity[2] = {1.0, 0.5};

/* A place in a level's square of blocks. All ranks know all blocks; the owner has the values. */
typedef struct {
  int owner; /* -1: there is no block here */
  double* field[fields];
} block;
typedef block* mesh[levels];

static int rank = 0, ranks = 1;
static mesh grid;
static int step = 0;
static double time_now = 0;

static int side(int level) { return base_blocks << level; } /* blocks in a row */
static int wrapped(int i, int n) { return (i % n + n) % n; }
static block* at(mesh m, int level, int bx, int by) {
  const int n = side(level);
  return &m[level][wrapped(by, n) * n + wrapped(bx, n)];
}
static double cell_size(int level) { return 1.0 / (side(level) * cells); }
static size_t place(int x, int y) { return (size_t)((y + ghosts) * width + x + ghosts); }

static void* allocate(size_t count, size_t bytes) {
  void* memory = calloc(count, bytes);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static void make_mesh(mesh m) {
  for (int level = 0; level < levels; ++level) {
    const int places = side(level) * side(level);
    m[level] = allocate((size_t)places, sizeof(block));
    for (int i = 0; i < places; ++i) m[level][i].owner = -1;
  }
}

static void free_mesh(mesh m) {
  for (int level = 0; level < levels; ++level) {
    for (int i = 0; i < side(level) * side(level); ++i) {
      for (int c = 0; c < fields; ++c) free(m[level][i].field[c]);
    }
    free(m[level]);
  }
}

/* Deals out the blocks of each level, in order, and makes room for this rank's. */
static void distribute(mesh m) {
  for (int level = 0; level < levels; ++level) {
    const int places = side(level) * side(level);
    int blocks = 0, next = 0;
    for (int i = 0; i < places; ++i) blocks += m[level][i].owner >= 0;
    for (int i = 0; i < places; ++i) {
      block* b = &m[level][i];
      if (b->owner < 0) continue;
      b->owner = (int)((long long)next++ * ranks / blocks);
      for (int c = 0; c < fields && b->owner == rank; ++c) {
        b->field[c] = allocate((size_t)width * width, sizeof(double));
      }
    }
  }
}

/* ---- Values from block to block, of the same level or of the next. ---- */

typedef struct {
  const block* from;
  block* to;
  int from_level, from_x, from_y; /* the block that they come from */
  int to_level, to_x, to_y;
  int x0, x1, y0, y1; /* cells of the target, ghosts included */
} move;

static move* moves = NULL;
static size_t move_count = 0, move_room = 0;

static void add_move(mesh from, int from_level, int from_x, int from_y, block* to, int to_level, int to_x,
                     int to_y, int x0, int x1, int y0, int y1) {
  if (move_count == move_room) {
    move_room = 2 * move_room + 64;
    moves = realloc(moves, move_room * sizeof *moves);
    if (moves == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const int n = side(from_level);
  const move next = {at(from, from_level, from_x, from_y),
                     to,
                     from_level,
                     wrapped(from_x, n),
                     wrapped(from_y, n),
                     to_level,
                     to_x,
                     to_y,
                     x0,
                     x1,
                     y0,
                     y1};
  moves[move_count++] = next;
}

static double source(const move* m, int c, int x, int y) {
  return m->from->field[c][place(x - m->from_x * cells, y - m->from_y * cells)];
}

/* The value of the cell (x, y) of the target's level: the same cell, the coarser one, or the mean of four. */
static double moved_value(const move* m, int c, int x, int y) {
  if (m->from_level == m->to_level) return source(m, c, x, y);
  if (m->from_level < m->to_level) return source(m, c, x / 2, y / 2);
  return 0.25 * ((source(m, c, 2 * x, 2 * y) + source(m, c, 2 * x + 1, 2 * y)) +
                 (source(m, c, 2 * x, 2 * y + 1) + source(m, c, 2 * x + 1, 2 * y + 1)));
}

static void pack(const move* m, double* out) {
  const int n = side(m->to_level) * cells;
  for (int c = 0; c < fields; ++c)
    for (int y = m->y0; y <= m->y1; ++y)
      for (int x = m->x0; x <= m->x1; ++x)
        *out++ = moved_value(m, c, wrapped(m->to_x * cells + x, n), wrapped(m->to_y * cells + y, n));
}

static void unpack(const move* m, const double* in) {
  for (int c = 0; c < fields; ++c)
    for (int y = m->y0; y <= m->y1; ++y)
      for (int x = m->x0; x <= m->x1; ++x) m->to->field[c][place(x, y)] = *in++;
}

/* All moves that were added, at once. */
static void make_moves(void) {
  double** buffers = allocate(move_count + 1, sizeof *buffers);
  MPI_Request* requests = allocate(move_count + 1, sizeof *requests);
  for (size_t i = 0; i < move_count; ++i) {
    const move* m = &moves[i];
    const int count = fields * (m->x1 - m->x0 + 1) * (m->y1 - m->y0 + 1), tag = (int)(i % 32768);
    requests[i] = MPI_REQUEST_NULL;
    if (m->from->owner != rank && m->to->owner != rank) continue;
    buffers[i] = allocate((size_t)count, sizeof(double));
    if (m->from->owner == rank) pack(m, buffers[i]);
    if (m->to->owner != rank) {
      MPI_Isend(buffers[i], count, MPI_DOUBLE, m->to->owner, tag, MPI_COMM_WORLD, &requests[i]);
    } else if (m->from->owner != rank) {
      MPI_Irecv(buffers[i], count, MPI_DOUBLE, m->from->owner, tag, MPI_COMM_WORLD, &requests[i]);
    }
  }
  for (size_t i = 0; i < move_count; ++i) {
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    if (moves[i].to->owner == rank) unpack(&moves[i], buffers[i]);
    free(buffers[i]);
  }
  free(requests);
  free(buffers);
  move_count = 0;
}

/* ---- The solver. ---- */

static void fill_ghosts(int level) {
  static const int faces[4][6] = {{-1, 0, -ghosts, -1, 0, cells - 1},
                                  {1, 0, cells, cells + ghosts - 1, 0, cells - 1},
                                  {0, -1, 0, cells - 1, -ghosts, -1},
                                  {0, 1, 0, cells - 1, cells, cells + ghosts - 1}};
  for (int by = 0; by < side(level); ++by) {
    for (int bx = 0; bx < side(level); ++bx) {
      block* b = at(grid, level, bx, by);
      for (int f = 0; f < 4 && b->owner >= 0; ++f) {
        const int* face = faces[f];
        const int n = side(level), nx = wrapped(bx + face[0], n), ny = wrapped(by + face[1], n);
        const int same = at(grid, level, nx, ny)->owner >= 0;
        add_move(grid, same ? level : level - 1, same ? nx : nx / 2, same ? ny : ny / 2, b, level, bx, by,
                 face[2], face[3], face[4], face[5]);
      }
    }
  }
  make_moves();
}

static void average_down(int level) {
  const int half = cells / 2;
  for (int by = 0; by < side(level + 1); ++by) {
    for (int bx = 0; bx < side(level + 1); ++bx) {
      if (at(grid, level + 1, bx, by)->owner < 0) continue;
      const int x = bx % 2 * half, y = by % 2 * half;
      add_move(grid, level + 1, bx, by, at(grid, level, bx / 2, by / 2), level, bx / 2, by / 2, x,
               x + half - 1, y, y + half - 1);
    }
  }
  make_moves();
}

/* First order, from where the flow comes. */
static void advance(double dt) {
  static double old[width * width];
  for (int level = 0; level < levels; ++level) fill_ghosts(level);
  for (int level = 0; level < levels; ++level) {
    const double fx = velocity[0] * dt / cell_size(level), fy = velocity[1] * dt / cell_size(level);
    for (int i = 0; i < side(level) * side(level); ++i) {
      for (int c = 0; c < fields && grid[level][i].owner == rank; ++c) {
        double* q = grid[level][i].field[c];
        memcpy(old, q, sizeof old);
        for (int y = 0; y < cells; ++y)
          for (int x = 0; x < cells; ++x)
            q[place(x, y)] = old[place(x, y)] - fx * (old[place(x, y)] - old[place(x - 1, y)]) -
                             fy * (old[place(x, y)] - old[place(x, y - 1)]);
      }
    }
  }
  for (int level = levels - 2; level >= 0; --level) average_down(level);
  time_now += dt;
  ++step;
}

/* Marks the blocks of a level whose first field varies much; the same on all ranks. */
static void find_busy(int level, int* busy) {
  const int places = side(level) * side(level);
  for (int i = 0; i < places; ++i) {
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < cells * cells && grid[level][i].owner == rank; ++k) {
      const double value = grid[level][i].field[0][place(k % cells, k / cells)];
      least = fmin(least, value);
      most = fmax(most, value);
    }
    busy[i] = most - least > 0.1 * (level + 1);
  }
  MPI_Allreduce(MPI_IN_PLACE, busy, places, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

/* Blocks where the field varies, with a coarser block around every finer one; values from the blocks before.
 */
static void make_grid(void) {
  mesh next;
  int busy[levels][(base_blocks << (levels - 1)) * (base_blocks << (levels - 1))];
  make_mesh(next);
  for (int level = 0; level < levels - 1; ++level) find_busy(level, busy[level]);
  for (int level = levels - 2; level > 0; --level) { /* whatever surrounds a block to be refined exists */
    const int n = side(level);
    for (int i = 0; i < 9 * n * n; ++i) {
      if (!busy[level][i / 9]) continue;
      const int x = wrapped(i / 9 % n + i % 3 - 1, n), y = wrapped(i / 9 / n + i % 9 / 3 - 1, n);
      busy[level - 1][y / 2 * (n / 2) + x / 2] = 1;
    }
  }
  for (int level = 0; level < levels; ++level) {
    for (int i = 0; i < side(level) * side(level); ++i) {
      const int x = i % side(level), y = i / side(level);
      if (level == 0 || busy[level - 1][y / 2 * side(level - 1) + x / 2]) next[level][i].owner = 0;
    }
  }
  distribute(next);
  for (int level = 0; level < levels; ++level) {
    for (int i = 0; i < side(level) * side(level); ++i) {
      const int x = i % side(level), y = i / side(level);
      if (next[level][i].owner < 0) continue;
      if (grid[level][i].owner >= 0) {
        add_move(grid, level, x, y, &next[level][i], level, x, y, 0, cells - 1, 0, cells - 1);
      } else {
        add_move(next, level - 1, x / 2, y / 2, &next[level][i], level, x, y, 0, cells - 1, 0, cells - 1);
      }
    }
    make_moves();
  }
  free_mesh(grid);
  memcpy(grid, next, sizeof grid);
}

static void set_first_values(void) {
  for (int level = 0; level < levels; ++level) {
    const double h = cell_size(level);
    for (int i = 0; i < side(level) * side(level); ++i) {
      if (grid[level][i].owner != rank) continue;
      for (int k = 0; k < cells * cells; ++k) {
        const double x = (i % side(level) * cells + k % cells + 0.5) * h - 0.35;
        const double y = (i / side(level) * cells + k / cells + 0.5) * h - 0.4;
        grid[level][i].field[0][place(k % cells, k / cells)] = 1 + exp(-120 * (x * x + y * y));
        grid[level][i].field[1][place(k % cells, k / cells)] = fabs(x) < 0.1 && fabs(y) < 0.1 ? 1 : 0;
      }
    }
  }
}

static void start(void) {
  make_mesh(grid);
  for (int i = 0; i < side(0) * side(0); ++i) grid[0][i].owner = 0;
  distribute(grid);
  for (int level = 0; level < levels; ++level) { /* each time one level finer */
    set_first_values();
    make_grid();
  }
  set_first_values();
}

#endif
