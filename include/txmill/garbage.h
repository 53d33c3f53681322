/* SPDX-License-Identifier: Apache-2.0
 *
 * What nobody needs any more in folders of tx files. A file is garbage only when that is known: one that is no tx file
 * of Cycles' naming, or whose image is unknown or lies in a folder that is not there (a share that is not mounted),
 * is left and counted.
 */
#ifndef TXMILL_GARBAGE_H
#define TXMILL_GARBAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "txtile/export.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a file is garbage. */
typedef enum txm_garbage {
    TXM_GARBAGE_ORPHAN,    /* its image is gone */
    TXM_GARBAGE_OLD_NAME,  /* Cycles does not look here under this name: it was moved, or made for another folder */
    TXM_GARBAGE_UNUSED,    /* none of the scenes asks for it */
    TXM_GARBAGE_TEMPORARY, /* left by a process that is gone */
    TXM_GARBAGE_CLAIM
} txm_garbage;

/* Why a tx file, or what is named like one, is left. */
typedef enum txm_kept {
    TXM_KEPT_USED,          /* its image is there, and no scene was named or one asks for it */
    TXM_KEPT_YOUNG,         /* garbage, but not old enough */
    TXM_KEPT_UNRECOGNISED,  /* named like a tx file, and none */
    TXM_KEPT_UNKNOWN_IMAGE, /* it does not say where its image is */
    TXM_KEPT_NO_FOLDER,     /* the folder of its image is not there */
    TXM_KEPT_BUSY           /* a process is making it anew */
} txm_kept;

/* Room for the reasons that later versions may add. */
enum { TXM_GARBAGE_ROOM = 16, TXM_KEPT_ROOM = 16 };

/* "orphan", "old-name", "unused", "temporary", "claim"; "used", "young" ... Never NULL. */
TXM_API const char *txm_garbage_name(txm_garbage garbage);
TXM_API const char *txm_kept_name(txm_kept kept);

/* The tx files that scenes ask for, remembered by device and inode: whichever way leads to a file, it is recognised. */
typedef struct txm_used txm_used;
TXM_API txm_status txm_used_new(txm_used **out, txm_error *err);
TXM_API void txm_used_free(txm_used **used); /* NULL-safe */
/* A tx file; one that is not there is no failure. NO_MEMORY. */
TXM_API txm_status txm_used_add(txm_used *used, const char *tx_path, txm_error *err);
/* The file name of an image inside a scene: where it was unpacked to is not known, so every tx file of that name is
 * used. NO_MEMORY. */
TXM_API txm_status txm_used_add_packed(txm_used *used, const char *name, txm_error *err);

/* A file that goes. Pointers are valid during the call that hands it out. */
typedef struct txm_garbage_file {
    const char *path;
    txm_garbage why;
    const char *image; /* where its image was; NULL if that does not matter */
    uint64_t bytes;
    double age_s; /* since it was made or put here; 0 for what dead processes left */
} txm_garbage_file;

/* What counts as garbage, and who hears of it. Callbacks may be NULL and run on the calling thread. */
typedef struct txm_garbage_options {
    size_t struct_size;   /* set by txm_garbage_options_init */
    double older_than_s;  /* made or put here longer ago; negative: whatever the age */
    bool missing_folders; /* an image is gone, too, where its folder is not there */
    bool dry_run;         /* only say what would be removed */
    const txm_used *used; /* what scenes ask for; NULL: every tx file whose image is there is used */
    const volatile int *cancel;
    void *user;
    void (*found)(void *user, const txm_garbage_file *file); /* each file that went, or would */
    void (*failed)(void *user, const txm_error *err);        /* what could not be examined or removed */
} txm_garbage_options;

/* Opens options: every member asks for nothing in particular. */
static inline void txm_garbage_options_init(txm_garbage_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* How many files, and what they occupy. */
typedef struct txm_garbage_sum {
    size_t files;
    uint64_t bytes; /* files with another name (hard links) occupy nothing here and count as none */
} txm_garbage_sum;

/* By reason. Zero-initialise; calls add up. */
typedef struct txm_garbage_result {
    txm_garbage_sum garbage[TXM_GARBAGE_ROOM];
    txm_garbage_sum kept[TXM_KEPT_ROOM];
} txm_garbage_result;

/* Goes through a folder and its subfolders, or looks at a single file that has the name of a tx file; links are not
 * followed. Single files that fail go to `failed`. NOT_FOUND, DENIED, IO for what was named, UNSUPPORTED for a file of
 * another name, USAGE, NO_MEMORY, CANCELLED. */
TXM_API txm_status txm_garbage_collect(const char *path, const txm_garbage_options *options, txm_garbage_result *result,
                                       txm_error *err);

/* ---- trimming a store -------------------------------------------------------------------------------------------- */

/* What of a store may stay. A callback runs on the calling thread. */
typedef struct txm_trim_options {
    size_t struct_size;  /* set by txm_trim_options_init */
    double older_than_s; /* not used for so long; negative: whatever the age */
    uint64_t max_bytes;  /* trimmed to that, what was not used for longest first; UINT64_MAX: whatever the size */
    bool dry_run;
    void *user;
    /* Each object that goes, or would. May be NULL. */
    void (*removed)(void *user, const char *path, uint64_t bytes, double unused_s);
} txm_trim_options;

/* Opens options: nothing is trimmed, whatever its age and size. */
static inline void txm_trim_options_init(txm_trim_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->older_than_s = -1;
    options->max_bytes = UINT64_MAX;
}

/* What a store held, and what went. */
typedef struct txm_trim_result {
    size_t objects, removed, failed;
    uint64_t bytes, removed_bytes; /* of files that have no other name: hard-linked ones occupy nothing here */
} txm_trim_result;

/* NOT_FOUND, DENIED, IO, NO_MEMORY; USAGE for a folder that holds other things than a store does. */
TXM_API txm_status txm_store_trim(const char *store, const txm_trim_options *options, txm_trim_result *result,
                                  txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
