/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of the built-in config without loading it. OpenColorIO takes 10 to 20 ms to read a config, as long as a
 * small texture takes altogether, and most textures need no more than a name, its class and the matrix. The build asks
 * the library once and writes the answers down (generate/known.c); it is loaded where a colour space has to be
 * converted.
 */
#ifndef TXM_COLOR_KNOWN_H
#define TXM_COLOR_KNOWN_H
#include "txmill/color.h"

typedef struct txm_known_space {
    const char *name, *family, *description;
    const char *const *aliases; /* NULL-terminated */
    bool is_data;
    txm_color_class color_class; /* towards the config's own scene_linear */
} txm_known_space;

typedef struct txm_known_role {
    const char *name, *space;
} txm_known_role;

/* Its only file rule is the default one. */
typedef struct txm_known_config {
    const char *version;
    const txm_known_space *spaces; /* in the config's order, without those that it cannot build */
    size_t space_count;
    const txm_known_role *roles;
    size_t role_count;
    float xyz_to_scene_linear[12]; /* as txm_color_xyz_to_scene_linear */
} txm_known_config;

/* No spaces: not known, load the config. */
extern const txm_known_config txm_builtin_known;

/* Canonical name of a space, alias or role, in any case; NULL if unknown. */
const char *txm_known_canonical(const txm_known_config *known, const char *name);
/* The space of a role; NULL if there is no such role. */
const char *txm_known_role_space(const txm_known_config *known, const char *role);
#endif
