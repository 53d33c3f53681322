/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding and encoding in a process of its own: txmill-oiio-worker serves one image at a time over a socket.
 *
 * OpenImageIO uses more than a hundred decoders, some of which crash or loop on hostile files; there they cost one
 * image and not the batch, and OpenImageIO's 130 MB stay out of this process. Encoders are trusted with their input,
 * but not with a lack of memory: libjpeg calls exit(). A worker outlives its image and serves the next.
 *
 * Protocol: a request, for OPEN and ENCODE its two strings, for ENCODE the rows; then a reply, its text, its info
 * (OPEN), rows (READ) or file (ENCODE). Both sides are of one build (`version`), on one machine: structures travel as
 * they are. The asking side trusts nothing it receives.
 */
#ifndef TXM_SOURCE_WORKER_H
#define TXM_SOURCE_WORKER_H
#include "mill/source/source.h"

enum { TXM_WORKER_VERSION = 4, TXM_WORKER_FD = 3, TXM_WORKER_MAX_TEXT_BYTES = 1 << 20 };
/* A worker that something makes leave has this and the errno as its exit status. */
enum { TXM_WORKER_LEFT = 64 };

typedef enum txm_worker_op {
    TXM_WORKER_OPEN = 1,
    TXM_WORKER_READ,
    TXM_WORKER_REWIND,
    TXM_WORKER_CLOSE,
    TXM_WORKER_ENCODE,
    TXM_WORKER_AS_HALF
} txm_worker_op;

typedef struct txm_worker_request {
    uint32_t version, info_bytes;
    uint32_t op;
    uint32_t cpu_seconds;           /* that the decoder may use for this; the worker is ended by the system beyond */
    uint32_t y, rows;               /* ENCODE: `rows` is the picture's height */
    uint64_t max_memory_bytes;      /* OPEN: as in txm_source_options */
    uint32_t width, channels, type; /* ENCODE; the rows that follow are tight */
    /* The strings, without NUL. OPEN: the caller's current folder and the path. ENCODE: the colour space and a name
     * whose extension is the format's. */
    uint32_t cwd_bytes, path_bytes;
} txm_worker_request;

typedef struct txm_worker_reply {
    uint32_t status; /* txm_status */
    int32_t sys_errno;
    uint32_t text_bytes; /* the message of a failure; after OPEN the attributes, name NUL value NUL each */
    uint32_t reserved;
    uint64_t data_bytes; /* READ: rows without padding; ENCODE: the file */
} txm_worker_reply;

typedef struct txm_worker txm_worker;

/* The limit on computing time for a request that needs at most `honest` seconds: that, or $TXMILL_DECODER_SECONDS. */
uint32_t txm_worker_seconds(double honest);
/* A worker that serves nobody: an idle one or a new one. UNSUPPORTED when the program cannot be found. */
txm_status txm_worker_get(txm_worker **out, txm_error *err);
/* Gives a worker back for the next image; `healthy` is false after any failure: it is ended then, because a decoder
 * that failed may have left anything behind. NULL-safe. */
void txm_worker_put(txm_worker *worker, bool healthy);

/* Sends a request with up to two strings after it. */
txm_status txm_worker_send(txm_worker *worker, const txm_worker_request *request, const char *cwd, const char *path,
                           txm_error *err);
/* More of what a request announced. `name` is the file for the message. */
txm_status txm_worker_send_bytes(txm_worker *worker, const void *data, size_t bytes, const char *name, txm_error *err);
/* Receives exactly `bytes` bytes. Fails with the reason for the worker's end if it crashed, ran out of CPU time, or
 * says nothing within what its last request's time limit makes likely. `name` is the file for the message. */
txm_status txm_worker_receive(txm_worker *worker, void *dst, size_t bytes, const char *name, txm_error *err);

#endif
