/* SPDX-License-Identifier: Apache-2.0
 *
 * Status codes and error messages, shared by every txmill function that can fail.
 *
 * Convention: a function that can fail returns a txm_status and takes a `txm_error *` as its last parameter. The object
 * needs no initialisation: it is cleared first, and on failure holds the status and a message that names the file, what
 * is wrong, where (level, tile, byte) and what to do. The pointer may be NULL. The library never prints and never
 * exits.
 *
 * Outputs of a failed call, unless the function says otherwise: pointers that it would have returned are NULL, lists
 * have no elements, and structs that it fills in are zero, so that freeing or clearing them is always safe. Other
 * values (indices, flags, pixels) mean nothing. What a call adds to (inputs, findings, sums) keeps what was added
 * before it failed.
 *
 * NULL: `err` may be NULL. The path of an image, tx file or trace that is NULL is USAGE. Functions that free, close,
 * clear, wait for or cancel something take NULL, or a pointer to NULL, and do nothing. Every other pointer must point
 * to something, members of structs included, unless its comment says what NULL means: nothing catches it. What is
 * returned is not NULL, unless the comment says so. `user` of a callback may be anything.
 *
 * Callbacks are called from C, which may hold locks: they must return, and may not throw C++ exceptions or longjmp out.
 * The libraries throw nothing: what C++ libraries throw inside becomes a status.
 *
 * How structs grow, so that programs that are compiled keep running: settings, options and requests begin with
 * `struct_size` and are opened by their txm_..._init. What the library hands out by pointer may gain members at its
 * end: copy it by its members. Results that a program holds itself have `reserved` room, which is 0.
 */
#ifndef TXTILE_STATUS_H
#define TXTILE_STATUS_H

#include <stdbool.h>

#include "txtile/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stable: new codes are added at the end, numbers never change. */
typedef enum txm_status {
    TXM_STATUS_OK = 0,
    TXM_STATUS_INTERNAL,    /* a bug in txmill or a library it uses */
    TXM_STATUS_USAGE,       /* a parameter or option that makes no sense */
    TXM_STATUS_NO_MEMORY,   /* allocation failed; a retry on a less busy machine may work */
    TXM_STATUS_NOT_FOUND,   /* the file does not exist */
    TXM_STATUS_NOT_A_FILE,  /* a folder, device or socket in place of a file */
    TXM_STATUS_DENIED,      /* permission or read-only file system */
    TXM_STATUS_IO,          /* reading or writing failed; a retry may work */
    TXM_STATUS_DISK_FULL,   /* no space or quota left; a retry may work */
    TXM_STATUS_CORRUPT,     /* truncated or damaged data */
    TXM_STATUS_UNSUPPORTED, /* well-formed, but of a kind that txmill cannot process */
    TXM_STATUS_TOO_LARGE,   /* beyond a documented limit or --max-memory */
    TXM_STATUS_COLORSPACE,  /* a colour space that the config does not know or cannot build */
    TXM_STATUS_CONFIG,      /* the OCIO config cannot be read */
    TXM_STATUS_LOCKED,      /* another process holds the target; a retry may work */
    TXM_STATUS_CHANGED,     /* the source changed while it was read; a retry may work */
    TXM_STATUS_CANCELLED,   /* the caller asked to stop */
    TXM_STATUS_NEWER,       /* written by a newer format version than this build knows */
    TXM_STATUS_DEVICE       /* no such device, or it failed */
} txm_status;

/* The short name of what every call is compared with. */
#define TXM_OK TXM_STATUS_OK

/* Room for a message and its NUL; longer ones are cut. */
enum { TXM_MESSAGE_BYTES = 2048 };

/* Why a call failed. Belongs to the caller; any number of calls may use it, one after the other. */
typedef struct txm_error {
    txm_status status;
    int sys_errno; /* errno of the failing call, 0 if there was none */
    char message[TXM_MESSAGE_BYTES];
} txm_error;

/* The version of the library that is running, as "0.1.0". Never NULL. */
TXM_API const char *txm_version(void);

/* Stable identifier of a status ("disk-full"), for scripts. Never NULL. */
TXM_API const char *txm_status_name(txm_status status);

/* One sentence for people. Never NULL. */
TXM_API const char *txm_status_text(txm_status status);

/* Whether the same call may succeed later without anyone changing the input (I/O, lock, memory, full disk). */
TXM_API bool txm_status_retryable(txm_status status);

/* Forgets what was recorded. */
TXM_API void txm_error_clear(txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
