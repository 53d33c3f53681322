/* SPDX-License-Identifier: Apache-2.0
 *
 * The requests of a frame: waves, rejection, the list. See frame_requests.h.
 */
#include "render/frame_requests.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

/* ---- of a part ---- */

/* A hash that differs between requests and between frames, so that no tile is rejected every time (the finalizer of
 * MurmurHash3). */
static uint32_t draw_of(const stm_part_requests *p, txm_tile_key key)
{
    uint64_t h = key ^ (uint64_t)p->part << 40 ^ p->requested * 0x9E3779B97F4A7C15u ^ (uint64_t)p->frame << 20;
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCDu;
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53u;
    return (uint32_t)(h >> 32);
}

/* If there is no memory to lengthen the part's list, it counts as full; the next frame requests the tile again. */
static void write_request(stm_part_requests *p, txm_tile_key key)
{
    p->requested++;
    if (p->rejection && draw_of(p, key) < p->rejection) {
        p->rejected++;
        return;
    }
    if (p->count == p->most || !STM_GROW(p->keys, p->room, p->count)) {
        p->full++;
        return;
    }
    p->keys[p->count++] = key;
}

/* Without memory for it, the request counts as one for which the list was full. */
static void write_later(stm_part_requests *p, uint32_t block, txm_tile_key key)
{
    if (!STM_GROW(p->waiting, p->waiting_room, p->waiting_count)) {
        p->requested++;
        p->full++;
        return;
    }
    p->waiting[p->waiting_count++] = (stm_block_request){key, block, 0};
}

void stm_request_settle(stm_part_requests *p)
{
    uint32_t first[STM_GROUP_BLOCKS] = {0};
    for (size_t i = p->waiting_count; i-- > 0;) {
        p->waiting[i].next = first[p->waiting[i].block];
        first[p->waiting[i].block] = (uint32_t)i + 1;
    }
    for (uint32_t block = 0; p->waiting_count && block < STM_GROUP_BLOCKS; block++)
        for (uint32_t i = first[block]; i; i = p->waiting[i - 1].next)
            write_request(p, p->waiting[i - 1].key);
    p->waiting_count = 0;
}

/* Requests of a lane beyond the room of the step are written immediately, without comparing lanes. */
void stm_request_note(stm_step_misses *step, stm_part_requests *part, uint32_t lane, txm_tile_key key)
{
    part->missed++;
    if (step->count[lane] == STM_STEP_KEYS)
        write_later(part, step->block, key);
    else
        step->keys[step->count[lane]++][lane] = key;
}

/* Whether a lane above `lane` in the wave that ends before `end` makes the same request; whole keys are compared. */
static bool is_written_above(const stm_step_misses *step, uint32_t nth, uint32_t lane, uint32_t end)
{
    for (uint32_t above = lane + 1; above < end; above++)
        if (step->count[above] > nth && step->keys[nth][above] == step->keys[nth][lane])
            return true;
    return false;
}

/* The highest lane writes. Two requests of a wave are compared if both lanes have made the same number before, because
 * those belong to the same instruction. */
void stm_request_write(stm_step_misses *step, stm_part_requests *part, uint32_t wave)
{
    uint32_t most = 0;
    wave = wave ? wave : 1;
    for (uint32_t lane = 0; lane < STM_BLOCK_LANES; lane++)
        most = step->count[lane] > most ? step->count[lane] : most;
    for (uint32_t nth = 0; nth < most; nth++)
        for (uint32_t lane = 0; lane < STM_BLOCK_LANES; lane++) {
            const uint32_t end = lane - lane % wave + wave;
            if (step->count[lane] > nth &&
                !is_written_above(step, nth, lane, end < STM_BLOCK_LANES ? end : STM_BLOCK_LANES))
                write_later(part, step->block, step->keys[nth][lane]);
        }
    memset(step->count, 0, sizeof step->count);
}

/* ---- the list ---- */

bool stm_request_list_new(stm_request_list *list, uint32_t most)
{
    uint32_t size = 2;
    while (size < 2 * most)
        size *= 2;
    *list = (stm_request_list){.most = most, .table_size = size};
    list->keys = stm_calloc(most, sizeof *list->keys);
    list->counts = stm_calloc(most, sizeof *list->counts);
    list->table = stm_calloc(size, sizeof *list->table);
    return list->keys && list->counts && list->table;
}

void stm_request_list_free(stm_request_list *list)
{
    free(list->keys);
    free(list->counts);
    free(list->table);
    *list = (stm_request_list){0};
}

/* The table is twice as large as the list, so it always has an empty place. */
static void count_request(stm_request_list *list, txm_tile_key key)
{
    uint32_t at = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & (list->table_size - 1);
    while (list->table[at] && list->keys[list->table[at] - 1] != key)
        at = (at + 1) & (list->table_size - 1);
    if (!list->table[at]) {
        list->keys[list->unique] = key;
        list->counts[list->unique] = 0;
        list->table[at] = ++list->unique;
    }
    list->counts[list->table[at] - 1]++;
}

void stm_request_list_clear(stm_request_list *list)
{
    list->accepted = list->unique = 0;
    memset(list->table, 0, list->table_size * sizeof *list->table);
}

void stm_request_list_add(stm_request_list *list, stm_part_requests *part)
{
    for (size_t k = 0; k < part->count; k++) {
        if (list->accepted == list->most) {
            part->full += part->count - k;
            return;
        }
        list->accepted++;
        count_request(list, part->keys[k]);
    }
}

uint32_t stm_request_rejection(stm_frames_reject how, uint64_t requested, uint64_t unique, uint32_t most)
{
    const uint64_t wanted = how == STM_FRAMES_REJECT_UNIQUE ? unique : most;
    if (how == STM_FRAMES_REJECT_NONE || !wanted || wanted >= requested)
        return 0;
    return (uint32_t)((1.0 - (double)wanted / (double)requested) * 4294967295.0);
}
