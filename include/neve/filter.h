/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters of Neve's HDF5 filter by name, for H5Pset_filter:
 *
 *   unsigned words[NEVE_MAX_FILTER_WORDS];
 *   size_t count = NEVE_MAX_FILTER_WORDS;
 *   if (neve_filter_parameters("abs = 0.01, effort = \"max\"", words, &count) == NEVE_OK)
 *     H5Pset_filter(dcpl, NEVE_FILTER_ID, H5Z_FLAG_MANDATORY, count, words);
 *
 * The text is the inside of an inline table of TOML; docs/hdf5-versions.md lists the names. Errors, ownership
 * and threads as in neve/neve.h.
 */
#ifndef NEVE_FILTER_H
#define NEVE_FILTER_H

#include <neve/neve.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* The number that new datasets get. neve_filter_id() is that of the library in use. */
#define NEVE_FILTER_ID 466
int neve_filter_id(void);

/* As many as any text makes. */
#define NEVE_MAX_FILTER_WORDS 128

/* *count is how many words there is room for, then how many were written. NEVE_USAGE where the text asks for
 * what there is not, or the room is too small. */
int neve_filter_parameters(const char* text, unsigned* words, size_t* count);

/* The text of words: of a user's, or of those that H5Pget_filter_by_id reads from a dataset. *bytes is how
 * many bytes `text` has room for, then how many the text has with its closing zero; `text` may be NULL, to
 * learn the second. */
int neve_filter_text(const unsigned* words, size_t count, char* text, size_t* bytes);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
