/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding and removing files that are no longer needed in folders of tx files. A file is removed only if it is known to
 * be garbage. One without a name that Cycles gives to tx files is kept and counted, and so is one whose image is
 * unknown or was in a folder that does not exist (a share that is not mounted).
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
    TXM_GARBAGE_OLD_NAME,  /* Cycles never looks for this path: the file was moved, or made for another folder */
    TXM_GARBAGE_UNUSED,    /* none of the scenes uses it */
    TXM_GARBAGE_TEMPORARY, /* a temporary file of a process that has ended */
    TXM_GARBAGE_CLAIM,     /* a claim of a process that has ended */
    TXM_GARBAGE_OVER_LIMIT /* used least recently, of files that take more than a limit: see txm_census */
} txm_garbage;

/* Why a file that is named like a tx file is kept. */
typedef enum txm_kept {
    TXM_KEPT_USED,          /* its image exists, and a scene uses it or no scenes were named */
    TXM_KEPT_YOUNG,         /* garbage, but not old enough */
    TXM_KEPT_UNRECOGNISED,  /* it is named like a tx file, but is not one */
    TXM_KEPT_UNKNOWN_IMAGE, /* it does not say where its image is */
    TXM_KEPT_NO_FOLDER,     /* the folder of its image does not exist */
    TXM_KEPT_BUSY,          /* a process is converting its image */
    TXM_KEPT_OTHER_USER     /* a limit asks for its removal, but it belongs to another user */
} txm_kept;

/* Room for the reasons that later versions may add. */
enum { TXM_GARBAGE_ROOM = 16, TXM_KEPT_ROOM = 16 };

/* "orphan", "old-name", "unused", "temporary", "claim", "over-limit"; "used", "young" and so on. Never NULL. */
TXM_API const char *txm_garbage_name(txm_garbage garbage);
TXM_API const char *txm_kept_name(txm_kept kept);

/* The tx files that scenes use, identified by device and inode, so that a file is recognised under any path. */
typedef struct txm_used txm_used;
TXM_API txm_status txm_used_new(txm_used **out, txm_error *err);
TXM_API void txm_used_free(txm_used **used); /* NULL-safe */
/* Adds a tx file; a path without a file is ignored. NO_MEMORY; IO or DENIED if it cannot be examined. */
TXM_API txm_status txm_used_add(txm_used *used, const char *tx_path, txm_error *err);
/* Adds an image that is packed in a scene, by its file name: the folder that it was unpacked to is not known, so every
 * tx file of an image with that name counts as used. NO_MEMORY. */
TXM_API txm_status txm_used_add_packed(txm_used *used, const char *name, txm_error *err);

/* The tx files that were found and kept, from which a limit of what they take chooses those that leave. */
typedef struct txm_census txm_census;
TXM_API txm_status txm_census_new(txm_census **out, txm_error *err);
TXM_API void txm_census_free(txm_census **census); /* NULL-safe */

/* A file that is removed. Pointers are valid during the callback that receives it. */
typedef struct txm_garbage_file {
    const char *path;
    txm_garbage why;
    const char *image; /* path of its image; NULL for temporaries and claims, and where nobody looked for it */
    uint64_t bytes;
    double age_s; /* since it was made or moved here, or was last used for OVER_LIMIT; 0 for temporaries and claims */
} txm_garbage_file;

/* Options that say what counts as garbage, and callbacks that report it; these may be NULL and run on the calling
 * thread. */
