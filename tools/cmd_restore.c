/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill restore: makes the tx files of a copied project fresh.
 *
 * In: a manifest, and the folder that has the copies. Out: files with the content that the manifest records have its
 * times. The others are named, and nothing outside of the folder is read or changed, whatever the manifest says.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/content.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/path.h"
#include "base/text.h"
#include "base/whole.h"
#include "tools/files/manifest.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "tools/output/summary.h"

typedef struct restore_args {
    const char *root;
    bool dry_run;
    txm_report_args report;
} restore_args;

#define AT(member) .offset = offsetof(restore_args, member)
static const txm_option options[] = {
    TXM_OPTION(STRING, "root", AT(root), .arg = "DIR", .values = TXM_VALUES_DIR,
               .help = "Folder that has the copies (default: that of the manifest)",
               .more = "Paths in the manifest are relative to it. Nothing outside of it is read or changed: links that "
                       "lead out of it are refused."),
    TXM_OPTION(FLAG, "dry-run", .letter = 'n', AT(dry_run), .help = "Check all files, and change nothing"),
    {0},
};

static const txm_option_group groups[] = {{"Action", options, 0}, TXM_REPORTS_GROUP(restore_args), {0}};

typedef enum found { SAME, RESTORED, WOULD_RESTORE, DIFFERENT, MISSING, REFUSED, FAILED } found;
static const char *const words[] = {"unchanged", "restored", "would restore", "different",
                                    "missing",   "refused",  "failed"};

typedef struct restoring {
    const restore_args *args;
    const txm_manifest *manifest;
    const char *folder; /* its name, and the open folder */
    int root;
    found *state;   /* of each file */
    int64_t *time;  /* that it has now, in seconds */
    size_t rounded; /* files whose file system keeps another time */
    char first_rounded[TXM_TIME_BYTES];
    const char *rounded_path;
} restoring;

static bool is_good(found state)
{
    return state <= WOULD_RESTORE;
}

/* Gives an open file a time; *kept is what the file system made of it. 0 or an errno. */
static int set_time(int fd, int64_t seconds, int64_t *kept)
{
    struct stat st;
    const int rc = txm_file_set_time(fd, &(struct timespec){.tv_sec = (time_t)seconds});
    if (rc || fstat(fd, &st) != 0)
        return rc ? rc : errno;
    *kept = st.st_mtim.tv_sec;
    return 0;
}

/* Gives a file its time. File systems round times, or cannot keep some of them; then the tx file and its image get the
 * same other time, since Cycles only compares them. */
static txm_status give_time(restoring *r, size_t index, int fd, txm_error *err)
{
    const txm_manifest_file *file = &r->manifest->files[index];
    const bool paired = file->of != SIZE_MAX;
    if (paired && !is_good(r->state[file->of])) /* it must not become fresh for another image */
        return TXM_OK;
    const int64_t wanted = paired ? r->time[file->of] : file->time;
    int64_t kept = r->time[index];
    if (kept == wanted)
        return TXM_OK;
    r->state[index] = r->args->dry_run ? WOULD_RESTORE : RESTORED;
    if (r->args->dry_run) {
        r->time[index] = wanted;
        return TXM_OK;
    }
    int rc = set_time(fd, wanted, &kept);
    r->time[index] = kept;
    if (!rc && paired && kept != wanted) {
        const int image = txm_file_open_below(r->root, r->manifest->files[file->of].path);
        rc = image < 0 ? errno : set_time(image, kept, &r->time[file->of]);
        if (image >= 0)
            close(image);
        if (!rc && r->time[file->of] != kept)
            return txm_fail(
                err, TXM_STATUS_UNSUPPORTED,
                "%s: its file system cannot keep the time of the image, nor that of the image its time; put "
                "both on one file system",
                file->path);
    }
    if (rc)
        return rc == EPERM
                   ? txm_fail_errno(err, rc, "%s: cannot set its time; run this as the owner of the file", file->path)
                   : txm_fail_errno(err, rc, "%s: cannot set its time", file->path);
    if (kept != file->time && !r->rounded++) {
        txm_time_text((time_t)kept, r->first_rounded);
        r->rounded_path = file->path;
    }
    return TXM_OK;
}

