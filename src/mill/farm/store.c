/* SPDX-License-Identifier: Apache-2.0
 *
 * Fetching tries the cheapest way first: a reflink, a hard link, a copy. A fetched file is verified before it gets its
 * final name, and a damaged object is removed. Adding publishes a tx file under its digest, complete or not at all, so
 * that any number of hosts may share a store.
 */
#include "mill/farm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/content.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/os/owner.h"
#include "base/path.h"
#include "base/text.h"
#include "mill/source/source.h"
#include "mill/write/publish.h"
#include "tile/terms/use_table.h"
#include "txmill/inspect.h"
#include "txtile/describe.h"
#include "txtile/reader.h"

/* This number must be increased if files with the same settings are written differently. */
enum { STORE_VERSION = 1 };

static void add_piece(void *user, const void *piece, size_t bytes)
{
    txm_sha256_add(user, piece, bytes);
}

txm_status txm_content_hash(const char *path, const volatile int *cancel, char out[TXM_CONTENT_HEX], txm_error *err)
{
    unsigned char digest[TXM_SHA256_BYTES];
    uint64_t bytes;
    txm_sha256 *hash = txm_sha256_new();
    if (!hash)
        return txm_no_memory(err, path);
    const txm_status status = txm_read_pieces(path, cancel, add_piece, hash, &bytes, err);
    if (status == TXM_OK) {
        txm_sha256_finish(hash, digest);
        txm_hex_text(digest, sizeof digest, false, out);
    }
    txm_sha256_free(hash);
    return status;
}

/* The settings key covers the pixels; the rest is whatever else is stored in the file. The first two digits are a
 * folder, so that no folder gets millions of entries. */
char *txm_store_path(const char *store, const txm_making *m, const char *settings_key, const char *content)
{
    const txm_settings *s = m->settings;
    txm_bytes text = {0};
    unsigned char digest[TXM_SHA256_BYTES];
    char hex[TXM_CONTENT_HEX], *path = NULL;
    txm_bytes_printf(
        &text, "store:%d content:%s key:%s tile:%u codec:%d level:%d borders:%d xyz:%s alpha:%s space:%s redact:%d",
        STORE_VERSION, content, settings_key, s->tile_px, (int)s->compression.codec, s->compression.level, s->borders,
        m->resolved->key.xyz_text, txm_alpha_stored_name(m->resolved->alpha), m->resolved->requested, s->redact);
    /* With --redact the file contains the source's name; without it, the path of the source from which it was first
     * made. */
    if (s->redact)
        txm_bytes_printf(&text, " name:%s", txm_path_base(m->source));
    for (const char *const *a = s->attributes; a && *a; a++)
        txm_bytes_printf(&text, " attribute:%zu:%s", strlen(*a), *a);
    if (!text.failed) {
        txm_sha256_of(text.data, text.size, digest);
        txm_hex_text(digest, sizeof digest, false, hex);
        path = txm_asprintf("%s/%.2s/%s.tx", store, hex, hex + 2);
    }
    txm_bytes_free(&text);
    return path;
}

/* Replaces `target`, whose folder exists, by a hard link to `from`. */
static bool hard_link(const char *from, const char *target)
{
    char *dir = txm_path_dir(target);
    char *temp = dir ? txm_owned_path(dir, "link", ".txm-tmp") : NULL;
    bool linked = temp && txm_file_link(from, temp) == 0, placed = linked && rename(temp, target) == 0;
    /* Renaming a link over another link of the same file does nothing, so the temporary name must be removed. */
    if (linked)
        txm_owned_remove(temp);
    free(temp);
    free(dir);
    return placed;
}

/* Puts the open file `fd`, named `from`, into place at `target`. */
static txm_status place_stored(int fd, const struct stat *st, const char *from, const char *target,
                               const struct timespec *mtime, const char **how, txm_error *err)
{
    txm_publish *publish = NULL;
    txm_status status = txm_publish_begin(target, TXM_PUBLISH_IN_CACHE, &publish, err);
    if (status != TXM_OK)
        return status;
    *how = "reflink";
    if (!txm_file_share(txm_publish_fd(publish), fd)) {
        if (st->st_mtim.tv_sec == mtime->tv_sec && hard_link(from, target)) {
            txm_publish_abort(&publish);
            *how = "hardlink";
            return TXM_OK;
        }
        *how = "copy";
        status = txm_publish_copy(publish, fd, from, err);
    }
    if (status == TXM_OK)
        return txm_publish_commit(&publish, mtime, err);
    txm_publish_abort(&publish);
    return status;
}

/* Opens a regular file only: opening a pipe among the objects would block. */
static txm_status open_file(const char *path, const char *what, int *out, struct stat *st, txm_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return txm_fail_errno(err, errno, "%s: %s", path, what);
    txm_status status = TXM_OK;
    if (fstat(fd, st) != 0)
        status = txm_fail_errno(err, errno, "%s: cannot be examined", path);
    else if (!S_ISREG(st->st_mode))
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file", path);
    if (status == TXM_OK)
        *out = fd;
    else
        close(fd);
    return status;
}

/* Disks lose power and flip bits, and all users get what one of them made, so an object is verified in full, pixels and
 * SHA-1 included, and removed if it is damaged. One that cannot be examined now (no memory, too many open files) is
 * kept. */
