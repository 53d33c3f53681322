/* SPDX-License-Identifier: Apache-2.0
 * Reads compressed tables. */
#include "util_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static char *decompress(const char *path)
{
    enum { MAX = 8 << 20 };
    FILE *f = fopen(path, "rb");
    char *packed = malloc(MAX), *text = malloc(MAX);
    if (!f || !packed || !text) {
        fprintf(stderr, "%s cannot be read\n", path);
        abort();
    }
    size_t n = ZSTD_decompress(text, MAX - 1, packed, fread(packed, 1, MAX, f));
    if (ZSTD_isError(n)) {
        fprintf(stderr, "%s: %s\n", path, ZSTD_getErrorName(n));
        abort();
    }
    text[n] = 0;
    free(packed);
    fclose(f);
    return text;
}

table table_read(const char *name)
{
    char path[1024];
    table t = {0};
    snprintf(path, sizeof path, "%s/%s", getenv("TXM_TESTDATA"), name);
    t.text = decompress(path);
    size_t lines = 0;
    for (char *p = t.text; (p = strchr(p, '\n')); p++)
        lines++;
    char *rest = t.text, *line = strsep(&rest, "\n");
    for (char *cell; (cell = strsep(&line, "\t")) && t.columns < TABLE_COLUMNS;)
        t.names[t.columns++] = cell;
    t.cells = calloc(lines, t.columns * sizeof *t.cells);
    while (rest && *rest) {
        line = strsep(&rest, "\n");
        for (size_t c = 0; c < t.columns; c++) {
            char *cell = strsep(&line, "\t");
            t.cells[t.rows * t.columns + c] = cell ? cell : "";
        }
        t.rows++;
    }
    return t;
}

void table_free(table *t)
{
    free(t->text);
    free(t->cells);
    memset(t, 0, sizeof *t);
}

const char *table_cell(const table *t, size_t row, const char *column)
{
    for (size_t c = 0; c < t->columns; c++)
        if (strcmp(t->names[c], column) == 0)
            return t->cells[row * t->columns + c];
    fprintf(stderr, "no column %s\n", column);
    abort();
}

float table_float(const table *t, size_t row, const char *column)
{
    return strtof(table_cell(t, row, column), NULL);
}

uint32_t table_uint(const table *t, size_t row, const char *column)
{
    const char *cell = table_cell(t, row, column);
    return strcmp(cell, "none") == 0 ? 0 : (uint32_t)strtoul(cell, NULL, 10);
}
