/* SPDX-License-Identifier: Apache-2.0
 *
 * Cleans up after runs that were killed.
 *
 * In a folder of tx files, files with the name of a temporary are removed if their owner is known to be dead or, if
 * that cannot be determined, when they are a day old by the file server's clock. No other file is touched.
 */
#include "txmill/out_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/owner.h"
#include "base/path.h"
#include "mill/write/claim_file.h"

enum { ABANDONED_SECONDS = 24 * 60 * 60 };

/* A kind of file to sweep, by the end of its name. Files of one process have their owner in the name. Files that
 * several processes try to create under one name have it in their content, and may be taken over at any moment, which
 * is resolved when they are broken. */
typedef struct kind {
    const char *suffix;
    bool contended, claim;
} kind;
static const kind kinds[] = {
    {".txm-tmp", false, false}, {".txm-clock", false, false}, {".txm-break", true, false}, {".txm-claim", true, true}};

typedef struct sweep {
    const char *folder;
    bool dry_run;
    bool asked;          /* the clock was read */
    struct timespec now; /* the file server's time; 0: unknown */
    txm_swept *swept;
    struct stat place; /* identifies the folder */
} sweep;

/* Looks up the suffix. All these files are hidden, so a name that does not begin with a dot has no kind. */
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

/* The age by the file server's clock, which is read only once, and only if the owner of a file is unknown. */
static bool is_old(sweep *s, const struct stat *st)
{
    if (!s->asked)
        txm_server_clock(s->folder, &s->now);
    s->asked = true;
    return s->now.tv_sec - st->st_mtim.tv_sec > ABANDONED_SECONDS;
}

/* The note of a claim names its owner. */
static txm_owner_state state_by_content(const char *path)
{
    txm_claim_note note;
    if (txm_claim_file_read(path, &note) != 0 || !note.named)
        return TXM_OWNER_ELSEWHERE;
    return txm_owner_state_of(&note.owner);
}

/* Whether the file was removed, or would be in a dry run. */
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

/* Handles one entry; one that cannot be examined is kept. */
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

/* Failures are ignored: files that are left now are swept later. */
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
