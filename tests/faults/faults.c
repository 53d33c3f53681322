/* SPDX-License-Identifier: Apache-2.0
 *
 * make check-faults: runs txmill many times, each time with one fault, and judges how it ends.
 *
 *     faults [OPTION...]
 *       --build DIR       folder with txmill and inject.so (default: build)
 *       --scenarios FILE  (default: tests/faults/scenarios)
 *       --only GLOB       runs only these scenarios, such as "make-*" or "@(gc|diff)"
 *       --faults GLOB     tries only these faults, such as "openat:*:EIO"
 *       --seconds N       stops after about this time, with some cases of as many scenarios as possible;
 *                         0: tries all (default: 60)
 *       --seed N          selects the cases (default: a new seed each time, which is printed)
 *       --jobs N          runs at a time (default: 2)
 *       --work DIR        folder for scratch files (default: $TMPDIR, or /tmp)
 *       --table FILE      writes the results into the table between the marks in this file after each scenario;
 *                         rows of other scenarios stay
 *       --replay ID       runs one case, as printed with a failure, and shows the stack where the fault struck
 */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "judge.h"

enum { WORKERS = 32 };

typedef struct options {
    const char *build, *scenarios, *only, *faults, *work, *table, *replay;
    double seconds;
    uint64_t seed;
    unsigned jobs;
} options;

typedef struct row {
    const scenario *scenario;
    bool known; /* it was run now, or when the table was written */
    bool ours;
    unsigned calls;
    uint64_t allocations;
    score scores[GROUPS];
} row;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef enum outcome { PASSED, MISSED, FAILED } outcome;

static outcome try_case(const surroundings *around, const stage *g, const fault *f, FILE *report)
{
    char text[FAULT_TEXT];
    tree_restore(&g->before, g->folder);
    const run_result result = stage_run(around, g, f, false, false);
    char *said = read_text(g->err), *wrong = judge(around, g, f, &result);
    outcome o = *wrong ? FAILED : result.struck ? PASSED : MISSED;
    if (o == FAILED) {
        fault_print(f, text);
        fprintf(report, "FAIL %s/%s%s%s\n", g->scenario->name, text, *result.where ? " at " : "", result.where);
        for (char *line = strtok(wrong, "\n"); line; line = strtok(NULL, "\n"))
            fprintf(report, "    %s\n", line);
        for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n"))
            fprintf(report, "    | %s\n", line);
    }
    free(said);
    free(wrong);
    return o;
}

static int replay(const surroundings *around, const scenario *all, unsigned count, const char *id)
{
    const char *slash = strchr(id, '/');
    fault f;
    stage g;
    const scenario *s = NULL;
    for (unsigned i = 0; slash && i < count; i++)
        if (strlen(all[i].name) == (size_t)(slash - id) && strncmp(all[i].name, id, (size_t)(slash - id)) == 0)
            s = &all[i];
    if (!s || !fault_parse(slash + 1, &f))
        errx(2, "%s: no such case", id);
    if (!stage_make(around, s, 0, &g))
        return 1;
    tree_restore(&g.before, g.folder);
    const run_result result = stage_run(around, &g, &f, false, true);
    char *out = read_text(g.out), *said = read_text(g.err);
    char *wrong = judge(around, &g, &f, &result);
    printf("struck: %s%s%s\n", result.struck ? "yes" : "no", *result.where ? ", at " : "", result.where);
    printf("status: %#x\n---- standard output\n%s---- standard error\n%s---- wrong\n%s", result.status, out, said,
           wrong);
    int rc = *wrong != 0;
    trace_end();
    free(out);
    free(said);
    free(wrong);
    stage_free(&g);
    return rc;
}

/* Runs in a process of its own: tries every jobs-th case until the time is over. */
static void work(const options *o, const surroundings *around, const stage *g, const cases *c, unsigned worker,
                 double end, FILE *results)
{
    trace_prepare(formatted("%s/%u/shared", around->work, worker));
    for (size_t i = worker; i < c->count && (o->seconds <= 0 || now() < end); i += o->jobs) {
        char text[FAULT_TEXT];
        fault_print(&c->faults[i], text);
        if (o->faults && fnmatch(o->faults, text, FNM_EXTMATCH) != 0)
            continue;
        fprintf(results, "= %zu %d\n", i, try_case(around, g, &c->faults[i], results));
    }
    fclose(results);
    trace_end();
    exit(0);
}

static void collect(const char *path, const cases *c, row *r)
{
    FILE *f = fopen(path, "r");
    char line[8192];
    size_t i;
    int o;
    if (!f)
        err(2, "%s", path);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "= %zu %d", &i, &o) != 2) {
            fputs(line, stdout);
            continue;
        }
        score *s = &r->scores[case_group(&c->faults[i])];
        s->tried += o != MISSED;
        s->missed += o == MISSED;
        s->failed += o == FAILED;
    }
    fclose(f);
}

