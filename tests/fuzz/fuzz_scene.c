/* SPDX-License-Identifier: Apache-2.0
 * Reads any bytes as a scene in text or a mesh in PLY; the first three bytes decide which.
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
        /* The paths of meshes must not exist. */
        txm_scene_parse(scene, "scene.txt", "/nonexistent", (const char *)data, bytes, &err);
    }
    txm_render_scene_free(&scene);
    return 0;
}
