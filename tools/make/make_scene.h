/* SPDX-License-Identifier: Apache-2.0
 * Scenes among the inputs of `txmill make`. */
#ifndef TXM_TOOLS_MAKE_SCENE_H
#define TXM_TOOLS_MAKE_SCENE_H
#include "tools/options/args.h"
#include "txmill/batch.h"
#include "txmill/color.h"

/* Zero-initialise all but the first three members. */
typedef struct txm_make_scenes {
    const txm_config_args *config_args;
    const char *packed_folder; /* folder for packed images; NULL: they are left out */
    const char *unpacked;      /* folder to which they were unpacked; nothing is written */
    bool lint;                 /* report mistakes in nodes */
    txm_color_config *config;  /* config of the current scene */
    txm_config_args loaded;    /* the arguments that it was loaded with */
    void *packed_user;
    void (*packed)(void *user, const char *name); /* called with the name of every packed file; may be NULL */
} txm_make_scenes;

/* A txm_inputs_scene, where `scenes` is a txm_make_scenes. Adds the files that a render of the scene loads, with the
 * scene's colour spaces, alpha types and, unless `settings` has one, working space. Missing images and libraries,
 * and a scene that cannot be read, become failed inputs. Fails only if memory is exhausted or the OpenColorIO config
 * cannot be loaded. */
txm_status txm_make_add_scene(void *scenes, txm_inputs *inputs, const char *path, const txm_input *settings,
                              txm_error *err);
void txm_make_scenes_free(txm_make_scenes *scenes);
#endif
