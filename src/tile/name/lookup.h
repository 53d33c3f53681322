/* SPDX-License-Identifier: Apache-2.0
 *
 * Where Cycles looks for a tx file, and in what state it is there.
 *
 * The room src/tile/name knows how Cycles' texture cache uses the file system: which name it looks up (name.h, find.c),
 * where and when it takes a file (here), and what that says about the file (verdict.h).
 */
#ifndef TXM_NAME_LOOKUP_H
#define TXM_NAME_LOOKUP_H
#include "tile/name/name.h"
#include "tile/name/verdict.h"
#include "txtile/describe.h"
#include "txtile/name.h"

/* The requirements on a tx file: even with the right name and time it is of no use if other settings are inside. */
typedef struct txm_tx_match {
    /* Whether a file with this description has the requested pixels, and size; if not, or if that is uncertain, `why`
     * is a sentence; else "". */
    txm_fit (*fits)(const void *user, const txm_tx_description *description, char *why, size_t why_bytes);
    const void *user;
    const char *space; /* how the scene or the settings call the colour space, for the verdict; NULL: not known */
    /* Compares the whole content of an image with that of which its fresh tx file was made; else only the sizes. */
    bool whole;
    const volatile int *cancel;
} txm_tx_match;

/* Looks in Cycles' order: (a) the configured folder, (b) blender_tx if that is not the configured one, (c) the source.
 * Fails only for problems with the source itself. `match` may be NULL: then the content does not matter. */
TXM_SHARED txm_status txm_tx_lookup(const char *source_path, const char *cache_dir, const txm_tx_key *key,
                                    const txm_tx_match *match, txm_found *out, txm_error *err);
#endif
