/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules:
 * - After a success everything is printed and written as without the fault.
 * - A failure has exit code 4 if the command may succeed a moment later, otherwise 3 or 4; after SIGTERM it is 143.
 *   Standard error names a file and the cause, and its last line is TXMILL-ERROR.
 * - A file under a name that a user knows is the old one or the new one, complete.
 * - A process that ended by itself leaves no other files, and after a clean run none are left at all.
 */
#include "judge.h"

#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

typedef struct trial {
    const stage *stage;
    const fault *fault;
    const run_result *result;
    char *out, *err;
    tree now;
    FILE *wrong;
} trial;

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool matches(char *const *globs, const char *name)
{
    for (; *globs; globs++)
        if (fnmatch(*globs, name, 0) == 0)
            return true;
    return false;
}

/* Returns whether the fault made the command see an input that could just as well have been there: a file from the
 * beginning that is gone now, or an empty text. */
static bool has_other_task(const trial *t)
{
    const stage *g = t->stage;
    const char *where = base(t->result->where);
    bool input = false;
    for (size_t i = 0; i < g->before.count; i++)
        input |= strcmp(where, base(g->before.files[i].name)) == 0;
    return (g->scenario->walks && t->fault->error == ENOENT && input) ||
           (t->fault->kind == FAULT_ZERO && matches(g->scenario->texts, where));
}

static bool as_in(const stage *g, const tree_file *f, const tree *t)
{
    const tree_file *then = tree_find(t, f->name);
    return then && (tree_file_equal(f, then) || matches(g->scenario->varies, f->name));
}

static bool known(const stage *g, const char *name)
{
    return tree_find(&g->before, name) || tree_find(&g->after, name) || tree_find(&g->after_again, name);
}

/* Files are old or new, nothing in between, and no old file is missing that should have stayed. If an image
 * disappeared, files made from it may be gone, too. */
static void check_names(trial *t)
{
    const stage *g = t->stage;
    for (size_t i = 0; i < t->now.count; i++) {
        const tree_file *f = &t->now.files[i];
        if (known(g, f->name) && !as_in(g, f, &g->before) && !as_in(g, f, &g->after) && !as_in(g, f, &g->after_again))
            fprintf(t->wrong, "neither the old nor the new file: %s (%zu bytes)\n", f->name, f->size);
    }
    for (size_t i = 0; i < g->before.count && !has_other_task(t); i++) {
        const char *name = g->before.files[i].name;
        if (tree_find(&g->after, name) && !tree_find(&t->now, name))
            fprintf(t->wrong, "lost: %s\n", name);
    }
}

/* Returns whether the folder is as after a run without a fault. `missing`: files that need not be there; `more`: there
 * may be others. */
static bool same_folder(const stage *g, const tree *now, const tree *wanted, char *const *missing, bool more)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const tree_file *f = tree_find(now, wanted->files[i].name);
        if (!f ? !matches(missing, wanted->files[i].name) : !as_in(g, f, wanted))
            return false;
    }
    for (size_t i = 0; i < now->count && !more; i++)
        if (!tree_find(wanted, now->files[i].name))
            return false;
    return true;
}

static void list_differences(trial *t, const tree *wanted, const char *when)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const tree_file *f = tree_find(&t->now, wanted->files[i].name);
        if (!f || !as_in(t->stage, f, wanted))
            fprintf(t->wrong, "%s %s: %s\n", f ? "differs" : "missing", when, wanted->files[i].name);
    }
    for (size_t i = 0; i < t->now.count; i++)
        if (!tree_find(wanted, t->now.files[i].name))
            fprintf(t->wrong, "too much %s: %s\n", when, t->now.files[i].name);
}

static bool says(const trial *t, const char *word)
{
    return strcasestr(t->err, word) != NULL;
}

static bool names_one_of(const trial *t, const tree *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (says(t, base(files->files[i].name)))
            return true;
    return false;
}

static bool names_a_file(const trial *t)
{
    const stage *g = t->stage;
    return names_one_of(t, &g->before) || names_one_of(t, &g->after) || names_one_of(t, &t->now) ||
           (*base(t->result->where) && says(t, base(t->result->where))) || says(t, g->folder) ||
           says(t, "standard output") || says(t, "error: .: "); /* the folder itself */
}

