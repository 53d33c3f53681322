/* SPDX-License-Identifier: Apache-2.0
 * Scenes as text and meshes as PLY: the first three bytes choose.
 * Seeds: testdata/cycles-tiles/scene.txt testdata/cycles-tiles/meshes/q0.ply */
#include <stdlib.h>
#include <string.h>

#include "stream/scene.h"
#include "tile/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    txm_error err;
    txm_render_scene *scene = txm_scene_new();
    if (!scene)
        return 0;
    if (bytes >= 3 && memcmp(data, "ply", 3) == 0) {
        scene->meshes = txm_calloc(1, sizeof *scene->meshes);
        if (scene->meshes)
            txm_mesh_parse(&scene->meshes[scene->mesh_count++], data, bytes, &err);
    } else {
        /* Meshes that are named must lie nowhere. */
        txm_scene_parse(scene, "scene.txt", "/nonexistent", (const char *)data, bytes, &err);
    }
    txm_render_scene_free(&scene);
    return 0;
}
