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

typedef struct printer {
    FILE *out;
    unsigned columns, indent;
    const stm_command *command;
    int verb; /* below 0: all */
    bool all;
    size_t hidden;
    const stm_option_group *group; /* whose title was printed last */
} printer;

static unsigned print_left(char left[64], const stm_option *option)
{
    int n = option->letter ? snprintf(left, 64, "  -%c, --%s", option->letter, option->name)
                           : snprintf(left, 64, "      --%s", option->name);
    if (option->arg)
        n += snprintf(left + n, 64 - (size_t)n, " %s", option->arg);
    return (unsigned)n;
}

static bool is_of_verb(const printer *p, const stm_option *option)
{
    return p->verb < 0 || !option->verbs || option->verbs & 1U << p->verb;
}

static void measure_option(void *user, const stm_option_group *group, const stm_option *option)
{
    printer *p = user;
    char left[64];
    const unsigned n = print_left(left, option) + 2;
    (void)group;
    if (!p->all && option->rare)
        p->hidden += is_of_verb(p, option);
    else if (is_of_verb(p, option) && n > p->indent && n <= TEXT_COLUMN)
        p->indent = n;
}

static void print_option(void *user, const stm_option_group *group, const stm_option *option)
{
    printer *p = user;
    char left[64];
    if ((!p->all && option->rare) || !is_of_verb(p, option))
        return;
    if (p->all ? group != p->group : !p->group)
        fprintf(p->out, "\n%s:\n", p->all ? group->title : "Options");
    p->group = group;
    unsigned n = print_left(left, option);
    fputs(left, p->out);
    if (n + 2 > p->indent) {
        fputc('\n', p->out);
        n = 0;
    }
    fprintf(p->out, "%*s", (int)(p->indent - n), "");
    wrap(p->out, option->help, p->indent, p->indent, p->columns);
}

void stm_help_print(FILE *out, const stm_command *c, const stm_operands *operands, unsigned columns)
{
    printer p = {.out = out,
                 .columns = columns,
                 .command = c,
                 .verb = -1,
                 .all = operands->help_all,
                 .indent = operands->help_all ? TEXT_COLUMN : 0};
    char line[256];
    for (int v = 0; c->verbs && operands->count && c->verbs[v].word; v++)
        if (!strcmp(c->verbs[v].word, operands->items[0]))
            p.verb = v;
    const stm_verb *verb = p.verb < 0 ? NULL : &c->verbs[p.verb];
    fprintf(out, "Usage: txmill %s %s%s\n", c->name, verb ? verb->word : "",
            verb ? c->synopsis + strcspn(c->synopsis, " ") : c->synopsis);
    wrap(out, verb ? verb->purpose : c->purpose, 0, 0, columns);
    if (c->verbs && !verb) {
        fputc('\n', out);
        for (const stm_verb *v = c->verbs; v->word; v++)
            wrap(out, v->purpose, (unsigned)fprintf(out, "  %-8s", v->word), 10, columns);
    }
    stm_each_option(c, measure_option, &p);
    if (p.all || !c->verbs || verb)
        stm_each_option(c, print_option, &p);
    fputs("\nExamples:\n", out);
    for (int i = 0; i < (verb ? 1 : 2); i++)
        fprintf(out, "  txmill %s\n", verb ? verb->example : c->examples[i]);
    fputc('\n', out);
    if (!p.all && c->verbs && !verb)
        snprintf(line, sizeof line, "'txmill %s VERB --help' lists the options of one of these, --help --all all.",
                 c->name);
    else
        snprintf(line, sizeof line, "'txmill %s%s%s --help --all' lists %zu more options.", c->name, verb ? " " : "",
                 verb ? verb->word : "", p.hidden);
    if (!p.all)
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

typedef struct lister {
    FILE *out;
    const stm_command *command;
    const stm_option_group *group;
} lister;

static void put_option(void *user, const stm_option_group *group, const stm_option *option)
{
    lister *l = user;
    char line[512];
    if (group != l->group)
        fprintf(l->out, "%s.Ss %s\n.Bl -tag -width Ds\n", l->group ? ".El\n" : "", group->title);
    l->group = group;
    fputs(".It ", l->out);
    if (option->letter)
        fprintf(l->out, "Fl %c , ", option->letter);
    fprintf(l->out, "Fl \\-%s%s%s\n", option->name, option->arg ? " Ar " : "", option->arg ? option->arg : "");
    snprintf(line, sizeof line, "%s.", option->help);
    put_text(l->out, line);
    const char *before = "Only for ";
    for (unsigned v = 0; option->verbs >> v; v++) {
        const unsigned left = option->verbs >> (v + 1);
        if (!(option->verbs & 1U << v))
            continue;
        fprintf(l->out, "%s%s", before, l->command->verbs[v].word);
        before = left & (left - 1) ? ", " : " and ";
    }
    fputs(option->verbs ? ".\n" : "", l->out);
    if (option->more)
        put_text(l->out, option->more);
}

/* ---- completion ------------------------------------------------------------------------------------------------- */

/* NAME|ARGUMENT|VALUES|HELP, which txmill's scripts for shells read. */
static void put_line(void *user, const stm_option_group *group, const stm_option *option)
{
    (void)group;
    if (option->letter)
        fprintf(user, "-%c|%s|%s|%s\n", option->letter, option->arg ? option->arg : "",
                option->values ? option->values : "", option->help);
    fprintf(user, "--%s|%s|%s|%s\n", option->name, option->arg ? option->arg : "", option->values ? option->values : "",
            option->help);
}

bool stm_generate(FILE *out, const stm_command *command, const char *kind)
{
    lister l = {.out = out, .command = command};
    if (!strcmp(kind, "man-options")) {
        stm_each_option(command, put_option, &l);
        fputs(".El\n", out);
    } else if (!strcmp(kind, "man-exits")) {
        stm_print_exits(out);
    } else if (!strcmp(kind, "options")) {
        for (const stm_verb *v = command->verbs; v && v->word; v++)
            fprintf(out, "%s|||%s\n", v->word, v->purpose);
        stm_each_option(command, put_line, out);
    } else
        return false;
    return true;
}
