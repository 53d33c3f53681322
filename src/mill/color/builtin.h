/* SPDX-License-Identifier: Apache-2.0
 * The config that is part of txmill: its text, and the spaces of which it has only the names. */
#ifndef TXM_COLOR_BUILTIN_H
#define TXM_COLOR_BUILTIN_H
#include <stddef.h>

extern const char txm_builtin_config[];
extern const size_t txm_builtin_config_bytes;

typedef struct txm_builtin_missing {
    const char *name, *reason, *aliases[3]; /* NULL after the last alias */
} txm_builtin_missing;

/* Some of them are missing only if this version of OpenColorIO lacks what they need. */
extern const txm_builtin_missing txm_builtin_missing_spaces[];
extern const size_t txm_builtin_missing_count;
#endif
