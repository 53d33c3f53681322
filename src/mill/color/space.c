/* SPDX-License-Identifier: Apache-2.0
 *
 * The colour spaces of a config: looking them up, classifying them as Cycles does, converting with them. A space is
 * built when it is first used, because a conversion needs only one or two of many. The class decides whether a file
 * keeps 8 bits: a space with the curve and primaries of sRGB, judged by values and not by name, needs no conversion.
 * Others are converted by the library's CPU processor, on rows of floats.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/spelling.h"
#include "base/text.h"
#include "mill/color/config.h"

static bool fill_from_library(const txm_ocio *ocio, size_t index, txm_color_space *space)
{
    txm_ocio_space s;
    txm_ocio_space_at(ocio, index, &s);
    space->name = s.name;
    space->family = s.family;
    space->description = s.description;
    space->is_data = s.is_data;
    space->aliases = txm_calloc(s.aliases + 1, sizeof *space->aliases);
    for (size_t i = 0; space->aliases && i < s.aliases; i++)
        space->aliases[i] = txm_ocio_alias_at(ocio, index, i);
    return space->aliases != NULL;
}

/* Classes are known too; a space that has to be converted is built like any other. */
static bool fill_from_known(const txm_known_space *known, txm_color_space *space)
{
    size_t n = 0;
    while (known->aliases[n])
        n++;
    space->name = known->name;
    space->family = known->family;
    space->description = known->description;
    space->is_data = known->is_data;
    space->color_class = known->color_class;
    space->tried = known->color_class != TXM_COLOR_CLASS_OTHER;
    space->aliases = txm_calloc(n + 1, sizeof *space->aliases);
    if (space->aliases)
        memcpy(space->aliases, known->aliases, n * sizeof *space->aliases);
    return space->aliases != NULL;
}

static bool fill_from_missing(const txm_color_missing *missing, txm_color_space *space)
{
    size_t n = 0;
    while (missing->aliases && missing->aliases[n])
        n++;
    space->name = missing->name;
    space->family = missing->family ? missing->family : "";
    space->description = missing->description ? missing->description : "";
    space->aliases = txm_calloc(n + 1, sizeof *space->aliases);
    for (size_t i = 0; space->aliases && i < n; i++)
        space->aliases[i] = missing->aliases[i];
    if (missing->blenders) {
        space->lacking = missing->reason;
        return space->aliases;
    }
    space->tried = true;
    space->reason = txm_strdup(missing->reason);
    return space->aliases && space->reason;
}

static const char *no_aliases[] = {NULL};

/* Whether `name` is of the built-in config, but unknown to the config of the release. */
static bool lacks(const txm_color_config *config, const char *name)
{
    const char *rest = config->is_builtin ? TXM_RELEASE(config->blender, lacks) : "";
    for (size_t n; *rest; rest += n + (rest[n] != 0)) {
        n = strcspn(rest, "\n");
        if (strlen(name) == n && txm_ncasecmp(name, rest, n) == 0)
            return true;
    }
    return false;
}

/* Lists spaces in the config's order, including those that were left out, without the aliases that the release lacks.
 */
txm_status txm_color_list_spaces(txm_color_config *config, txm_error *err)
{
    size_t known = config->known ? config->known->space_count : txm_ocio_count(config->library->ocio), m = 0;
    config->spaces = txm_calloc(known + config->missing.count, sizeof *config->spaces);
    config->builtin_srgb = txm_calloc(1, sizeof *config->builtin_srgb);
    if (!config->builtin_srgb || (!config->spaces && known + config->missing.count))
        return txm_no_memory(err, config->name);
    *config->builtin_srgb =
        (txm_color_space){.name = txm_builtin_srgb_name, .family = "", .description = "", .aliases = no_aliases};
    for (size_t i = 0; i <= known; i++) {
        bool ok = true;
        for (; ok && m < config->missing.count && (i == known || config->missing.items[m].before <= i); m++)
            ok = fill_from_missing(&config->missing.items[m], &config->spaces[config->count++]);
        txm_color_space *next = &config->spaces[config->count];
        if (ok && i < known)
            ok = config->known ? fill_from_known(&config->known->spaces[i], next)
                               : fill_from_library(config->library->ocio, i, next);
        if (!ok)
            return txm_no_memory(err, config->name);
        if (i < known && lacks(config, next->name)) {
            free(next->aliases);
            *next = (txm_color_space){0};
        } else {
            config->count += i < known;
        }
    }
    for (size_t i = 0; i < config->count; i++) {
        const char **aliases = config->spaces[i].aliases;
        size_t kept = 0;
        for (size_t k = 0; aliases[k]; k++)
            if (!lacks(config, aliases[k]))
                aliases[kept++] = aliases[k];
        aliases[kept] = NULL;
    }
    return TXM_OK;
}

