/* SPDX-License-Identifier: Apache-2.0
 *
 * Support for Ptex files, which hold a texture for each face of a mesh, in the commands that inspect tx files.
 *
 * info, verify, extract and view accept Ptex files as well as tx files. They recognise one by its first bytes, whatever
 * its name.
 */
#ifndef TXM_TOOLS_PTEX_FILES_H
#define TXM_TOOLS_PTEX_FILES_H
#include <stdbool.h>

#include "txtile/ptex.h"

/* Whether the file begins like a Ptex file, or has the extension .ptx or .ptex; false for files that cannot be read. */
bool txm_ptex_is_file(const char *path);
/* After a failure: if it is of a Ptex file, the advice at the end is not to make it again, since txmill makes none. */
void txm_ptex_advise(const char *path);

/* Prints a file's properties. `all`: includes every entry of the metadata and every face. `deep`: also reads all
 * stored data. */
typedef struct txm_ptex_extent {
    bool json, all, deep;
} txm_ptex_extent;
txm_status txm_ptex_print_info(const char *path, const txm_ptex_extent *extent, txm_error *err);

/* The result of reading all of a file. */
typedef struct txm_ptex_check {
    uint64_t blocks;     /* stored sizes of faces that were read */
    uint32_t metas;      /* entries of metadata that were read */
    uint32_t one_sided;  /* edges whose neighbour has a different neighbour there, so lookups across them depend on the
                            direction */
    uint32_t first_face; /* the first of those edges */
    unsigned first_edge;
    txm_error damage; /* the first error in reading; OK: none */
} txm_ptex_check;

/* Reads everything that is stored. Damage is reported in *out; the function fails only for other reasons: NOT_FOUND,
 * DENIED, IO, NO_MEMORY, or CANCELLED if *cancel is set. */
txm_status txm_ptex_check_file(const char *path, const volatile int *cancel, txm_ptex_check *out, txm_error *err);
/* Prints the verdict, and returns it in *good. */
txm_status txm_ptex_verify(const char *path, bool json, bool quiet, const volatile int *cancel, bool *good,
                           txm_error *err);
#endif