/* The C library makes these calls to get memory and threads, and reports EAGAIN if either is lacking. */
static bool is_about_memory(const trial *t)
{
    static const char *const calls[] = {"mmap", "mremap", "brk", "clone", "clone3"};
    const fault *f = t->fault;
    if (fault_is_allocation(f) || f->error == ENOMEM)
        return true;
    for (size_t i = 0; f->call >= 0 && i < sizeof calls / sizeof *calls; i++)
        if (strcmp(fault_calls[f->call].name, calls[i]) == 0 && !*t->result->where)
            return true;
    return false;
}

static bool tells_cause(const trial *t)
{
    const fault *f = t->fault;
    if (is_about_memory(t))
        return says(t, "memory") || says(t, strerror(EAGAIN));
    /* Output that stdio could not write may have been lost long before it reports that. */
    if (f->error == 0 || says(t, "standard output: writing failed"))
        return true;
    if (f->error == ENOENT)
        return says(t, "no such file") || says(t, "not found") || says(t, "not exist") || says(t, "disappeared") ||
               says(t, "there is no ") || says(t, "neither a folder") || says(t, " is missing");
    return says(t, strerror(f->error));
}

static void check_last_line(trial *t, int rc)
{
    char wanted[64];
    size_t n = strlen(t->err);
    while (n > 0 && t->err[n - 1] == '\n')
        n--;
    while (n > 0 && t->err[n - 1] != '\n')
        n--;
    snprintf(wanted, sizeof wanted, "TXMILL-ERROR code=%d ", rc);
    if (strncmp(t->err + n, wanted, strlen(wanted)) != 0)
        fprintf(t->wrong, "the last line is not \"%s...\"\n", wanted);
}

/* A process that is killed, cannot remove a file permanently, or never learns that a file was made, may leave files. */
static bool may_leave(const trial *t)
{
    const fault *f = t->fault;
    const char *call = f->call >= 0 ? fault_calls[f->call].name : "";
    return f->kind == FAULT_KILL || t->result->hung || (f->kind == FAULT_ERROR_ON && strncmp(call, "unlink", 6) == 0) ||
           (f->kind == FAULT_ERROR_LATE && (strcmp(call, "openat") == 0 || strncmp(call, "link", 4) == 0));
}

static bool complete(const trial *t, int rc)
{
    const stage *g = t->stage;
    const fault *f = t->fault;
    if (rc == g->rc && has_other_task(t))
        return true;
    /* An image that is missing, permanently unreadable or empty is listed as such. */
    if (g->scenario->findings && rc == g->rc && !fault_is_passing(f) && (f->error || f->kind == FAULT_ZERO))
        return true;
    bool printed = strcmp(t->out, g->printed) == 0;
    for (char *const *text = g->scenario->detour; *text; text++)
        printed |= strstr(t->out, *text) || strstr(t->err, *text);
    return rc == g->rc && printed && same_folder(g, &t->now, &g->after, g->scenario->optional, may_leave(t));
}

static void check_failure(trial *t, int rc)
{
    const fault *f = t->fault;
    bool fits = rc == 3 || rc == 4 || (rc == 2 && has_other_task(t)); /* 2: an empty list, an empty folder */
    if (rc == 5)
        fits = t->stage->scenario->findings && !fault_is_passing(f) && !fault_is_allocation(f);
    else if (fault_is_allocation(f) || fault_is_passing(f))
        fits = rc == 4;
    if (!fits)
        fprintf(t->wrong, "exit code %d does not fit\n", rc);
    if (rc == 5)
        return;
    check_last_line(t, rc);
    if (has_other_task(t))
        return;
    /* Without memory, the name of a file may be missing from the message. */
    if (!is_about_memory(t) && !names_a_file(t))
        fprintf(t->wrong, "the message names no file\n");
    if (!tells_cause(t))
        fprintf(t->wrong, "the message does not tell the cause\n");
}

