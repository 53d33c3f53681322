/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules choose colour space and alpha type by file name.
 *
 * The first of these that specifies a value decides: a scene or a list that names the file; --rule, in the order given;
 * --rules files; --preset; --colorspace and --alpha-type; else Blender's default, which is the file's own metadata, a
 * file rule of the OCIO config, or the config's role for the format. Colour space and alpha type come from the same
 * rule: if it specifies no alpha type, the command line decides that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text_file.h"
#include "mill/rules/glob.h"
#include "mill/rules/kind.h"
#include "txmill/rules.h"
#include "txtile/pixel.h"

typedef struct limit {
    const char *glob;
    uint32_t px;
} limit;

struct txm_rules {
    txm_names names;
    limit *limits;
    size_t limit_count, limit_capacity;
    txm_rule *items;
    size_t count, capacity;
    bool pbr;
};

enum { MAX_RULES = 100000, MAX_BYTES = 16 << 20, MAX_RULE_BYTES = 4096 };

static const char first_line[] = "# txmill rules";

/* The rules that --preset pbr adds, after all globs. */
static const txm_rule pbr = {
    .glob = "the name of a map without colours", .colorspace = "Non-Color", .by_preset = true, .origin = "preset pbr"};

txm_status txm_rules_new(txm_rules **out, txm_error *err)
{
    txm_error_clear(err);
    *out = txm_calloc(1, sizeof(txm_rules));
    return *out ? TXM_OK : txm_no_memory(err, NULL);
}

void txm_rules_free(txm_rules **rules)
{
    if (rules && *rules) {
        txm_names_free(&(*rules)->names);
        free((*rules)->items);
        free((*rules)->limits);
        free(*rules);
        *rules = NULL;
    }
}

/* Rules are checked when they are read; that a colour space exists is checked by the command, which has a config. */
txm_status txm_rules_add(txm_rules *rules, const char *text, const char *origin, txm_error *err)
{
    txm_error_clear(err);
    char copy[MAX_RULE_BYTES];
    txm_rule rule = {.glob = copy, .origin = origin};
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: a rule is longer than %d bytes", origin, MAX_RULE_BYTES - 1);
    /* A glob may contain '=', a colour space hardly; a colour space may contain ',', an alpha type never. */
    char *equals = strrchr(copy, '=');
    if (!equals || equals == copy)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: rule '%s': must be GLOB=SPACE or GLOB=SPACE,ALPHA", origin, text);
    *equals = 0;
    char *comma = strrchr(equals + 1, ',');
    bool has_alpha = comma && txm_alpha_parse(comma + 1, &rule.alpha);
    if (comma && !has_alpha && comma == equals + 1)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "%s: rule '%s': the alpha type must be straight, premultiplied, channel_packed, none, default "
                        "or auto",
                        origin, text);
    if (has_alpha)
        *comma = 0;
    if (equals[1])
        rule.colorspace = equals + 1;
    else if (!has_alpha)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: rule '%s' names no colour space", origin, text);
    /* Rules are in order of precedence: the first match decides. */
    if (rules->count == MAX_RULES)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: more than %d rules", rule.origin, MAX_RULES);
    if (!TXM_GROW(rules->items, rules->capacity, rules->count))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for rules");
    txm_rule *n = &rules->items[rules->count];
    *n = (txm_rule){.glob = txm_names_put(&rules->names, rule.glob),
                    .colorspace = txm_names_put(&rules->names, rule.colorspace),
                    .alpha = rule.alpha,
                    .origin = txm_names_put(&rules->names, rule.origin)};
    if (!n->glob || !n->origin || (rule.colorspace && !n->colorspace))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for rules");
    rules->count++;
    return TXM_OK;
}

/* "2048", "2k", "2K" or "none"; 0 for anything else. */
static uint32_t parse_limit(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    const bool kilo = text[digits] == 'k' || text[digits] == 'K';
    if (!strcmp(text, "none"))
        return TXM_NO_LIMIT;
    if (!digits || digits > 7 || text[digits + kilo])
        return 0;
    const unsigned long px = strtoul(text, NULL, 10) * (kilo ? 1024 : 1);
    return px >= TXM_MIN_LIMIT_PX && px <= TXM_MAX_LIMIT_PX ? (uint32_t)px : 0;
}

