/* SPDX-License-Identifier: Apache-2.0
 *
 * What the commands that look into tx files do with a Ptex file, which holds a texture for each face of a mesh.
 *
 * info, verify, extract and view take Ptex files beside tx files. They know one by its first bytes, whatever its
 * name.
 */
#ifndef TXM_TOOLS_PTEX_FILES_H
#define TXM_TOOLS_PTEX_FILES_H
#include <stdbool.h>

#include "txtile/ptex.h"

/* Whether the file begins as a Ptex file does. False for what cannot be read. */
bool txm_ptex_is_file(const char *path);

/* Prints what is inside; `all`: every entry of the meta data and every face. `deep`: what is stored is also read. */
typedef struct txm_ptex_extent {
    bool json, all, deep;
} txm_ptex_extent;
txm_status txm_ptex_print_info(const char *path, const txm_ptex_extent *extent, txm_error *err);

/* What reading all of a file found. */
typedef struct txm_ptex_check {
    uint64_t blocks;     /* stored sizes of faces that were read */
    uint32_t metas;      /* entries of meta data that were read */
    uint32_t one_sided;  /* edges whose neighbour has another face there: lookups over them differ by direction */
    uint32_t first_face; /* the first of those */
    unsigned first_edge;
    txm_error damage; /* the first thing that could not be read; OK: none */
} txm_ptex_check;

/* Reads everything that is stored. What is damaged is in *out; fails for other reasons: NOT_FOUND, DENIED, IO,
 * NO_MEMORY, CANCELLED when *cancel is set. */
txm_status txm_ptex_check_file(const char *path, const volatile int *cancel, txm_ptex_check *out, txm_error *err);
/* Prints the verdict; *good tells it. */
txm_status txm_ptex_verify(const char *path, bool json, bool quiet, const volatile int *cancel, bool *good,
                           txm_error *err);
#endif
