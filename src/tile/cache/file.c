/* SPDX-License-Identifier: Apache-2.0
 * Files of the cache: opened when they are read, at most max_open of them, closed by their last use. A file that became
 * another one under the same name while it was closed, or was written to while it was open, is not read any more.
 *
 * A descriptor is dearer than it looks: a scene may have more textures than the process may have files, and
 * a file server counts opens. So files close when others need their place and open again when a tile of
 * them is missed. That makes identity a matter of correctness: tiles of two different files in one texture
 * would be a seam in the picture, so a changed file fails with TXM_STATUS_CHANGED until the texture is
 * replaced. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tile/base/clock.h"
#include "tile/cache/cache_impl.h"
#include "tile/reader/identity.h"
#include "tile/reader/reader_memory.h"

/* With one user, whoever asked. The file is not touched yet. `called`: callbacks in place of one; NULL: none. */
txm_cache_file *txm_file_new(txm_cache *c, const char *path, const txm_tile_source *called)
{
    txm_cache_file made = {.textures = 1};
    if (called)
        made.called = (txm_called){called->user, called->describe, called->read, called->close};
    const size_t bytes = txm_file_bytes(&made);
    made.path = txm_cache_strdup(c, path);
    txm_cache_file *f = made.path ? txm_cache_allocate(c, bytes, _Alignof(txm_cache_file)) : NULL;
    if (f)
        memcpy(f, &made, bytes);
    else
        txm_cache_free_string(c, &made.path);
    return f;
}

/* ---- open files by their last use ---- */

/* A list by last use; both ends are known. The ternaries pick the neighbour's link or, at an end, the
 * list's own. */
static void unlink_open(txm_cache *c, txm_cache_file *f)
{
    *(f->newer ? &f->newer->older : &c->newest) = f->older;
    *(f->older ? &f->older->newer : &c->oldest) = f->newer;
    f->newer = f->older = NULL;
}

static void link_newest(txm_cache *c, txm_cache_file *f)
{
    f->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = f;
    c->newest = f;
}

/* What an open file and its readers keep comes from the process, not from txm_cache_allocate, but counts in the
 * budget all the same: tiles make room for it. What readers use while they read is part of what a thread may
 * take beyond the budget. */
static void count_kept(txm_cache *c, txm_cache_file *f, uint64_t own_bytes, uint64_t idle_bytes)
{
    c->stats.reader_bytes += own_bytes + idle_bytes - f->own_bytes - f->idle_bytes; /* modulo 2^64 */
    f->own_bytes = own_bytes;
    f->idle_bytes = idle_bytes;
}

/* Only while `readers` is 0, so that nobody reads it. The identity stays: it is what the next open is compared with. */
static void close_tx(txm_cache *c, txm_cache_file *f)
{
    count_kept(c, f, 0, 0);
    unlink_open(c, f);
    txm_tx_close(&f->tx);
    c->stats.files_open--;
}

static void trim_reader(txm_cache *c, txm_cache_file *f)
{
    if (!f->idle_bytes)
        return;
    txm_scratch_trim(f->tx);
    count_kept(c, f, f->own_bytes, 0);
}

/* Brings what open files keep down to their share of the budget: memory for the next tile goes first, then files
 * close that were used longest ago, and last goes the memory of the file that is the likeliest to be read next.
 * That file stays open, whatever it takes. */
static void trim_readers(txm_cache *c)
{
    const uint64_t most = c->options.max_bytes ? txm_reader_share(c) : UINT64_MAX;
    for (txm_cache_file *f = c->oldest; f && f != c->newest && c->stats.reader_bytes > most; f = f->newer)
        trim_reader(c, f);
    for (txm_cache_file *f = c->oldest, *newer; f && f != c->newest && c->stats.reader_bytes > most; f = newer) {
        newer = f->newer;
        if (!f->readers)
            close_tx(c, f);
    }
    if (c->newest && c->stats.reader_bytes > most)
        trim_reader(c, c->newest);
    if (c->stats.reader_bytes > c->stats.reader_bytes_peak)
        c->stats.reader_bytes_peak = c->stats.reader_bytes;
    txm_make_room(c, 0);
}

