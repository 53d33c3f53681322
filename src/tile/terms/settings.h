/* SPDX-License-Identifier: Apache-2.0
 *
 * The meaning of a colour space setting. Two words are not names, but a config may have spaces or roles with these
 * names: Blender's has a role "default", which scenes may store. "=" says that a name as a scene stores it follows;
 * alone it is the empty name.
 */
#ifndef TXM_TERMS_SETTINGS_H
#define TXM_TERMS_SETTINGS_H
#include "base/shared.h"
#include "txtile/settings.h"
#include "txtile/status.h"

typedef enum txm_space_choice {
    TXM_SPACE_DEFAULT, /* the space that Blender sets when it loads the image */
    TXM_SPACE_AUTO,    /* the space that the image's metadata state */
    TXM_SPACE_UNSET,   /* the empty name of a scene: Cycles takes the pixels as scene-linear */
    TXM_SPACE_UNKNOWN, /* a name that the config lacks, which Cycles uses in the tx file's name: pixels as with UNSET */
    TXM_SPACE_NAMED
} txm_space_choice;

/* Classifies a setting. *name points into `setting`, and is NULL unless it is NAMED or UNKNOWN. */
TXM_SHARED txm_space_choice txm_space_chosen(const char *setting, const char **name);
/* The setting for a name; NULL means none, UNSET. Valid as long as `name`. */
TXM_SHARED const char *txm_space_setting(const char *name);
/* The setting for a name that the config lacks: a new string, NULL if memory is exhausted. */
TXM_SHARED char *txm_space_unknown(const char *name);
/* A setting or a name as it appears in a sentence. */
TXM_SHARED const char *txm_space_shown(const char *setting);

/* txm_options_take for settings, which are also checked. */
TXM_SHARED txm_status txm_settings_take(txm_settings *own, const txm_settings *given, txm_error *err);
/* USAGE for an invalid alpha type, compression or tile size. */
TXM_SHARED txm_status txm_settings_in_bounds(const txm_settings *settings, txm_error *err);
#endif
