/* SPDX-License-Identifier: Apache-2.0
 * Reads scenarios and runs them without a fault. */
#include "scenario.h"

#include <ctype.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void add_line(char **lines, const char *value)
{
    int i = 0;
    while (lines[i])
        i++;
    if (i == SCENARIO_LINES - 1)
        errx(2, "too many lines: %s", value);
    lines[i] = strdup(value);
}

static bool set_property(scenario *s, const char *key, const char *value)
{
    const struct {
        const char *key;
        char **lines, **text; /* one of these */
        bool *flag;
    } properties[] = {{"prepare", s->prepare, NULL, NULL},    {"env", s->env, NULL, NULL},
                      {"optional", s->optional, NULL, NULL},  {"varies", s->varies, NULL, NULL},
                      {"detour", s->detour, NULL, NULL},      {"texts", s->texts, NULL, NULL},
                      {"run", NULL, &s->run, NULL},           {"again", NULL, &s->again, NULL},
                      {"sweep", NULL, &s->sweep, NULL},       {"until", NULL, &s->until, NULL},
                      {"findings", NULL, NULL, &s->findings}, {"walks", NULL, NULL, &s->walks},
                      {"decoder", NULL, NULL, &s->decoder}};
    if (strcmp(key, "peers") == 0) {
        s->peers = (unsigned)atoi(value);
        return true;
    }
    if (strcmp(key, "faults") == 0) {
        s->calls = strstr(value, "calls") != NULL;
        s->allocations = strstr(value, "allocations") != NULL;
        s->deaths = strstr(value, "deaths") != NULL;
        return true;
    }
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        if (strcmp(key, properties[i].key) != 0)
            continue;
        if (properties[i].lines)
            add_line(properties[i].lines, value);
        else if (properties[i].text)
            *properties[i].text = strdup(value);
        else
            *properties[i].flag = true;
        return true;
    }
    return false;
}

unsigned scenarios_read(const char *path, scenario **out)
{
    FILE *f = fopen(path, "r");
    char line[2048];
    unsigned count = 0, number = 0;
    if (!f)
        err(2, "%s", path);
    *out = NULL;
    while (fgets(line, sizeof line, f)) {
        char *key = line + strspn(line, " "), *value;
        number++;
        line[strcspn(line, "\n")] = 0;
        if (!*key || *key == '#')
            continue;
        value = key + strcspn(key, " ");
        if (*value)
            *value++ = 0;
        if (strcmp(key, "scenario") == 0) {
            *out = realloc(*out, (count + 1) * sizeof **out);
            if (!*out)
                err(2, "memory");
            (*out)[count++] = (scenario){.name = strdup(value), .calls = true, .allocations = true, .deaths = true};
        } else if (count == 0 || !set_property(&(*out)[count - 1], key, value)) {
            errx(2, "%s:%u: unknown property \"%s\"", path, number, key);
        }
    }
    fclose(f);
    return count;
}

char *read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    FILE *into = open_memstream(&text, &size);
    int c;
    if (!f || !into)
        err(2, "%s", path);
    while ((c = getc(f)) != EOF)
        putc(c ? c : '?', into);
    fclose(f);
    fclose(into);
    return text;
}

