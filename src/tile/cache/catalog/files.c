/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of the cache: they are opened when they are read, at most max_open at a time, and closed in the order of their
 * last use.
 *
 * A scene may have more textures than the process may have files, and file servers count opens. So files are closed
 * when others need their place, and opened again when one of their tiles is missed. A file may change meanwhile, and
 * tiles of two different files in one texture would leave a seam in the picture. So a file that was replaced by another
 * one while it was closed, or was written to while it was open, fails with TXM_STATUS_CHANGED until the texture is
 * replaced.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/fail.h"
#include "base/os/clock.h"
#include "tile/cache/catalog/parts.h"
#include "tile/reader/identity.h"
#include "tile/reader/reader_memory.h"

struct txm_open_file {
    txm_tx *tx;
    txm_cache_file *file;
    txm_open_file *newer, *older;   /* neighbours in the list of open files, in the order of their last use */
    uint64_t own_bytes, idle_bytes; /* memory of the open file, and memory that its reader keeps for the next tile */
    uint64_t identity[4];           /* device, inode, size and time of change when it was last compared */
    double looked_seconds;          /* time of that comparison */
    uint32_t readers;
    bool mapped, fresh; /* used since its pages were last released; not used since it was opened */
};

static size_t struct_bytes(const char *path)
{
    return offsetof(txm_cache_file, path) + strlen(path) + 1;
}

/* Makes a file with one user. The file itself is not accessed yet. `called`: callbacks in place of a file; NULL: none.
 */
txm_cache_file *txm_file_new(txm_catalog *k, const char *path, const txm_tile_source *called)
{
    txm_cache_file *f = txm_allocate(k->tiles, struct_bytes(path), _Alignof(txm_cache_file));
    if (!f)
        return NULL;
    memset(f, 0, offsetof(txm_cache_file, path));
    strcpy(f->path, path);
    f->textures = 1;
    f->is_called = called;
    if (called)
        f->called = (txm_called){called->user, called->describe, called->read, called->close};
    return f;
}

const char *txm_file_path(const txm_cache_file *f)
{
    return f->path;
}

void txm_file_keep(txm_cache_file *f)
{
    f->textures++;
}

uint32_t txm_file_opens(const txm_cache_file *f)
{
    return f->opens;
}

bool txm_file_is_called(const txm_cache_file *f)
{
    return f->is_called;
}

bool txm_file_is_opening(const txm_cache_file *f)
{
    return f->opening;
}

/* ---- open files by their last use ---- */

/* A list in the order of last use, with pointers to both ends. The ternaries choose the neighbour's link or, at an end,
 * that of the list. */
static void unlink_open(txm_catalog *k, txm_open_file *f)
{
    *(f->newer ? &f->newer->older : &k->own->newest) = f->older;
    *(f->older ? &f->older->newer : &k->own->oldest) = f->newer;
}

static void link_newest(txm_catalog *k, txm_open_file *f)
{
    f->newer = NULL;
    f->older = k->own->newest;
    *(k->own->newest ? &k->own->newest->newer : &k->own->oldest) = f;
    k->own->newest = f;
}

/* The part of the budget that is set aside for open files: a sixteenth, but at least what one reader takes and at most
 * what many take. It grows up to a quarter if that is too little for files that are read in turn. */
uint64_t txm_reader_share(const txm_catalog *k)
{
    enum { LEAST = 256 << 10, MOST = 64 << 20 };
    const uint64_t budget = k->tiles->max_bytes, part = budget / 16, least = budget / 4 < LEAST ? budget / 4 : LEAST;
    return (part > MOST ? MOST : part < least ? least : part) + k->own->more_bytes;
}

/* The larger of what open files keep and their share counts towards the budget. Because the share is always counted,
 * replays, which do not open files, evict the same tiles. */
static void count_beside(txm_catalog *k)
{
    const uint64_t share = txm_reader_share(k);
    k->tiles->beside = k->stats->reader_bytes > share ? k->stats->reader_bytes : share;
}

void txm_files_set_budget(txm_catalog *k)
{
    k->own->more_bytes = 0;
    count_beside(k);
}

/* The memory of an open file and its readers is not allocated by txm_cache_allocate, but counts towards the budget:
 * tiles make room for it. The memory that readers use while they read is part of what a thread may take beyond the
 * budget. */
static void count_kept(txm_catalog *k, txm_open_file *f, uint64_t own_bytes, uint64_t idle_bytes)
{
    k->stats->reader_bytes += own_bytes + idle_bytes - f->own_bytes - f->idle_bytes; /* modulo 2^64 */
    f->own_bytes = own_bytes;
    f->idle_bytes = idle_bytes;
    count_beside(k);
}

