/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this folder share about a loaded config.
 *
 * Two kinds of config look the same from outside. A config that txmill knows byte for byte (known.h) answers
 * for names, classes and the matrix from a table that was made at build time, and OpenColorIO is loaded only
 * once a transform is needed, since loading takes longer than a small image. Any other config is loaded at
 * once. A space is classified when somebody first asks for it, because classifying needs its transform.
 */
#ifndef TXM_COLOR_CONFIG_H
#define TXM_COLOR_CONFIG_H
#include <pthread.h>

#include "mill/color/fingerprint.h"
#include "mill/color/known.h"
#include "mill/color/ocio.h"
#include "mill/color/reduce.h"
#include "txmill/color.h"

enum { TXM_MATRIX_TEXT_BYTES = 256, TXM_BLENDERS = 2 };

/* Where a known version is in txm_blender_versions; -1 if it is none. NEWEST is the newest release. */
int txm_blender_index(txm_blender blender);

/* The three primaries of one linear space in another: rows of a matrix. */
typedef float txm_matrix3[3][3];

struct txm_color_space {
    const char *name, *family, *description;
    const char **aliases; /* NULL-terminated */
    bool is_data;
    /* Set once under the config's lock, when somebody asks for the space. */
    bool tried;
    char *reason;        /* why it cannot be built; NULL if it can */
    const char *lacking; /* why the built-in config leaves it out, so that a Blender's is asked; NULL for all others */
    txm_color_class color_class;
    txm_ocio_processor *processor;           /* to scene_linear; TXM_COLOR_CLASS_OTHER only */
    struct txm_builtin_srgb *builtin;        /* in place of a processor */
    char fingerprint[TXM_FINGERPRINT_BYTES]; /* TXM_COLOR_CLASS_OTHER only */
};

/* What changes after loading. */
typedef struct txm_color_library {
    pthread_mutex_t lock; /* guards what a space has "set once", and the loading of a config that is known without */
    txm_ocio *ocio;       /* NULL: known, and not yet loaded */
    struct txm_color_config *blenders; /* NULL: not asked for yet, or not found */
    bool ignores_environment;
} txm_color_library;

struct txm_color_config {
    const txm_known_config *known; /* answers for names and classes; NULL: the library does, and is loaded */
    char *name;
    char version[24];
    txm_color_missing_list missing; /* owns the strings of the spaces that the library was not given */
    char *left_out;
    txm_color_library *library;
    txm_color_space *spaces; /* every space of the config, the missing ones too */
    size_t count;
    txm_color_space *builtin_srgb; /* of Cycles, under the name txm_builtin_srgb_name; not listed */
    float matrix[12];
    /* As each version computes it: the same text but in configs that say nothing about CIE XYZ. */
    char matrix_texts[TXM_BLENDERS][TXM_MATRIX_TEXT_BYTES];
    const char *interop_id, *srgb_interop_id;
    txm_blender blender; /* never NEWEST */
};

/* Loads the text of the built-in config. */
txm_status txm_color_load_builtin(txm_ocio **out, txm_error *err);

/* Fills config->spaces from the known or the library's spaces and the missing ones. */
txm_status txm_color_list_spaces(txm_color_config *config, txm_error *err);
void txm_color_free_spaces(txm_color_config *config);

/* The space of this name, alias or role, in any case; NULL if unknown. */
txm_color_space *txm_color_lookup(const txm_color_config *config, const char *name);

/* What the config names for a role, whether that exists or not; NULL if it lacks the role. */
const char *txm_color_role_space(const txm_color_config *config, const char *role);

/* The library's side of a Blender's config on this machine. Under the lock. NOT_FOUND if there is none. */
txm_status txm_color_blenders(const txm_color_config *config, txm_ocio **out, txm_error *err);

/* Fills matrix, its texts and the interop ids. CONFIG when they depend on what was left out of the config. */
txm_status txm_color_compute_matrix(txm_color_config *config, txm_error *err);

/* Cycles' own name of sRGB, which no config need have. */
extern const char txm_builtin_srgb_name[];
/* Sets the class, and what txm_builtin_srgb_apply does. */
txm_status txm_builtin_srgb_build(const txm_color_config *config, txm_color_space *space, txm_error *err);
void txm_builtin_srgb_apply(const struct txm_builtin_srgb *builtin, float *rgba, size_t count);
const char *txm_builtin_srgb_id(const struct txm_builtin_srgb *builtin);

/* Fills the fingerprint of a space that is converted. */
void txm_color_take_fingerprint(txm_color_space *space);

/* Matrices as Cycles computes with them. False for a singular or non-finite matrix. */
bool txm_matrix_invert(const txm_matrix3 m, txm_matrix3 out);
void txm_matrix_multiply(const txm_matrix3 a, const txm_matrix3 b, txm_matrix3 out);
/* From CIE XYZ to what a version of Blender takes for Rec.709. */
const txm_matrix3 *txm_xyz_to_rec709(txm_blender blender);

/* Appends "; did you mean A, B or C?" to a message, or where to look when no name of the config is near. */
void txm_color_suggest(const txm_color_config *config, const char *name, char *message, size_t message_bytes);
#endif