void txm_color_free_spaces(txm_color_config *config)
{
    for (size_t i = 0; i < config->count; i++) {
        txm_ocio_processor_free(&config->spaces[i].processor);
        free(config->spaces[i].aliases);
        free(config->spaces[i].reason);
    }
    free(config->spaces);
    if (config->builtin_srgb)
        free(config->builtin_srgb->builtin);
    free(config->builtin_srgb);
}

/* OpenColorIO ignores case, and so does Blender's lookup of names that it stored. */
static bool is_called(const txm_color_space *space, const char *name)
{
    for (const char **alias = space->aliases; *alias; alias++)
        if (txm_casecmp(*alias, name) == 0)
            return true;
    return txm_casecmp(space->name, name) == 0;
}

const char *txm_color_role_space(const txm_color_config *config, const char *role)
{
    if (lacks(config, role))
        return NULL;
    return config->known ? txm_known_role_space(config->known, role) : txm_ocio_role(config->library->ocio, role);
}

bool txm_color_is_role(const txm_color_config *config, const char *name)
{
    const txm_color_space *space = txm_color_role_space(config, name) ? txm_color_lookup(config, name) : NULL;
    return space && !is_called(space, name);
}

txm_color_space *txm_color_lookup(const txm_color_config *config, const char *name)
{
    if (name && lacks(config, name))
        return NULL;
    /* The library has its own order of precedence; spaces that were removed before loading, also if a role refers to
     * them, are looked up here. */
    const char *canonical = !name           ? NULL
                            : config->known ? txm_known_canonical(config->known, name)
                                            : txm_ocio_canonical(config->library->ocio, name);
    const char *role = name && !canonical ? txm_color_role_space(config, name) : NULL;
    name = role ? role : name;
    for (size_t i = 0; name && i < config->count; i++)
        if (canonical ? strcmp(config->spaces[i].name, canonical) == 0 : is_called(&config->spaces[i], name))
            return &config->spaces[i];
    /* This name is compared with case, as in Cycles. */
    return name && strcmp(name, txm_builtin_srgb_name) == 0 ? config->builtin_srgb : NULL;
}

/* The numbers are equal within `tolerance`, or within 64 representable floats. false for NaN. */
static bool near(float a, float b, float tolerance)
{
    int32_t ia, ib;
    if (fabsf(a - b) < tolerance)
        return true;
    if (!isfinite(a) || !isfinite(b) || signbit(a) != signbit(b))
        return false;
    memcpy(&ia, &a, sizeof ia);
    memcpy(&ib, &b, sizeof ib);
    return llabs((int64_t)ia - ib) < 64;
}

/* The test of Cycles: 256 steps of grey and of the primaries, so that the same spaces count as linear or sRGB. Each
 * channel must depend only on itself: primaries stay primaries and add up to white. */
static txm_color_class classify(const txm_ocio_processor *processor)
{
    bool linear = true, srgb = true;
    for (int i = 0; i < 256 && (linear || srgb); i++) {
        float v = (float)i / 255.0f, white[3] = {v, v, v};
        txm_ocio_apply_rgb(processor, white);
        if (!near(white[0], white[1], 1e-6f) || !near(white[1], white[2], 1e-6f))
            return TXM_COLOR_CLASS_OTHER;
        for (int primary = 0; primary < 3; primary++) {
            float rgb[3] = {0};
            rgb[primary] = v;
            txm_ocio_apply_rgb(processor, rgb);
            for (int c = 0; c < 3; c++)
                if (c == primary ? !near(rgb[c], white[c], 1e-6f) : !(fabsf(rgb[c]) <= 1e-5f))
                    return TXM_COLOR_CLASS_OTHER;
        }
        float mean = (white[0] + white[1] + white[2]) * (1.0f / 3.0f);
        linear = linear && near(v, mean, 1e-6f);
        /* These are the constants of Cycles' own function, since the comparison is within 1e-4 of it. */
        float decoded = v < 0.04045f ? v * (1.0f / 12.92f) : powf((v + 0.055f) * (1.0f / 1.055f), 2.4f);
        srgb = srgb && near(decoded, mean, 1e-4f);
    }
    return linear ? TXM_COLOR_CLASS_SCENE_LINEAR : srgb ? TXM_COLOR_CLASS_SRGB : TXM_COLOR_CLASS_OTHER;
}

