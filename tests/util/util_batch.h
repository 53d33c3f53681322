/* SPDX-License-Identifier: Apache-2.0
 * A scratch folder for tests of batches, and files in it. */
#ifndef TESTS_UTIL_BATCH_H
#define TESTS_UTIL_BATCH_H
#include <stddef.h>

/* Makes a new empty folder the current one; batch_leave removes it with its content. */
const char *batch_enter(void);
void batch_leave(void);
/* The number of entries in it, including folders but not their contents. */
size_t batch_count(void);

void batch_folder(const char *path);
/* Writes a file with this text. */
void batch_file(const char *path, const char *text);
/* Writes a small PNG of noise that depends on `seed`. */
void batch_png(const char *path, unsigned seed);
/* Like batch_png, but width x height, of `color_type` and `depth`, with all samples from `rows` (NULL: noise). */
void batch_png_of(const char *path, unsigned width, unsigned height, int color_type, int depth, const void *rows);

/* batch_catch redirects standard output to a file in the scratch folder; batch_caught ends that and returns the text,
 * valid until the next call. */
void batch_catch(void);
const char *batch_caught(void);
#endif
