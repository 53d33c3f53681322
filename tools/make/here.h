/* SPDX-License-Identifier: Apache-2.0
 * What a command without arguments works on: the scenes of the current folder, or else its images. */
#ifndef TXM_TOOLS_HERE_H
#define TXM_TOOLS_HERE_H
#include "tools/options/opt.h"
#include "tools/options/rule_args.h"

/* Zero-initialise. */
typedef struct txm_here {
    txm_operands operands; /* the scenes, or "." */
    char **scenes;         /* those directly in a folder, sorted; owned */
    size_t count;
    bool images; /* the folder has images, and no scene */
} txm_here;

/* Whether it is a file of a scene: of XML the contents decide, since it may be anything. */
bool txm_here_is_scene(const char *path);
/* Finds the scenes directly in a folder: files of Blender and USD, and XML of Cycles. A folder that cannot be read has
 * none. NO_MEMORY. */
txm_status txm_here_scenes(const char *folder, txm_here *here, txm_error *err);
/* Finds operands for the current folder, with the options of `given`; here->operands stays empty if it has neither
 * scenes nor images. NO_MEMORY. */
txm_status txm_here_find(const txm_operands *given, txm_here *here, txm_error *err);
/* If no operands were given, those for the current folder, which are said: *operands points into here. USAGE if there
 * are none. */
txm_status txm_here_choose(txm_here *here, const char *command, const char *doing, const txm_operands **operands,
                           txm_error *err);
/* Says what was found, as in "checking shot.blend" for "checking". */
void txm_here_say(const txm_here *here, const txm_operands *given, const char *doing);
/* Sets the preset for images without a scene, once the project was applied, unless something else decides; returns
 * whether it did. */
bool txm_here_preset(const txm_here *here, const txm_operands *given, txm_rule_args *rules);
/* A command such as "txmill check shot.blend" for the first scene in the folders among the operands; NULL: there is
 * none. free() it. */
char *txm_here_hint(const char *command, const txm_operands *operands);
void txm_here_free(txm_here *here); /* zeroes */
#endif
