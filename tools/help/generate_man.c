/* SPDX-License-Identifier: Apache-2.0
 *
 * Generates man page sections in mdoc.
 *
 * In: a command's table of options. Out: its options by groups with their long help, and the exit codes that it can
 * return. The files man/NAME.in have the rest of each page.
 */
#include <ctype.h>
#include <string.h>

#include "tile/terms/releases.h"
#include "tools/help/generate.h"
#include "tools/output/exits.h"
#include "txmill/inspect.h"

/* Prints text: backslashes are escaped, each sentence begins a line (mandoc's rule), and no line looks like a
 * request. */
void txm_generate_man_text(FILE *out, const char *text)
{
    bool line_start = true;
    for (const char *c = text; *c; c++) {
        if (line_start && (*c == '.' || *c == '\''))
            fputs("\\&", out);
        line_start = false;
        if (*c == '\\')
            fputs("\\e", out);
        else
            fputc(*c, out);
        bool sentence_end = *c == '.' && c[1] == ' ' && (isupper((unsigned char)c[2]) || c[2] == '\'');
        if (sentence_end) {
            fputc('\n', out);
            c++;
            line_start = true;
        }
    }
    fputc('\n', out);
}

static void put_sentence(FILE *out, const char *help)
{
    char line[512];
    snprintf(line, sizeof line, "%s.", help);
    txm_generate_man_text(out, line);
}

/* There is one list per group, as in --help, so that options are in the same order in both. Every command has options,
 * so a list is always open at the end. */
void txm_generate_man_options(FILE *out, const txm_command *command)
{
    const txm_option_group *titled = NULL;
    for (txm_option_walk w = {0}; txm_option_next(command, &w);) {
        const txm_option *o = w.option;
        if (w.group != titled)
            fprintf(out, "%s.Ss %s\n.Bl -tag -width Ds\n", titled ? ".El\n" : "", w.group->title);
        titled = w.group;
        fputs(".It ", out);
        if (o->letter)
            fprintf(out, "Fl %c , ", o->letter);
        fprintf(out, "Fl \\-%s", o->name);
        if (o->arg)
            fprintf(out, o->type == TXM_OPT_WORD ? " Ns Ar %s" : " Ar %s", o->arg);
        fputc('\n', out);
        put_sentence(out, o->help);
        if (o->more)
            txm_generate_man_text(out, o->more);
    }
    fputs(".El\n", out);
}

/* Lists only the codes that the command can return, so that scripts need not test for others. */
void txm_generate_man_exits(FILE *out, const txm_command *command)
{
    static const struct {
        int code;
        unsigned needs; /* 0: for every command */
    } codes[] = {
        {TXM_EXIT_OK, 0},
        {TXM_EXIT_INTERNAL, 0},
        {TXM_EXIT_USAGE, 0},
        {TXM_EXIT_FAILED, TXM_EXITS_FAIL},
        {TXM_EXIT_RETRY, TXM_EXITS_RETRY},
        {TXM_EXIT_FINDINGS, TXM_EXITS_FINDINGS},
        {TXM_EXIT_SIGHUP, TXM_EXITS_SIGNAL},
        {TXM_EXIT_SIGINT, TXM_EXITS_SIGNAL},
        {TXM_EXIT_SIGTERM, TXM_EXITS_SIGNAL},
        {TXM_EXIT_SIGXCPU, TXM_EXITS_SIGNAL},
    };
    fputs(".Bl -tag -width Ds\n", out);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (!codes[i].needs || (command->exits & codes[i].needs))
            fprintf(out, ".It %d\n%s\n", codes[i].code, txm_exit_text(codes[i].code));
    fputs(".El\n.Pp\nAfter a failure, the last line on standard error is\n.Ql TXMILL-ERROR code=N failed=K total=T .\n",
          out);
}

/* txmill(1) lists the commands in the order of --help. */
void txm_generate_man_commands(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
    for (const txm_command *const *c = txm_commands; *c; c++) {
        fprintf(out, ".It Xr txmill-%s 1\n", (*c)->name);
        put_sentence(out, (*c)->purpose);
    }
    fputs(".El\n", out);
}

/* Findings are described only in the table of src/mill/inspect, so a new one is in the manual automatically. */
void txm_generate_man_findings(FILE *out)
{
    const txm_finding_kind *kind;
    fputs(".Bl -tag -width Ds\n", out);
    for (size_t i = 0; (kind = txm_finding_kind_at(i)); i++) {
        fprintf(out, ".It %s , No %s\n", kind->id, txm_severity_name(kind->severity));
        put_sentence(out, kind->meaning);
    }
    fputs(".El\n", out);
}

/* ---- the hidden --generate --------------------------------------------------------------------------------------- */

/* For sentences: "5.2 or 5.3". */
static void put_releases(FILE *out)
{
    fputs(TXM_RELEASES_OR "\n", out);
}

static void put_official_builds(FILE *out)
{
    for (int i = 0; i < TXM_RELEASE_COUNT; i++)
        fprintf(out, "%s%s", !i ? "" : i + 1 < TXM_RELEASE_COUNT ? ", " : " and ", txm_releases.official_build[i]);
    fputc('\n', out);
}

static const struct {
    const char *kind;
    void (*all)(FILE *);
    void (*one)(FILE *, const txm_command *);
    bool (*list)(FILE *, const char *); /* false: there is none of that name */
} kinds[] = {
    {"man-options", NULL, txm_generate_man_options, NULL},
    {"man-exits", NULL, txm_generate_man_exits, NULL},
    {"man-commands", txm_generate_man_commands, NULL, NULL},
    {"man-findings", txm_generate_man_findings, NULL, NULL},
    {"releases", put_releases, NULL, NULL},
    {"official-builds", put_official_builds, NULL, NULL},
    {"words", txm_generate_words, NULL, NULL},
    {"python", txm_generate_python, NULL, NULL},
    {"man-words", NULL, NULL, txm_generate_man_words},
    {"options", txm_generate_commands, NULL, NULL},
};

/* The build compares this with what the last program printed, and makes pages anew only if it differs. */
static void put_everything(FILE *out)
{
    fprintf(out, "%s\n", TXM_VERSION);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].all)
            kinds[i].all(out);
        if (kinds[i].list)
            kinds[i].list(out, NULL);
        for (const txm_command *const *c = txm_commands; kinds[i].one && *c; c++)
            kinds[i].one(out, *c);
    }
}

/* The build runs the program for parts of its manual pages, so that they agree with the parser. */
bool txm_generate(FILE *out, const char *kind, const char *command)
{
    if (!strcmp(kind, "everything")) {
        put_everything(out);
        return true;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].kind, kind))
            continue;
        if (kinds[i].list)
            return kinds[i].list(out, command);
        const txm_command *c = kinds[i].one ? txm_command_find(command) : NULL;
        if (kinds[i].one && !c)
            return false;
        if (c)
            kinds[i].one(out, c);
        else
            kinds[i].all(out);
        return true;
    }
    return false;
}