/* Returns the length of a unit of time, " ms" or " s", at the start of the text. */
static size_t unit_of(const char *s)
{
    size_t n = *s == ' ';
    n += s[n] == 'm';
    return s[n] == 's' && !isalnum((unsigned char)s[n + 1]) ? n + 1 : 0;
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts in place, because threads print in the order in which they finish. */
static void sort_lines(char *text)
{
    char *copy = strdup(text), *place = NULL, **lines = calloc(strlen(text) + 1, sizeof *lines);
    size_t n = 0;
    if (!copy || !lines)
        err(2, "memory");
    for (char *line = strtok_r(copy, "\n", &place); line; line = strtok_r(NULL, "\n", &place))
        lines[n++] = line;
    qsort(lines, n, sizeof *lines, by_line);
    for (size_t i = 0; i < n; i++)
        text += sprintf(text, "%s\n", lines[i]);
    *text = 0;
    free(lines);
    free(copy);
}

void make_comparable(char *text)
{
    char *to = text;
    bool json = *text == '{';
    for (const char *p = text; *p;) {
        if (!isdigit((unsigned char)*p)) {
            *to++ = *p++;
            continue;
        }
        /* In JSON, every number that is not an integer is a time. */
        size_t n = strspn(p, json ? "0123456789.e-" : "0123456789."), unit = unit_of(p + n);
        if (unit || (json && (strcspn(p, ".e") < n || (*p == '0' && n == 1))))
            *to++ = '#';
        else
            for (size_t i = 0; i < n; i++)
                *to++ = p[i];
        p += n + unit;
    }
    *to = 0;
    sort_lines(text);
}

static void set_environment(const surroundings *around, const stage *g)
{
    /* The environment has nothing else, so that every run of a case makes the same calls. */
    clearenv();
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    setenv("TXMILL_PLUGINS", around->plugins, 1);
    setenv("TXMILL", around->program, 1);
    setenv("DATA", around->data, 1);
    setenv("HOME", g->folder, 1);
    setenv("TMPDIR", g->folder, 1); /* so that files left there are noticed */
    setenv("LC_ALL", "C.UTF-8", 1);
    for (char *const *e = g->scenario->env; *e; e++) {
        char *name = strndup(*e, strcspn(*e, "="));
        setenv(name, *e + strlen(name) + 1, 1);
        free(name);
    }
}

static run_result run(const surroundings *around, const stage *g, char *const *argv, const fault *f, bool explain)
{
    char *shared = formatted("%s/../shared", g->folder);
    bool first = argv == g->argv;
    set_environment(around, g);
    const run_request request = {.argv = argv,
                                 .folder = g->folder,
                                 .out = g->out,
                                 .err = g->err,
                                 .library = around->library,
                                 .shared = shared,
                                 .decoder = g->scenario->decoder ? around->decoder : NULL,
                                 .fault = *f,
                                 .peers = first ? g->scenario->peers : 0,
                                 .until = first ? g->scenario->until : NULL,
                                 .explain = explain};
    run_result result = trace_run(&request);
    free(shared);
    return result;
}

run_result stage_run(const surroundings *around, const stage *g, const fault *f, bool again, bool explain)
{
    run_result result = run(around, g, again ? g->again : g->argv, f, explain);
    if (again && g->scenario->sweep && WIFEXITED(result.status) && WEXITSTATUS(result.status) == g->rc_again) {
        run_result swept = run(around, g, g->sweep, f, explain);
        if (swept.status != 0)
            return swept;
    }
    return result;
}

static void split(const surroundings *around, const stage *g, const char *arguments, char **argv)
{
    int n = 0;
    char *copy = strdup(arguments), *place = NULL;
    argv[n++] = strdup(around->program);
    for (char *word = strtok_r(copy, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
        if (n == SCENARIO_WORDS - 1)
            errx(2, "%s: too many words", arguments);
        char *here = strstr(word, "DIR");
        *(here ? here : copy) = here ? 0 : *copy;
        argv[n++] = here ? formatted("%s%s", word, g->folder) : strdup(word);
        if (here && here[3]) {
            char *whole = formatted("%s%s", argv[n - 1], here + 3);
            free(argv[n - 1]);
            argv[n - 1] = whole;
        }
    }
    argv[n] = NULL;
    free(copy);
}

static bool prepare(const surroundings *around, const stage *g)
{
    set_environment(around, g);
    unsetenv("OCIO");
    for (char *const *line = g->scenario->prepare; *line; line++) {
        char *command = formatted("cd '%s' && { %s; } >../prepared 2>&1", g->folder, *line);
        int rc = system(command);
        free(command);
        if (rc != 0) {
            printf("%s: preparing failed: %s\n", g->scenario->name, *line);
            return false;
        }
    }
    return true;
}

static bool ended_well(const stage *g, const run_result *r, const char *which)
{
    int rc = WEXITSTATUS(r->status);
    if (WIFEXITED(r->status) && !r->hung && (rc == 0 || rc == 5 || (rc == 143 && g->scenario->until)))
        return true;
    char *said = read_text(g->err);
    printf("%s: the %s run, without a fault, ended with status %d%s:\n%s", g->scenario->name, which, r->status,
           r->hung ? " (hung)" : "", said);
    free(said);
    return false;
}

static bool make_ready(const surroundings *around, const scenario *s, unsigned worker, stage *g)
{
    const fault no_fault = {.kind = FAULT_NONE, .call = -1};
    *g = (stage){.scenario = s};
    char *own = formatted("%s/%u", around->work, worker);
    mkdir(own, 0755);
    g->folder = formatted("%s/w", own);
    g->out = formatted("%s/out", own);
    g->err = formatted("%s/err", own);
    char *shared = formatted("%s/shared", own);
    trace_prepare(shared);
    free(shared);
    free(own);
    split(around, g, s->run, g->argv);
    split(around, g, s->again ? s->again : s->run, g->again);
    if (s->sweep)
        split(around, g, s->sweep, g->sweep);
    tree_clear(g->folder);
    mkdir(g->folder, 0755);
    if (!prepare(around, g))
        return false;
    g->before = tree_read(g->folder);
    g->counts = stage_run(around, g, &no_fault, false, false);
    if (!ended_well(g, &g->counts, "first"))
        return false;
    g->rc = WEXITSTATUS(g->counts.status);
    g->after = tree_read(g->folder);
    g->printed = read_text(g->out);
    make_comparable(g->printed);
    run_result again = stage_run(around, g, &no_fault, true, false);
    if (!ended_well(g, &again, "second"))
        return false;
    g->rc_again = WEXITSTATUS(again.status);
    g->after_again = tree_read(g->folder);
    return true;
}

bool stage_make(const surroundings *around, const scenario *s, unsigned worker, stage *g)
{
    bool ok = make_ready(around, s, worker, g);
    trace_end();
    return ok;
}

void stage_free(stage *g)
{
    for (int i = 0; i < SCENARIO_WORDS; i++) {
        free(g->argv[i]);
        free(g->again[i]);
        free(g->sweep[i]);
    }
    tree_free(&g->before);
    tree_free(&g->after);
    tree_free(&g->after_again);
    free(g->folder);
    free(g->out);
    free(g->err);
    free(g->printed);
    *g = (stage){0};
}
