/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the files that scenes need: as lines, separated by NUL, or as JSON, which is also the form of a manifest.
 */
#ifndef TXM_TOOLS_LIST_OUT_H
#define TXM_TOOLS_LIST_OUT_H
#include <cjson/cJSON.h>
#include <stdio.h>

#include "tools/files/needed.h"

/* A file of the list, as it is written. */
typedef struct txm_listed {
    const txm_needed_file *file;
    const char *path; /* below the root, or absolute if there is none */
    const char *of;   /* the same for file->of; NULL if there is none, or it is outside */
} txm_listed;

typedef struct txm_listing {
    char *root;        /* NULL: paths are absolute */
    txm_listed *items; /* without what is outside the root */
    size_t count;
    size_t outside;     /* files that are there, but outside */
    size_t links;       /* files that are symbolic links */
    const char *linked; /* the first of them */
    txm_names names;
    bool sha256;
} txm_listing;

/* Chooses the paths. `root`: as the user gave it; NULL with `needs_root`: the project's folder if all files are in it,
 * else the deepest folder that has all files, else the first scene's. Names what is outside in messages. NO_MEMORY,
 * NOT_FOUND. */
txm_status txm_listing_make(const txm_needed *needed, const char *root, bool needs_root, txm_listing *out,
                            txm_error *err);
void txm_listing_free(txm_listing *listing);

/* One path for each file that is there, with `end` after it: '\n' or 0. A path that has a line end is left out and
 * named in a message; returns how many. */
size_t txm_listing_print(const txm_listing *listing, char end);

/* What is known of a file's bytes. */
typedef struct txm_listed_bytes {
    char key[56], sha256[65]; /* sha256: "" if it was not asked for */
    uint64_t bytes;
    int64_t time; /* seconds since 1970 */
} txm_listed_bytes;
/* Reads a file that is there; `also`, if not NULL, gets its bytes. CANCELLED, and failures to read. */
txm_status txm_listed_read(const txm_listing *listing, const txm_listed *item,
                           void (*also)(void *user, const void *piece, size_t bytes), void *user, txm_listed_bytes *out,
                           txm_error *err);

/* The first object, and that of a file; `bytes` NULL: the file is not there. */
cJSON *txm_listing_head(const txm_listing *listing, const char *type);
cJSON *txm_listed_json(const txm_listed *item, const txm_listed_bytes *bytes);
/* Reads all files, and prints or writes them; `manifest` has only those that are there. */
txm_status txm_listing_json(const txm_listing *listing, txm_error *err);
/* Stores all files that are there in a zip archive, with a manifest, which is called txmill.manifest. */
txm_status txm_listing_zip(const txm_listing *listing, const char *path, txm_error *err);
txm_status txm_listing_manifest(const txm_listing *listing, const char *path, txm_error *err);
#endif
