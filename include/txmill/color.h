/* SPDX-License-Identifier: Apache-2.0
 *
 * Colour spaces: the part of an OCIO config that textures need (a file, $OCIO, or the built-in one).
 *
 * A config and a working space give, for the name of a colour space, its canonical name, the class that Cycles would
 * assign it, and a transform to scene-linear for pixels; and for the working space the matrix that is part of the names
 * of tx files. OpenColorIO is loaded when it is first needed. A config that is newer than that library is reduced to
 * the part that it can read.
 */
#ifndef TXMILL_COLOR_H
#define TXMILL_COLOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "txtile/export.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A config, and one of its colour spaces. Spaces, and the names that functions return, live as long as their config. */
typedef struct txm_color_config txm_color_config;
typedef struct txm_color_space txm_color_space;

/* The versions of Blender that differ in names or colours of tx files. */
typedef enum txm_blender {
    TXM_BLENDER_NEWEST = 0, /* the newest release */
    TXM_BLENDER_5_2 = 502,
    TXM_BLENDER_5_3 = 503
} txm_blender;

/* The name of a known version ("5.2"), also with a patch level ("5.2.3"). False for any other text; *out is unchanged
 * then. */
TXM_API bool txm_blender_parse(const char *text, txm_blender *out);
/* The name of a version; for TXM_BLENDER_NEWEST, that of the version which it means. "" for any other value. */
TXM_API const char *txm_blender_name(txm_blender blender);
/* The known versions, oldest first; TXM_BLENDER_NEWEST at the end of the list. */
TXM_API const txm_blender *txm_blender_versions(void);

/* Which config is loaded, its working space, and for which Blender. */
typedef struct txm_color_options {
    size_t struct_size; /* set by txm_color_options_init */
    /* --ocio: a config file, archive or ocio:// name. NULL: as in Blender, $BLENDER_OCIO, else $OCIO, else the built-in
     * one. The path of a .blender_project/project.toml: as in a scene of that project, where its config comes after the
     * environment's. */
    const char *ocio_path;
    bool ignore_environment;   /* ignore $BLENDER_OCIO and $OCIO */
    const char *working_space; /* --working-space: a colour space name that becomes scene_linear; NULL: the config's */
    txm_blender blender;       /* --blender */
} txm_color_options;

/* Whether a path is that of the file of a Blender project, .blender_project/project.toml, whether it exists or not. */
TXM_API bool txm_color_is_project(const char *path);
/* *config: what this file names, an absolute path or an ocio:// name, whether it exists or not; owned by the caller;
 * NULL if it names none. CONFIG with the reason if Blender takes no notice of the file; NO_MEMORY. */
TXM_API txm_status txm_color_project_config(const char *path, char **config, txm_error *err);

