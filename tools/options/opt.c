/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses a command line by a command's table of options.
 *
 * In: argv and a table. Out: the filled struct and the operands. The message about an unknown option suggests a
 * similar one. Abbreviations are not accepted, because they could break scripts when an option is added.
 */
#include "tools/options/opt.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/shell.h"
#include "base/spelling.h"
#include "base/text.h"
#include "tools/output/text.h"
#include "txtile/pixel.h"

/* This setting belongs to the process, so there is no field. */
static txm_status parse_color(const char *text, void *field, txm_error *err)
{
    static const char *const words[] = {"auto", "always", "never"};
    (void)field;
    for (int i = 0; i < 3; i++) {
        if (!strcmp(text, words[i])) {
            txm_color_set((txm_color_when)i);
            return TXM_OK;
        }
    }
    return txm_fail(err, TXM_STATUS_USAGE, "must be auto, always or never");
}

static bool settings_ignored;

bool txm_settings_ignored(void)
{
    return settings_ignored;
}

static txm_status parse_no_settings(const char *text, void *field, txm_error *err)
{
    (void)text, (void)field, (void)err;
    settings_ignored = true;
    return TXM_OK;
}

const txm_option txm_help_options[] = {
    TXM_OPTION(FLAG, "help", .letter = 'h', .help = "Print this help and exit",
               .more = "The options that most people need are listed; with --all after it, all of them."),
    TXM_OPTION(CUSTOM, "color", .rare = true, .arg = "WHEN", .values = "auto always never", .parse = parse_color,
               .help = "Colours: auto, always or never (default: auto, if the terminal supports them)",
               .more = "NO_COLOR in the environment turns auto into never."),
    TXM_OPTION(FLAG, "no-settings", .rare = true, .parse = parse_no_settings,
               .help = "Ignore .txmill files and Blender projects",
               .more = "TXMILL_* variables still apply, except TXMILL_SETTINGS."),
    {0},
};

/* In the next word, if it is not joined; the argument of a WORD can only be joined. */
bool txm_opt_takes_argument(const txm_option *option)
{
    return option->type != TXM_OPT_FLAG && option->type != TXM_OPT_CLEAR && option->type != TXM_OPT_WORD;
}

/* Parsing, --help, the manual and completion all use this function, so that they have the same options. */
bool txm_option_next(const txm_command *command, txm_option_walk *walk)
{
    static const txm_option_group help[] = {{"Help", txm_help_options, 0}, {0}};
    if (!walk->group) {
        walk->group = command->groups->title ? command->groups : help;
        walk->option = walk->group->options;
    } else {
        walk->option++;
    }
    while (!walk->option->name) {
        if (walk->group == help)
            return false;
        walk->group = walk->group[1].title ? walk->group + 1 : help;
        walk->option = walk->group->options;
    }
    return true;
}

/* ---- finding an option ------------------------------------------------------------------------------------------ */

/* What was typed: a long name, which may be followed by other text, or a letter if it is NULL. */
typedef struct typed {
    const char *name;
    size_t bytes;
    char letter;
} typed;

static bool is_name(const typed *t, const char *name)
{
    return strlen(name) == t->bytes && !memcmp(t->name, name, t->bytes);
}

/* Goes through all options, which are a few dozen, for each word. */
static bool find(const txm_command *command, typed t, txm_option_walk *found)
{
    *found = (txm_option_walk){0};
    while (txm_option_next(command, found))
        if (t.name ? is_name(&t, found->option->name) : found->option->letter && found->option->letter == t.letter)
            return true;
    return false;
}

