/* SPDX-License-Identifier: Apache-2.0
 * Sweeping up behind runs that were killed. */
#include "batch/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/claim_file.h"
#include "batch/claims.h"
#include "core/mem.h"
#include "core/path.h"

enum { ABANDONED_SECONDS = 24 * 60 * 60 };

typedef struct sweep {
    const char *folder;
    bool dry_run;
    bool asked;          /* the clock was */
    struct timespec now; /* of the file server; 0: cannot be told */
    txm_swept *swept;
} sweep;

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);
    return n > s && strcmp(name + n - s, suffix) == 0;
}

/* The present by the clock that times the files here. Asked only when a file's owner cannot be. */
static time_t server_time(sweep *s)
{
    if (!s->asked) {
        char *probe = txm_asprintf("%s/.sweep.%016llx.txm-clock", s->folder, (unsigned long long)txm_random_bits());
        int fd = probe ? open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
        struct stat st;
        if (fd >= 0 && futimens(fd, NULL) == 0 && fstat(fd, &st) == 0)
            s->now = st.st_mtim;
        if (fd >= 0) {
            close(fd);
            unlink(probe);
        }
        free(probe);
        s->asked = true;
    }
    return s->now.tv_sec;
}

/* The owner that a temporary's name ends with: `.<name>.<owner>-<16 hex digits>.txm-tmp`. The names of files and hosts
 * may hold dots and dashes, so every dot may be where the owner begins. Only an owner of this very host and kernel can
 * be known to be dead: a wrong guess is somebody elsewhere. */
static txm_owner_state state_by_name(const char *name)
{
    static const char suffix[] = ".txm-tmp";
    size_t n = strlen(name) - (sizeof suffix - 1);
    txm_owner owner;
    if (n < 18 || name[n - 17] != '-' || strspn(name + n - 16, "0123456789abcdef") < 16)
        return TXM_OWNER_ELSEWHERE;
    const char *end = name + n - 17;
    for (const char *p = name; p < end; p++) {
        if (*p != '.' || txm_owner_parse(p + 1, (size_t)(end - p - 1), &owner) != 0)
            continue;
        txm_owner_state state = txm_owner_state_of(&owner);
        if (state != TXM_OWNER_ELSEWHERE)
            return state;
    }
    return TXM_OWNER_ELSEWHERE;
}

static txm_owner_state state_by_content(const char *path)
{
    txm_claim_note note;
    if (txm_claim_file_read(path, &note) != 0 || !note.named)
        return TXM_OWNER_ELSEWHERE;
    return txm_owner_state_of(&note.owner);
}

static void look_at(sweep *s, const char *name)
{
    bool temporary = ends_with(name, ".txm-tmp"), claim = ends_with(name, ".txm-claim");
    bool helper = ends_with(name, ".txm-break") || ends_with(name, ".txm-clock");
    struct stat st;
    if (name[0] != '.' || !(temporary || claim || helper))
        return;
    char *path = txm_path_join(s->folder, name);
    if (path && lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        txm_owner_state state = temporary ? state_by_name(name) : state_by_content(path);
        bool abandoned = state == TXM_OWNER_ELSEWHERE && server_time(s) - st.st_mtim.tv_sec > ABANDONED_SECONDS;
        bool gone = state == TXM_OWNER_DEAD || abandoned;
        /* A claim of a dead process may be taken over this very moment: that is settled where claims are broken. */
        if (gone && !s->dry_run)
            gone = claim && state == TXM_OWNER_DEAD ? txm_claim_sweep(path) : unlink(path) == 0;
        if (gone) {
            s->swept->files++;
            s->swept->bytes += (uint64_t)st.st_size;
            if (s->swept->removed)
                s->swept->removed(s->swept->user, path, claim, (uint64_t)st.st_size);
        }
    }
    free(path);
}

void txm_sweep_folder(const char *folder, int dry_run, txm_swept *swept)
{
    sweep s = {.folder = folder, .dry_run = dry_run != 0, .swept = swept};
    DIR *dir = opendir(folder);
    struct dirent *d;
    if (!dir)
        return;
    while ((d = readdir(dir)))
        look_at(&s, d->d_name);
    closedir(dir);
}