/* Initialises options with the defaults. */
static inline void txm_color_options_init(txm_color_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* The classes into which Cycles sorts spaces. It converts 256 greys and ramps of the primaries to scene_linear to find
 * out. */
typedef enum txm_color_class {
    TXM_COLOR_CLASS_DATA,         /* the config says so: never converted */
    TXM_COLOR_CLASS_SCENE_LINEAR, /* identity to 1e-6 */
    TXM_COLOR_CLASS_SRGB,         /* sRGB curve over scene-linear primaries to 1e-4: stays encoded in the file */
    TXM_COLOR_CLASS_OTHER         /* converted by OCIO */
} txm_color_class;

/* Loads a config. `options` may be NULL. CONFIG with the reason when it is missing, unreadable, broken or too new; but
 * if the environment or a project names a config that Blender cannot load either, the next one is loaded, as in
 * Blender, and txm_color_config_replaced tells. Immutable after loading and safe to use from several threads. */
TXM_API txm_status txm_color_load(const txm_color_options *options, txm_color_config **out, txm_error *err);
TXM_API void txm_color_free(txm_color_config **config); /* NULL-safe */

/* The version of OpenColorIO, which loads configs and builds transforms. Never NULL. */
TXM_API const char *txm_color_library_version(void);

/* "built-in" or the config's path; its profile version ("2.1"); what was left out to load it ("" if nothing). */
TXM_API const char *txm_color_config_name(const txm_color_config *config);
TXM_API const char *txm_color_config_version(const txm_color_config *config);
TXM_API const char *txm_color_config_left_out(const txm_color_config *config);

/* What names the config: "BLENDER_OCIO", "OCIO", or the path of a project; "" for the options and the built-in config.
 * And, if one that a variable or a project names was not loaded, why, and which one was; else "". */
TXM_API const char *txm_color_config_named_by(const txm_color_config *config);
TXM_API const char *txm_color_config_replaced(const txm_color_config *config);

/* The 3x4 row-major matrix from CIE XYZ (D65) to scene_linear, computed as Cycles does, and its 12
 * numbers printed "%.4g" joined by '_'. */
TXM_API void txm_color_xyz_to_scene_linear(const txm_color_config *config, float matrix[12]);
TXM_API const char *txm_color_xyz_to_scene_linear_text(const txm_color_config *config);

/* The version of Blender that the config was loaded for, never TXM_BLENDER_NEWEST; and the text of the matrix as
 * another version computes it, which differs if the config does not define CIE XYZ. */
TXM_API txm_blender txm_color_blender(const txm_color_config *config);
TXM_API const char *txm_color_xyz_text_of(const txm_color_config *config, txm_blender blender);

/* The interop id of sRGB over the working space's primaries, which is the colorInteropID of OpenEXR tx files of the
 * class TXM_COLOR_CLASS_SRGB; "" if the config's version of Blender writes none. */
TXM_API const char *txm_color_srgb_interop_id(const txm_color_config *config);

/* The working space's interop id ("lin_rec709_scene", "lin_rec2020_scene", "lin_ap1_scene"; "" if none is known). */
TXM_API const char *txm_color_working_interop_id(const txm_color_config *config);

/* Role lookup ("default_byte"): canonical colour space name, NULL if the config lacks the role. */
TXM_API const char *txm_color_role(const txm_color_config *config, const char *role);

/* Canonical name of a colour space, alias or role; NULL if unknown. Interop ids are accepted as names. */
TXM_API const char *txm_color_canonical(const txm_color_config *config, const char *name);

/* The name to look up for a setting: that of the config's role data for "Non-Color", Blender's name for data, if the
 * config lacks it; otherwise `name`, which may be NULL. */
TXM_API const char *txm_color_meant(const txm_color_config *config, const char *name);

/* Whether the config says that this space is data (false for unknown names). */
TXM_API bool txm_color_is_data(const txm_color_config *config, const char *name);

/* The space that the config's file rules assign to this path; NULL if only the default rule matches. */
TXM_API const char *txm_color_file_rule(const txm_color_config *config, const char *path);

/* Finds a space by name, alias or role, classifies it, and builds its transform to scene-linear. The space belongs to
 * the config; later calls return the same object. COLORSPACE if the name is unknown (the message lists similar names)
 * or the transform cannot be built (the message says why). Thread-safe. */
TXM_API txm_status txm_color_find(const txm_color_config *config, const char *name, const txm_color_space **out,
                                  txm_error *err);

TXM_API const char *txm_color_space_name(const txm_color_space *space);      /* canonical */
TXM_API txm_color_class txm_color_space_class(const txm_color_space *space); /* its class in Cycles */
/* As it is stored in tx files: "data", "scene_linear", "scene_linear_srgb" or the space's own name. */
TXM_API const char *txm_color_space_detected(const txm_color_space *space);

/* A digest of the transform to scene-linear: two spaces have the same digest if their transforms are the same, whatever
 * their names are. "" for classes that are not converted. */
TXM_API const char *txm_color_space_transform_id(const txm_color_space *space);

/* Converts `count` packed RGBA float pixels to scene-linear in place with OCIO's default CPU processor. Alpha is not
 * changed, except that, as in Cycles, it may become NaN for a pixel whose colour is not finite. Only for
 * TXM_COLOR_CLASS_OTHER. Thread-safe. */
TXM_API void txm_color_apply(const txm_color_space *space, float *rgba, size_t count);

/* ---- listing (txmill colorspaces) --------------------------------------------------------------------------- */

/* A colour space as it is listed. */
typedef struct txm_color_entry {
    const char *name, *family, *description;
    const char *const *aliases; /* NULL-terminated */
    bool available;
    const char *unavailable_reason; /* "" when available */
    txm_color_class color_class;    /* meaningless when not available */
} txm_color_entry;

/* All spaces of the config in its order, the unavailable ones included. Pointers live as long as the config. */
TXM_API size_t txm_color_count(const txm_color_config *config);
TXM_API txm_status txm_color_entry_at(const txm_color_config *config, size_t index, txm_color_entry *out,
                                      txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
