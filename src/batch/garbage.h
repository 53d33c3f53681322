/* SPDX-License-Identifier: Apache-2.0
 *
 * What nobody needs any more in folders of tx files. A file is garbage only when that is known: one that is no tx file
 * of Cycles' naming, or whose image is unknown or lies in a folder that is not there (a share that is not mounted),
 * is left and counted.
 */
#ifndef TXM_BATCH_GARBAGE_H
#define TXM_BATCH_GARBAGE_H
#include "batch/claims.h"
#include "batch/names.h"

/* Why a file is garbage. */
typedef enum txm_garbage {
    TXM_GARBAGE_ORPHAN,    /* its image is gone */
    TXM_GARBAGE_OLD_NAME,  /* Cycles does not look here under this name: it was moved, or made for another folder */
    TXM_GARBAGE_UNUSED,    /* none of the scenes asks for it */
    TXM_GARBAGE_TEMPORARY, /* left by a process that is gone */
    TXM_GARBAGE_CLAIM,
    TXM_GARBAGE_COUNT
} txm_garbage;

/* Why a tx file, or what is named like one, is left. */
typedef enum txm_kept {
    TXM_KEPT_USED,          /* its image is there, and no scene was named or one asks for it */
    TXM_KEPT_YOUNG,         /* garbage, but not old enough */
    TXM_KEPT_UNRECOGNISED,  /* named like a tx file, and none */
    TXM_KEPT_UNKNOWN_IMAGE, /* it does not say where its image is */
    TXM_KEPT_NO_FOLDER,     /* the folder of its image is not there */
    TXM_KEPT_BUSY,          /* a process is making it anew */
    TXM_KEPT_COUNT
} txm_kept;

/* "orphan", "old-name", "unused", "temporary", "claim"; "used", "young" ... Never NULL. */
const char *txm_garbage_name(txm_garbage garbage);
const char *txm_kept_name(txm_kept kept);

typedef struct txm_garbage_file {
    const char *path;
    txm_garbage why;
    const char *image; /* where its image was; NULL if that does not matter */
    uint64_t bytes;
    double age_s; /* since it was made or put here; 0 for what dead processes left */
} txm_garbage_file;

typedef struct txm_garbage_options {
    double older_than_s;    /* made or put here longer ago; negative: whatever the age */
    bool missing_folders;   /* an image is gone, too, where its folder is not there */
    bool dry_run;           /* only say what would be removed */
    const txm_names *used;  /* txm_file_id of the tx files that scenes ask for; NULL: all are */
    const txm_names *names; /* file names of images that no scene names by a path: what is packed; may be NULL */
    txm_claims *claims;     /* needed unless dry_run: what is being made is left */
    const volatile int *cancel;
    void *user;
    void (*found)(void *user, const txm_garbage_file *file); /* each file that went, or would */
    void (*failed)(void *user, const txm_error *err);        /* what could not be examined or removed */
} txm_garbage_options;

typedef struct txm_garbage_sum {
    size_t files;
    uint64_t bytes; /* files with another name (hard links) occupy nothing here and count as none */
} txm_garbage_sum;

/* Zero-initialise; calls add up. */
typedef struct txm_garbage_result {
    txm_garbage_sum garbage[TXM_GARBAGE_COUNT];
    txm_garbage_sum kept[TXM_KEPT_COUNT];
} txm_garbage_result;

/* Goes through a folder and its subfolders, or looks at a single file that has the name of a tx file; links are not
 * followed. Single files that fail go to `failed`. NOT_FOUND, DENIED, IO for what was named, UNSUPPORTED for a file of
 * another name, NO_MEMORY, CANCELLED. */
txm_status txm_garbage_collect(const char *path, const txm_garbage_options *options, txm_garbage_result *result,
                               txm_error *err);

/* "device:inode" of a file: the same whatever way leads to it. */
enum { TXM_FILE_ID_BYTES = 48 };
struct stat;
void txm_file_id(const struct stat *st, char out[TXM_FILE_ID_BYTES]);
#endif
