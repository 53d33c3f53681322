/* SPDX-License-Identifier: Apache-2.0
 *
 * What publishing a file asks of a file system, beyond reading, writing and renaming.
 *
 * Elsewhere: macOS has fcntl(F_FULLFSYNC) in place of fsync, clonefile in place of FICLONE, and no copy_file_range.
 * Windows has FlushFileBuffers, which folders do not need, SetFileTime, CreateHardLink, CopyFile2, and
 * MoveFileEx(MOVEFILE_REPLACE_EXISTING) in place of rename, which fails while another process has the target open.
 */
#ifndef TXM_BASE_OS_FILES_H
#define TXM_BASE_OS_FILES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each of these returns 0 or an errno. */

/* Forces a file's bytes to the disk. */
int txm_file_sync(int fd);
/* Gives a file the access permissions of the one that it will replace, if there is one and the file system has any. */
int txm_file_keep_mode(int fd, const char *replaced);
/* Sets when a file was written; NULL: now, by the clock of its server. */
int txm_file_set_time(int fd, const struct timespec *mtime);
/* The same by a path, and that the file was read just now; NULL sets only that. */
int txm_file_set_time_at(const char *path, const struct timespec *mtime);
/* Gives a file to another user and group, as far as this process may: else it stays its own. */
int txm_file_set_owner(int fd, uid_t user, gid_t group);
/* Renames a file to a name that nothing has; EEXIST if something has. */
int txm_file_rename_new(const char *path, const char *name);
int txm_file_symlink(const char *target, const char *path);
/* Opens a file for reading by a path below the open folder `root`, and nothing outside of it, wherever links on the
 * path lead: EXDEV. Kernels before 5.6 and some containers cannot follow links so: ELOOP for any link. -1 and errno. */
int txm_file_open_below(int root, const char *path);
/* A second name for a file; it fails with EEXIST if the name is taken, and file servers do it in one step. */
int txm_file_link(const char *path, const char *name);
/* Copies what follows in `from` to `to`, as far as there is something; `size` says how much there should be. *done is
 * how much was copied. */
int txm_file_copy(int from, int to, uint64_t size, uint64_t *done);

/* Makes new names in a folder survive a power failure, where the file system can. */
void txm_folder_sync(const char *path);
/* Lets `to` share the blocks of `from`; false if the file system cannot. */
bool txm_file_share(int to, int from);
/* What a symbolic link leads to, without a NUL: its length, or -1 and errno. */
long txm_file_target(const char *path, char *out, size_t bytes);
/* Make a file, which is open, or a folder whose name is new, from a path that ends with XXXXXX. -1 or false, and
 * errno. */
int txm_file_temporary(char *path);
bool txm_folder_temporary(char *path);
bool txm_is_null_device(dev_t device);
/* Opens a file to examine it, which does not count as using it: its access time stays, where this user may ask for
 * that. Returns a descriptor, or -1 and errno. */
int txm_file_look(const char *path, int flags);
/* A second descriptor for the same open file, which programs do not inherit; -1 and errno. */
int txm_file_again(int fd);
/* Whether files of this owner are those that this process makes. */
bool txm_file_is_own(uid_t owner);

#ifdef __cplusplus
}
#endif
#endif
