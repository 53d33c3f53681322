/* SPDX-License-Identifier: Apache-2.0
 *
 * What a colour space setting asks for. Two words are not names, and a config may have spaces or roles that are called
 * like them: Blender's has a role "default", which scenes may hold. "=" says that a name follows as a scene stores it;
 * on its own it is the empty name.
 */
#ifndef TXM_BASE_SETTINGS_H
#define TXM_BASE_SETTINGS_H
#include "tile/base/shared.h"

typedef enum txm_space_choice {
    TXM_SPACE_DEFAULT, /* what Blender sets when it loads the image */
    TXM_SPACE_AUTO,    /* what the image's metadata says */
    TXM_SPACE_UNSET,   /* the empty name of a scene: Cycles takes the pixels for scene-linear */
    TXM_SPACE_UNKNOWN, /* a name that the config lacks, which Cycles puts into the tx file's: pixels as with UNSET */
    TXM_SPACE_NAMED
} txm_space_choice;

/* *name points into `setting`, and is NULL unless it is NAMED or UNKNOWN. */
TXM_SHARED txm_space_choice txm_space_chosen(const char *setting, const char **name);
/* The setting that asks for a name; NULL: for none at all, UNSET. Lives as long as `name`. */
TXM_SHARED const char *txm_space_setting(const char *name);
/* The setting that asks for a name which the config lacks: to be freed, NULL without memory. */
TXM_SHARED char *txm_space_unknown(const char *name);
/* A setting or a name in a sentence. */
TXM_SHARED const char *txm_space_shown(const char *setting);
#endif
