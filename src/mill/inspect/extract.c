/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a level of a tx file as a picture, in the format that the extension of its name chooses: with the stored
 * values if the format can hold them, else encoded for viewing.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "txmill/level.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"
#include "txtile/reader.h"

/* Limits the size of a thumbnail: a file may consist of one huge level, and reading all of it would take long. */
static txm_status fit_level(const txm_tx *tx, uint32_t fit_px, uint32_t *level, txm_error *err)
{
    uint32_t levels = txm_tx_info_of(tx)->levels;
    for (uint32_t n = 0; n < levels; n++) {
        const txm_tx_level *l = txm_tx_level_of(tx, n);
        if (l->width <= fit_px && l->height <= fit_px) {
            *level = n;
            return TXM_OK;
        }
    }
    const txm_tx_level *last = txm_tx_level_of(tx, levels - 1);
    return txm_fail(err, TXM_STATUS_TOO_LARGE, "no level fits into %u x %u px: the smallest is %u x %u", fit_px, fit_px,
                    last->width, last->height);
}

/* The picture is encoded in memory first, so that an encoder that fails leaves no file. */
static txm_status write_picture(const txm_level_picture *p, const char *output, const char *format_name, txm_error *err)
{
    const txm_picture picture = {p->pixels,    (size_t)p->width * p->channels * txm_type_bytes(p->type),
                                 p->width,     p->height,
                                 p->channels,  p->type,
                                 p->colorspace};
    unsigned char *file;
    size_t bytes;
    txm_status status = txm_picture_encode(format_name, &picture, &file, &bytes, err);
    if (status == TXM_OK)
        status = txm_out_file_write(output, file, bytes, err);
    free(file);
    return status;
}

/* `format_name` ends with the extension of the format. */
static txm_status write_level(txm_tx *tx, const char *output, const char *format_name, const txm_extract_options *o,
                              txm_extracted *result, txm_error *err)
{
    txm_level_picture p = {0};
    uint32_t level = o->atlas ? 0 : o->level;
    txm_status status = o->fit_px && !o->atlas ? fit_level(tx, o->fit_px, &level, err) : TXM_OK;
    if (!status)
        status = txm_level_picture_read(tx, level, o->atlas, &p, err);
    if (!status && !o->raw && txm_picture_is_for_viewing(format_name))
        status = txm_level_picture_encode(tx, &p, err);
    if (!status)
        status = write_picture(&p, output, format_name, err);
    if (!status)
        *result = (txm_extracted){.width = p.width,
                                  .height = p.height,
                                  .channels = p.channels,
                                  .type = p.type,
                                  .encoded = p.encoded,
                                  .level = level};
    txm_level_picture_clear(&p);
    return status;
}

txm_status txm_extract(const char *tx_path, const char *output, const txm_extract_options *options,
                       txm_extracted *result, txm_error *err)
{
    txm_error_clear(err);
    txm_error own = {0};
    txm_extract_options how = {0};
    txm_extracted written = {0};
    txm_tx *tx = NULL;
    if (result)
        *result = written;
    txm_status status = txm_options_take(&how, sizeof how, options, "txm_extract_options", err);
    if (status == TXM_OK)
        status = txm_tx_open(tx_path, &tx, err);
    if (status != TXM_OK)
        return status;
    char *format_name = how.format ? txm_asprintf("%s.%s", txm_path_base(output), how.format) : txm_strdup(output);
    status = format_name ? write_level(tx, output, format_name, &how, &written, &own) : txm_no_memory(&own, tx_path);
    free(format_name);
    txm_tx_close(&tx);
    if (status == TXM_STATUS_USAGE || status == TXM_STATUS_TOO_LARGE)
        txm_error_prefix(&own, "%s", tx_path);
    if (status == TXM_OK && result)
        *result = written;
    return status == TXM_OK ? TXM_OK : txm_fail_as(err, &own);
}
