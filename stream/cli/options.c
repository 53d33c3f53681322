/* SPDX-License-Identifier: Apache-2.0
 * Parses a command line by a command's table. Abbreviations are not accepted, because they could break scripts when an
 * option is added. */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cli/say.h"
#include "txtile/pixel.h"

static txm_status parse_color(const char *text, void *field, txm_error *err)
{
    static const char *const words[] = {"auto", "always", "never"};
    (void)field;
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, words[i])) {
            stm_color_set((stm_color_when)i);
            return TXM_OK;
        }
    return stm_fail(err, TXM_STATUS_USAGE, "must be auto, always or never");
}

static bool settings_ignored;
bool stm_settings_ignored(void)
{
    return settings_ignored;
}

static txm_status ignore_settings(const char *text, void *field, txm_error *err)
{
    (void)text, (void)field, (void)err;
    settings_ignored = true;
    return TXM_OK;
}

const stm_option stm_help_options[] = {
    STM_OPTION(FLAG, "help", .letter = 'h', .help = "Print this help and exit",
               .more = "The options that most people need are listed; with --all after it, all of them."),
    STM_OPTION(CUSTOM, "color", .rare = true, .arg = "WHEN", .values = "auto always never", .parse = parse_color,
               .help = "Colours: auto, always or never (default: auto, if the terminal supports them)",
               .more = "NO_COLOR in the environment turns auto into never."),
    STM_OPTION(FLAG, "no-settings", .rare = true, .parse = ignore_settings,
               .help = "Ignore .txmill files and Blender projects",
               .more = "TXMILL_* variables still apply, except TXMILL_SETTINGS."),
    {0},
};

bool stm_opt_takes_argument(const stm_option *option)
{
    return option->type != STM_OPT_FLAG;
}