/* What is wrong with a file, in words; "" if nothing is. */
static txm_status examine(restoring *r, size_t index, char *why, size_t why_bytes, txm_error *err)
{
    const txm_manifest_file *file = &r->manifest->files[index];
    struct stat st;
    uint64_t bytes = 0;
    char key[TXM_CONTENT_KEY_BYTES], head[256];
    *why = 0;
    const int fd = txm_file_open_below(r->root, file->path);
    if (fd < 0 || fstat(fd, &st) != 0) {
        const int rc = errno;
        r->state[index] = rc == ENOENT || rc == ENOTDIR ? MISSING : rc == EXDEV || rc == ELOOP ? REFUSED : FAILED;
        if (r->state[index] == REFUSED)
            snprintf(why, why_bytes, "a link on its path %s",
                     rc == EXDEV ? "leads out of the folder" : "cannot be followed safely on this system");
        else if (r->state[index] == FAILED)
            txm_fail_errno(err, rc, "%s: cannot be opened", file->path);
        if (fd >= 0)
            close(fd);
        return err->status;
    }
    txm_content_key_parse(file->key, &bytes);
    r->time[index] = st.st_mtim.tv_sec;
    if (!S_ISREG(st.st_mode)) {
        r->state[index] = REFUSED;
        snprintf(why, why_bytes, "not a file, but a folder or a device");
    } else if ((uint64_t)st.st_size != bytes) {
        const int64_t n = txm_pread_most(fd, head, sizeof head, 0);
        r->state[index] = DIFFERENT;
        if (n > 0 && txm_is_pointer(head, (size_t)n))
            snprintf(why, why_bytes, "a pointer of Git LFS in place of the file; 'git lfs pull' downloads it");
        else
            snprintf(why, why_bytes, "has %" PRIu64 " bytes, not %" PRIu64, (uint64_t)st.st_size, bytes);
    } else if (txm_content_key_of(fd, file->path, txm_signal_flag(), NULL, NULL, key, err) != TXM_OK) {
        r->state[index] = FAILED;
    } else if (strcmp(key, file->key)) {
        r->state[index] = DIFFERENT;
        snprintf(why, why_bytes, "has other content");
    } else if (st.st_nlink > 1 && st.st_mtim.tv_sec != file->time) {
        r->state[index] = REFUSED;
        snprintf(why, why_bytes, "has other names, hard links, which would get its time as well; copy the file");
    } else if (give_time(r, index, fd, err) != TXM_OK) {
        r->state[index] = FAILED;
    }
    close(fd);
    return err->status;
}

static void report(const restoring *r, size_t index, const char *why, const txm_error *err)
{
    const txm_manifest_file *file = &r->manifest->files[index];
    const found state = r->state[index];
    if (r->args->report.json) {
        cJSON *o = txm_json_new("txmill.restore");
        txm_json_text(o, "path", file->path);
        txm_json_text(o, "role", file->role);
        txm_json_text(o, "state", state == WOULD_RESTORE ? "would-restore" : words[state]);
        txm_json_text_or_null(o, "reason", why);
        if (err->status)
            txm_json_error(o, err);
        txm_json_emit(o);
    }
    if (err->status)
        txm_say(TXM_SAY_ERROR, "%s", err->message);
    else if (!r->args->report.json && (!is_good(state) || (!r->args->report.quiet && r->args->report.verbose)))
        txm_print_line(file->path, is_good(state) ? TXM_GOOD : TXM_BAD, words[state], why);
}

static void restore_all(restoring *r, txm_tally *tally)
{
    txm_summary summary = {.words = {words[SAME], words[RESTORED]}};
    size_t missing = 0;
    for (size_t i = 0; i < r->manifest->count && !txm_signal_caught(); i++) {
        txm_error err = {0};
        char why[160];
        txm_say_progress("checking", i, r->manifest->count);
        if (examine(r, i, why, sizeof why, &err) == TXM_STATUS_CANCELLED)
            break;
        report(r, i, why, &err);
        txm_tally_add(tally, err.status);
        tally->findings |= !is_good(r->state[i]);
        missing += r->state[i] == MISSING;
        txm_summary_add(&summary, words[r->state[i]]);
    }
    if (r->rounded)
        txm_say(
            TXM_SAY_WARNING,
            "%s: its file system keeps the time as %s, and other times than those of the manifest for %zu file%s; tx "
            "files and images have the same, which is what Cycles asks for",
            r->rounded_path, r->first_rounded, r->rounded, r->rounded == 1 ? "" : "s");
    if (missing && missing == r->manifest->count)
        txm_say(TXM_SAY_WARNING, "none of the files is in %s; give --root the folder that has them", r->folder);
    if (!r->args->report.json && !r->args->report.quiet)
        txm_summary_print(&summary, "file");
}

static int run_restore(void *p, const txm_operands *operands)
{
    const restore_args *args = p;
    txm_manifest manifest = {0};
    restoring r = {.args = args, .manifest = &manifest, .root = -1};
    txm_tally tally = {0};
    txm_error err = {0};
    char *folder = NULL;
    txm_report_args_apply(&args->report);
    if (operands->count != 1)
        txm_fail(&err, TXM_STATUS_USAGE, "%s; 'txmill files --manifest FILE SCENE' writes one",
                 operands->count ? "more than one manifest given" : "no manifest given");
    else if (txm_manifest_read(operands->items[0], txm_signal_flag(), &manifest, &err) == TXM_OK) {
        folder = args->root ? txm_strdup(args->root) : txm_path_dir(operands->items[0]);
        r.folder = folder;
        r.root = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        r.state = txm_calloc(manifest.count + 1, sizeof *r.state);
        r.time = txm_calloc(manifest.count + 1, sizeof *r.time);
        if (folder && r.root < 0)
            txm_fail_errno(&err, errno, "%s: cannot open the folder", folder);
        else if (!folder || !r.state || !r.time)
            txm_no_memory(&err, operands->items[0]);
        else
            restore_all(&r, &tally);
    }
    if (r.root >= 0)
        close(r.root);
    free(folder);
    free(r.state);
    free(r.time);
    txm_manifest_free(&manifest);
    return err.status ? txm_finish_failed(&err, operands->count) : txm_finish(&tally);
}

TXM_COMMAND(restore, restore_args, .purpose = "Make the tx files of a copied project fresh, by its manifest",
            .synopsis = "[OPTION...] MANIFEST", .operand_values = TXM_VALUES_FILE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
