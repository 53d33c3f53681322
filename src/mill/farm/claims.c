/* SPDX-License-Identifier: Apache-2.0
 *
 * Taking and renewing claims, and detecting stale ones. One thread renews all claims of the process by updating the
 * times of their files. For claims of other processes, the time at which each was first seen unchanged is stored: one
 * whose file has not changed for long enough, by this host's monotonic clock, is stale, so that differences between
 * the clocks of hosts do not matter. claim_file.c accesses the file system. A file server may take long to answer, so
 * the lock is never held meanwhile: no claim waits for another one's server.
 */
#include "mill/farm/claims.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/clock.h"
#include "base/os/files.h"
#include "base/path.h"
#include "mill/write/claim_file.h"

const txm_claim_times txm_claim_times_default = {5, 60, 15, 3};

/* A claim that this process holds. */
struct txm_claim {
    txm_claim *next;
    txm_held_claim file; /* open while the claim is held: renewing by name could change another's claim */
    int place;           /* in the list of the process */
    unsigned round;      /* the round of renewals that it was last part of */
    bool renewing;       /* the server has not answered yet: the claim must not be dropped */
};

/* Claims that were dropped while a handler of signals may read them; the process is about to end. */
static _Atomic(txm_claim *) unfreed;

/* A claim of another process: its state, and since when it has not changed. */
typedef struct watched {
    struct watched *next;
    char *path;
    uint64_t nonce;
    ino_t inode;
    struct timespec mtime; /* the file's time */
    double since;          /* when it was first seen, by this host's monotonic clock; 0: not seen yet */
    bool old;              /* when first seen in this state, it was older than `stale` by the file server's times */
} watched;

struct txm_claims {
    txm_claim_times times;
    pthread_mutex_t lock;   /* guards all members below */
    pthread_cond_t changed; /* `end` was set, or a renewal is over */
    unsigned round;
    bool end, threaded;
    pthread_t thread;
    txm_claim *held;
    watched *watching;
};

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
    return (double)(b->tv_sec - a->tv_sec) + 1e-9 * (double)(b->tv_nsec - a->tv_nsec);
}

