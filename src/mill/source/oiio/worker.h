/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding and encoding in a separate process: txmill-oiio-worker serves one image at a time over a socket.
 * OpenImageIO uses more than a hundred decoders, some of which crash or loop on hostile files; in a worker they fail
 * one image and not the batch, and OpenImageIO's 130 MB stay out of this process. Encoders get trusted input, but
 * libjpeg, for example, calls exit() if memory is exhausted. A worker is reused for the next image.
 *
 * The protocol is: a request, for OPEN and ENCODE its two strings, for ENCODE the rows; then a reply, its text, its
 * info (OPEN), rows (READ) or file (ENCODE). Both sides are of the same build (`version`) and on the same machine, so
 * structs are sent as they are. This process does not trust what it receives.
 */
#ifndef TXM_SOURCE_WORKER_H
#define TXM_SOURCE_WORKER_H
#include "mill/source/source.h"

/* The version changes with the protocol and with the structs in it. */
enum {
    TXM_WORKER_VERSION = (7 << 16) + (int)sizeof(txm_source_info),
    TXM_WORKER_FD = 3,
    TXM_WORKER_MAX_TEXT_BYTES = 1 << 20
};
/* The exit status is this plus the errno if a worker ends because it cannot continue. */
enum { TXM_WORKER_LEFT = 64 };
/* Instead of ENOMEM: there was memory, but not for a large piece. */
enum { TXM_WORKER_LARGE = 127 };
/* Memory for a decoder's own tables, beyond the bounds of a request. */
enum { TXM_WORKER_SLACK_BYTES = 512 << 20 };

typedef enum txm_worker_op {
    TXM_WORKER_OPEN = 1,
    TXM_WORKER_READ,
    TXM_WORKER_REWIND,
    TXM_WORKER_CLOSE,
    TXM_WORKER_ENCODE,
    TXM_WORKER_AS_HALF
} txm_worker_op;

typedef struct txm_worker_request {
    uint32_t version, op;
    uint32_t cpu_seconds; /* the decoder's limit of CPU time for this request; the system ends the worker beyond it */
    uint32_t y, rows;     /* rows of READ; `rows` is the picture's height for ENCODE */
    uint64_t max_memory_bytes, free_memory_bytes; /* for OPEN, as in txm_source_options */
    uint64_t open_bytes;                          /* the most that opening the image may take; 0: no bound */
    uint32_t width, channels, type;               /* shape of the picture for ENCODE; the rows that follow are tight */
    /* Lengths of the strings without NUL. For OPEN: the caller's current folder and the path. For ENCODE: the colour
     * space, and a name whose extension is that of the format. */
    uint32_t cwd_bytes, path_bytes;
} txm_worker_request;

typedef struct txm_worker_reply {
    uint32_t status;     /* txm_status */
    uint32_t text_bytes; /* the message of a failure; after OPEN the attributes, each as name NUL value NUL */
    uint16_t subject_bytes, advice_at; /* parts of that message, as in txm_error */
    uint64_t data_bytes;               /* size of what follows: rows without padding for READ, the file for ENCODE */
} txm_worker_reply;

typedef struct txm_worker txm_worker;

/* The limit of CPU time for a request that needs at most `honest` seconds: that, or $TXMILL_DECODER_SECONDS. */
uint32_t txm_worker_seconds(double honest);
/* Gets an idle or a new worker. UNSUPPORTED if the program cannot be found. */
txm_status txm_worker_get(txm_worker **out, txm_error *err);
/* Returns a worker for the next image. `healthy` is false if it may be out of step: then it is ended. A worker whose
 * image was closed needs no ending, even if its decoder failed, because it then starts anew itself. NULL-safe. */
void txm_worker_put(txm_worker *worker, bool healthy);
/* Ends all workers that are not idle, so that what waits for them fails with CANCELLED. May be called in signal
 * handlers. */
void txm_worker_end_all(void);
/* Whether a worker ended because it got no large piece of memory. */
bool txm_worker_lacked_large(const txm_worker *worker);

/* Sends a request with up to two strings after it. */
txm_status txm_worker_send(txm_worker *worker, const txm_worker_request *request, const char *cwd, const char *path,
                           txm_error *err);
/* Sends more data that a request announced. `name` is the file for messages. */
txm_status txm_worker_send_bytes(txm_worker *worker, const void *data, size_t bytes, const char *name, txm_error *err);
/* Receives exactly `bytes` bytes. Fails with the reason if the worker crashed, exceeded its CPU time, or does not
 * answer within a time derived from its last request's limit. `name` is the file for messages. */
txm_status txm_worker_receive(txm_worker *worker, void *dst, size_t bytes, const char *name, txm_error *err);
/* Receives a reply and its text, a new string. What follows the text is left to the caller. */
txm_status txm_worker_answer(txm_worker *worker, txm_worker_reply *reply, char **text, const char *name,
                             txm_error *err);

/* Returns the errno of the first read or seek of this process that failed since the last call; 0 if none did. */
int txm_reads_failed(void);
#endif
