/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a manifest, the list of files that `txmill files --manifest` writes. It may come from anybody: paths lead
 * nowhere but down, numbers are in range, and a manifest that is not whole is none.
 */
#ifndef TXM_TOOLS_MANIFEST_H
#define TXM_TOOLS_MANIFEST_H
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "txtile/status.h"

typedef struct txm_manifest_file {
    const char *path; /* below the root */
    const char *key;
    const char *role;
    int64_t time; /* seconds since 1970 */
    size_t of;    /* the image of a tx file that has the same time; SIZE_MAX: none is in the manifest */
} txm_manifest_file;

/* Zero-initialise. */
typedef struct txm_manifest {
    txm_manifest_file *files; /* a tx file comes after its image */
    size_t count, capacity;
    txm_names names;
} txm_manifest;

/* Reads a manifest; "-" is standard input. CORRUPT, with the line, for one that is damaged, cut off or hostile; NEWER;
 * failures to read. */
txm_status txm_manifest_read(const char *path, const volatile int *cancel, txm_manifest *out, txm_error *err);
void txm_manifest_free(txm_manifest *manifest);
#endif