/* For a letter the other case is suggested, for a name the most similar one. */
static txm_status unknown(const txm_command *command, typed t, txm_error *err)
{
    txm_option_walk w;
    if ((t.name ? is_name(&t, "force") : t.letter == 'f') && find(command, (typed){"overwrite", 9, 0}, &w))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "unknown option %s; --overwrite replaces a file that txmill did not write. 'txmill %s --help' "
                        "lists the options",
                        t.name ? "--force" : "-f", command->name);
    if (t.name ? is_name(&t, "recursive") : t.letter == 'r')
        return txm_fail(err, TXM_STATUS_USAGE,
                        "unknown option %s; leave it out: folders are always searched with their subfolders",
                        t.name ? "--recursive" : "-r");
    if (!t.name && find(command, (typed){.letter = t.letter ^ 0x20}, &w))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "unknown option -%c; did you mean -%c (--%s)? 'txmill %s --help' lists the options", t.letter,
                        w.option->letter, w.option->name, command->name);
    if (!t.name)
        return txm_fail(err, TXM_STATUS_USAGE, "unknown option -%c; 'txmill %s --help' lists the options", t.letter,
                        command->name);
    char word[64];
    const char *near = NULL;
    unsigned least = UINT_MAX;
    snprintf(word, sizeof word, "%.*s", (int)(t.bytes < 63 ? t.bytes : 63), t.name);
    for (w = (txm_option_walk){0}; txm_option_next(command, &w);)
        if (txm_spelling_better(word, w.option->name, &least))
            near = w.option->name;
    return txm_fail(err, TXM_STATUS_USAGE, "unknown option --%.*s; %s%s%s'txmill %s --help' lists the options",
                    (int)t.bytes, t.name, near ? "did you mean --" : "", near ? near : "", near ? "? " : "",
                    command->name);
}

/* ---- arguments -------------------------------------------------------------------------------------------------- */

/* Signs, blanks, exponents, hexadecimal numbers and "inf", which strtod accepts, are refused. */
bool txm_parse_units(const char *text, const char *letters, const double *factors, bool may_lack, double *out)
{
    const size_t digits = strspn(text, "0123456789.");
    char *end;
    errno = 0;
    const double number = txm_parse_double(text, &end);
    const char *unit = text[digits] ? strchr(letters, text[digits]) : NULL;
    const bool plain = isdigit((unsigned char)text[0]) && end == text + digits && !errno;
    if (!plain || (text[digits] ? !unit || text[digits + 1] : !may_lack))
        return false;
    *out = unit ? number * factors[unit - letters] : number;
    return true;
}

/* Units are powers of 1024, as in other tools; the output of commands has powers of 1000, as for disks. */
txm_status txm_parse_size(const char *text, void *field, txm_error *err)
{
    static const double factors[] = {0x1p10, 0x1p20, 0x1p30, 0x1p40, 0x1p10, 0x1p20, 0x1p30, 0x1p40};
    double bytes;
    if (!txm_parse_units(text, "KMGTkmgt", factors, true, &bytes) || !(bytes < 0x1p63))
        return txm_fail(err, TXM_STATUS_USAGE, "must be a number of bytes, such as 500000000, 512M or 1.5G");
    if (field)
        *(uint64_t *)field = (uint64_t)bytes;
    return TXM_OK;
}

/* The decimal point does not depend on the locale. */
static txm_status parse_number(const txm_option *o, const char *text, double *field, txm_error *err)
{
    char *end;
    const double value = txm_parse_double(text, &end);
    if (end != text && !*end && value >= o->least && value <= o->most) {
        *field = value;
        return TXM_OK;
    }
    if (o->most < INFINITY)
        return txm_fail(err, TXM_STATUS_USAGE, "must be a number from %.10g to %.10g", o->least, o->most);
    if (o->least > -INFINITY)
        return txm_fail(err, TXM_STATUS_USAGE, "must be a number of at least %g", o->least);
    return txm_fail(err, TXM_STATUS_USAGE, "must be a number, such as 0.25");
}

/* The first digits are checked, because strtoul accepts signs and blanks. */
static txm_status parse_pixels(const char *text, txm_pixel_size *field, txm_error *err)
{
    char *end, *last = NULL;
    const unsigned long w = strtoul(text, &end, 10),
                        h = *end == 'x' && end[1] >= '0' && end[1] <= '9' ? strtoul(end + 1, &last, 10) : 0;
    if (*text < '0' || *text > '9' || !w || !h || *last || w > TXM_MAX_SIZE_PX || h > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_STATUS_USAGE, "must be a width and a height in pixels, such as 1920x1080");
    *field = (txm_pixel_size){(uint32_t)w, (uint32_t)h};
    return TXM_OK;
}

