/* SPDX-License-Identifier: Apache-2.0
 *
 * Remembers images that could not be read to their end, in the folder damaged of the user's cache.
 *
 * The key is a digest of what identifies the content of an image without reading it: device, inode, size and time to
 * the nanosecond, so that a repaired image is tried again; and the version of this program, since a later one may read
 * it. The first digits of the key name the file: a later image may replace an older one, and the folder stays small.
 */
#include "mill/farm/batch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/user_cache.h"

/* At most 65536 files. */
enum { SLOT_DIGITS = 4 };

/* The files contain the names of these statuses. */
static const txm_status remembered[] = {TXM_STATUS_CORRUPT, TXM_STATUS_UNSUPPORTED};
enum { REMEMBERED = sizeof remembered / sizeof *remembered };

enum { SLOT_BYTES = 16 };

static void slot_of(const struct stat *st, char key[TXM_SHA1_HEX], char slot[SLOT_BYTES])
{
    char text[256];
    const int n =
        snprintf(text, sizeof text, "%s %ju %ju %jd %jd.%09ld", txm_version(), (uintmax_t)st->st_dev,
                 (uintmax_t)st->st_ino, (intmax_t)st->st_size, (intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
    txm_sha1_of(text, (size_t)n, key);
    snprintf(slot, SLOT_BYTES, "damaged/%.*s", SLOT_DIGITS, key);
}

void txm_damaged_remember(const char *image, uint64_t read_bytes, int64_t read_time, const txm_error *failure)
{
    char key[TXM_SHA1_HEX], slot[SLOT_BYTES];
    struct stat st;
    bool of_image = false;
    for (int i = 0; i < REMEMBERED; i++)
        of_image |= failure->status == remembered[i];
    if (!of_image || stat(image, &st) != 0 || (uint64_t)st.st_size != read_bytes || st.st_mtim.tv_sec != read_time)
        return;
    slot_of(&st, key, slot);
    char *text = txm_asprintf("%s %s\n%s", key, txm_status_name(failure->status), txm_error_detail(failure));
    txm_error ignored = {0};
    if (text)
        txm_user_cache_write(slot, text, &ignored);
    free(text);
}

/* Reads the slot of an image: its status and, in `text`, its message. OK if it has none. */
static txm_status read_slot(const char *slot, const char *key, char text[TXM_MESSAGE_BYTES])
{
    char *path = txm_user_cache(slot);
    char line[TXM_MESSAGE_BYTES + 128];
    const size_t key_bytes = strlen(key);
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    const ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    free(path);
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
    char key[TXM_SHA1_HEX], slot[SLOT_BYTES], text[TXM_MESSAGE_BYTES];
    slot_of(st, key, slot);
    const txm_status status = read_slot(slot, key, text);
    return status ? txm_fail(err, status, "%s: %s", image, text) : TXM_OK;
}

void txm_damaged_forget(const char *image)
{
    char key[TXM_SHA1_HEX], slot[SLOT_BYTES], text[TXM_MESSAGE_BYTES];
    struct stat st;
    if (stat(image, &st) != 0)
        return;
    slot_of(&st, key, slot);
    char *path = read_slot(slot, key, text) != TXM_OK ? txm_user_cache(slot) : NULL;
    if (path)
        unlink(path);
    free(path);
}
