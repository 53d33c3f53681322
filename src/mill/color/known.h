/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of the built-in config without loading it. OpenColorIO takes 10 to 20 ms to read a config, as long as
 * converting a small texture takes altogether, and most textures need only a name, its class and the matrix. These are
 * generated at build time (generate/known.c); the config is loaded only if a colour space has to be converted.
 */
#ifndef TXM_COLOR_KNOWN_H
#define TXM_COLOR_KNOWN_H
#include "txmill/color.h"
#include <stddef.h>

typedef struct txm_known_space {
    const char *name, *family, *description;
    const char *const *aliases; /* NULL-terminated */
    bool is_data;
    txm_color_class color_class; /* relative to the config's own scene_linear */
} txm_known_space;

typedef struct txm_known_role {
    const char *name, *space;
} txm_known_role;

/* A known config; its only file rule is the default one. */
typedef struct txm_known_config {
    const char *version;
    const txm_known_space *spaces; /* spaces in the config's order, without those that it cannot build */
    size_t space_count;
    const txm_known_role *roles;
    size_t role_count;
    float xyz_to_scene_linear[12]; /* as txm_color_xyz_to_scene_linear */
} txm_known_config;

/* If it has no spaces, the config is not known and must be loaded. */
extern const txm_known_config txm_builtin_known;

/* Canonical name of a space, alias or role, ignoring case; NULL if unknown. */
const char *txm_known_canonical(const txm_known_config *known, const char *name);
/* The space of a role; NULL if the config lacks the role. */
const char *txm_known_role_space(const txm_known_config *known, const char *role);

extern const char txm_builtin_config[];
extern const size_t txm_builtin_config_bytes;

typedef struct txm_builtin_missing {
    const char *name, *reason, *aliases[3]; /* NULL after the last alias */
} txm_builtin_missing;

/* Some of them are missing only if this version of OpenColorIO lacks what they need. */
extern const txm_builtin_missing txm_builtin_missing_spaces[];
extern const size_t txm_builtin_missing_count;
#endif