static uint64_t own_bytes_of(const txm_open_file *f)
{
    return sizeof *f + txm_tx_own_bytes(f->tx);
}

/* Only allowed while `readers` is 0. */
static void close_file(txm_catalog *k, txm_open_file *f)
{
    count_kept(k, f, 0, 0);
    unlink_open(k, f);
    txm_tx_close(&f->tx);
    k->stats->files_open--;
    f->file->open = NULL;
    free(f);
}

static void trim_reader(txm_catalog *k, txm_open_file *f)
{
    if (!f->idle_bytes)
        return;
    txm_scratch_trim(f->tx);
    count_kept(k, f, f->own_bytes, 0);
}

/* Reduces the memory of open files to their share of the budget. First, readers free their memory for the next tile;
 * then files are closed, least recently used first; finally the most recently used file, which is the likeliest to be
 * read next, frees its reader's memory. That file stays open, whatever it takes. */
static void trim_readers(txm_catalog *k)
{
    const uint64_t most = k->tiles->max_bytes ? txm_reader_share(k) : UINT64_MAX;
    for (txm_open_file *f = k->own->oldest; f && f != k->own->newest && k->stats->reader_bytes > most; f = f->newer)
        trim_reader(k, f);
    for (txm_open_file *f = k->own->oldest, *newer; f && f != k->own->newest && k->stats->reader_bytes > most;
         f = newer) {
        newer = f->newer;
        if (!f->readers)
            close_file(k, f);
    }
    if (k->own->newest && k->stats->reader_bytes > most)
        trim_reader(k, k->own->newest);
    if (k->stats->reader_bytes > k->stats->reader_bytes_peak)
        k->stats->reader_bytes_peak = k->stats->reader_bytes;
    txm_make_room(k->tiles, 0);
}

/* Closes the least recently used files until `left` are open, except for files that are being read. With many readers
 * more than max_open files may stay open; txm_file_give closes them when the last reader leaves. */
static void close_some(txm_catalog *k, uint32_t left)
{
    for (txm_open_file *f = k->own->oldest, *newer; f && k->stats->files_open > left; f = newer) {
        newer = f->newer;
        if (!f->readers)
            close_file(k, f);
    }
}

/* Drops a reference: textures of the same file share it. */
void txm_file_drop(txm_catalog *k, txm_cache_file **file)
{
    txm_cache_file *f = *file;
    *file = NULL;
    if (!f || --f->textures)
        return;
    if (!f->is_called && f->open)
        close_file(k, f->open);
    if (f->is_called && f->called.close)
        f->called.close(f->called.user);
    if (f->broken)
        txm_release(k->tiles, f->broken, sizeof *f->broken);
    txm_release(k->tiles, f, struct_bytes(f->path));
}

/* ---- opening ---- */

/* Reads device, inode, size and time, which identify a file. Times are in nanoseconds, because a file may be written
 * twice within a second. */
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

/* Only the digest of an identity is kept while a file is closed. */
static uint64_t digest_of_identity(const uint64_t identity[4])
{
    const uint64_t digest = txm_xxh64(identity, 4 * sizeof identity[0], 0);
    return digest ? digest : 1;
}

/* Computes the digest of an image: the positions of all tiles, sizes and texts, which must include the SHA-1 of the
 * pixels; 0 without it, because a file of raw tiles could be overwritten by another one with the same digest. */
static uint64_t digest_of_image(const txm_tx *tx)
{
    uint64_t digest;
    return txm_tx_metadata_of(tx, "oiio:SHA-1") && txm_tx_identity(tx, &digest) ? digest : 0;
}

/* Whether a file with another identity holds the same image: a copy has another inode, and 'txmill refresh'
 * sets the time. */
static bool same_image(const txm_cache_file *f, const txm_tx *tx)
{
    return f->image && digest_of_image(tx) == f->image;
}

/* Opens a file that no other thread is opening, and reads its identity; without the lock. If the file changed, the
 * failure is CHANGED, even if it cannot be opened any more: to call it damaged would be misleading. */
