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

/* Failures are ignored: files that are left now are swept later, and one that cannot be examined is kept. All these
 * files are hidden. */
void txm_sweep_folder(const char *folder, bool dry_run, txm_swept *swept)
{
    struct stat place, st; /* `place` identifies the folder */
    struct timespec now = {0};
    bool asked = false;
    DIR *dir = stat(folder, &place) == 0 ? opendir(folder) : NULL;
    for (struct dirent *d; dir && (d = readdir(dir));) {
        const kind *k = NULL;
        const size_t n = strlen(d->d_name);
        for (size_t i = 0; d->d_name[0] == '.' && !k && i < sizeof kinds / sizeof *kinds; i++) {
            size_t suffix = strlen(kinds[i].suffix);
            if (n > suffix && strcmp(d->d_name + n - suffix, kinds[i].suffix) == 0)
                k = &kinds[i];
        }
        char *path = k ? txm_path_join(folder, d->d_name) : NULL;
        if (!path || lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
            free(path);
            continue;
        }
        txm_owner_state state = TXM_OWNER_ELSEWHERE;
        txm_claim_note note;
        if (!k->contended)
            state = txm_owned_name_state(d->d_name, k->suffix);
        else if (txm_claim_file_read(path, &note) == 0 && note.named)
            state = txm_owner_state_of(&note.owner);
        bool gone = state == TXM_OWNER_DEAD &&
                    (dry_run || (k->contended ? txm_claim_file_sweep(path) : txm_file_remove(path, &place, &st) == 0));
        if (!gone && state != TXM_OWNER_ALIVE) {
            /* The file server's clock is read only once, and only if the owner of a file is unknown. */
            if (!asked)
                txm_server_clock(folder, &now);
            asked = true;
            gone = now.tv_sec - st.st_mtim.tv_sec > ABANDONED_SECONDS &&
                   (dry_run || txm_file_remove(path, &place, &st) == 0);
        }
        if (gone) {
            swept->files++;
            swept->bytes += (uint64_t)st.st_size;
            if (swept->removed)
                swept->removed(swept->user, path, k->claim, (uint64_t)st.st_size);
        }
        free(path);
    }
    if (dir)
        closedir(dir);
}

void txm_sweep_beside(const char *path)
{
    txm_swept swept = {0};
    char *folder = txm_path_dir(path);
    if (folder)
        txm_sweep_folder(folder, false, &swept);
    free(folder);
}