/* Builds a space once; later calls return the same result. Its transform is in this config, which is loaded now, or in
 * a Blender's. Two threads may use a space for the first time at once. */
static txm_status ensure_built(const txm_color_config *config, txm_color_space *space, txm_error *err)
{
    txm_error why = {0};
    txm_ocio *ocio = NULL;
    txm_status status = TXM_OK;
    pthread_mutex_lock(&config->library->lock);
    if (space->tried)
        goto unlock;
    if (space == config->builtin_srgb) {
        status = txm_builtin_srgb_build(config, space, err);
        space->tried = status == TXM_OK;
        if (space->builtin)
            txm_color_take_fingerprint(space);
        goto unlock;
    }
    if (space->lacking)
        status = txm_color_blenders(config, &ocio, &why);
    else if (!config->library->ocio)
        status = txm_color_load_builtin(&config->library->ocio, &why);
    if (!space->lacking)
        ocio = config->library->ocio;
    if (status != TXM_OK && (!space->lacking || txm_status_retryable(status))) {
        txm_fail_with(err, status, &why);
        goto unlock;
    }
    if (space->is_data) {
        space->color_class = TXM_COLOR_CLASS_DATA;
    } else if (status == TXM_OK &&
               txm_ocio_processor_new(ocio, space->name, "scene_linear", &space->processor, &why) == TXM_OK) {
        space->color_class = classify(space->processor);
        if (space->color_class != TXM_COLOR_CLASS_OTHER)
            txm_ocio_processor_free(&space->processor);
        else
            txm_color_take_fingerprint(space);
    } else {
        /* For a space that Blender's config has and this library cannot build, the listed reason is clearer than the
         * library's. */
        if (why.status != TXM_STATUS_NO_MEMORY)
            space->reason = !space->lacking                   ? txm_strdup(why.message)
                            : why.status == TXM_STATUS_CONFIG ? txm_asprintf("%s (%s)", space->lacking, why.message)
                                                              : txm_strdup(space->lacking);
        if (!space->reason) {
            status = txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for colour space \"%s\"", space->name);
            goto unlock;
        }
    }
    space->tried = true;
    status = TXM_OK;
unlock:
    pthread_mutex_unlock(&config->library->lock);
    return status;
}

/* ---- names that are meant ---- */

enum {
    SHOWN = 4,
    LONGEST = 63 /* number of bytes that are compared */
};

/* The distance of a typed name from one of the config's; a name that contains the other one is near whatever its length
 * is. */
static unsigned score(const char *typed, const char *known)
{
    const size_t n = strlen(typed);
    unsigned d = txm_spelling_distance(typed, known);
    for (const char *at = known; n >= 3 && *at; at++)
        if (d > 1 && txm_ncasecmp(at, typed, n) == 0)
            return 1 + (d > LONGEST / 2);
    return d;
}

