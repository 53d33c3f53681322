/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces the rays of a frame. The paths of a block of 8 x 4 pixels take their steps together, like the lanes of a GPU,
 * so that their requests can be compared; blocks start at the top left of the picture. Several blocks are a group,
 * whose lookups are served together. The samples of a pixel are added in order by the thread that traces it, so
 * pictures do not depend on the number of threads.
 *
 * With devices, parts that lack results are traced again when there are some, until none is missing. A path stops at a
 * missing result, so each pass takes every path at least one lookup further.
 */
#include "render/frame_trace.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_W = 8, BLOCK_H = STM_BLOCK_LANES / BLOCK_W, BLOCKS_PER_PART = 64 };
enum { GROUP_PATHS = STM_GROUP_BLOCKS * STM_BLOCK_LANES };

/* ---- the film ---- */

bool stm_frame_film_new(stm_frame_film *film, uint32_t width, uint32_t height)
{
    const size_t pixels = (size_t)width * height;
    *film = (stm_frame_film){.width = width, .height = height};
    film->shown = stm_calloc(pixels, 3 * sizeof(float));
    film->next = stm_calloc(pixels, 3 * sizeof(float));
    return film->shown && film->next;
}

void stm_frame_film_free(stm_frame_film *film)
{
    free(film->shown);
    free(film->next);
    *film = (stm_frame_film){0};
}

/* ---- parts ---- */

static uint32_t blocks_across(uint32_t width)
{
    return (width + BLOCK_W - 1) / BLOCK_W;
}

static uint32_t blocks_of(uint32_t width, uint32_t height)
{
    return blocks_across(width) * ((height + BLOCK_H - 1) / BLOCK_H);
}

uint32_t stm_frame_trace_paths(uint32_t width, uint32_t height)
{
    return blocks_of(width, height) * STM_BLOCK_LANES;
}

bool stm_frame_trace_new(stm_frame_trace *trace, uint32_t width, uint32_t height, uint32_t most_requests)
{
    const uint32_t blocks = blocks_of(width, height), count = (blocks + BLOCKS_PER_PART - 1) / BLOCKS_PER_PART;
    trace->parts = stm_calloc(count, sizeof *trace->parts);
    trace->part_count = trace->parts ? count : 0;
    for (uint32_t i = 0; i < trace->part_count; i++) {
        const uint32_t first = i * BLOCKS_PER_PART;
        trace->parts[i].trace = trace;
        trace->parts[i].first = first;
        trace->parts[i].count = blocks - first < BLOCKS_PER_PART ? blocks - first : BLOCKS_PER_PART;
        trace->parts[i].requests = (stm_part_requests){.most = most_requests, .part = i};
    }
    return trace->parts;
}

void stm_frame_trace_free(stm_frame_trace *trace)
{
    for (uint32_t i = 0; i < trace->part_count; i++) {
        free(trace->parts[i].requests.keys);
        free(trace->parts[i].requests.waiting);
        free(trace->parts[i].noted.items);
    }
    free(trace->parts);
    trace->parts = NULL;
    trace->part_count = 0;
}

/* ---- tracing ---- */

/* Lanes beyond the picture's edge are idle. Returns the number of lanes; `lanes` lists them. */
static uint32_t lanes_of(const stm_frame_film *film, uint32_t block, uint8_t lanes[STM_BLOCK_LANES],
                         uint32_t pixels[STM_BLOCK_LANES])
{
    const uint32_t across = blocks_across(film->width);
    uint32_t count = 0;
    for (uint32_t i = 0; i < STM_BLOCK_LANES; i++) {
        const uint32_t x = block % across * BLOCK_W + i % BLOCK_W, y = block / across * BLOCK_H + i / BLOCK_W;
        if (x < film->width && y < film->height) {
            lanes[count] = (uint8_t)i;
            pixels[count++] = y * film->width + x;
        }
    }
    return count;
}

/* Blocks that take their steps together, so that their lookups are served together. */
typedef struct block_group {
    uint32_t first, blocks, count; /* count: of paths */
    uint16_t active[GROUP_PATHS];
    uint8_t lanes[GROUP_PATHS];
    uint32_t pixels[GROUP_PATHS];
    uint8_t block[GROUP_PATHS];
    stm_path paths[GROUP_PATHS];
    stm_path_step steps[GROUP_PATHS];
    stm_step_misses misses[STM_GROUP_BLOCKS];
    stm_lookup_batch batch;
} block_group;

/* Takes one step of every active path; paths that have ended are removed from the list. */
static uint32_t step_paths(stm_frame_part *part, block_group *g, uint32_t count)
{
    const stm_frame_trace *t = part->trace;
    stm_frame_source *source = &part->source;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        stm_path_intersect(t->world, &g->paths[g->active[i]]);
    part->rays += count;
    if (source->base.batch) {
        g->batch.count = 0;
        for (uint32_t i = 0; i < count; i++) {
            const uint16_t path = g->active[i];
            source->base.path = (g->first + g->block[path]) * STM_BLOCK_LANES + g->lanes[path];
            stm_path_record(t->world, &source->base, &g->paths[path], &g->steps[path]);
        }
        stm_frame_serve(source, g->misses, g->first);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t path = g->active[i];
        source->lane = g->lanes[path];
        source->step = &g->misses[g->block[path]];
        source->base.path = (g->first + g->block[path]) * STM_BLOCK_LANES + source->lane;
        source->lacks_answer = false;
        if ((source->base.batch ? stm_path_take(t->world, &source->base, &g->paths[path], &g->steps[path])
                                : stm_path_shade(t->world, &source->base, &g->paths[path])) == STM_STEP_ON)
            g->active[left++] = path;
    }
    for (uint32_t i = 0; i < g->blocks; i++)
        stm_request_write(&g->misses[i], &part->requests, t->options->wave);
    return left;
}