/* Closes what was used longest ago until `left` files are open, as far as nobody reads them. With many
 * readers more than max_open files may stay open; txm_file_give closes them when the last reader leaves. */
static void close_some(txm_cache *c, uint32_t left)
{
    for (txm_cache_file *f = c->oldest, *newer; f && c->stats.files_open > left; f = newer) {
        newer = f->newer;
        if (!f->readers)
            close_tx(c, f);
    }
}

/* Shared by textures of the same path. */
void txm_file_drop(txm_cache *c, txm_cache_file **file)
{
    txm_cache_file *f = *file;
    *file = NULL;
    if (!f || --f->textures)
        return;
    if (!f->called.read && f->tx)
        close_tx(c, f);
    if (f->called.close)
        f->called.close(f->called.user);
    if (f->broken)
        txm_cache_release(c, f->broken, sizeof *f->broken);
    txm_cache_free_string(c, &f->path);
    txm_cache_release(c, f, txm_file_bytes(f));
}

/* ---- opening ---- */

/* Device, inode, size and time: a file that was replaced is another one. Times count in nanoseconds, since
 * a file may be written twice within a second. */
static bool look_at_file(const char *path, uint64_t identity[4])
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    identity[0] = (uint64_t)st.st_dev;
    identity[1] = (uint64_t)st.st_ino;
    identity[2] = (uint64_t)st.st_size;
    identity[3] = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    return true;
}

/* What tells one image from another: where all tiles lie, sizes, texts, among them the SHA-1 of the pixels. Without
 * that a file of raw tiles could be overwritten by one that looks the same. */
static bool digest_of(const txm_tx *tx, uint64_t *digest)
{
    return txm_tx_metadata_of(tx, "oiio:SHA-1") && txm_tx_identity(tx, digest);
}

/* Copies have other inodes, and 'txmill resolve --touch' sets times: both leave the image what it was. */
static bool same_image(const txm_cache_file *f, const txm_tx *tx)
{
    uint64_t digest;
    return f->has_digest && digest_of(tx, &digest) && digest == f->digest;
}

/* Opens a file that nobody else opens meanwhile; without the lock. A file that changed is said to have done so
 * whether or not it can still be opened: damage would be the wrong word. */
static txm_status open_unchanged(const txm_cache *c, txm_cache_file *f, txm_tx **tx, txm_error *err)
{
    uint64_t now[4];
    txm_status status = (c->options.read_files ? txm_tx_open_read : txm_tx_open)(f->path, tx, err);
    const bool seen = look_at_file(f->path, now);
    const int error = errno;
    const bool same =
        !f->known || (seen && (memcmp(now, f->identity, sizeof now) == 0 || (status == TXM_OK && same_image(f, *tx))));
    if (status != TXM_OK && (!seen || same || txm_status_retryable(status)))
        return status;
    if (!seen) {
        txm_tx_close(tx);
        return txm_fail_errno(err, error, "%s: cannot look at it again", f->path);
    }
    if (same) {
        memcpy(f->identity, now, sizeof now);
        if (!f->known)
            f->has_digest = digest_of(*tx, &f->digest);
        f->known = true;
        return TXM_OK;
    }
    txm_tx_close(tx);
    txm_error_clear(err);
    if (status != TXM_OK && now[0] == f->identity[0] && now[1] == f->identity[1] && now[2] < f->identity[2])
        return txm_fail(err, TXM_STATUS_CHANGED, "%s: became shorter than when it was opened first", f->path);
    return txm_fail(err, TXM_STATUS_CHANGED, "%s: is another file now than when it was opened first", f->path);
}

/* Whether the time of the last change of pixels is that of the last change of anything: so it is where a file was
 * written to, under a header that stayed, and not where somebody gave it another time. */