/* Suggests the nearest names by edit distance over names and aliases, or the command that lists all names. */
void txm_color_suggest(const txm_color_config *config, const char *name, txm_error *err)
{
    const txm_color_space *nearest[SHOWN];
    unsigned scores[SHOWN];
    char text[1024];
    size_t shown = 0, used = 0;
    /* A name with a third of its letters wrong may still be a typing mistake. */
    unsigned limit = 1 + (unsigned)strnlen(name, LONGEST) / 3;
    for (size_t i = 0; i < config->count; i++) {
        unsigned d = score(name, config->spaces[i].name);
        for (const char **alias = config->spaces[i].aliases; *alias; alias++) {
            unsigned other = score(name, *alias);
            d = other < d ? other : d;
        }
        size_t at = shown;
        while (at > 0 && scores[at - 1] > d)
            at--;
        if (d > limit || at == SHOWN)
            continue;
        if (shown < SHOWN)
            shown++;
        memmove(nearest + at + 1, nearest + at, (shown - 1 - at) * sizeof nearest[0]);
        memmove(scores + at + 1, scores + at, (shown - 1 - at) * sizeof scores[0]);
        nearest[at] = &config->spaces[i];
        scores[at] = d;
    }
    for (size_t i = 0; i < shown && used < sizeof text; i++) {
        const char *before = i == 0 ? "did you mean " : i + 1 < shown ? ", " : " or ";
        int n = snprintf(text + used, sizeof text - used, "%s\"%s\"%s", before, nearest[i]->name,
                         i + 1 == shown ? "?" : "");
        used += n > 0 ? (size_t)n : 0;
    }
    txm_error_advise(err, "%s", shown ? text : "'txmill colorspaces' lists its names");
}

/* COLORSPACE for NULL and for a space that does not exist; most unknown names are misspelt. */
txm_status txm_color_find(const txm_color_config *config, const char *name, const txm_color_space **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    txm_color_space *space = txm_color_lookup(config, name);
    if (!space) {
        name = name ? name : "";
        txm_fail(err, TXM_STATUS_COLORSPACE, "colour space \"%.200s\" is not in the OCIO config %.400s", name,
                 config->name);
        txm_color_suggest(config, name, err);
        return TXM_STATUS_COLORSPACE;
    }
    txm_status status = ensure_built(config, space, err);
    if (status != TXM_OK)
        return status;
    if (space->reason)
        return txm_fail(err, TXM_STATUS_COLORSPACE, "colour space \"%s\" of the OCIO config %s cannot be used: %s",
                        space->name, config->name, space->reason);
    *out = space;
    return TXM_OK;
}

const char *txm_color_space_name(const txm_color_space *space)
{
    return space->name;
}

txm_color_class txm_color_space_class(const txm_color_space *space)
{
    return space->color_class;
}

/* The word that Cycles writes into the file: that of the class, or the space's name if it was converted. */
const char *txm_color_space_detected(const txm_color_space *space)
{
    static const char *const words[] = {"data", "scene_linear", "scene_linear_srgb"};
    return space->color_class == TXM_COLOR_CLASS_OTHER ? space->name : words[space->color_class];
}

/* Equal ids mean equal pixels, so settings keys use them. */
const char *txm_color_space_transform_id(const txm_color_space *space)
{
    return space->processor ? txm_ocio_processor_id(space->processor)
           : space->builtin ? txm_builtin_srgb_id(space->builtin)
                            : "";
}

void txm_color_apply(const txm_color_space *space, float *rgba, size_t count)
{
    if (space->processor)
        txm_ocio_apply_rgba(space->processor, rgba, count);
    else if (space->builtin)
        txm_builtin_srgb_apply(space->builtin, rgba, count);
}

void txm_color_apply_grey(const txm_color_space *space, float *rgba, float *grey, size_t count)
{
    if (space->builtin) {
        txm_builtin_srgb_apply_grey(space->builtin, rgba, grey, count);
        return;
    }
    txm_color_apply(space, rgba, count);
    for (size_t i = 0; i < count; i++, rgba += 4)
        grey[i] = (rgba[0] + rgba[1] + rgba[2]) * (1.0f / 3.0f);
}

size_t txm_color_count(const txm_color_config *config)
{
    return config->count;
}

/* Builds the space to find its class, so listing all spaces of a large config takes a while. */
txm_status txm_color_entry_at(const txm_color_config *config, size_t index, txm_color_entry *out, txm_error *err)
{
    txm_error_clear(err);
    *out = (txm_color_entry){0};
    if (index >= config->count)
        return txm_fail(err, TXM_STATUS_USAGE, "colour space %zu of %zu does not exist", index, config->count);
    txm_color_space *space = &config->spaces[index];
    txm_status status = ensure_built(config, space, err);
    if (status != TXM_OK)
        return status;
    *out = (txm_color_entry){.name = space->name,
                             .family = space->family,
                             .description = space->description,
                             .aliases = space->aliases,
                             .available = !space->reason,
                             .unavailable_reason = space->reason ? space->reason : "",
                             .color_class = space->color_class};
    return TXM_OK;
}
