/* SPDX-License-Identifier: Apache-2.0
 * Reads any bytes as a Ptex file: every small face at three sizes, lookups with all filters at its corners, with
 * places and footprints that the last bytes decide, pages of the faces, and all metadata.
 * Seeds: testdata/ptex/[!g]*.ptx testdata/ptex/grid-u8.ptx testdata/ptex/disney/[!.]*.ptx */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "txtile/ptex_pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 1 << 20, FACES = 64, TAIL = 64, LOOKUPS = 64 };

/* Large faces are left out, so that a slow input is the reader's fault. */
static void fuzz_face(const txm_ptex *p, txm_ptex_filter *filter, uint32_t i, const uint8_t *tail, uint8_t *room)
{
    const txm_ptex_face *f = txm_ptex_face_of(p, i);
    uint32_t u = f->u_log2, v = f->v_log2, tu, tv;
    txm_error err;
    float result[8];
    size_t bytes = txm_ptex_face_bytes(p, u, v);
    if (!bytes || bytes > ROOM)
        return;
    txm_ptex_read(p, i, u, v, room, &err);
    txm_ptex_read(p, i, u ? u - 1 : 0, v ? v - 1 : 0, room, &err);
    txm_ptex_read(p, i, u / 2, v, room, &err);
    if (txm_ptex_tiling(p, i, &tu, &tv, &err) == TXM_OK && txm_ptex_face_bytes(p, tu, tv) <= ROOM)
        txm_ptex_read_tile(p, i, 1, room, &err);
    for (unsigned k = 0; k < LOOKUPS; k++) {
        txm_ptex_request q;
        txm_ptex_request_init(&q);
        q.kind = (txm_ptex_filter_kind)(k / 4 % 8);
        q.face = i;
        q.u = k & 1 ? 0.999f : 0.001f;
        q.v = k & 2 ? 0.999f : 0.001f;
        /* Any floats, also infinite ones and no numbers. */
        float *const numbers[] = {&q.u_width1, &q.v_width2, &q.blur, &q.width, &q.sharpness, &q.u, &q.v};
        for (unsigned n = 0; n < 5 + 2 * (k / 32); n++) {
            uint32_t bits = 0;
            for (unsigned b = 0; b < 4; b++)
                bits = bits << 8 | tail[(i + k + 4 * n + b) % TAIL];
            memcpy(numbers[n], &bits, sizeof bits);
            if (k & 4)
                *numbers[n] = (float)(bits % 1025) / 1024;
        }
        q.lerp = k & 8;
        q.no_edge_blend = tail[k % TAIL] == 7;
        q.channels = 8;
        q.result = result;
        if (txm_ptex_look_up(filter, &q, &err) == TXM_OK && q.kind == TXM_PTEX_POINT && f->flags & TXM_PTEX_CONSTANT &&
            txm_ptex_info_of(p)->type == TXM_TYPE_U8 && !(result[0] >= 0 && result[0] <= 1))
            abort();
    }
}

/* Parts of the first page on three levels, with the frames of all faces there. */
static void fuzz_pages(const txm_ptex *p, const uint8_t *tail, uint8_t *room)
{
    enum { PART_PX = 96 };
    const txm_ptex_pages_options options = {sizeof options, 256, 1u << tail[0] % 5, 0};
    txm_ptex_pages *pages;
    txm_error err;
    for (uint32_t i = 0; i < txm_ptex_info_of(p)->faces; i++)
        if (txm_ptex_face_bytes(p, txm_ptex_face_of(p, i)->u_log2, txm_ptex_face_of(p, i)->v_log2) > ROOM / 16)
            return;
    if (txm_ptex_pages_new(p, &options, &pages, &err) != TXM_OK)
        return;
    for (uint32_t level = 0; level < 3; level++) {
        uint32_t width, height;
        txm_ptex_page_size(pages, 0, &width, &height);
        width = txm_level_size(width, level);
        height = txm_level_size(height, level);
        const uint32_t w = width < PART_PX ? width : PART_PX, h = height < PART_PX ? height : PART_PX;
        txm_ptex_page_read(pages, 0, level, (width - w) / 2, (height - h) / 2, w, h, room, (size_t)PART_PX * 16, &err);
    }
    txm_ptex_pages_free(&pages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    txm_ptex *p;
    txm_ptex_filter *filter;
    txm_error err = {0};
    uint8_t *room = malloc(ROOM), tail[TAIL] = {0};
    if (!room)
        return 0;
    if (data && size >= TAIL)
        memcpy(tail, data + size - TAIL, TAIL);
    if (txm_ptex_open_memory(data, size, "fuzz", data && size ? data[size - 1] & 1 : 0, &p, &err) != TXM_OK) {
        if (!err.message[0])
            abort(); /* every failure has a message */
        free(room);
        return 0;
    }
    const txm_ptex_info *info = txm_ptex_info_of(p);
    if (txm_ptex_filter_new(p, ROOM, &filter, &err) == TXM_OK) {
        for (uint32_t i = 0; i < info->faces && i < FACES; i++)
            fuzz_face(p, filter, i, tail, room);
        txm_ptex_filter_free(&filter);
    }
    if (info->faces <= FACES)
        fuzz_pages(p, tail, room);
    for (uint32_t i = 0; i < info->metas; i++)
        if (txm_ptex_meta_of(p, i)->bytes <= ROOM)
            txm_ptex_meta_read(p, i, room, &err);
    txm_ptex_close(&p);
    free(room);
    return 0;
}
