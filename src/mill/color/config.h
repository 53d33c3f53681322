/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this folder share about a loaded config. There are two kinds of config, with the same interface.
 * For a config that is known at build time (known.h), names, classes and the matrix come from a table, and OpenColorIO
 * is loaded only once a transform is needed, since loading takes longer than converting a small image. Any other
 * config is loaded at once. A space is classified when it is first used, because that needs its transform.
 */
#ifndef TXM_COLOR_CONFIG_H
#define TXM_COLOR_CONFIG_H
#include <pthread.h>

#include "mill/color/known.h"
#include "mill/color/ocio.h"
#include "mill/color/reduce.h"
#include "mill/color/values.h"
#include "tile/terms/releases.h"
#include "txmill/color.h"

enum { TXM_MATRIX_TEXT_BYTES = 256 };

/* The index of a supported version in txm_blender_versions; -1 for others. NEWEST is the newest release. */
int txm_blender_index(txm_blender blender);

/* The three primaries of one linear space in another, as the rows of a matrix. */
typedef float txm_matrix3[3][3];

struct txm_color_space {
    const char *name, *family, *description;
    const char **aliases; /* NULL-terminated */
    bool is_data;
    /* The following members are set once, under the config's lock, when the space is first used. */
    bool tried;
    char *reason; /* why it cannot be built; NULL if it can */
    const char
        *lacking; /* why the built-in config leaves it out, so that a Blender's config is tried; NULL for all others */
    txm_color_class color_class;
    txm_ocio_processor *processor;           /* conversion to scene_linear; only for TXM_COLOR_CLASS_OTHER */
    struct txm_builtin_srgb *builtin;        /* used instead of a processor */
    char fingerprint[TXM_FINGERPRINT_BYTES]; /* TXM_COLOR_CLASS_OTHER only */
};

/* The part that changes after loading. */
typedef struct txm_color_library {
    pthread_mutex_t lock; /* guards the members of spaces that are set once, and the loading of a known config */
    txm_ocio *ocio;       /* NULL: the config is known, and not loaded yet */
    struct txm_color_config *blenders; /* NULL: not needed yet, or not found */
    bool ignores_environment;
} txm_color_library;

struct txm_color_config {
    const txm_known_config *known; /* has names and classes; NULL: the library is loaded and has them */
    char *name;
    bool is_builtin; /* whichever of both ways it was loaded */
    char version[24];
    txm_color_missing_list missing; /* owns the strings of the spaces that were removed before loading */
    char *left_out, *named_by;
    char *replaced; /* NULL: nothing that is named was replaced */
    txm_color_library *library;
    txm_color_space *spaces; /* every space of the config, including the missing ones */
    size_t count;
    txm_color_space *builtin_srgb; /* Cycles' own, under the name txm_builtin_srgb_name; not listed */
    float matrix[12];
    /* One text per version of Blender; they are equal except for configs that do not define CIE XYZ. */
    char matrix_texts[TXM_RELEASE_COUNT][TXM_MATRIX_TEXT_BYTES];
    const char *interop_id, *srgb_interop_id;
    txm_blender blender; /* never NEWEST */
};

/* The variable that names a config, as in Blender: BLENDER_OCIO if it is set, else OCIO; NULL if neither is. */
const char *txm_color_variable(void);
/* Reads the config that the user named: sets name and ocio; for a config newer than the library also version, missing
 * and left_out. *broken: Blender cannot load it either, so that the reason is not this library. */
txm_status txm_color_load_origin(txm_color_config *config, const char *origin, bool *broken, txm_error *err);
/* Appends to a message what to do about a config that cannot be used. `err` may be NULL. */
void txm_color_advise(txm_error *err);

txm_status txm_color_load_builtin(txm_ocio **out, txm_error *err);

/* Fills in config->spaces from the spaces of the table or the library, and the missing ones. */
txm_status txm_color_list_spaces(txm_color_config *config, txm_error *err);
void txm_color_free_spaces(txm_color_config *config);

/* The space with this name, alias or role, ignoring case; NULL if unknown. */
txm_color_space *txm_color_lookup(const txm_color_config *config, const char *name);

/* Whether it is a role, and neither a name nor an alias of a space. */
bool txm_color_is_role(const txm_color_config *config, const char *name);

/* The space that the config assigns to a role, whether it exists or not; NULL if it lacks the role. */
const char *txm_color_role_space(const txm_color_config *config, const char *role);

/* Loads the config of a Blender on this machine. The lock is held. NOT_FOUND if there is none. */
txm_status txm_color_blenders(const txm_color_config *config, txm_ocio **out, txm_error *err);

/* Computes the matrix, its texts and the interop ids. CONFIG if they depend on what was removed from the config. */
txm_status txm_color_compute_matrix(txm_color_config *config, txm_error *err);

/* Cycles' own name of sRGB, which configs need not have. */
extern const char txm_builtin_srgb_name[];
/* Sets the class, and what txm_builtin_srgb_apply does. */
txm_status txm_builtin_srgb_build(const txm_color_config *config, txm_color_space *space, txm_error *err);
void txm_builtin_srgb_apply(const struct txm_builtin_srgb *builtin, float *rgba, size_t count);
void txm_builtin_srgb_apply_grey(const struct txm_builtin_srgb *builtin, const float *rgba, float *grey, size_t count);
const char *txm_builtin_srgb_id(const struct txm_builtin_srgb *builtin);

void txm_color_take_fingerprint(txm_color_space *space);

/* Matrices with Cycles' arithmetic. false for a singular or non-finite matrix. */
bool txm_matrix_invert(const txm_matrix3 m, txm_matrix3 out);
void txm_matrix_multiply(const txm_matrix3 a, const txm_matrix3 b, txm_matrix3 out);

/* The interop id of the working space whose red, green and blue have these CIE XYZ values, compared as Blender does;
 * NULL for other primaries. */
const char *txm_working_space_id(const float to_xyz[9]);

/* Appends "; did you mean A, B or C?" to a message, or where to find the names if none of the config's is similar. */
void txm_color_suggest(const txm_color_config *config, const char *name, txm_error *err);
#endif
