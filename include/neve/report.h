/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a write of plotfile.h or checkpoint.h did, in C. The same on every rank.
 *
 *   neve_report* report = NULL;
 *   neve_write_report totals = NEVE_WRITE_REPORT_INIT;
 *   if (neve_write_plotfile_report(comm, path, hierarchy, "rel=1e-3", &report) == NEVE_OK) {
 *     neve_report_totals(report, &totals);
 *     printf("%.1f times smaller\n", (double)totals.raw_bytes / (double)totals.file_bytes);
 *   }
 *   neve_report_free(report);
 *
 * Nothing here is collective. Functions that return int return a neve_code (neve.h), and neve_last_error()
 * describes the error.
 */
#ifndef NEVE_REPORT_H
#define NEVE_REPORT_H

#include <neve/neve.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef struct neve_report neve_report;

typedef struct neve_write_report {
  size_t struct_bytes;
  uint64_t raw_bytes; /* every cell of every box, without ghosts */
  uint64_t
      file_bytes; /* 0 of a file that is written behind, as all that is not known when the call returns */
  uint64_t data_bytes; /* put into the file: compressed data, or the values with their ghosts */
  uint64_t mpi_writes; /* MPI-IO write calls of all ranks, or the regions that each rank writes for itself */
  double
      worst_error_over_bound; /* largest error of any field as a part of its bound, at most 1; 0: no error */
  /* Seconds of the slowest rank. */
  double plan_seconds, encode_seconds, place_seconds, write_seconds;
  double sync_seconds;   /* until the file is durable and has its name */
  int variables;         /* of a checkpoint; 1 of a plotfile */
  int levels;            /* 0 where the values were only copied (option behind=copy) */
  uint64_t staged_bytes; /* of data_bytes, what went to the ranks' stages (option stage) */
} neve_write_report;

#define NEVE_WRITE_REPORT_INIT \
  { sizeof(neve_write_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

int neve_report_totals(const neve_report* report, neve_write_report* totals);

/* One component on one level. Texts belong to the report. */
typedef struct neve_field_report {
  size_t struct_bytes;
  const char* name;
  uint64_t cells;          /* of all boxes of the level; of a checkpoint with their ghosts */
  uint64_t left_out_cells; /* covered by a finer level, and not in the file */
  /* Of codecs that quantize, 0 of those that keep every bit: */
  uint64_t special_cells; /* NaN, infinite, -0, fill: kept bit for bit */
  uint64_t exact_cells;   /* others that are kept bit for bit */
  uint64_t raw_bytes, stored_bytes;
  const char* bound_mode;      /* as asked for: "abs", "rel" or "lossless" */
  double bound_value;          /* the number of the bound; 0 when lossless */
  double bound_abs;            /* the resulting absolute bound; 0: exact */
  double max_abs_error;        /* measured over the values that the file holds */
  double range_min, range_max; /* of the finite values that are not fill; NaN where not computed */
  int has_fill;
  double fill;
  const char* codec;       /* of most cells; "none" of uncompressed values */
  const char* arrangement; /* likewise */
  const char* chosen;      /* why that codec */
  const char* covered;     /* what became of covered cells */
} neve_field_report;

#define NEVE_FIELD_REPORT_INIT \
  { sizeof(neve_field_report), NULL, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/* Of component `component` of variable `variable` (0 for a plotfile) on level `level`, all numbered from 0.
 */
int neve_report_field(const neve_report* report, int variable, int level, int component,
                      neve_field_report* field);

/* `report` may be NULL. */
void neve_report_free(neve_report* report);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
