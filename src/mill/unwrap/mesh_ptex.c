/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh that the metadata of a Ptex file describe: the corners of each polygon, the vertices at them, and the
 * positions of the vertices. It becomes the text of an OBJ file in memory, which is read and written like any other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/unwrap/mesh.h"

enum { COUNTS, INDICES, POSITIONS, ARRAYS };

static const struct {
    const char *key;
    txm_ptex_meta_type type;
} arrays[ARRAYS] = {{"PtexFaceVertCounts", TXM_PTEX_INT32},
                    {"PtexFaceVertIndices", TXM_PTEX_INT32},
                    {"PtexVertPositions", TXM_PTEX_FLOAT}};

/* Elements of the arrays, which are little-endian on all machines that txmill runs on. */
typedef struct described {
    void *data[ARRAYS];
    uint32_t count[ARRAYS];
} described;

static txm_status read_arrays(const txm_ptex *ptex, const char *path, described *d, txm_error *err)
{
    for (int k = 0; k < ARRAYS; k++) {
        uint32_t i = 0;
        const uint32_t metas = txm_ptex_info_of(ptex)->metas;
        while (i < metas && strcmp(txm_ptex_meta_of(ptex, i)->key, arrays[k].key) != 0)
            i++;
        if (i == metas)
            return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: its metadata have no mesh: there is no %s", path,
                            arrays[k].key);
        const txm_ptex_meta *meta = txm_ptex_meta_of(ptex, i);
        if (meta->type != arrays[k].type)
            return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the mesh in its metadata is damaged: %s has the type %s",
                            path, arrays[k].key, txm_ptex_meta_type_name(meta->type));
        d->count[k] = meta->count;
        d->data[k] = txm_alloc_pixels((size_t)meta->bytes + 1, 1);
        const txm_status status = d->data[k] ? txm_ptex_meta_read(ptex, i, d->data[k], err) : txm_no_memory(err, path);
        if (status != TXM_OK)
            return status;
    }
    return TXM_OK;
}

/* A negative index would be valid in an OBJ file, where it counts from the end. */
static txm_status check_arrays(const char *path, const described *d, txm_error *err)
{
    const int32_t *counts = d->data[COUNTS], *indices = d->data[INDICES];
    const float *positions = d->data[POSITIONS];
    const uint32_t vertices = d->count[POSITIONS] / 3;
    uint64_t corners = 0;
    for (uint32_t i = 0; i < d->count[COUNTS]; i++) {
        if (counts[i] < 3)
            return txm_fail(err, TXM_STATUS_CORRUPT,
                            "%s: the mesh in its metadata is damaged: polygon %u has %d corners", path, i, counts[i]);
        corners += (uint32_t)counts[i];
    }
    if (corners != d->count[INDICES] || d->count[POSITIONS] % 3)
        return txm_fail(err, TXM_STATUS_CORRUPT,
                        "%s: the mesh in its metadata is damaged: %llu corners, %u indices and %u coordinates", path,
                        (unsigned long long)corners, d->count[INDICES], d->count[POSITIONS]);
    for (uint32_t i = 0; i < d->count[INDICES]; i++)
        if (indices[i] < 0 || (uint32_t)indices[i] >= vertices)
            return txm_fail(err, TXM_STATUS_CORRUPT,
                            "%s: the mesh in its metadata is damaged: a corner is at vertex %d of %u", path, indices[i],
                            vertices);
    for (uint32_t i = 0; i < 3 * vertices; i++)
        if (!isfinite(positions[i]))
            return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the mesh in its metadata is damaged: vertex %u is nowhere",
                            path, i / 3);
    return TXM_OK;
}

static txm_status write_text(const char *path, const described *d, char **text, size_t *bytes, txm_error *err)
{
    const int32_t *counts = d->data[COUNTS], *indices = d->data[INDICES];
    const float *at = d->data[POSITIONS];
    FILE *out = open_memstream(text, bytes);
    if (!out)
        return txm_no_memory(err, path);
    for (uint32_t i = 0; i < d->count[POSITIONS]; i += 3) {
        char line[128];
        txm_format(line, sizeof line, "v %.9g %.9g %.9g\n", (double)at[i], (double)at[i + 1], (double)at[i + 2]);
        fputs(line, out);
    }
    for (uint32_t i = 0; i < d->count[COUNTS]; i++) {
        fputc('f', out);
        for (int32_t k = 0; k < counts[i]; k++)
            fprintf(out, " %lld", 1ll + *indices++);
        fputc('\n', out);
    }
    const bool failed = ferror(out);
    return fclose(out) == 0 && !failed ? TXM_OK : txm_no_memory(err, path);
}

txm_status txm_mesh_text_of_ptex(const char *path, char **text, size_t *bytes, txm_error *err)
{
    txm_ptex *ptex = NULL;
    described d = {0};
    txm_status status = txm_ptex_open(path, 0, &ptex, err);
    if (status == TXM_OK)
        status = read_arrays(ptex, path, &d, err);
    if (status == TXM_OK)
        status = check_arrays(path, &d, err);
    if (status == TXM_OK)
        status = write_text(path, &d, text, bytes, err);
    for (int k = 0; k < ARRAYS; k++)
        free(d.data[k]);
    txm_ptex_close(&ptex);
    return status;
}
