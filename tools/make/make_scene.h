/* SPDX-License-Identifier: Apache-2.0
 * Scenes among the inputs of `txmill make`. */
#ifndef TXM_TOOLS_MAKE_SCENE_H
#define TXM_TOOLS_MAKE_SCENE_H
#include "tools/options/args.h"
#include "txmill/batch.h"
#include "txmill/color.h"

/* Zero-initialise but for the first three members. */
typedef struct txm_make_scenes {
    const txm_config_args *config_args;
    const char *packed_folder; /* where packed images go; NULL: they are left alone */
    bool lint;                 /* say what the nodes do wrong */
    txm_color_config *config;  /* of the scene that is read */
    txm_config_args loaded;    /* what it was loaded for */
    void *packed_user;
    void (*packed)(void *user, const char *name); /* called with the name of every packed file; may be NULL */
} txm_make_scenes;

/* A txm_inputs_scene, `scenes` a txm_make_scenes: adds the files that a render of the scene loads, with the scene's
 * colour spaces, alpha types and, unless `settings` name one, working space. Images and libraries that are missing, and
 * a scene that cannot be read, become failed inputs. Fails only when memory is exhausted or the OCIO config cannot be
 * loaded. */
txm_status txm_make_add_scene(void *scenes, txm_inputs *inputs, const char *path, const txm_input *settings,
                              txm_error *err);
void txm_make_scenes_free(txm_make_scenes *scenes);
#endif
