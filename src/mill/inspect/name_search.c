/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the settings that give a tx file its name. A name contains only an MD5, but few settings can lead to it: the
 * spaces of a config under all their names, five alpha types, two formats, a handful of working spaces, and with or
 * without the folder of the source. All of them are tried; hashing some hundreds of names takes milliseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/convert/context.h"
#include "mill/inspect/verify_impl.h"
#include "tile/name/name.h"

typedef bool (*word_fn)(void *user, const char *word); /* returns true to stop, if the word matches */

typedef struct search {
    const char *name;  /* file name of the tx file */
    char *source_name; /* the part of it that is the source's name */
    char *source;      /* absolute */
    char *dir;         /* folder of the tx file, absolute; NULL, as is `source`, if names with folders are not tried */
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

/* Tries one word for a colour space with all other settings. */
static bool try_word(void *user, const char *word)
{
    search *s = user;
    if (s->exhausted)
        return false;
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

/* Calls `fn` for every word that can denote a colour space. The likely ones come first: data, the empty name, roles;
 * then every space under its name and aliases. An entry that cannot be read is skipped. */
static bool each_word(const txm_color_config *config, word_fn fn, void *user)
{
    if (fn(user, "data") || fn(user, ""))
        return true;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (fn(user, roles[i]))
            return true;
    for (size_t i = 0, n = txm_color_count(config); i < n; i++) {
        txm_color_entry entry;
        if (txm_color_entry_at(config, i, &entry, NULL) != TXM_OK)
            continue;
        if (fn(user, entry.name))
            return true;
        for (const char *const *alias = entry.aliases; alias && *alias; alias++)
            if (fn(user, *alias))
                return true;
    }
    return false;
}

/* Tries working spaces in turn: the config's own, the file's, then the usual ones. If the name does not have the form
 * of Cycles' names, nothing is found, which is not a failure. Folders are tried only if the source has the name that is
 * part of the file's name. */
txm_status txm_name_search(txm_context *context, const char *tx_path, const char *source, const char *xyz,
                           txm_name_match *match, bool *found, txm_error *err)
{
    txm_error_clear(err);
    static const char *const spaces[] = {"Linear Rec.709", "Linear Rec.2020", "ACEScg"};
    size_t source_bytes = 0;
    search s = {.name = txm_path_base(tx_path), .config = txm_context_color(context), .match = match};
    const char *own = txm_color_xyz_to_scene_linear_text(s.config);
    txm_status status = TXM_OK;
    *found = false;
    if (!txm_tx_name_parse(s.name, &source_bytes, NULL, NULL))
        return TXM_OK;
    s.source_name = txm_strndup(s.name, source_bytes);
    bool with_place = source && s.source_name && !strcmp(txm_path_base(source), s.source_name);
    if (with_place && (s.source = txm_path_absolute(source)))
        s.dir = txm_path_absolute_dir(tx_path); /* it is part of what was hashed */
    s.exhausted = !s.source_name || (with_place && !s.dir);
    s.xyz = own;
    *found = !s.exhausted && each_word(s.config, try_word, &s);
    if (!*found && !s.exhausted && xyz && *xyz && strcmp(xyz, own)) {
        s.xyz = xyz;
        *found = each_word(s.config, try_word, &s);
    }
    for (const txm_blender *b = txm_blender_versions(); *b && !*found && !s.exhausted; b++) {
        s.xyz = txm_color_xyz_text_of(s.config, *b);
        *found = strcmp(s.xyz, own) != 0 && each_word(s.config, try_word, &s);
    }
    /* Last, because loading a config for each takes a while. */
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces && !status && !*found && !s.exhausted; i++) {
        txm_context *other = NULL;
        const txm_status derived = txm_context_derive(context, spaces[i], &other, NULL);
        if (derived == TXM_STATUS_NO_MEMORY)
            status = txm_fail(err, derived, "out of memory for a working space");
        if (derived)
            continue; /* the config lacks this space */
        s.xyz = txm_color_xyz_to_scene_linear_text(txm_context_color(other));
        *found = each_word(s.config, try_word, &s);
        if (*found)
            snprintf(match->working_space, sizeof match->working_space, "%s", spaces[i]);
        txm_context_free(&other);
    }
    if (!status && s.exhausted && !*found)
        status = txm_path_absolute_failed(tx_path, err);
    free(s.source_name);
    free(s.source);
    free(s.dir);
    return status;
}

/* ---- any absolute cache folder ---------------------------------------------------------------------------------- */

/* The most folders by which a source may be above the cache folder. */
enum { MAX_UPS = 12, UP_BYTES = 2 };

/* The name for an absolute cache folder depends on the relative path from that folder to the source: a number of steps
 * up, then the end of the source's path. These are few enough to try them all, for any folder. */
typedef struct place_search {
    txm_verification *v;
    const char *word; /* the word for the colour space that is being tried */
    bool exhausted;
} place_search;

/* Tries folders that are 0 to MAX_UPS levels below `prefix`, each of which represents all folders that share `prefix`
 * with the source. */
static bool try_below(place_search *p, const char *prefix)
{
    char steps[MAX_UPS * UP_BYTES + 1] = "";
    const txm_tx_description *d = &p->v->description;
    const txm_tx_key key = {d->xyz_to_scene_linear, p->word, d->alpha, d->envlatl};
    for (int ups = 0; ups <= MAX_UPS && !p->exhausted; ups++) {
        char *dir = txm_asprintf("%s%s", prefix, steps);
        char *path = dir ? txm_tx_path(d->source, *dir ? dir : "/", &key) : NULL;
        p->exhausted |= !path;
        const bool found = path && !strcmp(txm_path_base(path), txm_path_base(p->v->path));
        free(path);
        free(dir);
        if (found)
            return true;
        /* The name of a folder that does not exist: it only has to differ from all others. */
        if (ups < MAX_UPS)
            strcat(steps, "/\001");
    }
    return false;
}

/* Tries from the source's folder upwards: in a project that was moved as a whole, the cache folder is still below some
 * folder above the image. */
static bool try_places(void *user, const char *word)
{
    place_search *p = user;
    char *prefix = txm_path_dir(p->v->description.source), *slash;
    bool found = false;
    p->word = word;
    p->exhausted |= !prefix;
    while (prefix && !p->exhausted && (slash = strrchr(prefix, '/'))) {
        if (!strcmp(prefix, "/"))
            break;
        if ((found = try_below(p, prefix)))
            break;
        *slash = 0;
    }
    found = found || (prefix && !p->exhausted && try_below(p, ""));
    free(prefix);
    return found;
}

/* A space that has a class is identified by the class, others by any of their names. */
bool txm_verify_is_space(const txm_verification *v, const txm_color_space *space, const char *detected)
{
    if (!strcmp(txm_color_space_detected(space), detected))
        return true;
    const char *named = txm_color_canonical(txm_context_color(v->context), detected);
    return txm_color_space_class(space) == TXM_COLOR_CLASS_OTHER && named &&
           !strcmp(named, txm_color_space_name(space));
}

/* Tries a word only if it denotes the space that the file states. */
static bool try_fitting_word(void *user, const char *word)
{
    place_search *p = user;
    const txm_color_space *space = NULL;
    const char *detected = p->v->description.detected;
    bool fits = !strcmp(word, "data") ? !strcmp(detected, "data") : !*word;
    if (!fits && *word)
        fits = txm_color_find(txm_context_color(p->v->context), word, &space, NULL) == TXM_OK &&
               txm_verify_is_space(p->v, space, detected);
    return fits && try_places(p, word);
}

/* Only absolute sources are tried: with a relative one, the folder is not part of the name. */
txm_status txm_name_search_places(txm_verification *v, bool *found, txm_error *err)
{
    const txm_tx_description *d = &v->description;
    place_search p = {.v = v};
    *found = false;
    if (!txm_path_is_absolute(d->source))
        return TXM_OK;
    if (*d->requested)
        *found = try_places(&p, txm_requested_word(d));
    else
        *found = each_word(txm_context_color(v->context), try_fitting_word, &p);
    return p.exhausted ? txm_no_memory(err, v->path) : TXM_OK;
}
