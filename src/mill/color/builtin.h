/* SPDX-License-Identifier: Apache-2.0
 * The config that txmill carries: its text, and the names that it knows but cannot build. */
#ifndef TXM_COLOR_BUILTIN_H
#define TXM_COLOR_BUILTIN_H
#include <stddef.h>

extern const char txm_builtin_config[];
extern const size_t txm_builtin_config_bytes;

typedef struct txm_builtin_missing {
    const char *name, *alias, *reason; /* NULL: no alias */
} txm_builtin_missing;

/* Some that this version of OpenColorIO lacks are in the config where it does not. */
extern const txm_builtin_missing txm_builtin_missing_spaces[];
extern const size_t txm_builtin_missing_count;
#endif
