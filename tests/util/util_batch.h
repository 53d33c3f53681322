/* SPDX-License-Identifier: Apache-2.0
 * A scratch folder for tests of batches, and what goes into it. */
#ifndef TESTS_UTIL_BATCH_H
#define TESTS_UTIL_BATCH_H
#include <stddef.h>

/* A new empty folder, the current one from then on; everything in it goes away with batch_leave. */
const char *batch_enter(void);
void batch_leave(void);
/* What is in it, folders included, their contents not. */
size_t batch_count(void);

void batch_folder(const char *path);
/* A file with this text. */
void batch_file(const char *path, const char *text);
/* A small PNG of noise that depends on `seed`. */
void batch_png(const char *path, unsigned seed);
/* As batch_png, width x height of `color_type` and `depth`, all samples from `rows` (NULL: noise). */
void batch_png_of(const char *path, unsigned width, unsigned height, int color_type, int depth, const void *rows);

/* What the program prints to standard output from now on goes to a file of the scratch folder; and ends there: the
 * text, valid until the next call. */
void batch_catch(void);
const char *batch_caught(void);
#endif
