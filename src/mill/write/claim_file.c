/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a claim.
 *
 * A claim file holds its owner's note. It appears complete under its name or not at all, and is removed only by its
 * owner or by a process that holds the right to break it. At every step another process may be doing the same; the
 * order of the calls keeps two of them from both succeeding. claims.c decides when to do what. The file server's clock
 * is also read here, since the ages of claims and temporaries are only meaningful by that clock.
 */
#include "mill/write/claim_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/files.h"
#include "base/os/owner.h"
#include "base/path.h"
#include "base/whole.h"

enum { NOTE_BYTES = 512 };

/* Reads up to `bytes` bytes from the beginning and stores in *got how many there are. Returns 0 or an errno. */
static int read_claim_bytes(int fd, char *data, size_t bytes, size_t *got)
{
    const int64_t n = txm_pread_most(fd, data, bytes, 0);
    *got = n > 0 ? (size_t)n : 0;
    return n < 0 ? errno : 0;
}

bool txm_claim_file_remove(const char *path, int fd)
{
    struct stat ours, there;
    /* If the claim was taken over, the file under this name is another process's. If that cannot be determined, the
     * name is removed: doing work twice is better than waiting for a process that no longer exists. */
    if (fstat(fd, &ours) == 0 && lstat(path, &there) == 0 &&
        (ours.st_ino != there.st_ino || ours.st_dev != there.st_dev))
        return true;
    return txm_owned_remove(path);
}

/* A handler reads the list, so it is a fixed table of atomic pointers, as that of temporary files (publish.c). */
enum { PLACES = 1024 };
static _Atomic(const txm_held_claim *) held[PLACES];
static atomic_bool removing;

int txm_claim_file_list(const txm_held_claim *claim)
{
    for (int i = 0; i < PLACES; i++) {
        const txm_held_claim *none = NULL;
        if (atomic_compare_exchange_strong(&held[i], &none, claim))
            return i;
    }
    return -1;
}

bool txm_claim_file_unlist(int place)
{
    if (place >= 0)
        atomic_store(&held[place], NULL);
    return place < 0 || !atomic_load(&removing);
}

void txm_claim_file_remove_all(void)
{
    atomic_store(&removing, true);
    for (int i = 0; i < PLACES; i++) {
        const txm_held_claim *claim = atomic_load(&held[i]);
        if (claim)
            txm_claim_file_remove(claim->path, claim->fd);
    }
}

/* Writes a claim under its own name, where it is empty for a moment. It consists of lines of text, so that users can
 * find out what a render is waiting for. Returns 0 or an errno. Network file systems send written data, and report a
 * full disk, when any descriptor of the file is closed. */
static int write_claim(const char *path, int *fd)
{
    const txm_owner self = txm_owner_self();
    char note[NOTE_BYTES], when[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const size_t n = (size_t)snprintf(note, sizeof note,
                                      "txmill claim 1\nhost %s\nmachine %08" PRIx32 "\npid %ld\nstart %" PRIu64
                                      "\nnonce %016" PRIx64 "\ntime %s\n",
                                      self.host, self.machine, self.pid, self.start, txm_random_bits(), when);
    int f = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f < 0)
        return errno;
    int rc = txm_write_all(f, note, n);
    if (rc == 0) {
        const int copy = txm_file_again(f);
        rc = copy < 0 || (close(copy) != 0 && errno != EINTR) ? errno : 0;
    }
    /* The claim is opened again and must still hold the note. If this process was stopped before writing, another may
     * have found the claim empty and replaced it; then the file belongs to the other. */
    const int again = rc == 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (rc == 0 && again < 0)
        rc = errno == ENOENT ? EEXIST : errno;
    if (again >= 0) {
        char there[NOTE_BYTES];
        size_t got;
        rc = read_claim_bytes(again, there, n, &got);
        close(again);
        /* An empty claim has no owner, so the bytes that were written are missing. */
        if (rc == 0)
            rc = !got ? EIO : got == n && memcmp(there, note, n) == 0 ? 0 : EEXIST;
    }
    if (rc == 0) {
        *fd = f;
        return 0;
    }
    if (rc != EEXIST)
        txm_claim_file_remove(path, f);
    close(f);
    return rc;
}