bool stm_option_next(const stm_command *command, stm_option_walk *walk)
{
    static const stm_option_group help[] = {{"Help", stm_help_options, 0}, {0}};
    if (!walk->group) {
        walk->group = command->groups;
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

/* By long name, which ends at a "=", or by letter if `name` is NULL. */
static bool find(const stm_command *command, const char *name, char letter, stm_option_walk *found)
{
    const size_t n = name ? strcspn(name, "=") : 0;
    *found = (stm_option_walk){0};
    while (stm_option_next(command, found)) {
        const stm_option *o = found->option;
        if (name ? strlen(o->name) == n && !memcmp(o->name, name, n) : o->letter && o->letter == letter)
            return true;
    }
    return false;
}

static txm_status unknown(const stm_command *command, const char *name, char letter, txm_error *err)
{
    stm_option_walk w = {0};
    const char *near = NULL;
    unsigned least = UINT_MAX;
    char word[64];
    snprintf(word, sizeof word, "%.*s", name ? (int)strcspn(name, "=") : 0, name ? name : "");
    if (!strcmp(word, "force") || (!name && letter == 'f'))
        return stm_fail(err, TXM_STATUS_USAGE,
                        "unknown option %s; --overwrite replaces a file that txmill did not write. 'txmill %s --help' "
                        "lists the options",
                        name ? "--force" : "-f", command->name);
    if (!name && find(command, NULL, (char)(letter ^ 0x20), &w))
        return stm_fail(err, TXM_STATUS_USAGE,
                        "unknown option -%c; did you mean -%c (--%s)? 'txmill %s --help' lists the options", letter,
                        w.option->letter, w.option->name, command->name);
    if (!name)
        return stm_fail(err, TXM_STATUS_USAGE, "unknown option -%c; 'txmill %s --help' lists the options", letter,
                        command->name);
    while (*word && stm_option_next(command, &w))
        if (stm_spelling_better(word, w.option->name, &least))
            near = w.option->name;
    return stm_fail(err, TXM_STATUS_USAGE, "unknown option --%s; %s%s%s'txmill %s --help' lists the options", word,
                    near ? "did you mean --" : "", near ? near : "", near ? "? " : "", command->name);
}

/* ---- arguments -------------------------------------------------------------------------------------------------- */

/* Digits and a point come first: signs, blanks, "inf" and hexadecimal numbers, which strtod accepts, are refused. */
txm_status stm_parse_size(const char *text, void *field, txm_error *err)
{
    static const char letters[] = "KMGTkmgt";
    const size_t digits = strspn(text, "0123456789.");
    char *end;
    double bytes = strtod(text, &end);
    const char *unit = text[digits] ? strchr(letters, text[digits]) : NULL;
    if (unit)
        bytes = ldexp(bytes, 10 * (1 + (int)(unit - letters) % 4));
    if (!isdigit((unsigned char)*text) || end != text + digits || (text[digits] && (!unit || text[digits + 1])) ||
        !(bytes < 0x1p63))
        return stm_fail(err, TXM_STATUS_USAGE, "must be a number of bytes, such as 500000000, 512M or 1.5G");
    *(uint64_t *)field = (uint64_t)bytes;
    return TXM_OK;
}

static txm_status parse_number(const stm_option *o, const char *text, double *field, txm_error *err)
{
    const bool percent = o->type == STM_OPT_PERCENT;
    char *end;
    const double value = strtod(text, &end);
    if (end != text && (!*end || (percent && !strcmp(end, "%"))) && value >= o->least && value <= o->most) {
        *field = percent ? value / 100.0 : value;
        return TXM_OK;
    }
    return stm_fail(err, TXM_STATUS_USAGE,
                    percent ? "must be a percentage from %g to %g"
                            : "must be a number from "
                              "%.10g to %.10g",
                    o->least, o->most);
}

static txm_status parse_pixels(const char *text, stm_pixel_size *field, txm_error *err)
{
    char *end, *last = NULL;
    const unsigned long w = strtoul(text, &end, 10),
                        h = *end == 'x' && end[1] >= '0' && end[1] <= '9' ? strtoul(end + 1, &last, 10) : 0;
    if (*text < '0' || *text > '9' || !w || !h || *last || w > TXM_MAX_SIZE_PX || h > TXM_MAX_SIZE_PX)
        return stm_fail(err, TXM_STATUS_USAGE, "must be a width and a height in pixels, such as 1920x1080");
    *field = (stm_pixel_size){(uint32_t)w, (uint32_t)h};
    return TXM_OK;
}

static txm_status parse_choice(const stm_option *o, const char *text, int *field, txm_error *err)
{
    char near[64] = "", one[64];
    unsigned least = UINT_MAX;
    int index = 0;
    for (const char *w = o->values; *w; index++) {
        const size_t n = strcspn(w, " ");
        snprintf(one, sizeof one, "%.*s", (int)n, w);
        if (!strcmp(one, text)) {
            *field = index;
            return TXM_OK;
        }
        if (stm_spelling_better(text, one, &least))
            memcpy(near, one, sizeof near);
        w += n + (w[n] == ' ');
    }
    return stm_fail(err, TXM_STATUS_USAGE, "must be one of: %s%s%s%s", o->values, *near ? "; did you mean " : "", near,
                    *near ? "?" : "");
}

/* The list has room for a NULL at its end. */
static txm_status add_to_list(const stm_option *o, const char *text, stm_opt_list *list, txm_error *err)
{
    if (o->parse && o->parse(text, NULL, err) != TXM_OK)
        return err->status;
    const char **items = reallocarray(list->items, list->count + 2, sizeof *items);
    if (!items)
        return stm_no_memory(err, NULL);
    list->items = items;
    items[list->count++] = text;
    items[list->count] = NULL;
    return TXM_OK;
}

static txm_status store(const stm_option *o, const char *text, void *field, txm_error *err)
{
    switch (o->type) {
    case STM_OPT_FLAG:
        if (o->parse)
            return o->parse(text, NULL, err);
        *(bool *)field = true;
        return TXM_OK;
    case STM_OPT_STRING:
        *(const char **)field = text;
        return TXM_OK;
    case STM_OPT_LIST:
        return add_to_list(o, text, field, err);
    case STM_OPT_UINT: {
        errno = 0;
        const unsigned long value = strtoul(text, NULL, 10);
        if (!*text || text[strspn(text, "0123456789")] || errno || value < o->min || value > o->max)
            return stm_fail(err, TXM_STATUS_USAGE, "must be a whole number from %u to %u", o->min, o->max);
        *(uint32_t *)field = (uint32_t)value;
        return TXM_OK;
    }
    case STM_OPT_NUMBER:
    case STM_OPT_PERCENT:
        return parse_number(o, text, field, err);
    case STM_OPT_PIXELS:
        return parse_pixels(text, field, err);
    case STM_OPT_SIZE:
        return stm_parse_size(text, field, err);
    case STM_OPT_CHOICE:
        return parse_choice(o, text, field, err);
    case STM_OPT_CUSTOM:
        return o->parse(text, field, err);
    }
    return stm_fail(err, TXM_STATUS_INTERNAL, "option of unknown type");
}

/* ---- the command line ------------------------------------------------------------------------------------------- */

typedef struct cursor {
    int argc, next;
    char **argv;
    void *args;
    bool help;
} cursor;

/* `text` is the joined argument, or NULL. */
static txm_status apply(cursor *c, const stm_option_walk *found, const char *text, txm_error *err)
{
    const stm_option *o = found->option;
    struct stat st;
    if (o == stm_help_options) {
        c->help = true;
        return TXM_OK;
    }
    if (!stm_opt_takes_argument(o) && text)
        return stm_fail(err, TXM_STATUS_USAGE, "option --%s takes no argument, but got '%s'", o->name, text);
    if (stm_opt_takes_argument(o) && !text) {
        if (c->next == c->argc)
            return stm_fail(err, TXM_STATUS_USAGE, "option --%s needs its argument %s", o->name, o->arg);
        text = c->argv[c->next++];
    }
    if ((o->type == STM_OPT_STRING || (o->type == STM_OPT_LIST && !o->parse)) && !*text)
        return stm_fail(err, TXM_STATUS_USAGE, "--%s: its argument %s is empty; is a variable of a script unset?",
                        o->name, o->arg);
    /* If a name is missing before a glob, an image becomes the argument. */
    if (text && o->values && !strcmp(o->values, STM_VALUES_DIR) && stat(text, &st) == 0 && !S_ISDIR(st.st_mode))
        return stm_fail(err, TXM_STATUS_USAGE,
                        "--%s %s: a file, not a folder; was the folder left out, as in --%s cache?", o->name, text,
                        o->name);
    if (store(o, text, (char *)c->args + found->group->offset + o->offset, err) == TXM_OK)
        return TXM_OK;
    char prefix[256];
    snprintf(prefix, sizeof prefix, "--%s %.128s", o->name, text && *text ? text : "''");
    return stm_error_prefix(err, prefix);
}

/* --name=value or --name; an empty value after the = counts as an argument. */
static txm_status parse_long(const stm_command *command, cursor *c, const char *word, txm_error *err)
{
    stm_option_walk found;
    const char *value = strchr(word, '=');
    return find(command, word, 0, &found) ? apply(c, &found, value ? value + 1 : NULL, err)
                                          : unknown(command, word, 0, err);
}

/* Flags may be combined, and the first option with an argument takes the rest of the word. Other programs have long
 * options with one dash. */
static txm_status parse_short(const stm_command *command, cursor *c, const char *word, txm_error *err)
{
    stm_option_walk found;
    txm_status status = TXM_OK;
    if (strcspn(word, "=") >= 3 && find(command, word, 0, &found))
        return stm_fail(err, TXM_STATUS_USAGE, "-%s: did you mean --%s? Long options begin with two dashes", word,
                        found.option->name);
    for (; status == TXM_OK && *word && !c->help; word++) {
        if (!find(command, NULL, *word, &found))
            return unknown(command, NULL, *word, err);
        if (stm_opt_takes_argument(found.option))
            return apply(c, &found, word[1] ? word + 1 : NULL, err);
        status = apply(c, &found, NULL, err);
    }
    return status;
}

/* A pattern of the shell may have found a file that is called like an option. */
static txm_status check_is_no_file(const char *word, txm_error *err)
{
    struct stat st;
    if (strlen(word) < 3 || lstat(word, &st) != 0)
        return TXM_OK;
    char *file = stm_shell_path(word);
    stm_fail(err, TXM_STATUS_USAGE,
             "%s: is a file here, but is read as an option; for the file write %s, or -- before all files", word,
             file ? file : "./ before it");
    free(file);
    return err->status;
}

stm_parse_outcome stm_parse(const stm_command *command, int argc, char **argv, void *args, stm_operands *operands,
                            txm_error *err)
{
    cursor c = {.argc = argc, .argv = argv, .args = args};
    bool options = true;
    operands->count = 0;
    command->defaults(args);
    while (c.next < argc && !c.help) {
        char *word = argv[c.next++];
        txm_status status = TXM_OK;
        if (!options || word[0] != '-' || !word[1])
            operands->items[operands->count++] = word;
        else if (!strcmp(word, "--"))
            options = false;
        else if ((status = check_is_no_file(word, err)) == TXM_OK)
            status = word[1] == '-' ? parse_long(command, &c, word + 2, err) : parse_short(command, &c, word + 1, err);
        if (status != TXM_OK)
            return STM_PARSE_FAILED;
    }
    /* What the help is about may follow --help. */
    for (int i = c.next; c.help && i < argc; i++) {
        operands->help_all |= !strcmp(argv[i], "--all");
        if (argv[i][0] != '-')
            operands->items[operands->count++] = argv[i];
    }
    return c.help ? STM_PARSED_HELP : STM_PARSED;
}

txm_status stm_operands_expand(stm_operands *operands, txm_error *err)
{
    char **items = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < operands->count; i++) {
        struct stat st;
        glob_t found = {0};
        char *text = operands->items[i];
        const bool is_pattern = text[0] != '@' && text[0] != '-' && strpbrk(text, "*?[") && lstat(text, &st) != 0;
        const int rc = is_pattern ? glob(text, 0, NULL, &found) : GLOB_NOMATCH;
        const size_t matches = rc == 0 ? found.gl_pathc : 1;
        bool ok = rc != GLOB_NOSPACE;
        for (size_t k = 0; ok && k < matches; k++) {
            char *item = rc == 0 ? strdup(found.gl_pathv[k]) : text;
            ok = item && STM_GROW(items, capacity, count);
            if (ok)
                items[count++] = item;
        }
        if (is_pattern)
            globfree(&found);
        if (!ok) {
            free(items);
            return stm_no_memory(err, text);
        }
    }
    if (items) {
        free(operands->items);
        operands->items = items;
        operands->count = count;
    }
    return TXM_OK;
}

void stm_args_free(const stm_command *command, void *args)
{
    for (stm_option_walk w = {0}; stm_option_next(command, &w);)
        if (w.option->type == STM_OPT_LIST) {
            stm_opt_list *list = (void *)((char *)args + w.group->offset + w.option->offset);
            free(list->items);
            *list = (stm_opt_list){0};
        }
}
