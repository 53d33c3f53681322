/* SPDX-License-Identifier: Apache-2.0
 * Reads any bytes as a scene in text, and follows the camera's path between its keyframes.
 * Seeds: testdata/cycles-tiles/scene.txt testdata/fuzz/scene-keyframes.txt */
#include <stdlib.h>

#include "render/camera_path.h"
#include "render/scene.h"

/* Cameras at and between keyframes. */
static void follow_path(const stm_render_scene *scene)
{
    uint32_t last;
    bool is_cut;
    stm_camera_has_keys(scene, &last);
    for (size_t i = 0; i < scene->key_count && i < 64; i++)
        for (uint32_t beside = 0; beside < 3; beside++)
            stm_camera_at(scene, scene->keys[i].frame + beside, &is_cut);
    stm_camera_at(scene, last, &is_cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    txm_error err;
    stm_render_scene *scene = stm_scene_new();
    if (!scene)
        return 0;
    /* The paths of meshes must not exist. */
    if (stm_scene_parse(scene, "scene.txt", "/nonexistent", (const char *)data, bytes, &err) == TXM_OK)
        follow_path(scene);
    stm_render_scene_free(&scene);
    return 0;
}