typedef struct txm_garbage_options {
    size_t struct_size;         /* set by txm_garbage_options_init */
    double older_than_s;        /* only files made or moved here longer ago than this; negative: of any age */
    bool missing_folders;       /* an image whose folder does not exist counts as gone */
    bool dry_run;               /* report what would be removed, and remove nothing */
    const txm_used *used;       /* tx files that scenes use; NULL: every tx file whose image exists is used */
    const volatile int *cancel; /* stop once it is not 0: CANCELLED; may be NULL */
    void *user;
    void (*found)(void *user, const txm_garbage_file *file); /* each file that was removed, or would be */
    void (*failed)(void *user, const txm_error *err);        /* what could not be examined or removed */
    /* Each tx file that is kept because its image exists, in the order of their names within a folder. */
    void (*kept)(void *user, const char *path, const char *image, uint64_t bytes);
    void (*examined)(void *user, const char *path); /* each tx file, before it is judged */
    /* Receives the tx files that are kept. Files that no scene uses are then no garbage: the limit decides. */
    txm_census *census;
    bool count_only; /* only fill the census: nothing is judged, removed or reported */
} txm_garbage_options;

/* Initialises options with the defaults. */
static inline void txm_garbage_options_init(txm_garbage_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* A number of files, and the disk space that removing them frees. */
typedef struct txm_garbage_sum {
    size_t files;
    uint64_t bytes; /* files that have other hard links count as 0 */
} txm_garbage_sum;

/* Sums by reason. Zero-initialise; calls add to it. */
typedef struct txm_garbage_result {
    txm_garbage_sum garbage[TXM_GARBAGE_ROOM];
    txm_garbage_sum kept[TXM_KEPT_ROOM];
} txm_garbage_result;

/* Goes through a folder and its subfolders, or examines a single file that has the name of a tx file; symbolic links
 * are not followed. Files in a folder that cannot be examined or removed are reported to `failed`. NOT_FOUND, DENIED,
 * IO for `path` itself, UNSUPPORTED for a file of another name, USAGE, NO_MEMORY, CANCELLED. */
TXM_API txm_status txm_garbage_collect(const char *path, const txm_garbage_options *options, txm_garbage_result *result,
                                       txm_error *err);

/* Removes files of a census until all of them together take at most limit_bytes, those that were used least recently
 * first: a file was last used when it was last read (looks by txmill do not count), or, if it was not read since it was
 * put there, then. Files of options->used, and files with other hard links, which free nothing, stay. So do those of
 * other users: each that would have left is reported to `kept` with the reason OTHER_USER in the sums. Takes of the
 * options older_than_s, dry_run, used, cancel, user, found, failed and kept. *left_bytes is what the rest takes.
 * NO_MEMORY, CANCELLED, USAGE. */
TXM_API txm_status txm_census_trim(txm_census *census, uint64_t limit_bytes, const txm_garbage_options *options,
                                   txm_garbage_result *result, uint64_t *left_bytes, txm_error *err);

/* ---- trimming a store -------------------------------------------------------------------------------------------- */

/* Options for trimming a store. The callback runs on the calling thread. */
typedef struct txm_trim_options {
    size_t struct_size;  /* set by txm_trim_options_init */
    double older_than_s; /* remove what was unused for longer; negative: no such bound */
    uint64_t max_bytes;  /* then remove what was unused for longest until the rest fits; UINT64_MAX: no such bound */
    bool dry_run;
    void *user;
    /* Called for each object that is removed, or would be. May be NULL. */
    void (*removed)(void *user, const char *path, uint64_t bytes, double unused_s);
} txm_trim_options;

/* Initialises options with the defaults: no bound of age or size, so that nothing is removed. */
static inline void txm_trim_options_init(txm_trim_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->older_than_s = -1;
    options->max_bytes = UINT64_MAX;
}

/* The contents of a store, and how much was removed. */
typedef struct txm_trim_result {
    size_t objects, removed, failed;
    uint64_t bytes, removed_bytes; /* sizes of files without other hard links: removing the others frees no space */
} txm_trim_result;

/* Trims a store. NOT_FOUND, DENIED, IO, NO_MEMORY; USAGE for a folder that does not look like a store. */
TXM_API txm_status txm_store_trim(const char *store, const txm_trim_options *options, txm_trim_result *result,
                                  txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
