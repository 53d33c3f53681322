/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip, as Blender compressed files before 3.0: one stream that says nowhere where its blocks begin. Large files are
 * inflated on several threads all the same, by guessing (codec/gunzip.h).
 */
#include <stdlib.h>

#include "blend/stream.h"
#include "codec/gunzip.h"
#include "core/mem.h"
#include "core/pool.h"

enum {
    LARGE_FILE_BYTES = 1 << 20,
    START_BYTES = 1 << 20,
    MAX_THREADS = 4, /* more than one reader keeps up with */
    CHUNK_BYTES = 1 << 20,
    CHUNK_ROOM = 4 << 20
};

typedef struct gzip_decoder {
    txm_stream_input file; /* to read from at any offset */
    txm_gunzip *gunzip;
    uint64_t used_before; /* in front of the last turn back */
    txm_status status;    /* of reading, where that failed, */
    txm_error *err;       /* and where it says why */
} gzip_decoder;

static txm_status read_at(const gzip_decoder *g, uint64_t offset, uint8_t *dst, size_t bytes, size_t *got,
                          txm_error *err)
{
    txm_stream_input at = g->file;
    at.offset = offset;
    return txm_stream_input_read(&at, dst, bytes, got, err);
}

static bool read_here(void *context, uint64_t offset, uint8_t *dst, size_t bytes, size_t *got)
{
    gzip_decoder *g = context;
    g->status = read_at(g, offset, dst, bytes, got, g->err);
    return g->status == TXM_OK;
}

/* On other threads. What fails here is met again, and told, when its turn comes. */
static bool read_ahead(void *context, uint64_t offset, uint8_t *dst, size_t bytes, size_t *got)
{
    return read_at(context, offset, dst, bytes, got, NULL) == TXM_OK;
}

static txm_status gzip_open(txm_stream_input *input, void **self, txm_error *err)
{
    unsigned cpus = txm_cpu_count(), threads = cpus < MAX_THREADS ? cpus : MAX_THREADS;
    txm_gunzip_settings settings = {{threads, CHUNK_BYTES, CHUNK_ROOM}, START_BYTES};
    if (cpus == 1 || input->file_bytes < LARGE_FILE_BYTES) {
        settings.ahead.threads = 0;
    }
    gzip_decoder *g = txm_calloc(1, sizeof *g);
    if (!g || !(g->gunzip = txm_gunzip_new(&settings, input->file_bytes, read_here, read_ahead, g))) {
        free(g);
        return txm_fail(err, TXM_NO_MEMORY, "%s: no memory for the gzip decoder", input->name);
    }
    g->file = *input;
    *self = g;
    return TXM_OK;
}

static txm_status gzip_pull(void *self, txm_stream_input *input, uint8_t *dst, size_t bytes, size_t *got,
                            txm_error *err)
{
    gzip_decoder *g = self;
    g->err = err;
    txm_gunzipped result = txm_gunzip_pull(g->gunzip, dst, bytes, got);
    input->offset = txm_gunzip_used(g->gunzip);
    input->consumed = g->used_before + input->offset;
    switch (result) {
    case TXM_GUNZIP_DAMAGED:
        return txm_fail(err, TXM_CORRUPT, "%s: damaged gzip data before byte %llu", input->name,
                        (unsigned long long)input->offset);
    case TXM_GUNZIP_CUT:
        return txm_fail(err, TXM_CORRUPT, "%s: the gzip data ends at byte %llu: the file is truncated", input->name,
                        (unsigned long long)input->offset);
    case TXM_GUNZIP_UNREAD:
        return g->status;
    case TXM_GUNZIP_OK:
        break;
    }
    return TXM_OK;
}

static txm_status gzip_jump(void *self, txm_stream_input *input, uint64_t from, uint64_t to, uint64_t *landed,
                            txm_error *err)
{
    gzip_decoder *g = self;
    (void)err;
    *landed = from;
    if (to < from) {
        g->used_before = input->consumed;
        txm_gunzip_rewind(g->gunzip);
        *landed = 0;
    }
    return TXM_OK;
}

static bool gzip_size(const void *self, const txm_stream_input *input, uint64_t *bytes)
{
    (void)self;
    (void)input;
    (void)bytes;
    return false;
}

static void gzip_close(void *self)
{
    gzip_decoder *g = self;
    if (g) {
        txm_gunzip_free(&g->gunzip);
        free(g);
    }
}

const txm_stream_ops txm_stream_gzip = {"gzip", gzip_open, gzip_pull, gzip_jump, gzip_size, gzip_close};
