/* SPDX-License-Identifier: Apache-2.0
 * Tables of testdata: tab-separated, with a line of names, compressed by zstd. */
#ifndef UTIL_TABLE_H
#define UTIL_TABLE_H
#include <stddef.h>
#include <stdint.h>

enum { TABLE_COLUMNS = 48 };

typedef struct table {
    char *text;
    char *names[TABLE_COLUMNS];
    char **cells; /* rows * columns */
    size_t rows, columns;
} table;

/* Reads a file of testdata; aborts the test on failure. */
table table_read(const char *name);
void table_free(table *t);

/* The cell of a named column, which must exist. Numbers are those of C99, including hexadecimal floats. */
const char *table_cell(const table *t, size_t row, const char *column);
float table_float(const table *t, size_t row, const char *column);
uint32_t table_uint(const table *t, size_t row, const char *column); /* "none" is 0 */
#endif
