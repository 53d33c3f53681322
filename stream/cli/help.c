/* SPDX-License-Identifier: Apache-2.0
 * What the tables of options say: --help, sections of manual pages, and lines for completion. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/options.h"
#include "cli/say.h"

/* Help begins in this column. On a narrow terminal it still gets MIN_TEXT columns. */
enum { TEXT_COLUMN = 30, MIN_TEXT = 24 };

/* Prints `text`, starting in column `at`, wrapped at spaces, with further lines indented by `indent`. */
static void wrap(FILE *out, const char *text, unsigned at, unsigned indent, unsigned columns)
{
    if (columns < indent + MIN_TEXT)
        columns = indent + MIN_TEXT;
    while (*text) {
        const size_t n = strcspn(text, " ");
        if (at > indent && at + 1 + n > columns) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        at += (unsigned)fprintf(out, at > indent ? " %.*s" : "%.*s", (int)n, text);
        text += n;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static unsigned print_left(char left[64], const stm_option *option)
{
    int n = option->letter ? snprintf(left, 64, "  -%c, --%s", option->letter, option->name)
                           : snprintf(left, 64, "      --%s", option->name);
    if (option->arg)
        n += snprintf(left + n, 64 - (size_t)n, " %s", option->arg);
    return (unsigned)n;
}

/* `verb`: below 0 all. */
static bool is_of_verb(const stm_option *option, int verb)
{
    return verb < 0 || !option->verbs || option->verbs & 1U << verb;
}

void stm_help_print(FILE *out, const stm_command *c, const stm_operands *operands, unsigned columns)
{
    const bool all = operands->help_all;
    unsigned indent = all ? TEXT_COLUMN : 0;
    int v = -1;
    size_t hidden = 0;
    const stm_option_group *titled = NULL;
    char line[256], left[64];
    for (int i = 0; c->verbs && operands->count && c->verbs[i].word; i++)
        if (!strcmp(c->verbs[i].word, operands->items[0]))
            v = i;
    const stm_verb *verb = v < 0 ? NULL : &c->verbs[v];
    fprintf(out, "Usage: txmill %s %s%s\n", c->name, verb ? verb->word : "",
            verb ? c->synopsis + strcspn(c->synopsis, " ") : c->synopsis);
    wrap(out, verb ? verb->purpose : c->purpose, 0, 0, columns);
    if (c->verbs && !verb) {
        fputc('\n', out);
        for (const stm_verb *one = c->verbs; one->word; one++)
            wrap(out, one->purpose, (unsigned)fprintf(out, "  %-8s", one->word), 10, columns);
    }
    for (stm_option_walk w = {0}; stm_option_next(c, &w);) {
        const unsigned n = print_left(left, w.option) + 2;
        if (!all && w.option->rare)
            hidden += is_of_verb(w.option, v);
        else if (is_of_verb(w.option, v) && n > indent && n <= TEXT_COLUMN)
            indent = n;
    }
    for (stm_option_walk w = {0}; (all || !c->verbs || verb) && stm_option_next(c, &w);) {
        if ((!all && w.option->rare) || !is_of_verb(w.option, v))
            continue;
        if (all ? w.group != titled : !titled)
            fprintf(out, "\n%s:\n", all ? w.group->title : "Options");
        titled = w.group;
        unsigned n = print_left(left, w.option);
        fputs(left, out);
        if (n + 2 > indent) {
            fputc('\n', out);
            n = 0;
        }
        fprintf(out, "%*s", (int)(indent - n), "");
        wrap(out, w.option->help, indent, indent, columns);
    }
    fputs("\nExamples:\n", out);
    for (int i = 0; i < (verb ? 1 : 2); i++)
        fprintf(out, "  txmill %s\n", verb ? verb->example : c->examples[i]);
    fputc('\n', out);
    if (!all && c->verbs && !verb)
        snprintf(line, sizeof line, "'txmill %s VERB --help' lists the options of one of these, --help --all all.",
                 c->name);
    else
        snprintf(line, sizeof line, "'txmill %s%s%s --help --all' lists %zu more options.", c->name, verb ? " " : "",
                 verb ? verb->word : "", hidden);
    if (!all)
        wrap(out, line, 0, 0, columns);
    wrap(out, "A file .txmill keeps the settings of a project: see txmill settings.", 0, 0, columns);
    /* As in txmill's own help, with the page for a browser if there is one: LIBDIR may be below lib. */
    static const char *const places[] = {"docs/man", "../../share/doc/txmill/man", "../../../share/doc/txmill/man"};
    char file[128], *page = NULL;
    for (size_t i = 0; !page && i < sizeof places / sizeof *places; i++) {
        snprintf(file, sizeof file, "%s/txmill-%s.1.html", places[i], c->name);
        char *path = stm_beside_program(file);
        page = path ? realpath(path, NULL) : NULL;
        free(path);
    }
    fprintf(out, "The manual is txmill-%s(1)\n", c->name);
    if (page && (!isatty(fileno(out)) || strlen(page) <= columns))
        fprintf(out, "For a browser: %s\n", page);
    free(page);
}

/* ---- manual pages ----------------------------------------------------------------------------------------------- */

/* Each sentence begins a line, and no line looks like a request. */
static void put_text(FILE *out, const char *text)
{
    bool starts = true;
    for (const char *c = text; *c; c++) {
        if (starts && (*c == '.' || *c == '\''))
            fputs("\\&", out);
        starts = *c == '.' && c[1] == ' ' && (isupper((unsigned char)c[2]) || c[2] == '\'');
        if (*c == '\\')
            fputs("\\e", out);
        else
            fputc(*c, out);
        if (starts) {
            fputc('\n', out);
            c++;
        }
    }
    fputc('\n', out);
}

static void put_options(FILE *out, const stm_command *command)
{
    const stm_option_group *titled = NULL;
    char line[512];
    for (stm_option_walk w = {0}; stm_option_next(command, &w);) {
        const stm_option *o = w.option;
        if (w.group != titled)
            fprintf(out, "%s.Ss %s\n.Bl -tag -width Ds\n", titled ? ".El\n" : "", w.group->title);
        titled = w.group;
        fputs(".It ", out);
        if (o->letter)
            fprintf(out, "Fl %c , ", o->letter);
        fprintf(out, "Fl \\-%s%s%s\n", o->name, o->arg ? " Ar " : "", o->arg ? o->arg : "");
        snprintf(line, sizeof line, "%s.", o->help);
        put_text(out, line);
        const char *before = "Only for ";
        for (unsigned v = 0; o->verbs >> v; v++) {
            const unsigned left = o->verbs >> (v + 1);
            if (!(o->verbs & 1U << v))
                continue;
            fprintf(out, "%s%s", before, command->verbs[v].word);
            before = left & (left - 1) ? ", " : " and ";
        }
        fputs(o->verbs ? ".\n" : "", out);
        if (o->more)
            put_text(out, o->more);
    }
    fputs(".El\n", out);
}

bool stm_generate(FILE *out, const stm_command *command, const char *kind)
{
    if (!strcmp(kind, "man-options")) {
        put_options(out, command);
    } else if (!strcmp(kind, "man-exits")) {
        stm_print_exits(out);
    } else if (!strcmp(kind, "options")) {
        for (const stm_verb *v = command->verbs; v && v->word; v++)
            fprintf(out, "%s|||%s\n", v->word, v->purpose);
        /* NAME|ARGUMENT|VALUES|HELP, which txmill's scripts for shells read. */
        for (stm_option_walk w = {0}; stm_option_next(command, &w);) {
            const stm_option *o = w.option;
            const char *arg = o->arg ? o->arg : "", *values = o->values ? o->values : "";
            if (o->letter)
                fprintf(out, "-%c|%s|%s|%s\n", o->letter, arg, values, o->help);
            fprintf(out, "--%s|%s|%s|%s\n", o->name, arg, values, o->help);
        }
    } else
        return false;
    return true;
}
