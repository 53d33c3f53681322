/* SPDX-License-Identifier: Apache-2.0
 *
 * Status codes, error messages and the conventions that all functions of both libraries follow.
 *
 * Errors: a function that can fail returns a txm_status and takes a `txm_error *` as its last parameter. The object
 * needs no initialisation: it is cleared first, and on failure holds the status and a message that says which file is
 * affected, what is wrong, where (level, tile, byte) and what to do. The pointer may be NULL. The library never prints
 * and never exits.
 *
 * Outputs of a failed call, unless the function says otherwise: pointers that it would have returned are NULL, lists
 * are empty, and structs that it fills in are zero, so that freeing or clearing them is always safe. Other values
 * (indices, flags, pixels) are undefined. Objects that a call adds to (inputs, findings, sums) keep what was added
 * before it failed.
 *
 * NULL: `err` may be NULL. A NULL path of an image, tx file or trace is USAGE. Functions that free, close, clear, wait
 * for or cancel something accept NULL, or a pointer to NULL, and do nothing. Every other pointer, members of structs
 * included, must be valid unless its comment says what NULL means; it is not checked. Returned pointers are not NULL
 * unless the comment says so. `user` of a callback may be anything.
 *
 * Callbacks are called from C code that may hold locks: they must return, and must not throw C++ exceptions or longjmp
 * out. The libraries throw no exceptions: those of C++ libraries that they use are caught and become a status.
 *
 * ABI: compiled programs keep running with later versions of the libraries. Settings, options, requests and other
 * structs that begin with `struct_size` may gain members at their end; their txm_..._init sets it. So may structs that
 * the library returns by pointer: copy their members, not the struct. All other structs, which programs allocate, never
 * grow. Members named `reserved` are 0; a later version may give them a meaning, in which 0 stands for what was before.
 * Bindings of other languages compare sizes with abi.h.
 */
#ifndef TXTILE_STATUS_H
#define TXTILE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "txtile/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Status codes. They are stable: new codes are added at the end, and numbers never change. */
typedef enum txm_status {
    TXM_STATUS_OK = 0,
    TXM_STATUS_INTERNAL,       /* a bug in txmill or in a library that it uses */
    TXM_STATUS_USAGE,          /* an invalid parameter or option */
    TXM_STATUS_NO_MEMORY,      /* allocation failed; a retry on a less busy machine may work */
    TXM_STATUS_NOT_FOUND,      /* the file does not exist */
    TXM_STATUS_NOT_A_FILE,     /* a folder, device or socket in place of a file */
    TXM_STATUS_DENIED,         /* permission or read-only file system */
    TXM_STATUS_IO,             /* reading or writing failed; a retry may work */
    TXM_STATUS_DISK_FULL,      /* no space or quota left; a retry may work */
    TXM_STATUS_CORRUPT,        /* truncated or damaged data */
    TXM_STATUS_UNSUPPORTED,    /* valid, but of a kind that txmill cannot process */
    TXM_STATUS_TOO_LARGE,      /* beyond a documented limit or --max-memory */
    TXM_STATUS_COLORSPACE,     /* a colour space that the config lacks or cannot build */
    TXM_STATUS_CONFIG,         /* the OCIO config cannot be read */
    TXM_STATUS_LOCKED,         /* another process holds the target; a retry may work */
    TXM_STATUS_CHANGED,        /* the source changed while it was read; a retry may work */
    TXM_STATUS_CANCELLED,      /* the caller requested a stop */
    TXM_STATUS_NEWER,          /* the format version is newer than this build reads */
    TXM_STATUS_DEVICE,         /* the device does not exist or failed */
    TXM_STATUS_NOT_DOWNLOADED, /* a pointer of Git LFS in place of the file */
    TXM_STATUS_NOT_INSTALLED   /* a library, module or program that the call needs is not there */
} txm_status;

/* A short name for the status of success. */
#define TXM_OK TXM_STATUS_OK

/* Room for a message and its NUL; longer ones are cut. */
enum { TXM_MESSAGE_BYTES = 2040 };

/* Why a call failed. It belongs to the caller, and may be reused for any number of calls, one after the other. */
typedef struct txm_error {
    txm_status status;
    int sys_errno;                   /* errno of the failing call, 0 if there was none */
    char message[TXM_MESSAGE_BYTES]; /* "SUBJECT: what is wrong; what to do", without the parts that are not known */
    uint16_t subject_bytes;          /* length of the subject, most often a path; 0: the message names none */
    uint16_t advice_at;              /* offset in the message at which the advice begins; 0: there is none */
    uint16_t place_bytes;            /* length of a place behind the subject, such as "level 1, tile 2,3"; 0: none */
    uint16_t reserved;
} txm_error;

/* The message without its subject: the place, what is wrong, and the advice. For reports that list failures below the
 * name of their file. Valid as long as the error is unchanged. Never NULL. */
TXM_API const char *txm_error_detail(const txm_error *err);
/* What to do; "" if the message does not say. Never NULL. */
TXM_API const char *txm_error_advice(const txm_error *err);

/* The version of the library that is running, as "0.1.0". Never NULL. */
TXM_API const char *txm_version(void);

/* Stable identifier of a status ("disk-full"), for scripts. Never NULL. */
TXM_API const char *txm_status_name(txm_status status);

/* A sentence that explains a status to a user. Never NULL. */
TXM_API const char *txm_status_text(txm_status status);

/* Whether the same call may succeed later without anyone changing the input (I/O, lock, memory, full disk). */
TXM_API bool txm_status_retryable(txm_status status);

/* Sets the status to TXM_OK and the message to "". */
TXM_API void txm_error_clear(txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
