/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads any bytes as a scene of Cycles. Its images and includes are searched in the input's folder, which has no other
 * files.
 *
 * Seeds: testdata/fuzz/cycles*.xml */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_input.h"
#include "mill/scene/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    txm_scene *scene = calloc(1, sizeof *scene);
    if (!scene)
        return 0;
    scene->store.limit_bytes = TXM_SCENE_STORE_BYTES;
    scene->info.path = fuzz_input_path(data, size);
    if (txm_scene_read_xml(scene, scene->info.path, NULL) == TXM_OK) {
        txm_scene_entry *entries = NULL;
        size_t count;
        if (txm_scene_entries(scene, NULL, &entries, &count, NULL) == TXM_OK)
            txm_scene_entries_free(&entries, count);
    }
    txm_scene_close(&scene);
    return 0;
}
