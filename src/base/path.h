/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths as strings: functions access the file system only if they say so. Results are new strings (free()), NULL if
 * memory is exhausted. Paths are bytes without an assumed encoding. Results that Blender computes with C++'s
 * std::filesystem are equal to it to the byte, because the names of tx files depend on paths: one "/" more or less
 * gives a file for which Cycles does not look.
 */
#ifndef TXM_BASE_PATH_H
#define TXM_BASE_PATH_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "txtile/status.h"

/* The part after the last '/'; points into `path`. */
const char *txm_path_base(const char *path);
/* The folder of a path: "." if it has none, "/" for the root. */
char *txm_path_dir(const char *path);
/* "dir/name"; `name` alone if it is absolute or dir is empty. */
char *txm_path_join(const char *dir, const char *name);
/* The extension with its dot, in the original case, "" if there is none; points into `path`. */
const char *txm_path_ext(const char *path);
/* Compares the extension with "exr" or ".exr", ignoring case. */
bool txm_path_has_ext(const char *path, const char *ext);
/* The most bytes of a name, up to `limit`, that do not cut a UTF-8 sequence, since some file systems refuse invalid
 * names. */
size_t txm_path_cut(const char *name, size_t limit);
/* The name in the folder of `path` that differs from its own only in case, a new string; NULL if there is none or it
 * cannot be determined. Reads the folder. */
char *txm_path_other_case(const char *path);
bool txm_path_is_absolute(const char *path);
/* Normalises a path: resolves repeated '/', "." and ".." without following links (as lexically_normal of
 * std::filesystem, without a trailing slash). */
char *txm_path_normal(const char *path);
/* `path` relative to `base`; both must be absolute and are normalised first ("../src/rgb8.png"), as by
 * lexically_relative. */
char *txm_path_relative(const char *path, const char *base);
/* The likely mistake in a path that does not exist, and what to do: a glob that the shell did not expand, a Windows
 * path. NULL if it looks like any other path. */
const char *txm_path_hint(const char *path);
/* The current folder followed by `path`, normalised. Gets the current folder from the system. */
char *txm_path_absolute(const char *path);
/* The same of the folder that a file is in. */
char *txm_path_absolute_dir(const char *path);
/* Records why txm_path_absolute, called just before, returned NULL: the current folder may not exist. */
txm_status txm_path_absolute_failed(const char *path, txm_error *err);

/* Creates a folder and its parents; another process may do so at the same time. For a dangling link (to a disk that is
 * not mounted) the message names its target: NOT_FOUND. */
txm_status txm_folders_make(const char *path, txm_error *err);

/* Removes the file that `judged` describes from the folder that `folder` describes (NULL: any), but never another file
 * that has its name now, even if a folder on the path was replaced meanwhile by a link to one with hard links to the
 * same files. Returns 0, an errno, or TXM_REMOVE_OTHER (below 0, unlike any errno) if another file or folder has the
 * name now. */
enum { TXM_REMOVE_OTHER = -1 };
int txm_file_remove(const char *path, const struct stat *folder, const struct stat *judged);
#endif