static bool was_written(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_mtim.tv_sec == st.st_ctim.tv_sec && st.st_mtim.tv_nsec == st.st_ctim.tv_nsec;
}

/* Whether another image was written into the file, or *known is what it is known by from now on. A map shows what is
 * written: tiles of another image, found by tables of this one; of a file that is read, the tables are those of before,
 * so it is opened again. A file that is another one under the same name, or has none any more, is still mapped as it
 * was. */
static bool overwritten(const txm_cache *c, const txm_cache_file *f, const txm_tx *tx, uint64_t known[4])
{
    uint64_t now[4];
    if (!look_at_file(f->path, now) || now[0] != known[0] || now[1] != known[1] || memcmp(now, known, sizeof now) == 0)
        return false;
    txm_tx *again = NULL;
    if (c->options.read_files && txm_tx_open_read(f->path, &again, NULL) != TXM_OK)
        return true;
    const bool same = now[2] == known[2] && same_image(f, again ? again : tx) && !was_written(f->path);
    txm_tx_close(&again);
    if (!same)
        return true;
    memcpy(known, now, sizeof now);
    return false;
}

/* A look costs up to a twentieth of reading a tile, so files are looked at only now and then; never with the lock held,
 * since file servers may be slow to answer. */
static bool due_to_look(txm_cache_file *f)
{
    static const double EVERY_SECONDS = 0.1;
    const double now = txm_clock_seconds();
    if (now - f->looked_seconds < EVERY_SECONDS)
        return false;
    f->looked_seconds = now;
    return true;
}

/* What will be no better the next time is remembered: a damaged file is not opened once for each of its tiles. */
static void remember_failure(txm_cache *c, txm_cache_file *f, const txm_error *err)
{
    if (txm_failure_passes(err))
        return;
    f->broken = txm_cache_allocate(c, sizeof *f->broken, _Alignof(txm_error));
    if (f->broken)
        *f->broken = *err;
}

/* One reader less. What must not be read any more closes with its last one, and what has lost pages, which can be
 * read again only when it is opened again. */
static void leave_file(txm_cache *c, txm_cache_file *f)
{
    f->readers--;
    if ((f->broken || txm_tx_lost(f->tx)) && !f->readers)
        close_tx(c, f);
}

/* A file that is opened again was closed for want of room: the share of open files grows by what it takes, as far as a
 * quarter of the budget goes. It shrinks again when no file had to be opened for a while. */
static void adapt_share(txm_cache *c, const txm_cache_file *f)
{
    enum { WHILE_TILES = 4096, PART = 4, STEPS = 8 };
    const uint64_t most = c->options.max_bytes / PART, now = txm_reader_share(c);
    if (f && f->opens > 1 && now < most) {
        const uint64_t wanted = f->own_bytes, room = most - now;
        c->more_for_readers += wanted < room ? wanted : room;
    }
    if (f)
        c->loads_since_reopened = 0;
    else if (++c->loads_since_reopened % WHILE_TILES == 0)
        c->more_for_readers -= (c->more_for_readers + STEPS - 1) / STEPS;
}

/* Opens a file that is not open, with the lock released meanwhile; whoever wants the same file waits for it. A second
 * attempt is made only where closing all idle files may have helped. Without success *cause says why. */
static void open_without_lock(txm_cache *c, txm_cache_file *f, txm_error *cause)
{
    f->opening = true;
    close_some(c, c->options.max_open - 1);
    for (int attempt = 0; attempt < 2 && !f->tx; attempt++) {
        pthread_mutex_unlock(&c->lock);
        txm_tx *opened = NULL;
        open_unchanged(c, f, &opened, cause);
        pthread_mutex_lock(&c->lock);
        f->tx = opened;
        if (!txm_status_retryable(cause->status) || cause->status == TXM_STATUS_CHANGED)
            break;
        close_some(c, 0); /* descriptors and maps may be what is short */
    }
    f->opening = false;
    if (f->tx) {
        link_newest(c, f);
        due_to_look(f);
        c->stats.files_opened++;
        f->opens++;
        count_kept(c, f, txm_tx_own_bytes(f->tx), 0);
        adapt_share(c, f);
        if (++c->stats.files_open > c->stats.files_open_peak)
            c->stats.files_open_peak = c->stats.files_open;
    } else {
        remember_failure(c, f, cause);
    }
    pthread_cond_broadcast(&c->changed);
}

