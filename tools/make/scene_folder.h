/* SPDX-License-Identifier: Apache-2.0
 * The images of a scene folder, txmill-scene(5). */
#ifndef TXM_TOOLS_SCENE_FOLDER_H
#define TXM_TOOLS_SCENE_FOLDER_H
#include "tools/options/project.h"
#include "txmill/batch.h"

/* Calls `found` for the images of the folder's scene.txt and their UDIM tiles, with path, pattern, colour space and
 * alpha type; what it returns ends the reading unless it is TXM_OK. Images that differ only in how they are looked up
 * come several times. CORRUPT and NEWER with the line, NO_MEMORY, and the errors of opening and reading. `err` is not
 * NULL. */
txm_status txm_scene_folder_images(const char *folder, const txm_project_maps *maps,
                                   txm_status (*found)(void *user, const txm_input *image, txm_error *err), void *user,
                                   txm_error *err);
#endif
