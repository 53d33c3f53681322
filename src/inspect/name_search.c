/* SPDX-License-Identifier: Apache-2.0
 *
 * Which settings lead to a tx file's name. A name holds an MD5 alone, but what can stand behind it is few: the spaces
 * of a config under all their names, five alpha types, two formats, a handful of working spaces, and the source's place
 * or not. All of them are tried.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/name.h"
#include "convert/context.h"
#include "core/mem.h"
#include "core/path.h"
#include "txmill/inspect.h"

/* What is looked for, and where sources and folders come from. */
typedef struct search {
    const char *name;  /* file name of the tx file */
    char *source_name; /* its first part */
    const char *source;
    char *dir; /* of the tx file, absolute: NULL if names with places are not tried */
    const txm_color_config *config;
    const char *xyz;
    txm_name_match *match;
    bool exhausted;
} search;

static const char *const roles[] = {
    "scene_linear", "default_byte", "default_float",   "default_sequencer", "color_picking",          "texture_paint",
    "matte_paint",  "color_timing", "compositing_log", "aces_interchange",  "cie_xyz_d65_interchange"};

static bool fits(search *s, const txm_tx_key *key, bool absolute)
{
    char *path = txm_tx_path(absolute ? s->source : s->source_name, absolute ? s->dir : NULL, key);
    s->exhausted |= !path;
    bool same = path && !strcmp(txm_path_base(path), s->name);
    free(path);
    return same;
}

/* One colour space word with everything else that may go with it. */
static bool try_word(search *s, const char *word)
{
    for (int absolute = 0; absolute <= (s->dir != NULL); absolute++)
        for (int alpha = TXM_ALPHA_STRAIGHT; alpha <= TXM_ALPHA_AUTO; alpha++)
            for (int equiangular = 0; equiangular < 2; equiangular++) {
                const txm_tx_key key = {s->xyz, word, (txm_alpha)alpha, equiangular};
                if (!fits(s, &key, absolute))
                    continue;
                txm_name_match *m = s->match;
                memset(m, 0, sizeof *m);
                snprintf(m->colorspace, sizeof m->colorspace, "%s", *word ? word : "auto");
                snprintf(m->xyz_to_scene_linear, sizeof m->xyz_to_scene_linear, "%s", s->xyz);
                m->alpha = (txm_alpha)alpha;
                m->equiangular = equiangular;
                m->absolute_dir = absolute;
                return true;
            }
    return false;
}

static bool try_entry(search *s, const txm_color_entry *entry)
{
    if (try_word(s, entry->name))
        return true;
    for (const char *const *alias = entry->aliases; alias && *alias; alias++)
        if (try_word(s, *alias))
            return true;
    return false;
}

/* All words under one working space. */
static bool try_words(search *s)
{
    if (try_word(s, "data") || try_word(s, ""))
        return true;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (try_word(s, roles[i]))
            return true;
    for (size_t i = 0, n = txm_color_count(s->config); i < n && !s->exhausted; i++) {
        txm_color_entry entry;
        if (txm_color_entry_at(s->config, i, &entry, NULL) == TXM_OK && try_entry(s, &entry))
            return true;
    }
    return false;
}

/* The working spaces that Blender offers; loading a config for each takes a while, so they come last. */
static txm_status try_working_spaces(search *s, const txm_context *context, bool *found, txm_error *err)
{
    static const char *const spaces[] = {"Linear Rec.709", "Linear Rec.2020", "ACEScg"};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces && !*found && !s->exhausted; i++) {
        txm_context *other = NULL;
        txm_status status = txm_context_derive(context, spaces[i], &other, NULL);
        if (status == TXM_NO_MEMORY)
            return txm_fail(err, status, "out of memory for a working space");
        if (status)
            continue; /* a config that lacks it */
        s->xyz = txm_color_xyz_to_scene_linear_text(txm_context_color(other));
        *found = try_words(s);
        if (*found)
            snprintf(s->match->working_space, sizeof s->match->working_space, "%s", spaces[i]);
        txm_context_free(&other);
    }
    return TXM_OK;
}

static char *absolute_folder(const char *path)
{
    char *dir = txm_path_dir(path), *absolute = dir ? txm_path_absolute(dir) : NULL;
    free(dir);
    return absolute;
}

txm_status txm_name_search(txm_context *context, const char *tx_path, const char *source, const char *xyz,
                           txm_name_match *match, bool *found, txm_error *err)
{
    size_t source_bytes = 0;
    unsigned version;
    char md5[33];
    search s = {.name = txm_path_base(tx_path), .source = source, .config = txm_context_color(context), .match = match};
    const char *own = txm_color_xyz_to_scene_linear_text(s.config);
    txm_status status = TXM_OK;
    *found = false;
    if (!txm_tx_name_parse(s.name, &source_bytes, &version, md5))
        return TXM_OK;
    s.source_name = txm_strndup(s.name, source_bytes);
    bool with_place = source && s.source_name && !strcmp(txm_path_base(source), s.source_name);
    if (with_place)
        s.dir = absolute_folder(tx_path);
    s.exhausted = !s.source_name || (with_place && !s.dir);
    s.xyz = own;
    *found = !s.exhausted && try_words(&s);
    if (!*found && !s.exhausted && xyz && *xyz && strcmp(xyz, own)) {
        s.xyz = xyz;
        *found = try_words(&s);
    }
    if (!*found && !s.exhausted)
        status = try_working_spaces(&s, context, found, err);
    if (!status && s.exhausted && !*found)
        status = txm_fail(err, TXM_NO_MEMORY, "%s: out of memory", tx_path);
    free(s.source_name);
    free(s.dir);
    return status;
}
