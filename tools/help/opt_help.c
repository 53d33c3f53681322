/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the help of the program and its commands.
 *
 * In: a command's table and the width of the terminal. Out: usage, purpose, and options by groups, with their help
 * wrapped beside them, or below if the name is long.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/library.h"
#include "base/os/plugin.h"
#include "tools/commands.h"
#include "tools/options/opt.h"
#include "tools/output/line.h"
#include "tools/output/text.h"

/* Help begins in this column. On a terminal that is too narrow for both, it still gets MIN_TEXT columns, and is
 * wrapped by the terminal. */
enum { TEXT_COLUMN = 30, MIN_TEXT = 24 };

static void wrap(FILE *out, const char *text, unsigned at, unsigned indent, unsigned columns)
{
    if (columns < indent + MIN_TEXT)
        columns = indent + MIN_TEXT;
    while (*text) {
        size_t n = strcspn(text, " ");
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

/* Options without a letter are indented as if they had one, so that long names are aligned. */
static unsigned print_left(char left[64], const txm_option *option)
{
    int n = option->letter ? snprintf(left, 64, "  -%c, --%s", option->letter, option->name)
                           : snprintf(left, 64, "      --%s", option->name);
    if (option->arg)
        n += snprintf(left + n, 64 - (size_t)n, option->type == TXM_OPT_WORD ? "%s" : " %s", option->arg);
    return (unsigned)n;
}

/* Two examples for each command, a simple one and a useful one. `make` has a third, because users may not expect
 * that it accepts the folder of a scene. */
static void print_examples(FILE *out, const char *command)
{
    static const struct {
        const char *command, *lines[3];
    } examples[] = {
        {"make",
         {"make shot10.blend", "make textures --preset pbr", "make exported/shot10  # a folder with scene.txt"}},
        {"check", {"check shot10.blend", "check textures --preset pbr"}},
        {"list", {"list shot10.blend", "list --json shot10.blend"}},
        {"info", {"info wood.png", "info --json textures"}},
        {"view", {"view wood.png", "view --html page.html textures"}},
        {"verify", {"verify textures", "verify --deep wood.png"}},
        {"refresh", {"refresh textures", "refresh shot10.blend"}},
        {"files", {"files --root /film shot10.blend", "files --zip shot10.zip shot10.blend"}},
        {"restore", {"restore film.manifest", "restore --root /render/film film.manifest"}},
        {"gc", {"gc textures", "gc --delete --older-than 30d textures"}},
        {"settings", {"settings", "settings textures/wood.png"}},
        {"mirror", {"mirror --to /local/cache shot10.blend", "mirror -n --to /local/cache shots"}},
        {"watch", {"watch textures --preset pbr", "watch --settle 5 textures"}},
        {"plan", {"plan --shards 8 textures", "plan --shards 16 --preset pbr textures"}},
        {"report", {"report run.jsonl -o report.html", "report runs/*.jsonl -o report.html"}},
        {"resolve", {"resolve wood.png", "resolve --preset pbr textures"}},
        {"diff", {"diff old.tx new.tx", "diff textures/blender_tx backup/blender_tx"}},
        {"extract", {"extract -o level2.png -l 2 wood.png", "extract -l 3 -o thumbnails/ textures"}},
        {"tile", {"tile -t 1,0 -o tile.png wood.png", "tile --all -o sheet.png wood.png"}},
        {"sample", {"sample wood.png", "sample --grid 64x64 -o patch.png wood.png"}},
        {"borders", {"borders --check textures", "borders --add textures"}},
        {"budget", {"budget shot10.blend", "budget --size 4096x2160 shot10.blend"}},
        {"colorspaces", {"colorspaces", "colorspaces --ocio show/config.ocio"}},
        {"devices", {"devices", "devices --json"}},
        {"doctor", {"doctor", "doctor --json"}},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (!strcmp(examples[i].command, command))
            for (size_t k = 0; k < 3 && examples[i].lines[k]; k++)
                fprintf(out, "  txmill %s\n", examples[i].lines[k]);
}

/* One line per option; the manual has the rest, and the last line refers to it. */
void txm_help_print(FILE *out, const txm_command *command, const txm_operands *operands, unsigned columns)
{
    const bool all = operands->help_all;
    unsigned indent = all ? TEXT_COLUMN : 0;
    size_t hidden = 0; /* rare options that are left out */
    const txm_option_group *titled = NULL;
    char left[64], line[256];
    fprintf(out, "Usage: txmill %s %s\n", command->name, command->synopsis);
    wrap(out, command->purpose, 0, 0, columns);
    /* Without rare options there are few, with short names, and more room for the help. */
    for (txm_option_walk w = {0}; txm_option_next(command, &w);) {
        const unsigned n = print_left(left, w.option) + 2;
        hidden += !all && w.option->rare;
        if ((all || !w.option->rare) && n > indent && n <= TEXT_COLUMN)
            indent = n;
    }
    for (txm_option_walk w = {0}; txm_option_next(command, &w);) {
        if (!all && w.option->rare)
            continue;
        if (all ? w.group != titled : !titled) /* few options need no titles */
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
    print_examples(out, command->name);
    fputc('\n', out);
    if (!all) {
        snprintf(line, sizeof line, "'txmill %s --help --all' lists %zu more options.", command->name, hidden);
        wrap(out, line, 0, 0, columns);
    }
    wrap(out, "A file .txmill keeps the settings of a project: see txmill settings.", 0, 0, columns);
    /* The page for a browser is named if there is one, beside an installed program or among what `make docs` has
     * written, and if its name fits on a line of the terminal. */
    static const char *const places[] = {"/../share/doc/txmill/man", "/docs/man"};
    char page[PATH_MAX], program[PATH_MAX], *found = NULL;
    if (txm_program_path(program) && strrchr(program, '/'))
        *strrchr(program, '/') = 0;
    for (size_t i = 0; *program && !found && i < sizeof places / sizeof *places; i++)
        if (snprintf(page, sizeof page, "%s%s/txmill-%s.1.html", program, places[i], command->name) < (int)sizeof page)
            found = realpath(page, NULL);
    fprintf(out, "The manual is txmill-%s(1)\n", command->name);
    if (found && txm_text_columns(found) <= txm_line_columns())
        fprintf(out, "For a browser: %s\n", found);
    free(found);
}

/* One line per command, never wrapped, so that it can be searched with grep. */
void txm_commands_help(FILE *out)
{
    static const struct {
        const char *title, *command;
    } lines[] = {
#define GROUP(title) {title, NULL},
#define COMMAND(name) {NULL, #name},
#include "tools/commands.def"
#undef COMMAND
#undef GROUP
    };
    fputs("Usage: txmill COMMAND [OPTION...] [FILE...]\nConvert images into the tx files of Blender's Cycles texture "
          "cache, and inspect them.\n\n  txmill make shot10.blend               make the tx files of a scene, with its "
          "settings\n  txmill make textures --preset pbr      make those of a folder; data maps by their names\n  "
          "txmill check shot10.blend              check whether everything is ready to render\n",
          out);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].title)
            fprintf(out, "\n%s:\n", lines[i].title);
        else
            fprintf(out, "  %-12s  %s\n", lines[i].command, txm_command_find(lines[i].command)->purpose);
    fputs("\n  -h, --help    Print this help and exit\n"
          "  -V, --version Print the version and exit\n"
          "\n'txmill COMMAND --help' lists a command's options; the manual starts at txmill(1).\n",
          out);
}