static bool run_scenario(const options *o, const surroundings *around, const scenario *s, double seconds, row *r)
{
    stage stages[WORKERS];
    char path[PATH_MAX];
    bool ok = true;
    *r = (row){.scenario = s, .known = true, .ours = true};
    for (unsigned w = 0; w < o->jobs; w++)
        if (!stage_make(around, s, w, &stages[w]))
            return false;
    cases c = cases_of(&stages[0], o->seed);
    double end = now() + seconds;
    for (int i = 0; i < fault_call_count; i++)
        r->calls += stages[0].counts.counts[i];
    r->allocations = stages[0].counts.allocations;
    for (size_t i = 0; i < c.count; i++)
        r->scores[case_group(&c.faults[i])].all++;
    fflush(stdout);
    for (unsigned w = 0; w < o->jobs; w++) {
        snprintf(path, sizeof path, "%s/%u/results", around->work, w);
        pid_t pid = fork();
        if (pid < 0)
            err(2, "fork");
        FILE *results = pid == 0 ? fopen(path, "w") : NULL;
        if (pid == 0 && !results)
            err(2, "%s", path);
        if (pid == 0)
            work(o, around, &stages[w], &c, w, end, results);
    }
    for (int status; wait(&status) > 0;)
        ok &= status == 0;
    for (unsigned w = 0; w < o->jobs; w++) {
        snprintf(path, sizeof path, "%s/%u/results", around->work, w);
        collect(path, &c, r);
        stage_free(&stages[w]);
    }
    free(c.faults);
    printf("%-18s", s->name);
    for (int i = 0; i < GROUPS; i++)
        printf("%8zu of %-7zu failed %-5zu", r->scores[i].tried, r->scores[i].all, r->scores[i].failed);
    puts("");
    fflush(stdout);
    return ok;
}

/* If only a sample was tried, the number of all cases is printed, too. */
static void print_tried(FILE *f, const score *s)
{
    if (s->tried + s->missed < s->all)
        fprintf(f, " %zu of %zu |", s->tried, s->all);
    else
        fprintf(f, " %zu |", s->tried);
}