/* Counts a reader of an open file, with the lock held: until that reader leaves, the file cannot be closed. */
static void add_reader(txm_cache *c, txm_cache_file *f)
{
    f->readers++;
    if (c->newest != f) {
        unlink_open(c, f);
        link_newest(c, f);
    }
    f->mapped = true;
    trim_readers(c);
}

/* Without the lock, by a reader: CHANGED if somebody has written to the file since it was opened, and then the reader
 * has left. `known`: the identity that it had. */
static txm_status check_unwritten(txm_cache *c, txm_cache_file *f, txm_tx *tx, uint64_t known[4], txm_error *err)
{
    txm_error cause = {0};
    const bool written = overwritten(c, f, tx, known);
    pthread_mutex_lock(&c->lock);
    if (written) {
        txm_fail(&cause, TXM_STATUS_CHANGED, "%s: was written to after it was opened", f->path);
        if (!f->broken)
            remember_failure(c, f, &cause);
        leave_file(c, f);
    } else {
        memcpy(f->identity, known, sizeof f->identity);
    }
    pthread_mutex_unlock(&c->lock);
    return written ? txm_fail_as(err, &cause) : TXM_OK;
}

/* On success the file cannot be closed until txm_file_give. */
txm_status txm_file_acquire(txm_cache *c, txm_cache_file *f, txm_tx **tx, txm_error *err)
{
    txm_error cause = {0};
    uint64_t known[4];
    pthread_mutex_lock(&c->lock);
    while (f->opening)
        pthread_cond_wait(&c->changed, &c->lock);
    if (!f->tx && !f->broken)
        open_without_lock(c, f, &cause);
    if (!f->tx || f->broken) {
        const txm_status status = txm_fail_as(err, f->broken ? f->broken : &cause);
        pthread_mutex_unlock(&c->lock);
        return status;
    }
    add_reader(c, f);
    *tx = f->tx;
    const bool look = due_to_look(f);
    memcpy(known, f->identity, sizeof known);
    pthread_mutex_unlock(&c->lock);
    return look ? check_unwritten(c, f, *tx, known, err) : TXM_OK;
}

/* Files that were used since the last time give back the pages that the system has mapped for them, those used most
 * recently first: from the first one that was not used on, none was. A use maps up to 350 KB, because the system maps
 * pages around each one that is read. Giving them back every 64 uses makes loading a sixth slower, every 256 a tenth.
 */
static void drop_mapped(txm_cache *c)
{
    enum { USES = 1024 };
    if (++c->uses_of_files < USES)
        return;
    c->uses_of_files = 0;
    for (txm_cache_file *f = c->newest; f && f->mapped; f = f->older) {
        f->mapped = false;
        txm_tx_drop_pages(f->tx);
    }
}

/* Counts what the reader has kept, and brings both bounds back into force that a burst of readers may have
 * exceeded. */
void txm_file_give(txm_cache *c, txm_cache_file *f)
{
    pthread_mutex_lock(&c->lock);
    count_kept(c, f, txm_tx_own_bytes(f->tx), txm_scratch_idle_bytes(f->tx));
    adapt_share(c, NULL);
    if (!c->options.read_files)
        drop_mapped(c);
    leave_file(c, f);
    trim_readers(c);
    if (c->stats.files_open > c->options.max_open)
        close_some(c, c->options.max_open);
    pthread_mutex_unlock(&c->lock);
}
