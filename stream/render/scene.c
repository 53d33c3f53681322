/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocates and frees a scene. A reader fills an empty scene; stm_render_scene_free frees it however far the reader
 * came.
 */
#include "render/scene.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BOUNCES = 1024 };

/* The camera has no default: its reader reports a scene without one. */
stm_render_scene *stm_scene_new(void)
{
    stm_render_scene *scene = calloc(1, sizeof *scene);
    if (scene) {
        scene->width = 960;
        scene->height = 540;
        scene->bounces = STM_SCENE_NONE;
        for (int i = 0; i < STM_BOUNCES; i++)
            scene->bounces_of[i] = MOST_BOUNCES;
        scene->bounces_of[STM_BOUNCE_TRANSPARENT] = 8; /* Blender's default */
        scene->filter_glossy = -1.0f;
        scene->world = (stm_scene_world){.image = STM_SCENE_NONE, .color = {0.05f, 0.05f, 0.05f}};
    }
    return scene;
}

/* The mesh itself is an item of the scene's array. */
static void free_mesh(stm_scene_mesh *mesh)
{
    stm_mesh_empty(mesh);
    free(mesh->name);
    free(mesh->path);
}

/* All strings and arrays of a scene are its own; none are shared. */
void stm_render_scene_free(stm_render_scene **out)
{
    stm_render_scene *scene = out ? *out : NULL;
    if (!scene)
        return;
    for (size_t i = 0; i < scene->image_count; i++) {
        free(scene->images[i].name);
        free(scene->images[i].path);
        free(scene->images[i].colorspace);
        free(scene->images[i].udims);
        txm_ptex_pages_free(&scene->images[i].pages);
        txm_ptex_close(&scene->images[i].ptex);
    }
    for (size_t i = 0; i < scene->material_count; i++) {
        for (size_t t = 0; t < scene->materials[i].texture_count; t++)
            free(scene->materials[i].textures[t].uv);
        free(scene->materials[i].textures);
        free(scene->materials[i].name);
    }
    for (size_t i = 0; i < scene->mesh_count; i++)
        free_mesh(&scene->meshes[i]);
    free(scene->images);
    free(scene->materials);
    free(scene->meshes);
    free(scene->objects);
    free(scene->lights);
    free(scene->keys);
    free(scene->folder);
    free(scene->title);
    free(scene);
    *out = NULL;
}

uint32_t stm_scene_depth(const stm_render_scene *scene)
{
    uint32_t most = 0;
    for (size_t i = 0; i < scene->material_count; i++)
        for (size_t t = 0, depth = 0; t < scene->materials[i].texture_count; t++) {
            const stm_scene_texture *texture = &scene->materials[i].textures[t];
            depth = texture->warp != 0.0f ? depth + 1 : 0;
            /* The directions in which light is sampled depend on the normal. */
            const uint32_t here = texture->normal != 0.0f ? 1 : (uint32_t)depth;
            most = here > most ? here : most;
        }
    return most;
}

/* As in Blender, a missing map (it was renamed, or another mesh has it) is replaced by the first one. */
const float *stm_mesh_map(const stm_scene_mesh *mesh, const char *name)
{
    for (size_t i = 0; i < mesh->map_count; i++)
        if (*name && strcmp(mesh->maps[i].name, name) == 0)
            return mesh->maps[i].uv;
    return mesh->map_count ? mesh->maps[0].uv : NULL;
}