static void print_table(FILE *f, const row *rows, size_t count)
{
    score sum[GROUPS] = {0};
    fputs(
        "| scenario | processes | system calls | faults | failed | allocations | faults | failed | deaths | failed |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        f);
    for (const row *r = rows; r < rows + count; r++) {
        const score *s = r->scores;
        if (!r->known)
            continue;
        fprintf(f, "| %s | %u | %u |", r->scenario->name, 1 + r->scenario->peers, r->calls);
        print_tried(f, &s[0]);
        fprintf(f, " %zu | %" PRIu64 " |", s[0].failed, r->allocations);
        print_tried(f, &s[1]);
        fprintf(f, " %zu |", s[1].failed);
        print_tried(f, &s[2]);
        fprintf(f, " %zu |\n", s[2].failed);
        for (int i = 0; i < GROUPS; i++) {
            sum[i].tried += s[i].tried;
            sum[i].failed += s[i].failed;
        }
    }
    fprintf(f, "| all | | | %zu | %zu | | %zu | %zu | %zu | %zu |\n", sum[0].tried, sum[0].failed, sum[1].tried,
            sum[1].failed, sum[2].tried, sum[2].failed);
}

static const char begin_mark[] = "<!-- faults: begin -->\n", end_mark[] = "<!-- faults: end -->\n";

/* Returns the number in the next cell of a row. Unless it is NULL, *all is the one after "of", if there is one. */
static size_t next_cell(const char **p, size_t *all)
{
    char *end;
    *p += strcspn(*p, "|\n");
    *p += **p == '|';
    size_t value = strtoul(*p, &end, 10);
    if (all)
        *all = strncmp(end, " of ", 4) == 0 ? strtoul(end + 4, NULL, 10) : value;
    return value;
}

/* Reads a scenario's row from a document's table. */
static void read_row(const char *text, row *r)
{
    char start[128];
    snprintf(start, sizeof start, "\n| %s |", r->scenario->name);
    const char *p = strstr(text, start);
    r->known = p != NULL;
    if (!p)
        return;
    p += strlen(start);
    r->calls = (unsigned)next_cell(&p, NULL);
    for (int i = 0; i < GROUPS; i++) {
        if (i == GROUP_ALLOCATIONS)
            r->allocations = next_cell(&p, NULL);
        score *s = &r->scores[i];
        s->tried = next_cell(&p, &s->all);
        s->failed = next_cell(&p, NULL);
    }
}

/* Writes the table between the marks of a document. */
static void renew_table(const char *path, const row *rows, size_t count)
{
    char *text = read_text(path), *from = strstr(text, begin_mark), *to = strstr(text, end_mark);
    if (!from || !to)
        errx(2, "%s: the marks \"%.*s\" and \"%.*s\" are missing", path, (int)sizeof begin_mark - 2, begin_mark,
             (int)sizeof end_mark - 2, end_mark);
    FILE *f = fopen(path, "w");
    if (!f)
        err(2, "%s", path);
    fwrite(text, 1, (size_t)(from - text) + sizeof begin_mark - 1, f);
    print_table(f, rows, count);
    fputs(to, f);
    if (fclose(f) != 0)
        err(2, "%s", path);
    free(text);
}

static void parse(int argc, char **argv, options *o)
{
    const char *tmp = getenv("TMPDIR"), *seconds = "60", *jobs = "2", *seed = NULL;
    *o = (options){.build = "build",
                   .scenarios = "tests/faults/scenarios",
                   .work = tmp && *tmp ? tmp : "/tmp",
                   .seed = (uint64_t)time(NULL)};
    const struct {
        const char *name, **value;
    } all[] = {{"build", &o->build},   {"scenarios", &o->scenarios}, {"only", &o->only},
               {"faults", &o->faults}, {"seconds", &seconds},        {"jobs", &jobs},
               {"work", &o->work},     {"table", &o->table},         {"replay", &o->replay},
               {"seed", &seed}};
    enum { OPTIONS = sizeof all / sizeof *all };
    struct option known[OPTIONS + 1] = {0};
    for (int i = 0; i < OPTIONS; i++)
        known[i] = (struct option){all[i].name, required_argument, NULL, 0};
    for (int which; getopt_long(argc, argv, "", known, &which) != -1; *all[which].value = optarg)
        if (!optarg)
            exit(2);
    o->seconds = atof(seconds);
    o->jobs = (unsigned)atoi(jobs);
    o->seed = seed ? strtoull(seed, NULL, 10) : o->seed;
    if (optind < argc || o->jobs < 1 || o->jobs > WORKERS)
        errx(2, "what is \"%s\"?", optind < argc ? argv[optind] : "--jobs");
}

static char *absolute(const char *folder, const char *name)
{
    char *real = realpath(folder, NULL);
    if (!real)
        err(2, "%s", folder);
    char *path = formatted("%s%s", real, name);
    free(real);
    return path;
}

static bool is_chosen(const options *o, const scenario *s)
{
    return !o->only || fnmatch(o->only, s->name, FNM_EXTMATCH) == 0;
}

/* Each scenario gets its share of the remaining time. The seed decides which one is first. */
static int run_all(const options *o, const surroundings *around, const scenario *all, unsigned count)
{
    row *rows = calloc(count + 1, sizeof *rows);
    size_t tried = 0, failed = 0;
    unsigned left = 0, first = o->seconds > 0 ? (unsigned)(o->seed % count) : 0;
    double end = now() + o->seconds;
    bool ok = true;
    if (!rows)
        err(2, "memory");
    for (unsigned i = 0; i < count; i++) {
        rows[i].scenario = &all[i];
        left += is_chosen(o, &all[i]);
    }
    printf("seed %" PRIu64 "\n", o->seed);
    for (unsigned i = 0; i < count && (o->seconds <= 0 || now() < end); i++) {
        row *r = &rows[(first + i) % count];
        if (!is_chosen(o, r->scenario))
            continue;
        ok &= run_scenario(o, around, r->scenario, (end - now()) / left--, r);
        for (int g = 0; g < GROUPS; g++) {
            tried += r->scores[g].tried;
            failed += r->scores[g].failed;
        }
        if (o->table) {
            char *text = read_text(o->table), *from = strstr(text, begin_mark);
            for (unsigned k = 0; from && k < count; k++)
                if (!rows[k].ours)
                    read_row(from, &rows[k]);
            free(text);
            renew_table(o->table, rows, count);
        }
    }
    print_table(stdout, rows, count);
    free(rows);
    printf("%zu passed, %zu failed, 0 skipped\n", tried - failed, failed);
    return failed == 0 && tried > 0 && ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    options o;
    parse(argc, argv, &o);
    scenario *all;
    unsigned count = scenarios_read(o.scenarios, &all);
    surroundings around = {.program = absolute(o.build, "/txmill"),
                           .decoder = absolute(o.build, "/txmill-oiio-worker"),
                           .plugins = absolute(o.build, ""),
                           .data = absolute("testdata", ""),
                           .library = absolute(o.build, "/tests/faults/inject.so")};
    o.work = absolute(o.work, "");
    char *work_folder = formatted("%s/txmill-faults-XXXXXX", o.work);
    if (!mkdtemp(work_folder))
        err(2, "%s", o.work);
    around.work = work_folder;
    int rc = o.replay ? replay(&around, all, count, o.replay) : run_all(&o, &around, all, count);
    tree_clear(work_folder);
    rmdir(work_folder);
    return rc;
}