/* The last word is the size, because globs may contain blanks. */
txm_status txm_rules_add_limit(txm_rules *rules, const char *text, txm_error *err)
{
    txm_error_clear(err);
    const char *blank = strrchr(text, ' '), *tab = strrchr(blank ? blank : text, '\t'), *last = tab ? tab : blank;
    size_t glob_bytes = last ? (size_t)(last - text) : 0;
    while (glob_bytes && strchr(" \t", text[glob_bytes - 1]))
        glob_bytes--;
    const uint32_t px = parse_limit(last ? last + 1 : text);
    if (!px)
        return txm_fail(
            err, TXM_STATUS_USAGE,
            "limit '%.200s': must be a size, such as 2048 or 2k, from %d to 1024k, or none; or a glob and a "
            "size, as in 'background/* 2k'",
            text, TXM_MIN_LIMIT_PX);
    if (rules->limit_count == MAX_RULES)
        return txm_fail(err, TXM_STATUS_USAGE, "more than %d limits", MAX_RULES);
    char *glob = glob_bytes ? txm_strndup(text, glob_bytes) : txm_strdup("*");
    const char *kept = glob && TXM_GROW(rules->limits, rules->limit_capacity, rules->limit_count)
                           ? txm_names_put(&rules->names, glob)
                           : NULL;
    free(glob);
    if (!kept)
        return txm_no_memory(err, NULL);
    rules->limits[rules->limit_count++] = (limit){kept, px};
    return TXM_OK;
}

uint32_t txm_rules_limit(const txm_rules *rules, const char *path)
{
    for (size_t i = 0; rules && i < rules->limit_count; i++)
        if (txm_glob_match(rules->limits[i].glob, path))
            return rules->limits[i].px;
    return 0;
}

static txm_status load_lines(txm_rules *rules, FILE *f, const char *path, bool *quoted, txm_error *err)
{
    char line[MAX_RULE_BYTES];
    size_t bytes = 0;
    txm_status status = TXM_OK;
    for (size_t number = 1; status == TXM_OK && fgets(line, sizeof line, f); number++) {
        bytes += strlen(line);
        *quoted |= number == 1 && !strncmp(line, first_line, sizeof first_line - 1);
        if (bytes > MAX_BYTES)
            status = txm_fail(err, TXM_STATUS_USAGE, "%s: larger than %d MiB, so not a file of rules", path,
                              MAX_BYTES >> 20);
        else if (!strchr(line, '\n') && !feof(f))
            status =
                txm_fail(err, TXM_STATUS_USAGE, "%s:%zu: the line is longer than %d bytes, or contains a zero byte",
                         path, number, MAX_RULE_BYTES - 2);
        line[strcspn(line, "\r\n")] = 0;
        if (status != TXM_OK || !*line || *line == '#')
            continue;
        char origin[512]; /* file and line, for messages */
        snprintf(origin, sizeof origin, "%s:%zu", path, number);
        status = txm_rules_add(rules, line, origin, err);
        if (status == TXM_STATUS_USAGE && !*quoted) {
            txm_error_clear(err);
            txm_fail(err, status, "%s: not a rule; its text is not shown, since others named the file", origin);
        }
    }
    if (status == TXM_OK && ferror(f))
        status = txm_fail_errno(err, errno, "%s: reading the rules failed", path);
    return status;
}

txm_status txm_rules_load(txm_rules *rules, const char *path, const volatile int *cancel, txm_error *err)
{
    bool quoted = true;
    txm_error_clear(err);
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no rules given: their path is NULL");
    FILE *f = txm_text_file_open(path, cancel);
    if (!f)
        return txm_fail_errno(err, errno, "%s: cannot open the rules", path);
    txm_status status = load_lines(rules, f, path, &quoted, err);
    fclose(f);
    return status;
}

/* Settings, which may name any file, must not make a run wait for a pipe. */
txm_status txm_rules_load_foreign(txm_rules *rules, const char *path, bool *quoted, txm_error *err)
{
    struct stat st;
    txm_status status = TXM_OK;
    size_t first = rules->count;
    txm_error_clear(err);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!f || fstat(fd, &st) != 0)
        status = txm_fail_errno(err, errno, "%s: cannot open the rules", path);
    else if (!S_ISREG(st.st_mode))
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file, so not a file of rules", path);
    else
        status = load_lines(rules, f, path, quoted, err);
    for (; !*quoted && first < rules->count; first++)
        rules->items[first].unquoted = true;
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    return status;
}

/* Presets come after all other rules. */
txm_status txm_rules_preset(txm_rules *rules, const char *name, txm_error *err)
{
    txm_error_clear(err);
    if (strcmp(name, "pbr") != 0 && strcmp(name, "none") != 0)
        return txm_fail(err, TXM_STATUS_USAGE, "unknown preset '%s'; use pbr or none", name);
    rules->pbr = !strcmp(name, "pbr");
    return TXM_OK;
}

const txm_rule *txm_rules_match(const txm_rules *rules, const char *path)
{
    for (size_t i = 0; rules && i < rules->count; i++)
        if (txm_glob_match(rules->items[i].glob, path))
            return &rules->items[i];
    return rules && rules->pbr && txm_map_kind_of(path) > TXM_MAP_COLOR ? &pbr : NULL;
}

const txm_rule *txm_rules_at(const txm_rules *rules, size_t index)
{
    return rules && index < rules->count ? &rules->items[index] : NULL;
}
