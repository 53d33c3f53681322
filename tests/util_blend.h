/* SPDX-License-Identifier: Apache-2.0
 * Helpers for tests of scenes: files, comparing with what Blender says. */
#ifndef TESTS_UTIL_BLEND_H
#define TESTS_UTIL_BLEND_H
#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "txmill/blend.h"

/* Absolute path of a file of testdata/blend; free(). */
char *scene_path(const char *name);
/* A whole file; *bytes is its size. Aborts the test when it cannot be read. A NUL follows the data. free(). */
uint8_t *slurp(const char *path, size_t *bytes);
void spill(const char *path, const void *data, size_t bytes);
/* A new folder below /tmp, removed with remove_folder. free(). */
char *make_folder(void);
void remove_folder(char *folder);

/* Opens a scene that must open. */
txm_blend *open_scene(const char *path, bool lint);
/* The image of a name (and any library); the test fails if there is none. */
const txm_blend_image *image_named(const txm_blend *blend, const char *name);

/* Checks all that a scene says against the list that Blender's Python printed for it, made with paths relative to
 * `folder`. */
void check_against_blender(const txm_blend *blend, const char *json_path, const char *folder);

/* The images, users and libraries of a scene as text, paths relative to nothing, for comparing two files with the same
 * content. free(). */
char *describe(const txm_blend *blend);
#endif
