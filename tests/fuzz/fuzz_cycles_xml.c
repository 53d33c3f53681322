/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads any bytes as a scene of Cycles. Its images and includes are searched in the input's folder, which has no other
 * files.
 *
 * Seeds: testdata/fuzz/cycles*.xml */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_input.h"
#include "mill/scene/nodes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    txm_scene *blend = calloc(1, sizeof *blend);
    if (!blend)
        return 0;
    blend->store.limit_bytes = TXM_SCENE_STORE_BYTES;
    if (txm_scene_read_xml(blend, fuzz_input_path(data, size), NULL) == TXM_OK) {
        txm_scene_entry *entries = NULL;
        size_t count;
        if (txm_scene_entries(blend, NULL, &entries, &count, NULL) == TXM_OK)
            txm_scene_entries_free(&entries, count);
    }
    txm_scene_close(&blend);
    return 0;
}
