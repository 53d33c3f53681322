/* SPDX-License-Identifier: Apache-2.0
 *
 * A level of a tx file as a picture.
 *
 * In: a tx file. Out: a picture in the format of its name: as stored where the format holds that, else encoded for
 * viewing.
 */
#include "core/fail.h"
#include "core/options.h"
#include "core/path.h"
#include "txmill/picture.h"
#include "txmill/reader.h"

/* Formats that hold linear floats, or whatever they are given, get what is stored. */
static bool is_for_viewing(const char *path)
{
    static const char *const storage[] = {"exr", "hdr", "rgbe", "pfm", "tif", "tiff", "tx", "env", "sm", "shd", "dpx"};
    for (size_t i = 0; i < sizeof storage / sizeof *storage; i++)
        if (txm_path_has_ext(path, storage[i]))
            return false;
    return true;
}

static txm_status write_level(txm_tx *tx, const char *output, const txm_extract_options *o, txm_extracted *result,
                              txm_error *err)
{
    txm_level_picture p;
    txm_status status = txm_level_picture_read(tx, o->level, o->atlas, &p, err);
    if (!status && !o->raw && is_for_viewing(output))
        status = txm_level_picture_encode(tx, &p, err);
    if (!status) {
        const txm_picture picture = {
            p.pixels,    (size_t)p.width * p.channels * txm_type_bytes(p.type), p.width, p.height, p.channels, p.type,
            p.colorspace};
        status = txm_picture_write(output, &picture, err);
    }
    if (!status)
        *result = (txm_extracted){
            .width = p.width, .height = p.height, .channels = p.channels, .type = p.type, .encoded = p.encoded};
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
    status = write_level(tx, output, &how, &written, &own);
    txm_tx_close(&tx);
    if (status == TXM_STATUS_USAGE)
        txm_error_prefix(&own, "%s", tx_path);
    if (status == TXM_OK && result)
        *result = written;
    return status == TXM_OK ? TXM_OK : txm_fail_as(err, &own);
}