/* Renews all of the process's claims in one pass. On a slow file system renewals are late but never pile up. */
static void *renew(void *arg)
{
    txm_claim *held;
    txm_claims *c = arg;
    pthread_mutex_lock(&c->lock);
    while (!c->end) {
        uint64_t at = txm_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(c->times.renew * 1e9);
        const struct timespec until = {(time_t)(at / 1000000000), (long)(at % 1000000000)};
        while (!c->end && pthread_cond_timedwait(&c->changed, &c->lock, &until) != ETIMEDOUT)
            continue;
        c->round++;
        for (held = c->held; !c->end && held; held = c->held) {
            while (held && held->round == c->round)
                held = held->next;
            if (!held)
                break;
            held->round = c->round;
            held->renewing = true;
            pthread_mutex_unlock(&c->lock);
            /* NULL means the file server's current time. If a renewal fails, the next may succeed. */
            txm_file_set_time(held->file.fd, NULL);
            pthread_mutex_lock(&c->lock);
            held->renewing = false;
            pthread_cond_broadcast(&c->changed);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

txm_claims *txm_claims_new(const txm_claim_times *times)
{
    txm_claims *c = txm_calloc(1, sizeof *c);
    pthread_condattr_t attributes;
    if (!c) {
        errno = ENOMEM;
        return NULL;
    }
    c->times = times ? *times : txm_claim_times_default;
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    int rc = pthread_create(&c->thread, NULL, renew, c);
    c->threaded = rc == 0;
    if (rc != 0) {
        txm_claims_free(&c);
        errno = rc;
    }
    return c;
}

/* Claims that are still held are dropped, so that other processes need not wait until they are stale. */
void txm_claims_free(txm_claims **claims)
{
    txm_claims *c = claims ? *claims : NULL;
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->end = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (c->threaded)
        pthread_join(c->thread, NULL);
    while (c->held) {
        txm_claim *held = c->held;
        txm_claims_drop(c, &held);
    }
    while (c->watching) {
        watched *next = c->watching->next;
        free(c->watching->path);
        free(c->watching);
        c->watching = next;
    }
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
    *claims = NULL;
}

/* The lock is held. NULL if there is none. */
static watched *find_record(const txm_claims *c, const char *path)
{
    watched *w = c->watching;
    while (w && strcmp(w->path, path) != 0)
        w = w->next;
    return w;
}

/* Whether the record is of this state of the claim. */
static bool is_unchanged(const watched *w, const txm_claim_note *note)
{
    return w->since != 0 && w->nonce == note->nonce && w->inode == note->st.st_ino &&
           seconds_between(&w->mtime, &note->st.st_mtim) == 0;
}

/* Whether a claim has not changed for long enough, by this host's clock. */
static bool unchanged_for_long(txm_claims *c, const char *path, const txm_claim_note *note)
{
    pthread_mutex_lock(&c->lock);
    const txm_claim_times times = c->times;
    double now = txm_clock_seconds();
    watched *w = find_record(c, path), *new = w ? NULL : txm_calloc(1, sizeof *new);
    if (new && (new->path = txm_strdup(path))) {
        new->next = c->watching;
        c->watching = w = new;
    } else {
        free(new); /* without a record, the claim is taken for a valid one */
    }
    bool stale = false, fresh = w && !is_unchanged(w, note);
    if (fresh) {
        *w = (watched){w->next, w->path, note->nonce, note->st.st_ino, note->st.st_mtim, now, false};
    } else if (w) {
        double enough = !note->named ? times.unnamed : w->old ? times.confirm : times.stale;
        stale = now - w->since >= enough;
    }
    pthread_mutex_unlock(&c->lock);
    if (!fresh)
        return stale;
    struct timespec server;
    char *dir = txm_path_dir(path);
    const bool old = dir && txm_server_clock(dir, &server) && seconds_between(&note->st.st_mtim, &server) > times.stale;
    free(dir);
    pthread_mutex_lock(&c->lock);
    w = find_record(c, path);
    if (w && is_unchanged(w, note))
        w->old = old;
    pthread_mutex_unlock(&c->lock);
    return false;
}

/* Judges a claim that exists. OK: it was removed, try again. LOCKED: it is valid. */
static txm_status judge_claim(txm_claims *c, const char *path, const char *target, txm_error *err)
{
    txm_claim_note note;
    int rc = txm_claim_file_read(path, &note);
    if (rc == ENOENT || rc == ESTALE)
        return TXM_OK;
    if (rc)
        return txm_fail_errno(err, rc, "%s: cannot read the claim on it, %s", target, path);
    bool dead = note.named && txm_owner_state_of(&note.owner) == TXM_OWNER_DEAD;
    if ((dead || unchanged_for_long(c, path, &note)) && txm_claim_file_break(path, &note))
        return TXM_OK;
    if (!note.named)
        return txm_fail(err, TXM_STATUS_LOCKED, "%s: being made by another process", target);
    return txm_fail(err, TXM_STATUS_LOCKED, "%s: being made by process %ld on %s", target, note.owner.pid,
                    note.owner.host);
}

/* The claim is a hidden file beside the target. Long names are cut, and a digest keeps them distinct. */
char *txm_claim_path(const char *target)
{
    static const char suffix[] = ".txm-claim";
    /* Leaves room for the suffix that breaking a claim appends, within the 255 bytes of a name. */
    enum { LONGEST = 200 };
    const char *base = txm_path_base(target);
    char *dir = txm_path_dir(target), *name;
    if (strlen(base) <= LONGEST)
        name = txm_asprintf(".%s%s", base, suffix);
    else
        name = txm_asprintf(".%.*s-%016llx%s", (int)txm_path_cut(base, LONGEST - 17), base,
                            (unsigned long long)txm_xxh64(base, strlen(base), 0), suffix);
    char *path = dir && name ? txm_path_join(dir, name) : NULL;
    free(dir);
    free(name);
    return path;
}

static txm_status make_file(txm_claims *c, const char *path, const char *target, int *fd, txm_error *err)
{
    enum { TRIES = 16 };
    int rc = 0;
    for (int i = 0; i < TRIES; i++) {
        rc = txm_claim_file_make(path, fd);
        if (rc == 0)
            return TXM_OK;
        if (rc == ENOENT || rc == ELOOP || rc == ENOTDIR) {
            /* The folder does not exist yet, was removed meanwhile, or is a dangling link; or a file has its name. */
            txm_error own = {0};
            char *dir = txm_path_dir(target);
            if (!dir || txm_folders_make(dir, &own) != TXM_OK) {
                free(dir);
                txm_error_advise(&own, "choose another folder with --cache-dir");
                return own.status ? txm_fail_as(err, &own) : txm_no_memory(err, target);
            }
            free(dir);
        } else if (rc != EEXIST) {
            const bool denied = rc == EACCES || rc == EPERM;
            txm_error own = {0};
            txm_fail_errno(&own, rc, "%s: %s", target,
                           denied || rc == EROFS ? "cannot be written" : "cannot be claimed");
            txm_error_advise(&own, "%s",
                             denied ? "its folder is read-only for this user: change that, or choose another with "
                                      "--cache-dir or -o"
                             : rc == EROFS ? "choose another folder with --cache-dir or -o"
                             : rc == ENOSPC || rc == EDQUOT
                                 ? "free space on that file system or choose another folder with --cache-dir"
                                 : "use --no-claims, or choose another folder with --cache-dir");
            return txm_fail_as(err, &own);
        } else {
            txm_status judged = judge_claim(c, path, target, err);
            if (judged != TXM_OK)
                return judged;
        }
    }
    if (rc == ENOENT)
        return txm_fail_errno(err, rc, "%s: cannot claim it, although its folder exists", target);
    return txm_fail(err, TXM_STATUS_LOCKED, "%s: other processes keep claiming it", target);
}

txm_status txm_claims_take(txm_claims *claims, const char *target, txm_claim **out, txm_error *err)
{
    txm_claim *claim = txm_calloc(1, sizeof *claim);
    if (!claim || !(claim->file.path = txm_claim_path(target))) {
        free(claim);
        return txm_no_memory(err, target);
    }
    txm_status status = make_file(claims, claim->file.path, target, &claim->file.fd, err);
    if (status != TXM_OK) {
        free(claim->file.path);
        free(claim);
        return status;
    }
    claim->place = txm_claim_file_list(&claim->file);
    pthread_mutex_lock(&claims->lock);
    for (watched **w = &claims->watching; *w; w = &(*w)->next) {
        if (strcmp((*w)->path, claim->file.path) == 0) {
            watched *gone = *w;
            *w = gone->next;
            free(gone->path);
            free(gone);
            break;
        }
    }
    claim->next = claims->held;
    claims->held = claim;
    pthread_mutex_unlock(&claims->lock);
    *out = claim;
    return TXM_OK;
}

void txm_claims_drop(txm_claims *claims, txm_claim **claim)
{
    txm_claim *gone = claim ? *claim : NULL;
    if (!gone)
        return;
    pthread_mutex_lock(&claims->lock);
    while (gone->renewing)
        pthread_cond_wait(&claims->changed, &claims->lock);
    txm_claim **p = &claims->held;
    while (*p && *p != gone)
        p = &(*p)->next;
    if (*p)
        *p = gone->next;
    pthread_mutex_unlock(&claims->lock);
    const bool unused = txm_claim_file_unlist(gone->place);
    txm_claim_file_remove(gone->file.path, gone->file.fd);
    close(gone->file.fd);
    if (unused) {
        free(gone->file.path);
        free(gone);
    } else {
        gone->next = atomic_load(&unfreed);
        while (!atomic_compare_exchange_weak(&unfreed, &gone->next, gone))
            continue;
    }
    *claim = NULL;
}