/* The words in the table are used for help, completion and parsing; the number stored is the index of the word. */
static txm_status parse_choice(const txm_option *o, const char *text, int *field, txm_error *err)
{
    int index = 0;
    size_t n = strlen(text);
    char near[64] = "", one[64];
    unsigned least = UINT_MAX;
    for (const char *w = o->values; *w; index++) {
        size_t word = strcspn(w, " ");
        snprintf(one, sizeof one, "%.*s", (int)word, w);
        if (txm_spelling_better(text, one, &least))
            memcpy(near, one, sizeof near);
        if (word == n && memcmp(w, text, n) == 0) {
            *field = index;
            return TXM_OK;
        }
        w += word + (w[word] == ' ');
    }
    return txm_fail(err, TXM_STATUS_USAGE, "must be one of: %s%s%s%s", o->values, *near ? "; did you mean " : "", near,
                    *near ? "?" : "");
}

/* Keeps room for a NULL at the end, because globs are passed to the library as such arrays. */
static txm_status add_to_list(const txm_option *o, const char *text, txm_opt_list *list, txm_error *err)
{
    txm_status status = o->parse ? o->parse(text, NULL, err) : TXM_OK;
    if (status != TXM_OK)
        return status;
    const char **items = realloc(list->items, txm_mul(list->count + 2, sizeof *items));
    if (!items)
        return txm_no_memory(err, NULL);
    list->items = items;
    items[list->count++] = text;
    items[list->count] = NULL;
    return TXM_OK;
}

/* `text` points into argv, which lives as long as the process, so strings are not copied. */
static txm_status store(const txm_option *o, const char *text, void *field, txm_error *err)
{
    switch (o->type) {
    case TXM_OPT_FLAG:
    case TXM_OPT_CLEAR:
        if (o->parse)
            return o->parse(text, NULL, err);
        *(bool *)field = o->type == TXM_OPT_FLAG;
        return TXM_OK;
    case TXM_OPT_YESNO: {
        /* Other words are refused, so that the meaning is always clear. */
        bool yes = !strcmp(text, "yes");
        if (!yes && strcmp(text, "no"))
            return txm_fail(err, TXM_STATUS_USAGE, "must be yes or no");
        *(bool *)field = yes;
        return TXM_OK;
    }
    case TXM_OPT_STRING:
        *(const char **)field = text;
        return TXM_OK;
    case TXM_OPT_LIST:
        return add_to_list(o, text, field, err);
    case TXM_OPT_UINT: {
        /* Accepts only digits, because strtoul accepts "-1" as a large number. */
        errno = 0;
        const unsigned long value = strtoul(text, NULL, 10);
        if (!*text || text[strspn(text, "0123456789")] || errno || value < o->min || value > o->max)
            return txm_fail(err, TXM_STATUS_USAGE, "must be a whole number from %u to %u", o->min, o->max);
        *(uint32_t *)field = (uint32_t)value;
        return TXM_OK;
    }
    case TXM_OPT_NUMBER:
        return parse_number(o, text, field, err);
    case TXM_OPT_PIXELS:
        return parse_pixels(text, field, err);
    case TXM_OPT_SIZE:
        return txm_parse_size(text, field, err);
    case TXM_OPT_CHOICE:
        return parse_choice(o, text, field, err);
    case TXM_OPT_WORD: {
        int index = -1;
        txm_status status = text ? parse_choice(o, text, &index, err) : TXM_OK;
        if (status == TXM_OK)
            *(int *)field = index + 2;
        return status;
    }
    case TXM_OPT_CUSTOM:
        return o->parse(text, field, err);
    }
    return txm_fail(err, TXM_STATUS_INTERNAL, "option of unknown type");
}

/* ---- the command line ------------------------------------------------------------------------------------------- */

typedef struct cursor {
    int argc, next;
    char **argv;
    void *args;
    bool help;
    txm_operands *operands;
} cursor;

