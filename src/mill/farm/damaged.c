/* SPDX-License-Identifier: Apache-2.0
 *
 * Remembers images that could not be read to their end, in the folder damaged of the user's cache.
 *
 * The key is a digest of what identifies the content of an image without reading it: device, inode, size and time to
 * the nanosecond, so that a repaired image is tried again; and the version of this program, since a later one may read
 * it. The first digits of the key name the file: a later image may replace an older one, and the folder stays small.
 */
#include "mill/farm/damaged.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/path.h"
#include "base/user_cache.h"
#include "base/whole.h"

/* At most 65536 files. */
enum { SLOT_DIGITS = 4 };

/* Their words are in the files. */
static const txm_status remembered[] = {TXM_STATUS_CORRUPT, TXM_STATUS_UNSUPPORTED};
enum { REMEMBERED = sizeof remembered / sizeof *remembered };

/* NULL if there is no folder for caches. */
static char *slot_of(const struct stat *st, char key[TXM_SHA1_HEX])
{
    char text[256];
    const int n =
        snprintf(text, sizeof text, "%s %ju %ju %jd %jd.%09ld", txm_version(), (uintmax_t)st->st_dev,
                 (uintmax_t)st->st_ino, (intmax_t)st->st_size, (intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
    txm_sha1_of(text, (size_t)n, key);
    char *folder = txm_user_cache(), *slot = folder ? txm_asprintf("%s/damaged/%.*s", folder, SLOT_DIGITS, key) : NULL;
    free(folder);
    return slot;
}

/* The file is complete or is not there. */
static void write_slot(const char *slot, const char *text)
{
    txm_error ignored = {0};
    char *folder = txm_path_dir(slot), *draft = txm_asprintf("%s.XXXXXX", slot);
    if (folder && draft && txm_folders_make(folder, &ignored) == TXM_OK) {
        const int fd = txm_file_temporary(draft);
        const size_t bytes = strlen(text);
        bool good = fd >= 0 && txm_write_all(fd, text, bytes) == 0;
        if (fd >= 0)
            good = close(fd) == 0 && good;
        if (fd >= 0 && (!good || rename(draft, slot) != 0))
            unlink(draft);
    }
    free(draft);
    free(folder);
}

void txm_damaged_remember(const char *image, uint64_t read_bytes, int64_t read_time, const txm_error *failure)
{
    char key[TXM_SHA1_HEX];
    struct stat st;
    bool of_image = false;
    for (int i = 0; i < REMEMBERED; i++)
        of_image |= failure->status == remembered[i];
    if (!of_image || stat(image, &st) != 0 || (uint64_t)st.st_size != read_bytes || st.st_mtim.tv_sec != read_time)
        return;
    char *slot = slot_of(&st, key),
         *text = txm_asprintf("%s %s\n%s", key, txm_status_name(failure->status), txm_error_detail(failure));
    if (slot && text)
        write_slot(slot, text);
    free(text);
    free(slot);
}

/* Reads the slot of an image: its status and, in `text`, its message. OK if it has none. */
static txm_status read_slot(const char *slot, const char *key, char text[TXM_MESSAGE_BYTES])
{
    char line[TXM_MESSAGE_BYTES + 128];
    const size_t key_bytes = strlen(key);
    const int fd = open(slot, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    line[n > 0 ? n : 0] = 0;
    char *message = strchr(line, '\n');
    if (!message || strncmp(line, key, key_bytes) != 0 || line[key_bytes] != ' ')
        return TXM_OK;
    *message++ = 0;
    for (int i = 0; i < REMEMBERED; i++)
        if (!strcmp(line + key_bytes + 1, txm_status_name(remembered[i]))) {
            snprintf(text, TXM_MESSAGE_BYTES, "%s", message);
            return remembered[i];
        }
    return TXM_OK;
}

txm_status txm_damaged_recall(const char *image, const struct stat *st, txm_error *err)
{
    char key[TXM_SHA1_HEX], text[TXM_MESSAGE_BYTES];
    char *slot = slot_of(st, key);
    const txm_status status = slot ? read_slot(slot, key, text) : TXM_OK;
    free(slot);
    return status ? txm_fail(err, status, "%s: %s", image, text) : TXM_OK;
}

void txm_damaged_forget(const char *image)
{
    char key[TXM_SHA1_HEX], text[TXM_MESSAGE_BYTES];
    struct stat st;
    char *slot = stat(image, &st) == 0 ? slot_of(&st, key) : NULL;
    if (slot && read_slot(slot, key, text) != TXM_OK)
        unlink(slot);
    free(slot);
}
