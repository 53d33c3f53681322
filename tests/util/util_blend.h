/* SPDX-License-Identifier: Apache-2.0
 * Helpers for tests of scenes: files, and comparisons with Blender's own lists. */
#ifndef TESTS_UTIL_BLEND_H
#define TESTS_UTIL_BLEND_H
#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "txmill/scene.h"
#include "util_scene_file.h"

/* Absolute path of a file of testdata/blend; free(). */
char *scene_path(const char *name);
/* Reads a whole file; *bytes receives its size. Aborts the test on failure. A NUL follows the data. free() it. */
uint8_t *slurp(const char *path, size_t *bytes);
void spill(const char *path, const void *data, size_t bytes);
/* Makes a new folder below /tmp, which remove_folder removes. free() the path. */
char *make_folder(void);
void remove_folder(char *folder);

/* Opens a scene; the test fails if that fails. */
txm_scene *open_scene(const char *path, bool lint);
/* The image with a name (of any library); the test fails if there is none. */
const txm_scene_image *image_named(const txm_scene *blend, const char *name);

/* Checks all that a scene contains against the list that Blender's Python printed for it, with paths relative to
 * `folder`. */
void check_against_blender(const txm_scene *blend, const char *json_path, const char *folder);

/* The images, users and libraries of a scene as text without folders, for comparing two files with the same content.
 * free() it. */
char *describe(const txm_scene *blend);
/* ---- damaged scenes ---- */

/* Little endian, 8-byte pointers, Blender 3.4. */
extern const scene_layout scene_plain;
/* A scene of the test data with only the kinds of data-blocks in `codes`. */
scene_file *small_scene(const char *name, const char *codes, scene_layout layout);
/* Opens bytes, or a scene, with lint; checks that a failure names it. `blend` may be NULL. */
txm_status try_bytes(const void *data, size_t bytes, txm_scene **blend, txm_error *err);
txm_status try_scene(const scene_file *file, txm_scene **blend, txm_error *err);
/* Writes a little-endian number over the bytes at `at`. */
void patch(uint8_t *at, uint64_t value, size_t bytes);
#endif
