/* SPDX-License-Identifier: Apache-2.0
 * The table of scene formats, for this room. */
#ifndef TXM_SCENE_FORMATS_H
#define TXM_SCENE_FORMATS_H
#include "txmill/scene.h"

/* A row: what the public struct shows, and what only this room needs. */
typedef struct txm_scene_reader {
    txm_scene_format shown;
    const char *normal, *data;
    txm_status (*read)(txm_scene *blend, const char *path, txm_error *err);
} txm_scene_reader;

/* That of a format's id. Never NULL for those of the table. */
const txm_scene_reader *txm_scene_reader_of(const char *id);
#endif
