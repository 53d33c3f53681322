/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a .blend file, whatever its compression: plain, gzip (before Blender 3.0) or zstd (since). Positions
 * count uncompressed bytes. Seeking forwards skips without reading if the compression allows it: plain files at once,
 * zstd files with Blender's seek table by whole frames; gzip and zstd without a table are decompressed on the way.
 * Seeking backwards starts those again. Memory: 64 KiB of buffers, and the decoder's window (zstd: at most 128 MiB,
 * larger windows are refused; Blender's own frames need 1 MiB). Time is linear in the file's size: output beyond 1 GiB
 * + 4096 times the compressed input is refused as a decompression bomb.
 */
#ifndef TXM_BLEND_STREAM_H
#define TXM_BLEND_STREAM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

typedef struct txm_stream txm_stream;

/* Opens a file. NOT_FOUND, NOT_A_FILE, DENIED, IO, CORRUPT, NO_MEMORY. */
txm_status txm_stream_open(const char *path, txm_stream **out, txm_error *err);
/* The same for an open descriptor, which is consumed in every case; `name` is for messages. */
txm_status txm_stream_from_fd(int fd, const char *name, txm_stream **out, txm_error *err);
void txm_stream_close(txm_stream **stream); /* NULL-safe; sets *stream to NULL */

/* Reads exactly `bytes` bytes; CORRUPT with the position if the data end before. */
txm_status txm_stream_read(txm_stream *stream, void *dst, size_t bytes, txm_error *err);
/* Sets the position of the next read. A position beyond the end is reported by that read, or here. */
txm_status txm_stream_seek(txm_stream *stream, uint64_t position, txm_error *err);
/* Whether the uncompressed size is known without decompressing, and seeking is cheap. */
bool txm_stream_size(const txm_stream *stream, uint64_t *bytes);
/* The name for messages; and "plain", "gzip" or "zstd". */
const char *txm_stream_name(const txm_stream *stream);
const char *txm_stream_compression(const txm_stream *stream);

/* ---- for decoders --------------------------------------------------------------------------------------------- */

/* The input of a decoder; `consumed` counts compressed bytes for the bomb guard. */
typedef struct txm_stream_input {
    int fd;
    const char *name;
    uint64_t file_bytes, offset, consumed;
} txm_stream_input;

/* pread at input->offset that retries if interrupted; *got is 0 only at the end. */
txm_status txm_stream_input_read(txm_stream_input *input, void *dst, size_t bytes, size_t *got, txm_error *err);

/* `open` and `close` are NULL without a state, `size` if it is never known. */
typedef struct txm_stream_ops {
    const char *compression;
    txm_status (*open)(txm_stream_input *input, void **self, txm_error *err);
    /* Delivers up to `bytes` bytes from the current position; *got is 0 only at the end. */
    txm_status (*pull)(void *self, txm_stream_input *input, uint8_t *dst, size_t bytes, size_t *got, txm_error *err);
    /* Moves from `from` to the position nearest to `to`, at or before it, that needs no decompression, and returns it
     * in *landed. */
    txm_status (*jump)(void *self, txm_stream_input *input, uint64_t from, uint64_t to, uint64_t *landed,
                       txm_error *err);
    bool (*size)(const void *self, const txm_stream_input *input, uint64_t *bytes);
    void (*close)(void *self);
} txm_stream_ops;

extern const txm_stream_ops txm_stream_plain, txm_stream_gzip, txm_stream_zstd;
#endif
