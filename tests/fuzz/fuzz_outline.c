/* SPDX-License-Identifier: Apache-2.0
 * Reads the outline of any bytes as of an image that may be used as it is, whatever its samples are.
 * Seeds: testdata/tx/[gbu]*.tx testdata/sources/[pt]*iled*.[et]* testdata/real/s*tiled.tif testdata/oiio/t*.iff */
#include <stdio.h>
#include <string.h>

#include "fuzz_input.h"
#include "tile/reader/reader_impl.h"
#include "txtile/describe.h"

/* Reads everything that an outline has. */
static bool look(const txm_tx *tx)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const char *name, *value;
    char reason[64];
    if (info->width < 1 || info->height < 1 || info->tile_w < 1 || info->tile_h < 1 || info->levels < 1)
        abort();
    for (size_t i = 0; txm_tx_metadata_at(tx, i, &name, &value); i++)
        if (strlen(name) > 1000000 || strlen(value) > 1000000)
            abort(); /* more than the documented limit */
    bool serves = txm_tx_is_pyramid(tx, reason, sizeof reason);
    if (!serves && !*reason)
        abort(); /* every refusal has a reason */
    return serves;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_input_path(data, size);
    txm_tx *tx = NULL;
    txm_error err = {0};
    bool opened = txm_tx_open_outline(path, &tx, &err) == TXM_OK, serves = opened && look(tx);
    if (!opened && !err.message[0])
        abort(); /* every failure has a message */
    if (opened && txm_tx_serves_itself(path) != (serves && !txm_tx_codec_is_foreign(tx)))
        abort();
    if (!opened)
        txm_tx_serves_itself(path); /* IFF */
    txm_tx_close(&tx);
    return 0;
}
