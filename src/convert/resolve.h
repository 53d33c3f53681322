/* SPDX-License-Identifier: Apache-2.0
 * From what was asked for to what is done: defaults filled in, the colour space found, the name of the tx file made. */
#ifndef TXM_CONVERT_RESOLVE_H
#define TXM_CONVERT_RESOLVE_H
#include "cache/name.h"
#include "convert/context.h"
#include "source/source.h"

typedef struct txm_resolved {
    const char *requested;        /* the colour space as it counts for the name: a name or "auto" */
    const txm_color_space *space; /* what the pixels are in */
    const char *named;            /* the same as it was asked for, or for "auto" as the file says it */
    txm_alpha alpha;              /* not DEFAULT */
    txm_tx_key key;
} txm_resolved;

/* Strings live as long as the context, the source and the settings. COLORSPACE for unknown spaces, unless settings are
 * strict: then it counts as scene-linear, and with `warn` that is logged. */
txm_status txm_resolve(const txm_context *context, const txm_settings *settings, const char *path,
                       const txm_source_info *info, bool warn, txm_resolved *out, txm_error *err);
#endif