static void trace_group(stm_frame_part *part, block_group *g, uint32_t first, uint32_t blocks)
{
    const stm_frame_trace *t = part->trace;
    stm_frame_film *film = t->film;
    const uint32_t samples = t->options->render.samples, before = t->begins_anew ? 0 : film->accumulated * samples;
    g->first = first;
    g->blocks = blocks;
    g->count = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        const uint32_t lanes = lanes_of(film, first + i, g->lanes + g->count, g->pixels + g->count);
        memset(g->block + g->count, (int)i, lanes);
        g->misses[i].block = i;
        g->count += lanes;
    }
    for (uint32_t i = 0; i < g->count; i++)
        for (int c = 0; c < 3; c++) {
            const size_t at = 3 * (size_t)g->pixels[i] + (size_t)c;
            film->next[at] = t->begins_anew ? 0.0f : film->shown[at];
        }
    for (uint32_t s = 0; s < samples; s++) {
        for (uint32_t i = 0; i < g->count; i++) {
            stm_path_start(t->world, g->pixels[i], before + s, &g->paths[i]);
            g->active[i] = (uint16_t)i;
        }
        for (uint32_t left = g->count; left && !stm_is_cancelled(t->options->render.cancel);)
            left = step_paths(part, g, left);
        for (uint32_t i = 0; i < g->count; i++)
            for (int c = 0; c < 3; c++) {
                film->next[3 * (size_t)g->pixels[i] + (size_t)c] += g->paths[i].radiance[c];
                if (g->paths[i].diffuse) {
                    part->arrived[c] += (double)(g->paths[i].radiance[c] - g->paths[i].nearest[c]);
                    part->spread[c] += (double)g->paths[i].spread[c];
                }
            }
    }
    stm_request_settle(&part->requests);
}

static void trace_part(void *arg)
{
    stm_frame_part *part = arg;
    const double begin = stm_thread_seconds();
    block_group g;
    memset(g.misses, 0, sizeof g.misses);
    g.batch.samplers = part->trace->samplers;
    g.batch.moves = true;
    part->source.base.batch = part->trace->samplers ? &g.batch : NULL;
    for (uint32_t i = 0; i < part->count && !stm_is_cancelled(part->trace->options->render.cancel);
         i += STM_GROUP_BLOCKS)
        trace_group(part, &g, part->first + i, part->count - i < STM_GROUP_BLOCKS ? part->count - i : STM_GROUP_BLOCKS);
    part->source.base.batch = NULL;
    if (!pthread_equal(pthread_self(), part->trace->caller))
        part->others_seconds += stm_thread_seconds() - begin;
}

static void begin_part(stm_frame_trace *trace, stm_frame_part *p, uint32_t frame, uint32_t rejection)
{
    p->trace = trace;
    p->rays = 0;
    memset(p->arrived, 0, sizeof p->arrived);
    memset(p->spread, 0, sizeof p->spread);
    p->requests.count = 0;
    p->requests.missed = p->requests.requested = p->requests.rejected = p->requests.full = 0;
    p->requests.frame = frame;
    p->requests.rejection = rejection;
    p->source =
        stm_frame_source_of(trace->options, trace->view, trace->decoded, NULL, &p->requests, trace->queue, &p->noted);
    p->source.one_level = trace->world->direct;
}

txm_status stm_frame_trace_run(stm_frame_trace *trace, stm_pool *pool, uint32_t frame, uint32_t rejection,
                               txm_error *err)
{
    stm_frame_part **parts = stm_calloc(trace->part_count, sizeof *parts);
    stm_lookup_list **noted = stm_calloc(trace->part_count, sizeof *noted);
    txm_status status = parts && noted ? TXM_OK : stm_no_memory(err, NULL);
    uint32_t left = trace->part_count;
    for (uint32_t i = 0; status == TXM_OK && i < left; i++) {
        parts[i] = &trace->parts[i];
        parts[i]->noted.count = 0;
        parts[i]->noted.no_memory = false;
        parts[i]->others_seconds = 0.0;
    }
    trace->caller = pthread_self();
    while (status == TXM_OK && left) {
        const uint32_t count = left; /* of parts that are not complete */
        stm_group *group = stm_group_new(pool);
        status = group ? TXM_OK : stm_no_memory(err, NULL);
        for (uint32_t i = 0; i < count; i++)
            begin_part(trace, parts[i], frame, rejection);
        for (uint32_t i = 0; status == TXM_OK && i < count; i++)
            if (!stm_group_submit(group, trace_part, parts[i]))
                status = stm_no_memory(err, NULL);
        stm_group_free(group);
        if (status == TXM_OK && stm_is_cancelled(trace->options->render.cancel))
            status = stm_fail(err, TXM_STATUS_CANCELLED, "stopped");
        left = 0;
        for (uint32_t i = 0; i < count; i++)
            if (parts[i]->noted.count || parts[i]->noted.no_memory) {
                noted[left] = &parts[i]->noted;
                parts[left++] = parts[i];
            }
        if (status == TXM_OK && left)
            status = stm_lookup_queue_run(trace->queue, noted, left, err);
    }
    free(parts);
    free(noted);
    return status;
}
