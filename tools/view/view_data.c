/* SPDX-License-Identifier: Apache-2.0
 *
 * The data of a page other than pixels.
 *
 * In: an open file. Out: the JSON that the page shows: header, verdict, sizes of tiles, statistics. The names are
 * those of `txmill info --json`.
 */
#include "tools/view/view_data.h"

#include <math.h>
#include <string.h>

#include "tools/output/json.h"
#include "tools/page/page.h"
#include "tools/view/view_blocks.h"
#include "txmill/level.h"

/* Statistics of level 0 by channel; NaN and infinities are only counted. */
typedef struct statistics {
    const txm_tx_info *info;
    double sum[TXM_MAX_CHANNELS], min[TXM_MAX_CHANNELS], max[TXM_MAX_CHANNELS];
    uint64_t count[TXM_MAX_CHANNELS], other[TXM_MAX_CHANNELS];
} statistics;

/* Channels may have different counts, because NaN is left out. */
static void add_sample(statistics *s, uint32_t c, double v)
{
    if (!isfinite(v)) {
        s->other[c]++;
        return;
    }
    s->min[c] = !s->count[c] || v < s->min[c] ? v : s->min[c];
    s->max[c] = !s->count[c] || v > s->max[c] ? v : s->max[c];
    s->sum[c] += v;
    s->count[c]++;
}

/* Called for each tile that the census decodes, so that no tile is decoded again. */
static void scan_tile(void *user, uint32_t level, const uint8_t *pixels, uint32_t w, uint32_t h)
{
    statistics *s = user;
    const txm_tx_info *i = s->info;
    float row[TXM_MAX_TILE_PX * TXM_MAX_CHANNELS];
    size_t samples = (size_t)w * i->channels;
    for (uint32_t y = 0; !level && y < h; y++) {
        txm_samples_to_float(i->type, pixels + y * samples * txm_type_bytes(i->type), row, samples);
        for (size_t n = 0; n < samples; n++)
            add_sample(s, (uint32_t)(n % i->channels), (double)row[n]);
    }
}

/* Beyond TXM_VIEW_MAX_TILES the list of tiles is left out, because it would be larger than the pixels. */
txm_status txm_view_data(txm_info *info, const volatile int *cancel, cJSON **out, txm_error *err)
{
    static const char *const values[] = {"data", "encoded", "linear"};
    const txm_tx_info *i = txm_tx_info_of(info->tx);
    statistics s = {.info = i};
    uint64_t tiles = 0;
    txm_status status = txm_tile_census_take(info->tx, cancel, scan_tile, &s, &info->tiles, err);
    if (status)
        return status;
    for (uint32_t l = 0; l < i->levels; l++)
        tiles += info->tiles.level[l].tiles;
    info->counted = tiles <= TXM_VIEW_MAX_TILES;
    *out = txm_info_json(info, true);
    txm_json_text(*out, "values", values[txm_values_of(&info->description, i->type)]);
    txm_json_uint(*out, "block_width", txm_view_block_px(i->tile_w));
    txm_json_uint(*out, "block_height", txm_view_block_px(i->tile_h));
    /* A channel without finite values has null for all three. */
    cJSON *object = *out;
    cJSON *list = txm_json_array(object, "statistics");
    for (uint32_t c = 0; c < s.info->channels; c++) {
        cJSON *o = txm_json_append(list);
        double pixels = (double)s.count[c], none = (double)NAN;
        txm_json_number(o, "min", s.count[c] ? s.min[c] : none, 7);
        txm_json_number(o, "max", s.count[c] ? s.max[c] : none, 7);
        txm_json_number(o, "mean", s.count[c] ? s.sum[c] / pixels : none, 7);
        txm_json_uint(o, "not_finite", s.other[c]);
    }
    return TXM_OK;
}

/* Known only when the levels have been written. */
void txm_view_data_embedded(cJSON *object, const bool *embedded, uint32_t levels)
{
    cJSON *list = txm_json_array(object, "embedded");
    for (uint32_t l = 0; l < levels; l++)
        if (embedded[l])
            txm_json_append_number(list, l, 3);
}

cJSON *txm_view_data_error(const char *path, const txm_error *err)
{
    return txm_info_json_error(path, err);
}

/* Takes ownership of `files` in any case. NULL: no memory. */
cJSON *txm_view_data_finish(cJSON *files, int level, uint64_t page_bytes)
{
    cJSON *o = txm_page_data("view");
    if (level < 0)
        txm_json_text(o, "level", NULL);
    else
        txm_json_uint(o, "level", (uint64_t)level);
    txm_json_uint(o, "page_bytes", page_bytes);
    /* The smallest value of each code but 0, so that the page encodes exactly as `txmill extract`. The curve is
     * monotone, and the bits of positive floats are in the order of their values. */
    cJSON *list = txm_json_array(o, "thresholds");
    for (uint32_t code = 1; code < 256; code++) {
        uint32_t low = 0, high = 0x3F800000; /* 1.0 */
        float value;
        while (low + 1 < high) {
            uint32_t middle = low + (high - low) / 2;
            memcpy(&value, &middle, sizeof value);
            if (txm_srgb_code(value) >= code)
                high = middle;
            else
                low = middle;
        }
        memcpy(&value, &high, sizeof value);
        txm_json_append_number(list, (double)value, 9);
    }
    if (!o || !files || !cJSON_AddItemToObject(o, "files", files)) {
        cJSON_Delete(files);
        cJSON_Delete(o);
        return NULL;
    }
    return o;
}