static void check_end(trial *t)
{
    const stage *g = t->stage;
    int status = t->result->status, rc = WEXITSTATUS(status);
    if (t->result->hung)
        fprintf(t->wrong, "hung for more than %d s\n", FAULT_SECONDS);
    if (t->result->peers_failed)
        fprintf(t->wrong, "another process that ran beside it failed\n");
    if (t->result->hung || (WIFSIGNALED(status) && t->fault->kind == FAULT_KILL))
        return;
    if (WIFSIGNALED(status)) {
        fprintf(t->wrong, "ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
        return;
    }
    if (t->fault->kind == FAULT_TERM && rc == 143) {
        check_last_line(t, rc);
    } else if (rc != g->rc) {
        check_failure(t, rc);
    } else if (t->result->given_up) {
        if (!tells_cause(t) || (!says(t, "error: ") && !says(t, "warning: ")))
            fprintf(t->wrong, "what it was to make is not there, and the message does not tell the cause\n");
    } else if (!g->scenario->peers && !g->scenario->until && !complete(t, rc)) {
        fprintf(t->wrong, "exit code %d, but the result is not complete\n", rc);
        list_differences(t, &g->after, "after it");
        if (strcmp(t->out, g->printed) != 0)
            fprintf(t->wrong, "it printed other things\n");
    }
}

/* States of the folder from which a run without a fault is known to restore everything: the prepared one, and those
 * that were tried before. */
enum { MENDED = 64 };
static struct {
    const stage *stage;
    tree trees[MENDED];
    unsigned count;
} mended;

/* A run without a fault must restore everything. */
static void check_again(const surroundings *around, trial *t)
{
    const stage *g = t->stage;
    bool mends = tree_same(&t->now, &g->before);
    for (unsigned i = 0; !mends && mended.stage == g && i < mended.count; i++)
        mends = tree_same(&t->now, &mended.trees[i]);
    if (mends)
        return;
    tree found = tree_copy(&t->now);
    long mark = ftell(t->wrong);
    const fault no_fault = {.kind = FAULT_NONE, .call = -1};
    char *none[] = {NULL};
    const run_result again = stage_run(around, g, &no_fault, true, false);
    tree_free(&t->now);
    t->now = tree_read(g->folder);
    if (!WIFEXITED(again.status) || (WEXITSTATUS(again.status) != g->rc_again && WEXITSTATUS(again.status) != g->rc)) {
        char *said = read_text(g->err);
        fprintf(t->wrong, "the clean run afterwards ended with status %#x: %s\n", again.status, said);
        free(said);
    }
    if (!same_folder(g, &t->now, &g->after, none, false) && !same_folder(g, &t->now, &g->after_again, none, false))
        list_differences(t, &g->after_again, "after a clean run");
    for (; mended.stage != g && mended.count > 0; mended.count--)
        tree_free(&mended.trees[mended.count - 1]);
    mended.stage = g;
    if (ftell(t->wrong) == mark && mended.count < MENDED)
        mended.trees[mended.count++] = found;
    else
        tree_free(&found);
}

char *judge(const surroundings *around, const stage *g, const fault *f, const run_result *result)
{
    char *text = NULL;
    size_t size = 0;
    trial t = {.stage = g,
               .fault = f,
               .result = result,
               .out = read_text(g->out),
               .err = read_text(g->err),
               .now = tree_read(g->folder),
               .wrong = open_memstream(&text, &size)};
    if (!t.wrong)
        err(2, "memory");
    make_comparable(t.out);
    check_end(&t);
    check_names(&t);
    /* If the input differs, the output may differ, but no file is left that only txmill knows. */
    for (size_t i = 0; !may_leave(&t) && i < t.now.count; i++) {
        const char *name = t.now.files[i].name;
        if (!known(g, name) && (*base(name) == '.' || !has_other_task(&t)))
            fprintf(t.wrong, "left by a process that ended by itself: %s\n", name);
    }
    if (g->scenario->peers && !result->peers_failed && !same_folder(g, &t.now, &g->after, g->scenario->optional, true))
        list_differences(&t, &g->after, "after the others had ended");
    if (!has_other_task(&t) && !same_folder(g, &t.now, &g->after, g->scenario->optional, false))
        check_again(around, &t);
    fclose(t.wrong);
    tree_free(&t.now);
    free(t.out);
    free(t.err);
    return text;
}
