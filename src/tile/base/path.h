/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths as strings: nothing here touches the file system unless it says so. Results are new strings (free()), NULL
 * when memory is exhausted. Paths are bytes: no encoding is assumed.
 *
 * Where Blender uses C++'s std::filesystem the results here equal it to the byte: names of tx files depend on
 * paths, and one "/" more or less gives a file that Cycles does not look for.
 */
#ifndef TXM_BASE_PATH_H
#define TXM_BASE_PATH_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "tile/base/shared.h"
#include "txtile/status.h"

/* The part after the last '/'; points into `path`. */
TXM_SHARED const char *txm_path_base(const char *path);
/* The folder of a path: "." when there is none, "/" for the root. */
TXM_SHARED char *txm_path_dir(const char *path);
/* "dir/name"; `name` alone when it is absolute or dir is empty. */
TXM_SHARED char *txm_path_join(const char *dir, const char *name);
/* The extension with its dot, in the original case, "" when there is none; points into `path`. */
TXM_SHARED const char *txm_path_ext(const char *path);
/* Case-insensitive comparison of the extension ("exr" or ".exr"). */
TXM_SHARED bool txm_path_has_ext(const char *path, const char *ext);
/* What kind of scene a file is by its name; a .xml file may be anything else, too. */
typedef enum txm_path_kind { TXM_PATH_NONE, TXM_PATH_BLEND, TXM_PATH_XML, TXM_PATH_USD } txm_path_kind;
TXM_SHARED txm_path_kind txm_path_scene(const char *path);
/* The most bytes of a name, up to `limit`, that do not cut a UTF-8 sequence: some file systems refuse names that are
 * not valid. */
TXM_SHARED size_t txm_path_cut(const char *name, size_t limit);
/* The name in the folder of `path` that differs from its own only by upper and lower case, a new string; NULL where
 * there is none, or none can be found out. Reads the folder. */
TXM_SHARED char *txm_path_other_case(const char *path);
TXM_SHARED bool txm_path_is_absolute(const char *path);
/* Lexical clean-up: repeated '/', "." and ".." resolved without looking at links (std::filesystem's lexically_normal,
 * without a trailing slash). */
TXM_SHARED char *txm_path_normal(const char *path);
/* `path` relative to `base`, both absolute and normalised first ("../src/rgb8.png"), as lexically_relative does. */
char *txm_path_relative(const char *path, const char *base);
/* What probably went wrong with a path that leads to nothing, and what to do: a glob that the shell handed on, a path
 * of Windows. NULL if it looks like any other. */
TXM_SHARED const char *txm_path_hint(const char *path);
/* Current directory + path, normalised. Asks the system for the current directory. */
TXM_SHARED char *txm_path_absolute(const char *path);
/* Records why txm_path_absolute, called just before, answered NULL: there need be no current folder. */
TXM_SHARED txm_status txm_path_absolute_failed(const char *path, txm_error *err);

/* Creates a folder and its parents; another process may do so at the same time. A link that leads nowhere (its disk is
 * not mounted) is named with its target: NOT_FOUND. */
TXM_SHARED txm_status txm_folders_make(const char *path, txm_error *err);

/* Removes the file that `judged` describes from the folder that `folder` describes (NULL: whichever has it), and no
 * other that has come to that name: also when a folder on the way has been exchanged for a link meanwhile, to hard
 * links of the same files even. Returns 0, an errno, or TXM_REMOVE_OTHER (below 0, unlike any errno): another file or
 * folder is there now. */
enum { TXM_REMOVE_OTHER = -1 };
TXM_SHARED int txm_file_remove(const char *path, const struct stat *folder, const struct stat *judged);
#endif
