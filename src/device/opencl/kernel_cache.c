/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled kernels on disk: $XDG_CACHE_HOME/txmill/opencl, or ~/.cache/txmill/opencl, with one file for each key.
 *
 * A file is a header with the key and a checksum, followed by the driver's bytes. It is written beside its place and
 * renamed, so that a process that is killed leaves a draft and no damaged file. Since the driver executes its contents,
 * a file is used only if it belongs to this user, other users cannot write to it, and its checksum is correct;
 * otherwise it is ignored.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/os/files.h"
#include "base/whole.h"
#include "device/opencl/opencl_impl.h"

enum { PATH_BYTES = 4096 };
static const uint64_t MAGIC = 0x314C434C494D5854, LARGEST = 256u << 20; /* "TXMILCL1" */

typedef struct header {
    uint64_t magic;
    ocl_cache_key key;
    uint64_t size, low, high; /* size of the data, and its XXH3 */
} header;

/* The cache's folder, which is created if `make` is set; false if there is none. */
static bool folder(char out[PATH_BYTES], bool make)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool own = cache && *cache == '/';
    if (!own && !(home && *home == '/'))
        return false;
    int n = snprintf(out, PATH_BYTES, "%s%s/txmill/opencl", own ? cache : home, own ? "" : "/.cache");
    if (n < 0 || n >= PATH_BYTES - 64)
        return false;
    for (char *slash = out + 1; make && (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        int made = mkdir(out, 0700);
        *slash = '/';
        if (made && errno != EEXIST)
            return false;
    }
    return !make || mkdir(out, 0700) == 0 || errno == EEXIST;
}

static uint8_t *read_checked(int fd, ocl_cache_key key, size_t *size)
{
    header h;
    struct stat s;
    if (fstat(fd, &s) || !S_ISREG(s.st_mode) || !txm_file_is_own(s.st_uid) || (s.st_mode & 022) ||
        txm_read_all(fd, &h, sizeof h) || h.magic != MAGIC || h.key.low != key.low || h.key.high != key.high ||
        h.size == 0 || h.size > LARGEST || (uint64_t)s.st_size != sizeof h + h.size)
        return NULL;
    uint8_t *bytes = malloc(h.size);
    if (bytes && txm_read_all(fd, bytes, h.size) == 0) {
        const XXH128_hash_t sum = XXH3_128bits(bytes, h.size);
        *size = h.size;
        if (sum.low64 == h.low && sum.high64 == h.high)
            return bytes;
    }
    free(bytes);
    return NULL;
}

static bool file_of(ocl_cache_key key, char path[PATH_BYTES], bool make)
{
    if (!folder(path, make))
        return false;
    size_t n = strlen(path);
    snprintf(path + n, PATH_BYTES - n, "/%016llx%016llx", (unsigned long long)key.high, (unsigned long long)key.low);
    return true;
}

uint8_t *ocl_cache_read(ocl_cache_key key, size_t *size)
{
    char path[PATH_BYTES];
    int fd = file_of(key, path, false) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (fd < 0)
        return NULL;
    uint8_t *bytes = read_checked(fd, key, size);
    close(fd);
    return bytes;
}

/* Creates the draft of a file. If there is one already, another process is writing it, or was killed while it did. */
static int create_draft(const char *draft)
{
    enum { SECONDS = 60 };
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, fd = open(draft, flags, 0600);
    struct stat s;
    if (fd >= 0 || errno != EEXIST || lstat(draft, &s) || time(NULL) - s.st_mtime < SECONDS || unlink(draft))
        return fd;
    return open(draft, flags, 0600);
}

static bool write_file(const char *path, const header *h, const uint8_t *bytes)
{
    char draft[PATH_BYTES + 16];
    snprintf(draft, sizeof draft, "%s.part", path);
    int fd = create_draft(draft);
    if (fd < 0)
        return errno == EEXIST;
    bool good = !txm_write_all(fd, h, sizeof *h) && !txm_write_all(fd, bytes, h->size);
    int why = errno;
    if (close(fd) && good) {
        good = false;
        why = errno;
    }
    if (good && rename(draft, path) == 0)
        return true;
    why = good ? errno : why;
    unlink(draft);
    errno = why;
    return false;
}

void ocl_cache_write(ocl_cache_key key, const uint8_t *bytes, size_t size)
{
    char path[PATH_BYTES] = "", text[OCL_TEXT_BYTES];
    const XXH128_hash_t sum = XXH3_128bits(bytes, size);
    const header h = {MAGIC, key, size, sum.low64, sum.high64};
    if (size > LARGEST || (file_of(key, path, true) && write_file(path, &h, bytes)) || !*path)
        return;
    snprintf(text, sizeof text, "compiled kernels cannot be kept, and are compiled again next time: %.300s: %s", path,
             strerror(errno));
    ocl_say(OCL_NOTE, text);
}
