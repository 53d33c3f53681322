/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of EXR channels: a permutation of channel names, sorted by layer and then by channel within the layer. It
 * is the same for tx files and for sources.
 */
#include "tile/reader/exr_channels.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

typedef struct channel_key {
    const char *name, *suffix; /* suffix: the part after the last '.' */
    size_t layer_bytes;        /* length of the layer name including the '.'; 0: no layer */
    int rank;                  /* rank of a known suffix; unknown ones are last, by name */
    uint32_t index;
} channel_key;

/* Names that are not in the list are last, by name. */
static int rank_of(const char *suffix, bool is_vector)
{
    /* Y is luminance and Z is depth in colours; in vectors they are coordinates. */
    static const char *const colour[] = {"R",  "Red", "G",  "Green", "B",  "Blue", "Y", "real",  "imag",  "A", "Alpha",
                                         "AR", "RA",  "AG", "GA",    "AB", "BA",   "Z", "Depth", "Zback", NULL};
    static const char *const vector[] = {"R",  "Red",  "G",    "Green", "B",     "Blue", "X",  "Y",
                                         "Z",  "real", "imag", "A",     "Alpha", "AR",   "RA", "AG",
                                         "GA", "AB",   "BA",   "Depth", "Zback", NULL};
    const char *const *known = is_vector ? vector : colour;
    int rank = 0;
    while (known[rank] && txm_casecmp(suffix, known[rank]) != 0)
        rank++;
    return known[rank] ? rank : 1000;
}

/* Compares bytes, like OpenEXR; a layer comes before the ones whose names it begins. */
static int compare_layers(const channel_key *a, const channel_key *b)
{
    size_t common = a->layer_bytes < b->layer_bytes ? a->layer_bytes : b->layer_bytes;
    int d = memcmp(a->name, b->name, common);
    return d ? d : (a->layer_bytes > b->layer_bytes) - (a->layer_bytes < b->layer_bytes);
}

static int compare_channels(const void *left, const void *right)
{
    const channel_key *a = left, *b = right;
    int d = compare_layers(a, b);
    if (d == 0)
        d = a->rank - b->rank;
    return d ? d : strcmp(a->suffix, b->suffix);
}

/* Whether X, Y and Z are coordinates depends on the other channels of the layer. */
static bool layer_has(const channel_key keys[], uint32_t count, const channel_key *of, const char *suffix)
{
    for (uint32_t i = 0; i < count; i++)
        if (compare_layers(&keys[i], of) == 0 && txm_casecmp(keys[i].suffix, suffix) == 0)
            return true;
    return false;
}

/* The order in which Blender's image reader delivers channels. With it, colours are RGBA whatever their order in the
 * file. */
void txm_exr_channel_order(const char *const names[], uint32_t count, uint32_t order[])
{
    channel_key keys[TXM_EXR_MAX_CHANNELS];
    for (uint32_t i = 0; i < count; i++) {
        const char *dot = strrchr(names[i], '.'), *suffix = dot ? dot + 1 : names[i];
        keys[i] =
            (channel_key){.name = names[i], .suffix = suffix, .layer_bytes = (size_t)(suffix - names[i]), .index = i};
    }
    for (uint32_t i = 0; i < count; i++) {
        const channel_key *k = &keys[i];
        bool is_vector =
            layer_has(keys, count, k, "X") && (layer_has(keys, count, k, "Y") || layer_has(keys, count, k, "Z"));
        keys[i].rank = rank_of(k->suffix, is_vector);
    }
    qsort(keys, count, sizeof keys[0], compare_channels);
    for (uint32_t i = 0; i < count; i++)
        order[i] = keys[i].index;
}