static txm_status check_whole(txm_context *context, const char *object, txm_error *err)
{
    txm_findings findings = {0};
    txm_verify_options all;
    txm_verdict verdict = {0};
    static const txm_use_row uses[] = {TXM_USES(TXM_USE_ROW)};
    txm_verify_options_init(&all);
    all.verdict = &verdict;
    txm_status status = txm_verify(context, object, &all, &findings, err);
    bool damaged = uses[verdict.use].standing == TXM_STANDING_BROKEN || findings.severities[TXM_SEVERITY_ERROR];
    txm_findings_clear(&findings);
    if (status != TXM_OK || !damaged)
        return status;
    bool gone = txm_owned_remove(object);
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the stored file is damaged and %s", object,
                    gone ? "was removed" : "cannot be removed");
}

/* The file gets the image's time, since Cycles compares times. NOT_FOUND if the object does not exist. */
static txm_status fetch(txm_context *context, const char *object, const char *target, const struct timespec *mtime,
                        char via[16], txm_error *err)
{
    struct stat st;
    const char *how = "";
    int fd;
    txm_status status = open_file(object, "not in the store", &fd, &st, err);
    if (status != TXM_OK)
        return status;
    status = check_whole(context, object, err);
    if (status == TXM_OK)
        status = place_stored(fd, &st, object, target, mtime, &how, err);
    if (status == TXM_OK) {
        /* Records the use: sets the access time and keeps the modification time. For an object of another user's this
         * may fail, which does no harm. */
        txm_file_set_time_at(object, NULL);
        snprintf(via, 16, "%s", how);
    }
    close(fd);
    return status;
}

/* Fills in the result of a conversion from the file that was fetched instead. */
static txm_status describe_stored(const char *tx_path, txm_result *result, txm_error *err)
{
    txm_tx *tx = NULL;
    txm_status status = txm_tx_open(tx_path, &tx, err);
    if (status != TXM_OK)
        return status;
    const txm_tx_info *info = txm_tx_info_of(tx);
    result->mono = info->channels == 1 && result->channels > 1;
    result->width = info->width;
    result->height = info->height;
    result->levels = info->levels;
    result->channels = info->channels;
    result->type = info->type;
    result->constant = txm_tx_metadata_of(tx, "oiio:ConstantColor") != NULL;
    result->tx_bytes = info->file_bytes;
    result->section_bytes = info->section_bytes;
    txm_tx_close(&tx);
    return TXM_OK;
}

bool txm_batch_fetch(txm_batch *batch, const txm_making *making, txm_result *result, char **object)
{
    char content[TXM_CONTENT_HEX], via[sizeof result->via];
    txm_error err = {0};
    txm_status status = txm_content_hash(making->source, batch->context->cancel, content, &err);
    /* The digest must be that of the file that was opened. */
    if (status == TXM_OK)
        status = txm_source_check_unchanged(making->opened, &err);
    if (status == TXM_OK && !(*object = txm_store_path(batch->options.store, making, result->settings_key, content)))
        status = txm_no_memory(&err, making->source);
    if (status == TXM_OK)
        status = fetch(batch->context, *object, making->target, &making->info->mtime, via, &err);
    if (status == TXM_OK) {
        snprintf(result->via, sizeof result->via, "%s", via);
        if (describe_stored(making->target, result, &err) != TXM_OK)
            txm_batch_warn(batch, "%s; the file was put into place, but its size is not known", err.message);
        return true;
    }
    /* Checks the object itself: ENOENT may also mean that the target's folder is gone. */
    bool not_kept = *object && err.sys_errno == ENOENT && access(*object, F_OK) != 0;
    if (status != TXM_OK && !not_kept && status != TXM_STATUS_CANCELLED)
        txm_batch_warn(batch, "%s; converted instead", err.message);
    return false;
}

bool txm_batch_copy(txm_batch *batch, const txm_making *making, txm_result *result)
{
    struct stat st;
    const char *how = "";
    txm_error err = {0};
    int fd = -1;
    txm_status status = open_file(making->fresh, "cannot be opened", &fd, &st, &err);
    if (status == TXM_OK)
        status = place_stored(fd, &st, making->fresh, making->target, &making->info->mtime, &how, &err);
    if (fd >= 0)
        close(fd);
    if (status == TXM_OK)
        status = describe_stored(making->target, result, &err);
    if (status == TXM_OK)
        snprintf(result->via, sizeof result->via, "%s", how);
    else if (status != TXM_STATUS_CANCELLED)
        txm_batch_warn(batch, "%s; converted instead", err.message);
    return status == TXM_OK;
}

void txm_batch_keep(txm_batch *batch, const txm_making *making, const char *object)
{
    txm_error err = {0};
    struct stat st, all, one;
    const char *how;
    int fd = -1;
    if (!object || access(object, F_OK) == 0)
        return; /* an object that exists has the same content, since its name is a digest */
    char *part = txm_path_dir(object), *store = part ? txm_path_dir(part) : NULL;
    txm_status status = open_file(making->target, "cannot be opened", &fd, &st, &err);
    if (status == TXM_OK)
        status = store ? txm_folders_make(part, &err) : txm_no_memory(&err, object);
    /* The mode of the store's folder says who may add objects. The umask of the user who makes a part of it must not
     * shut others out. */
    if (status == TXM_OK && stat(store, &all) == 0 && stat(part, &one) == 0 && txm_file_is_own(one.st_uid) &&
        one.st_mode != all.st_mode && chmod(part, all.st_mode & 07777) != 0)
        status = txm_fail_errno(&err, errno, "%s: cannot be given the permissions of the store", part);
    if (status == TXM_OK)
        status = place_stored(fd, &st, making->target, object, &st.st_mtim, &how, &err);
    if (status != TXM_OK)
        txm_batch_warn(batch, "%s; not kept in the store", err.message);
    if (fd >= 0)
        close(fd);
    free(part);
    free(store);
}
