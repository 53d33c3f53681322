/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes whole files through the readers and compares direct readers with OpenImageIO.
 */
#ifndef TESTS_UTIL_RASTER_H
#define TESTS_UTIL_RASTER_H
#include "base/bytes.h"
#include "mill/source/source.h"

typedef struct raster {
    txm_status status; /* of opening or of reading */
    bool opened;
    txm_error error;
    txm_source *source; /* open while the raster exists, for its info */
    uint8_t *pixels;    /* width * height pixels without gaps; NULL on failure */
    size_t bytes;
    uint32_t rows_read; /* number of rows before a failure */
} raster;

/* Reads `band` rows at a time. */
raster raster_read(const char *path, bool oiio, uint32_t band);
void raster_free(raster *r);

/* Both readers must agree on a valid file; `reader` is the expected direct reader. `what` names the case. */
void raster_compare(const char *path, const char *reader, const char *what);
/* Checks that pixels and information of two successful reads are the same. */
void raster_same(const raster *direct, const raster *oiio, const char *what);

/* Whether two hints at a colour space mean the same. OpenImageIO rounds gammas to tenths, and repeats
 * in the hint what it reports as interop id, which is what counts. */
bool raster_same_hint(const txm_source_info *direct, const txm_source_info *oiio);

/* Decodes a file in memory with the plain libraries, called as by OpenImageIO: pixels (to be freed), or NULL if they
 * refuse it. OpenImageIO's process would have to be restarted after every damaged file. libjpeg's `warnings` are those
 * that OpenImageIO reports as errors. */
uint8_t *raster_by_libpng(const txm_bytes *file, size_t *bytes);
uint8_t *raster_by_libjpeg(const txm_bytes *file, size_t *bytes, long *warnings, char words[200]);

/* Writes `content` to a file in the test's own folder under /tmp; the folder is removed at exit. */
const char *raster_temp(const char *name, const txm_bytes *content);
txm_bytes raster_load(const char *path);
#endif