/* By long name, whichever form was used. */
bool txm_opt_given(const txm_operands *operands, const char *name)
{
    for (size_t i = 0; i < operands->given_count; i++)
        if (!strcmp(operands->given[i]->name, name))
            return true;
    return false;
}

/* If a name is missing before a glob, an image becomes the argument. A folder that does not exist yet will be
 * created. */
static txm_status check_folder(const txm_option *o, const char *path, txm_error *err)
{
    struct stat st;
    if (!o->values || strcmp(o->values, TXM_VALUES_DIR) || stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return TXM_OK;
    return txm_fail(err, TXM_STATUS_USAGE, "--%s %s: a file, not a folder; was the folder left out, as in --%s cache?",
                    o->name, path, o->name);
}

static txm_status apply(cursor *c, const txm_option_walk *found, const char *text, txm_error *err)
{
    const txm_option *o = found->option;
    if (o == txm_help_options) {
        c->help = true;
        return TXM_OK;
    }
    if (!txm_opt_takes_argument(o) && o->type != TXM_OPT_WORD && text)
        return txm_fail(err, TXM_STATUS_USAGE, "option --%s takes no argument, but got '%s'", o->name, text);
    if (txm_opt_takes_argument(o) && !text) {
        if (c->next == c->argc)
            return txm_fail(err, TXM_STATUS_USAGE, "option --%s needs its argument %s", o->name, o->arg);
        text = c->argv[c->next++];
    }
    bool is_text = o->type == TXM_OPT_STRING || (o->type == TXM_OPT_LIST && !o->parse);
    if (is_text && text && !*text)
        return txm_fail(err, TXM_STATUS_USAGE, "--%s: its argument %s is empty; is a variable of a script unset?",
                        o->name, o->arg);
    if (text && check_folder(o, text, err) != TXM_OK)
        return err->status;
    txm_status status = store(o, text, (char *)c->args + found->group->offset + o->offset, err);
    if (status != TXM_OK)
        txm_error_prefix(err, "--%s %s", o->name, text && *text ? text : "''");
    else {
        /* Records the option, because a project's settings apply only to options that were not given. */
        size_t most = sizeof c->operands->given / sizeof *c->operands->given;
        if (c->operands->given_count < most && !txm_opt_given(c->operands, o->name))
            c->operands->given[c->operands->given_count++] = o;
    }
    return status;
}

static txm_status parse_long(const txm_command *command, cursor *c, const char *word, txm_error *err)
{
    const typed t = {.name = word, .bytes = strcspn(word, "=")};
    txm_option_walk found;
    if (!find(command, t, &found))
        return unknown(command, t, err);
    return apply(c, &found, word[t.bytes] ? word + t.bytes + 1 : NULL, err);
}

/* A pattern of the shell may have found a file that is called like an option; -d.png would set the cache folder. */
static txm_status check_is_no_file(const char *word, txm_error *err)
{
    struct stat st;
    if (strlen(word) < 3 || lstat(word, &st) != 0)
        return TXM_OK;
    char *file = txm_shell_path(word);
    txm_fail(err, TXM_STATUS_USAGE,
             "%s: is a file here, but is read as an option; for the file write %s, or -- before all files", word,
             file ? file : "./ before it");
    free(file);
    return err->status;
}

/* A word of short options: flags may be combined, and the first option with an argument takes the rest of the word.
 * Other programs have long options with one dash; -force would write to a file "rce". */
static txm_status parse_short(const txm_command *command, cursor *c, const char *word, txm_error *err)
{
    const typed whole = {.name = word, .bytes = strcspn(word, "=")};
    txm_option_walk found;
    txm_status status = TXM_OK;
    if (whole.bytes >= 3 && find(command, whole, &found))
        return txm_fail(err, TXM_STATUS_USAGE, "-%s: did you mean --%s? Long options begin with two dashes", word,
                        found.option->name);
    for (; status == TXM_OK && *word && !c->help; word++) {
        const typed t = {.letter = *word};
        if (!find(command, t, &found))
            return unknown(command, t, err);
        if (txm_opt_takes_argument(found.option))
            return apply(c, &found, word[1] ? word + 1 : NULL, err);
        status = apply(c, &found, NULL, err);
    }
    return status;
}

/* Options and operands may be mixed, as in GNU programs; after "--" everything is an operand. */
txm_parse_outcome txm_parse(const txm_command *command, int argc, char **argv, void *args, txm_operands *operands,
                            txm_error *err)
{
    cursor c = {.argc = argc, .argv = argv, .args = args, .operands = operands};
    bool options = true;
    operands->count = operands->given_count = 0;
    for (const txm_option_group *g = command->groups; g->title; g++) {
        const txm_option *end = g->options;
        while (end->name)
            end++;
        if (end->defaults)
            end->defaults((char *)args + g->offset);
    }
    if (command->defaults)
        command->defaults(args);
    while (c.next < argc) {
        char *word = argv[c.next++];
        const bool is_operand = !options || word[0] != '-' || !word[1];
        txm_status status = is_operand ? TXM_OK : check_is_no_file(word, err);
        if (status != TXM_OK)
            return TXM_PARSE_FAILED;
        if (is_operand)
            operands->items[operands->count++] = word;
        else if (!strcmp(word, "--"))
            options = false;
        else if (word[1] == '-')
            status = parse_long(command, &c, word + 2, err);
        else
            status = parse_short(command, &c, word + 1, err);
        if (status != TXM_OK)
            return TXM_PARSE_FAILED;
        if (c.help) {
            /* What the help is about may follow it, as in --help --all. */
            for (int i = c.next; i < c.argc; i++)
                if (!strcmp(c.argv[i], "--all"))
                    c.operands->help_all = true;
                else if (c.argv[i][0] != '-')
                    c.operands->items[c.operands->count++] = c.argv[i];
            return TXM_PARSED_HELP;
        }
    }
    return TXM_PARSED;
}

/* ---- patterns --------------------------------------------------------------------------------------------------- */

/* Folders that cannot be read match nothing; the operand then fails under its own name. */
txm_status txm_operands_expand(txm_operands *operands, txm_error *err)
{
    char **items = NULL;
    size_t count = 0, capacity = 0, match_capacity = 0;
    for (size_t i = 0; i < operands->count; i++) {
        char *text = operands->items[i];
        struct stat st;
        glob_t found = {0};
        const bool is_pattern = text[0] != '@' && text[0] != '-' && strpbrk(text, "*?[") && lstat(text, &st) != 0;
        const int rc = is_pattern ? glob(text, 0, NULL, &found) : GLOB_NOMATCH;
        bool ok = rc != GLOB_NOSPACE;
        for (size_t k = 0; ok && k < (rc == 0 ? found.gl_pathc : 1); k++) {
            char *match = rc == 0 ? txm_strdup(found.gl_pathv[k]) : NULL;
            ok = rc != 0 || (match && TXM_GROW(operands->matches, match_capacity, operands->match_count));
            if (ok && match)
                operands->matches[operands->match_count++] = match;
            else
                free(match);
            ok = ok && TXM_GROW(items, capacity, count + 1);
            if (ok) {
                items[count++] = match ? match : text;
                items[count] = NULL;
            }
        }
        if (is_pattern)
            globfree(&found);
        if (!ok) {
            free(items);
            return txm_no_memory(err, text);
        }
    }
    if (items) {
        free(operands->items);
        operands->items = items;
        operands->count = count;
    }
    return TXM_OK;
}

void txm_operands_free(txm_operands *operands)
{
    for (size_t i = 0; i < operands->match_count; i++)
        free(operands->matches[i]);
    free(operands->matches);
    free(operands->items);
    *operands = (txm_operands){0};
}

/* Parsing allocates only lists. */
void txm_args_free(const txm_command *command, void *args)
{
    for (txm_option_walk w = {0}; txm_option_next(command, &w);)
        if (w.option->type == TXM_OPT_LIST) {
            txm_opt_list *list = (void *)((char *)args + w.group->offset + w.option->offset);
            free(list->items);
            *list = (txm_opt_list){0};
        }
}