txm_status txm_file_open(const txm_catalog *k, txm_open_file *open, txm_error *err)
{
    txm_cache_file *f = open->file;
    txm_status status = txm_tx_open_cached(f->path, !k->options->read_files, &open->tx, err);
    const bool seen = look_at_file(f->path, open->identity);
    const int error = errno;
    const bool same =
        !f->identity ||
        (seen && (digest_of_identity(open->identity) == f->identity || (status == TXM_OK && same_image(f, open->tx))));
    if (status != TXM_OK && (!seen || same || txm_status_retryable(status)))
        return status;
    if (!seen) {
        txm_tx_close(&open->tx);
        return txm_fail_errno(err, error, "%s: cannot be examined again", f->path);
    }
    if (same) {
        if (!f->identity)
            f->image = digest_of_image(open->tx);
        return TXM_OK;
    }
    txm_tx_close(&open->tx);
    txm_error_clear(err);
    if (status != TXM_OK && open->identity[2] < f->bytes)
        return txm_fail(err, TXM_STATUS_CHANGED, "%s: became shorter after it was first opened", f->path);
    return txm_fail(err, TXM_STATUS_CHANGED, "%s: is a different file than when it was first opened", f->path);
}

/* Whether the times of the last change of content and of the last change of anything are equal. They are if a file was
 * written to, even under an unchanged header, and differ if its time was set explicitly. */
static bool was_written(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_mtim.tv_sec == st.st_ctim.tv_sec && st.st_mtim.tv_nsec == st.st_ctim.tv_nsec;
}

/* Whether another image was written into the file. If not, *known becomes the file's present identity. A mapped file
 * shows what is written to it, so tiles of another image would be looked up in the tables of the old one. A file that
 * is not mapped is opened again to compare, because its tables in memory are the old ones. If the name now refers to
 * another file, or to none, the old file is still open and unchanged. */
bool txm_file_overwritten(const txm_cache_file *f, const txm_tx *tx, uint64_t known[4])
{
    uint64_t now[4];
    if (!look_at_file(f->path, now) || now[0] != known[0] || now[1] != known[1] || memcmp(now, known, sizeof now) == 0)
        return false;
    txm_tx *again = NULL;
    if (!txm_tx_is_mapped(tx) && txm_tx_open_cached(f->path, false, &again, NULL) != TXM_OK)
        return true;
    const bool same = now[2] == known[2] && same_image(f, again ? again : tx) && !was_written(f->path);
    txm_tx_close(&again);
    if (!same)
        return true;
    memcpy(known, now, sizeof now);
    return false;
}

/* This check costs up to a twentieth of reading a tile, so files are checked only now and then; the lock is not held,
 * because file servers may be slow to answer. */
static bool due_to_look(txm_open_file *f)
{
    static const double EVERY_SECONDS = 0.1;
    const double now = txm_clock_seconds();
    if (now - f->looked_seconds < EVERY_SECONDS)
        return false;
    f->looked_seconds = now;
    return true;
}

/* Remembers a failure that is permanent, so a damaged file is not opened once for each of its tiles. */
static void remember_failure(txm_catalog *k, txm_cache_file *f, const txm_error *err)
{
    if (txm_failure_passes(err))
        return;
    f->broken = txm_allocate(k->tiles, sizeof *f->broken, _Alignof(txm_error));
    if (f->broken)
        *f->broken = *err;
}

/* Ends a reader's use. The last reader closes a file that must not be read any more, and a file that has lost pages,
 * which can be read again only after it was opened again. */
static void leave_file(txm_catalog *k, txm_open_file *f)
{
    f->readers--;
    if ((f->file->broken || txm_tx_lost(f->tx)) && !f->readers)
        close_file(k, f);
}

/* A file that is opened again had been closed for lack of room: the share of open files grows by its size, up to a
 * quarter of the budget. It shrinks again if no file had to be opened again for a while. */
static void adapt_share(txm_catalog *k, const txm_open_file *f)
{
    enum { WHILE_TILES = 4096, PART = 4, STEPS = 8 };
    const uint64_t most = k->tiles->max_bytes / PART, now = txm_reader_share(k);
    if (f && f->file->opens > 1 && now < most) {
        const uint64_t wanted = f->own_bytes, room = most - now;
        k->own->more_bytes += wanted < room ? wanted : room;
    }
    if (f)
        k->own->loads_since_reopened = 0;
    else if (++k->own->loads_since_reopened % WHILE_TILES == 0)
        k->own->more_bytes -= (k->own->more_bytes + STEPS - 1) / STEPS;
    count_beside(k);
}

/* Whether a file is to be opened now, which the caller does without the lock; others that need it wait meanwhile. */
bool txm_file_to_open(txm_catalog *k, txm_cache_file *f, txm_open_file **out, txm_error *cause)
{
    if (f->open || f->broken)
        return false;
    *out = malloc(sizeof **out); /* counted with the file's own memory, which replays do not have */
    if (!*out) {
        txm_fail(cause, TXM_STATUS_NO_MEMORY, "%s: no memory for an open file", f->path);
        return false;
    }
    **out = (txm_open_file){.file = f, .fresh = true};
    f->opening = true;
    close_some(k, k->options->max_open - 1);
    return true;
}

