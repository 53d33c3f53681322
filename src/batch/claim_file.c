/* SPDX-License-Identifier: Apache-2.0
 * The file of a claim. */
#include "batch/claim_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"

enum { NOTE_BYTES = 512 };

/* In lines, for people who wonder what holds their render up. */
static int print_note(char out[NOTE_BYTES])
{
    const txm_owner self = txm_owner_self();
    char when[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return snprintf(out, NOTE_BYTES,
                    "txmill claim 1\nhost %s\nmachine %08" PRIx32 "\npid %ld\nstart %" PRIu64 "\nnonce %016" PRIx64
                    "\ntime %s\n",
                    self.host, self.machine, self.pid, self.start, txm_random_bits(), when);
}

static bool parse_note(const char *text, txm_claim_note *out)
{
    txm_owner *o = &out->owner;
    return sscanf(text, "txmill claim 1 host %64s machine %" SCNx32 " pid %ld start %" SCNu64 " nonce %" SCNx64,
                  o->host, &o->machine, &o->pid, &o->start, &out->nonce) == 5;
}

/* Opens the claim again and makes sure that it is the one that was written: a process that was stopped just before has
 * lost it to one that found an empty claim. What is there then is the other's. */
static int open_own(const char *path, const char *note, size_t bytes, int *fd)
{
    char there[NOTE_BYTES];
    int f = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (f < 0)
        return errno == ENOENT ? EEXIST : errno;
    if (pread(f, there, bytes, 0) != (ssize_t)bytes || memcmp(there, note, bytes) != 0) {
        close(f);
        return EEXIST;
    }
    *fd = f;
    return 0;
}

int txm_claim_file_make(const char *path, int *fd)
{
    char note[NOTE_BYTES];
    int n = print_note(note), f = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f < 0)
        return errno;
    ssize_t written = write(f, note, (size_t)n);
    int rc = written == n ? 0 : written < 0 ? errno : ENOSPC;
    /* Network file systems send the note, and tell of a full disk, when the file is closed. */
    if (close(f) != 0 && rc == 0 && errno != EINTR)
        rc = errno;
    if (rc)
        unlink(path);
    return rc ? rc : open_own(path, note, (size_t)n, fd);
}

int txm_claim_file_read(const char *path, txm_claim_note *out)
{
    char text[NOTE_BYTES + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return errno;
    txm_claim_note note = {0};
    ssize_t n = -1;
    int rc = fstat(fd, &note.st) != 0 ? errno : 0;
    if (rc == 0 && (n = pread(fd, text, NOTE_BYTES, 0)) < 0)
        rc = errno;
    close(fd);
    if (rc)
        return rc;
    text[n] = 0;
    note.named = parse_note(text, &note);
    if (!note.named)
        note.nonce = 0;
    *out = note;
    return 0;
}

static bool same_claim(const txm_claim_note *a, const txm_claim_note *b)
{
    return a->named == b->named && a->nonce == b->nonce && a->st.st_ino == b->st.st_ino && a->st.st_dev == b->st.st_dev;
}

/* Breaking needs a right of its own, bound to the one claim that is to go: two who both found it stale would otherwise
 * remove, one after the other, the stale claim and the new one in its place. Who holds the file
 * `<claim>.<id>.txm-break` looks again, and only the claim that the id is of is removed. */
bool txm_claim_file_break(const char *path, const txm_claim_note *note)
{
    char *right =
        txm_asprintf("%s.%016" PRIx64 ".txm-break", path, note->named ? note->nonce : (uint64_t)note->st.st_ino);
    txm_claim_note now;
    bool broken = false;
    int fd = -1, rc = right ? txm_claim_file_make(right, &fd) : ENOMEM;
    if (rc == 0) {
        if (txm_claim_file_read(path, &now) == 0 && same_claim(&now, note))
            broken = unlink(path) == 0;
        close(fd);
        unlink(right);
    } else if (rc == EEXIST && txm_claim_file_read(right, &now) == 0 && now.named &&
               txm_owner_state_of(&now.owner) == TXM_OWNER_DEAD) {
        /* Its holder died in the middle of these few calls. */
        unlink(right);
    }
    free(right);
    return broken;
}