/* It never follows links, because a claim is always a regular file. */
int txm_claim_file_read(const char *path, txm_claim_note *out)
{
    char text[NOTE_BYTES + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return errno;
    txm_claim_note note = {0};
    size_t n = 0;
    int rc = fstat(fd, &note.st) != 0 ? errno : read_claim_bytes(fd, text, NOTE_BYTES, &n);
    close(fd);
    if (rc)
        return rc;
    text[n] = 0;
    /* The first words identify the version of the note; a note of an unknown version has no owner. */
    txm_owner *o = &note.owner;
    note.named = sscanf(text, "txmill claim 1 host %64s machine %" SCNx32 " pid %ld start %" SCNu64 " nonce %" SCNx64,
                        o->host, &o->machine, &o->pid, &o->start, &note.nonce) == 5;
    if (!note.named)
        note.nonce = 0;
    *out = note;
    return 0;
}

/* Compares nonce and inode, because the file at a path may have been replaced. */
static bool same_claim(const txm_claim_note *a, const txm_claim_note *b)
{
    return a->named == b->named && a->nonce == b->nonce && a->st.st_ino == b->st.st_ino && a->st.st_dev == b->st.st_dev;
}

/* The claim is written under a temporary name that contains its owner, and appears complete: if the process is killed,
 * the file left behind still names its owner. If the file system has no hard links, it is written in place, and an
 * empty claim may be left behind, which sweepers remove when it is old. */
int txm_claim_file_make(const char *path, int *fd)
{
    char *dir = txm_path_dir(path), *draft = dir ? txm_owned_path(dir, "claim", ".txm-tmp") : NULL;
    int f, rc = draft ? write_claim(draft, &f) : ENOMEM;
    bool written = rc == 0;
    if (written)
        rc = txm_file_link(draft, path);
    /* If a network file system lost the reply and repeated the call, the name is taken, but by this very file. */
    txm_claim_note own, there;
    if (written && rc == EEXIST && txm_claim_file_read(draft, &own) == 0 && txm_claim_file_read(path, &there) == 0 &&
        same_claim(&own, &there))
        rc = 0;
    if (draft)
        txm_owned_remove(draft);
    if (written && rc)
        close(f);
    if (written && rc && rc != EEXIST)
        rc = write_claim(path, &f);
    if (rc == 0)
        *fd = f;
    free(draft);
    free(dir);
    return rc;
}

/* ---- breaking ---------------------------------------------------------------------------------------------------
 *
 * Breaking a claim needs a right, which is bound to that one claim. Without it, two processes that both found a claim
 * stale could remove, one after the other, the stale claim and the new one in its place. The process that holds the
 * file `<claim>.<id>.txm-break` reads the claim again, and removes it only if it still has that id.
 *
 * A right has the form of a claim, and is broken like one if its holder died: `<claim>.<id>.<id>.txm-break` is the
 * right to do so. */

/* Takes a right. Returns 0 or an errno; EEXIST if another process has it. */
static int take_right(const char *right)
{
    int fd, rc = txm_claim_file_make(right, &fd);
    if (rc == 0)
        close(fd);
    return rc;
}

/* The claim is read again with the right held, so that no other process can remove it in the meantime. */
bool txm_claim_file_break(const char *path, const txm_claim_note *note)
{
    static const char suffix[] = ".txm-break";
    txm_claim_note now;
    size_t n = strlen(path), s = sizeof suffix - 1;
    uint64_t id = note->named ? note->nonce : (uint64_t)note->st.st_ino;
    if (n > s && strcmp(path + n - s, suffix) == 0)
        n -= s;
    char *right = txm_asprintf("%.*s.%016" PRIx64 "%s", (int)n, path, id, suffix);
    int rc = right ? take_right(right) : ENOMEM;
    /* Its holder may have died during these few calls. */
    if (rc == EEXIST && txm_claim_file_sweep(right))
        rc = take_right(right);
    bool broken = rc == 0 && txm_claim_file_read(path, &now) == 0 && same_claim(&now, note) && unlink(path) == 0;
    if (rc == 0)
        txm_owned_remove(right);
    free(right);
    return broken;
}

/* It is called only for hosts whose processes are visible here; claims.c judges others by their age. */
bool txm_claim_file_sweep(const char *path)
{
    txm_claim_note note;
    return txm_claim_file_read(path, &note) == 0 && note.named && txm_owner_state_of(&note.owner) == TXM_OWNER_DEAD &&
           txm_claim_file_break(path, &note);
}

/* A probe file left by a killed process is swept like any other temporary. */
bool txm_server_clock(const char *folder, struct timespec *now)
{
    char *probe = txm_owned_path(folder, "clock", ".txm-clock");
    int fd = probe ? open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    struct stat st;
    bool known = false;
    if (fd >= 0) {
        known = txm_file_set_time(fd, NULL) == 0 && fstat(fd, &st) == 0;
        if (known)
            *now = st.st_mtim;
        close(fd);
        txm_owned_remove(probe);
    }
    free(probe);
    return known;
}
