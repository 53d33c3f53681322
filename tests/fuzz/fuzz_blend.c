/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens any bytes as a scene with lint, and scans them as a library. Linked paths do not exist, so that only the input
 * is read.
 *
 * Seeds: testdata/blend/small/[a-z]*.blend testdata/fuzz/[a-z]*.blend */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz_input.h"
#include "mill/scene/blend/scan.h"
#include "txmill/scene.h"

static void scan_as_library(int fd)
{
    txm_stream *stream = NULL;
    txm_store store = {.limit_bytes = 64 << 20};
    txm_model model = {0};
    txm_scan_options options = {.graph = true};
    int copy = dup(fd);
    if (copy >= 0 && txm_stream_from_fd(copy, "fuzz", &stream, NULL) == TXM_OK) {
        txm_scan(stream, &options, &store, &model, NULL);
    }
    txm_stream_close(&stream);
    txm_model_free(&model);
    txm_store_free(&store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    txm_scene *blend = NULL;
    txm_scene_options options = {.struct_size = sizeof(txm_scene_options), .lint = true};
    if (txm_scene_open(fuzz_input_path(data, size), &options, &blend, NULL) == TXM_OK) {
        txm_scene_entry *entries = NULL;
        size_t count;
        if (txm_scene_entries(blend, NULL, &entries, &count, NULL) == TXM_OK) {
            txm_scene_entries_free(&entries, count);
        }
        for (size_t i = 0; i < txm_scene_image_count(blend); i++) {
            const txm_scene_image *image = txm_scene_image_at(blend, i);
            uint32_t number = 0;
            for (size_t u = 0; u < image->user_count; u++) {
                txm_scene_frame_number(blend, &image->users[u], (int32_t)size, &number);
            }
            free(txm_scene_numbered_path(image, number));
        }
    }
    txm_scene_close(&blend);
    scan_as_library(fuzz_input(data, size));
    return 0;
}