/* Whether another attempt may succeed: after all idle files were closed, because descriptors or mappings have run out.
 */
bool txm_file_try_again(txm_catalog *k, const txm_error *cause)
{
    if (!txm_status_retryable(cause->status) || cause->status == TXM_STATUS_CHANGED)
        return false;
    close_some(k, 0);
    return true;
}

void txm_file_opened(txm_catalog *k, txm_open_file *open, const txm_error *cause)
{
    txm_cache_file *f = open->file;
    f->opening = false;
    if (!open->tx) {
        free(open);
        remember_failure(k, f, cause);
        return;
    }
    f->identity = digest_of_identity(open->identity);
    f->bytes = open->identity[2];
    f->open = open;
    link_newest(k, open);
    due_to_look(open);
    k->stats->files_opened++;
    k->stats->files_unmapped += !k->options->read_files && !txm_tx_is_mapped(open->tx);
    f->opens++;
    count_kept(k, open, own_bytes_of(open), 0);
    adapt_share(k, open);
    if (++k->stats->files_open > k->stats->files_open_peak)
        k->stats->files_open_peak = k->stats->files_open;
}

/* Takes a file for a reader: until txm_file_given it cannot be closed. `cause`: why it could not be opened. *compare:
 * it is time for the caller to see whether it was overwritten, without the lock, and to call txm_file_compared. */
txm_status txm_file_take(txm_catalog *k, txm_cache_file *file, const txm_error *cause, txm_tx **tx, uint64_t known[4],
                         bool *compare, txm_error *err)
{
    txm_open_file *f = file->open;
    if (!f || file->broken)
        return txm_fail_as(err, file->broken ? file->broken : cause);
    f->readers++;
    if (k->own->newest != f) {
        unlink_open(k, f);
        link_newest(k, f);
    }
    trim_readers(k);
    *tx = f->tx;
    memcpy(known, f->identity, sizeof f->identity);
    *compare = due_to_look(f);
    return TXM_OK;
}

/* CHANGED if the file was written to since it was opened; then the reader has left. `known`: the identity it has now.
 */
txm_status txm_file_compared(txm_catalog *k, txm_cache_file *f, bool written, const uint64_t known[4], txm_error *err)
{
    txm_error cause = {0};
    if (!written) {
        memcpy(f->open->identity, known, sizeof f->open->identity);
        f->identity = digest_of_identity(known);
        return TXM_OK;
    }
    txm_fail(&cause, TXM_STATUS_CHANGED, "%s: was written to after it was opened", f->path);
    if (!f->broken)
        remember_failure(k, f, &cause);
    leave_file(k, f->open);
    return txm_fail_as(err, &cause);
}

/* Releases the mapped pages of all files that were used since the last time. The list is in the order of last use, so
 * these files come first in it. The system maps 64 KB around each page that is read: ALL of them are 6 MB. Mapping
 * them again takes longer than decoding some tiles, so that tiles are read through a descriptor where the process has
 * one. */
static void drop_mapped(txm_catalog *k, txm_open_file *used)
{
    enum { ALL = 96, OPENING = 8, TABLES = 4, READ = 1, MAPPED = 3 };
    k->own->pieces_mapped +=
        (used->fresh ? OPENING : 0u) + (used->mapped ? 0u : TABLES) + (txm_tx_reads_tiles(used->tx) ? READ : MAPPED);
    used->mapped = true;
    used->fresh = false;
    if (k->own->pieces_mapped < ALL)
        return;
    k->own->pieces_mapped = 0;
    for (txm_open_file *f = k->own->newest; f && f->mapped; f = f->older) {
        f->mapped = false;
        txm_tx_drop_pages(f->tx);
    }
}

/* Ends a reader's use, counts what the reader has kept, and restores both bounds, which many simultaneous readers may
 * have exceeded. */
void txm_file_given(txm_catalog *k, txm_cache_file *f)
{
    count_kept(k, f->open, own_bytes_of(f->open), txm_scratch_idle_bytes(f->open->tx));
    adapt_share(k, NULL);
    if (txm_tx_is_mapped(f->open->tx))
        drop_mapped(k, f->open);
    leave_file(k, f->open);
    trim_readers(k);
    if (k->stats->files_open > k->options->max_open)
        close_some(k, k->options->max_open);
}
