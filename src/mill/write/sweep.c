/* SPDX-License-Identifier: Apache-2.0
 *
 * Sweeping up after runs that were killed.
 *
 * In: a folder of tx files. What carries the name of a temporary is removed when its owner is known to be dead, or,
 * where that cannot be known, when it is a day old by the file server's clock. Nothing else is touched.
 */
#include "txmill/out_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mill/write/claim_file.h"
#include "tile/base/owner.h"
#include "tile/base/path.h"

enum { ABANDONED_SECONDS = 24 * 60 * 60 };

/* What is swept, by the end of its name. Files of one process tell their owner in their names; those that many want to
 * make under one name tell it inside, and may be taken over this very moment: that is settled where they are broken. */
typedef struct kind {
    const char *suffix;
    bool contended, claim;
} kind;
static const kind kinds[] = {
    {".txm-tmp", false, false}, {".txm-clock", false, false}, {".txm-break", true, false}, {".txm-claim", true, true}};

typedef struct sweep {
    const char *folder;
    bool dry_run;
    bool asked;          /* the clock was */
    struct timespec now; /* of the file server; 0: unknown */
    txm_swept *swept;
    struct stat place; /* which folder that is */
} sweep;

/* By suffix; every kind is hidden, so a name without a dot in front is none. */
static const kind *kind_of(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; name[0] == '.' && i < sizeof kinds / sizeof *kinds; i++) {
        size_t s = strlen(kinds[i].suffix);
        if (n > s && strcmp(name + n - s, kinds[i].suffix) == 0)
            return &kinds[i];
    }
    return NULL;
}

/* The age by the clock of the file server, which is read once, and only if the owner of a file is unknown. */
static bool is_old(sweep *s, const struct stat *st)
{
    if (!s->asked)
        txm_server_clock(s->folder, &s->now);
    s->asked = true;
    return s->now.tv_sec - st->st_mtim.tv_sec > ABANDONED_SECONDS;
}

/* Claims say in their note whose they are. */
static txm_owner_state state_by_content(const char *path)
{
    txm_claim_note note;
    if (txm_claim_file_read(path, &note) != 0 || !note.named)
        return TXM_OWNER_ELSEWHERE;
    return txm_owner_state_of(&note.owner);
}

/* Whether the file is gone, or would be. */
static bool sweep_file(sweep *s, const kind *k, const char *path, const char *name, const struct stat *st)
{
    txm_owner_state state = k->contended ? state_by_content(path) : txm_owned_name_state(name, k->suffix);
    if (state == TXM_OWNER_ALIVE)
        return false;
    if (state == TXM_OWNER_DEAD &&
        (s->dry_run || (k->contended ? txm_claim_file_sweep(path) : txm_file_remove(path, &s->place, st) == 0)))
        return true;
    return is_old(s, st) && (s->dry_run || txm_file_remove(path, &s->place, st) == 0);
}

/* One entry; what cannot be examined is left. */
static void look_at_leftover(sweep *s, const char *name)
{
    const kind *k = kind_of(name);
    struct stat st;
    char *path = k ? txm_path_join(s->folder, name) : NULL;
    if (path && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && sweep_file(s, k, path, name, &st)) {
        s->swept->files++;
        s->swept->bytes += (uint64_t)st.st_size;
        if (s->swept->removed)
            s->swept->removed(s->swept->user, path, k->claim, (uint64_t)st.st_size);
    }
    free(path);
}

/* Failures do not matter: what is left today is swept tomorrow. */
void txm_sweep_folder(const char *folder, bool dry_run, txm_swept *swept)
{
    sweep s = {.folder = folder, .dry_run = dry_run != 0, .swept = swept};
    if (stat(folder, &s.place) != 0)
        return;
    DIR *dir = opendir(folder);
    struct dirent *d;
    if (!dir)
        return;
    while ((d = readdir(dir)))
        look_at_leftover(&s, d->d_name);
    closedir(dir);
}

/* Removes the temporaries of earlier runs that were killed. */
void txm_sweep_beside(const char *path)
{
    txm_swept swept = {0};
    char *folder = txm_path_dir(path);
    if (folder)
        txm_sweep_folder(folder, false, &swept);
    free(folder);
}
