/* SPDX-License-Identifier: Apache-2.0
 *
 * The work that follows from a chunk of level 0: rows of every level, the tiles of each row of tiles that is now
 * complete, and the borders of those whose surroundings are now complete.
 *
 * Chunks alternate between two streams. A chunk's kernels run after those of the previous chunk, since levels continue
 * from the rows already there. Its upload and download have no such dependency, so they overlap with other chunks'
 * kernels. All kernels of a chunk write to the slot's own output, which is copied back in one piece.
 */
#include "device/convert/job_impl.h"

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int try_code = (call);                                                                                         \
        if (try_code)                                                                                                  \
            return try_code;                                                                                           \
    } while (0)

/* A chunk whose work is being queued. */
typedef struct chunk {
    txm_gpu_job *job;
    gpu_slot *slot;
    txm_rt_stream stream;
    uint32_t y, rows;
    bool conformed;
    size_t raw_bytes; /* of filtered tiles that are to be compressed */
} chunk;

/* Reserves room for a piece in the slot's output; the pieces of one launch are adjacent (`follows`). plan_output made
 * the output large enough, and this is checked before a kernel writes. */
static int add_piece(chunk *c, txm_gpu_piece piece, bool follows, uint64_t *device)
{
    gpu_slot *s = c->slot;
    size_t at = follows ? s->out_bytes : (s->out_bytes + 15) / 16 * 16;
    if (at + piece.size_bytes > c->job->out_capacity || s->result.piece_count == c->job->piece_capacity)
        return GPU_NO_ROOM;
    piece.bytes = s->out + at;
    s->pieces[s->result.piece_count++] = piece;
    s->out_bytes = at + piece.size_bytes;
    if (!follows)
        *device = s->device_out + at;
    return 0;
}

/* The same for a row of tiles that the device compresses: they go to the filtered ones and into the list. */
static int add_raw_tiles(chunk *c, txm_gpu_piece piece, bool follows, uint64_t *device)
{
    txm_gpu_job *j = c->job;
    gpu_slot *s = c->slot;
    const txm_gpu_plan *p = &j->plan;
    const uint32_t across = (j->level[piece.level].width + p->tile_px - 1) / p->tile_px;
    size_t at = follows ? c->raw_bytes : (c->raw_bytes + 15) / 16 * 16;
    if (at + piece.size_bytes > j->raw_capacity || at + piece.size_bytes > UINT32_MAX ||
        s->tiles + across > j->tile_capacity || s->result.piece_count == j->piece_capacity)
        return GPU_NO_ROOM;
    if (!follows)
        *device = j->raw + at;
    c->raw_bytes = at + piece.size_bytes;
    piece.packed = &s->list[1 + s->tiles];
    s->pieces[s->result.piece_count++] = piece;
    const size_t bytes = piece.size_bytes / across;
    for (uint32_t i = 0; i < across; i++, at += bytes)
        s->list[1 + s->tiles++] = (txm_gpu_packed){.from = (uint32_t)at, .bytes = (uint32_t)bytes};
    return 0;
}

txm_gpu_pack gpu_pack_args(const txm_gpu_job *j, const gpu_slot *s)
{
    const uint32_t pixel_bytes = j->plan.channels * txm_gpu_bytes(j->plan.type);
    return (txm_gpu_pack){.type = j->plan.type,
                          .pixel_bytes = pixel_bytes,
                          .tile_bytes = pixel_bytes * j->plan.tile_px * j->plan.tile_px,
                          .level = j->plan.level,
                          .workers = s->tiles < j->plan.encoders ? s->tiles : j->plan.encoders,
                          .tiles = s->tiles,
                          .list = s->device_list,
                          .raw = j->raw,
                          .out = s->device_out + s->streams_at,
                          .scratch = j->scratch,
                          .scratch_bytes = j->scratch_bytes};
}

/* Compresses the tiles of all levels in one kernel, since a chunk has few. */
static int pack(chunk *c)
{
    txm_gpu_job *j = c->job;
    gpu_slot *s = c->slot;
    const txm_gpu_pack a = gpu_pack_args(j, s);
    TRY(txm_rt_upload(j->memory, s->device_list, s->list, (s->tiles + 1) * sizeof *s->list, c->stream));
    return s->tiles ? gpu_run_pack(j, &a, c->stream) : 0;
}

/* ---- level 0 ---------------------------------------------------------------------------------------------------- */

/* Rows that the caller has conformed are not conformed again. */
static txm_gpu_conform conform_of(const chunk *c)
{
    const txm_gpu_plan *p = &c->job->plan;
    return c->conformed ? (txm_gpu_conform){.src_channels = p->channels, .channels = p->channels} : p->conform;
}

/* Depends on the chunk, not the plan: rows that the caller has conformed may have a different number of channels than
 * raw ones. */
static uint64_t raw_stride(const chunk *c)
{
    return (uint64_t)c->job->plan.width * conform_of(c).src_channels * txm_gpu_bytes(c->job->plan.type);
}

/* Conforms level 0, and makes level 1 in the same kernel while the pixels are loaded. */
static int ingest(chunk *c)
{
    txm_gpu_job *j = c->job;
    const txm_gpu_plan *p = &j->plan;
    gpu_level *l0 = &j->level[0], *l1 = j->levels > 1 ? l0 + 1 : NULL;
    const txm_gpu_piece stored = {TXM_GPU_ROWS, 0, c->y, c->rows, NULL, c->rows * l0->store.stride_bytes, NULL};
    txm_gpu_ingest a = {.type = p->type,
                        .channels = p->channels,
                        .raw = c->slot->device_in,
                        .raw_stride_bytes = raw_stride(c),
                        .width = p->width,
                        .y = c->y,
                        .rows = c->rows,
                        .conform = conform_of(c),
                        .box = l1 && l1->box,
                        .curve = p->curve,
                        .store0 = l0->store};
    a.gives_rows = p->rows && !c->conformed;
    if (a.gives_rows)
        TRY(add_piece(c, stored, false, &a.rows_out));
    if (a.box) {
        a.store1 = l1->store;
        a.floats1 = l1->floats;
    }
    TRY(gpu_run_ingest(j, &a, c->stream));
    l0->made += c->rows;
    if (a.box)
        l1->made = l0->made / 2;
    return 0;
}

/* Computes sums for each row, which the host adds up in a fixed order. */
static int count_rows(const chunk *c)
{
    const txm_gpu_plan *p = &c->job->plan;
    const txm_gpu_count a = {.type = p->type,
                             .raw = c->slot->device_in,
                             .raw_stride_bytes = raw_stride(c),
                             .width = p->width,
                             .rows = c->rows,
                             .conform = p->conform,
                             .out = c->slot->device_stats};
    return gpu_run_count(c->job, &a, c->stream);
}

/* ---- the levels above ------------------------------------------------------------------------------------------- */

/* Returns the number of rows of a level that can be made from the first `below` rows of the level below. */
static uint32_t makeable(const gpu_level *l, uint32_t src_height, uint32_t below)
{
    uint32_t y = l->made;
    for (; y < l->height; y++) {
        uint32_t first = 2 * y, second = 2 * y + 1;
        float g;
        if (!l->box)
            txm_bilinear_position(y, l->height, src_height, &first, &second, &g);
        if (second >= below)
            break;
    }
    return y;
}

/* Makes as many rows as the level below allows. */
static int make_level(chunk *c, uint32_t index)
{
    txm_gpu_job *j = c->job;
    gpu_level *l = &j->level[index], *below = l - 1;
    uint32_t end = makeable(l, below->height, below->made);
    const txm_gpu_level a = {.type = j->plan.type,
                             .channels = j->plan.channels,
                             .box = l->box,
                             .curve = j->plan.curve,
                             .src_width = below->width,
                             .src_height = below->height,
                             .width = l->width,
                             .height = l->height,
                             .y = l->made,
                             .rows = end - l->made,
                             .from_store = index == 1,
                             .src_store = below->store,
                             .src = below->floats,
                             .dst = l->floats,
                             .store = l->store};
    if (!a.rows)
        return 0;
    TRY(gpu_run_level(j, &a, c->stream));
    l->made = end;
    return 0;
}

/* ---- tiles and borders ------------------------------------------------------------------------------------------- */

/* The height of a row of tiles, which may be less for the last one. */
static uint32_t rows_at(const chunk *c, const gpu_level *l, uint32_t y)
{
    uint32_t px = c->job->plan.tile_px;
    return l->height - y < px ? l->height - y : px;
}

/* Makes the tiles of complete rows of tiles only, filtered for the encoder. */
static int make_tiles(chunk *c, uint32_t index)
{
    const txm_gpu_plan *p = &c->job->plan;
    gpu_level *l = &c->job->level[index];
    txm_gpu_tiles a = {p->type,   p->channels, p->tile_px, txm_gpu_shift(p->tile_px),
                       p->filter, l->width,    l->height,  l->tiled,
                       0,         l->store,    0};
    while (l->tiled < l->height && l->tiled + rows_at(c, l, l->tiled) <= l->made) {
        uint32_t rows = rows_at(c, l, l->tiled);
        size_t bytes = txm_gpu_tiles_bytes(p->type, p->channels, p->tile_px, l->width);
        const txm_gpu_piece piece = {TXM_GPU_TILES, index, l->tiled, rows, NULL, bytes, NULL};
        TRY((p->encoders ? add_raw_tiles : add_piece)(c, piece, a.bands++ > 0, &a.out));
        l->tiled += rows;
    }
    return a.bands ? gpu_run_tiles(c->job, &a, c->stream) : 0;
}

/* Adds one row of tiles to a launch. */
static int add_borders(chunk *c, uint32_t index, uint32_t y, txm_gpu_borders *a)
{
    uint32_t rows = rows_at(c, &c->job->level[index], y);
    size_t bytes = (size_t)txm_gpu_borders_pixels(a->tile_px, a->width, rows) * a->channels * txm_gpu_bytes(a->type);
    return add_piece(c, (txm_gpu_piece){TXM_GPU_BORDERS, index, y, rows, NULL, bytes, NULL}, a->bands++ > 0, &a->out);
}

/* Makes the borders of rows of tiles that have two more rows below them. If the image wraps round, the first row of
 * tiles waits for the last one. */
static int make_borders(chunk *c, uint32_t index)
{
    const txm_gpu_plan *p = &c->job->plan;
    gpu_level *l = &c->job->level[index];
    uint32_t px = p->tile_px, y = px + l->bordered;
    bool complete = l->made == l->height;
    txm_gpu_borders a = {p->type, p->channels, px, l->width, l->height, y, 0, l->store, 0};
    for (; y < l->height && (complete || y + px + TXM_BORDER_PX <= l->made); y = px + l->bordered) {
        TRY(add_borders(c, index, y, &a));
        l->bordered += rows_at(c, l, y);
    }
    if (a.bands)
        TRY(gpu_run_borders(c->job, &a, c->stream));
    if (!complete || l->first_bordered)
        return 0;
    /* The first row of tiles borders on the image's last one. */
    l->first_bordered = true;
    a.y = a.bands = 0;
    TRY(add_borders(c, index, 0, &a));
    return gpu_run_borders(c->job, &a, c->stream);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* Queues all work on the chunk's stream; nothing waits here. */
static int run_chunk(chunk *c)
{
    txm_gpu_job *j = c->job;
    gpu_slot *s = c->slot;
    TRY(txm_rt_upload(j->memory, s->device_in, s->in, c->rows * raw_stride(c), c->stream));
    if (j->before)
        TRY(txm_rt_follow(c->stream, j->before));
    TRY(ingest(c));
    if (!c->conformed)
        TRY(count_rows(c));
    for (uint32_t i = 1; i < j->levels; i++)
        TRY(make_level(c, i));
    for (uint32_t i = 0; i < j->levels; i++) {
        TRY(make_tiles(c, i));
        if (j->plan.borders)
            TRY(make_borders(c, i));
    }
    s->streams_at = (s->out_bytes + 15) / 16 * 16;
    s->fetching = !j->plan.encoders;
    if (j->plan.encoders)
        TRY(pack(c));
    TRY(txm_rt_record(s->computed, c->stream));
    if (j->plan.encoders)
        TRY(txm_rt_download(s->list, j->memory, s->device_list, (s->tiles + 1) * sizeof *s->list, c->stream));
    else if (s->out_bytes)
        TRY(txm_rt_download(s->out, j->memory, s->device_out, s->out_bytes, c->stream));
    if (!c->conformed)
        TRY(txm_rt_download(s->stats, j->memory, s->device_stats, c->rows * sizeof *s->stats, c->stream));
    return txm_rt_record(j->plan.encoders ? s->counted : s->done, c->stream);
}

/* The next chunk's kernels wait for this one's, through the event `before`. */
txm_status gpu_launch(txm_gpu_job *job, gpu_slot *slot, uint32_t rows, bool conformed, txm_error *err)
{
    chunk c = {job, slot, job->streams[job->submitted % TXM_GPU_STREAMS], job->level[0].made, rows, conformed, 0};
    slot->out_bytes = 0;
    slot->tiles = 0;
    if (slot->list)
        slot->list[0] = (txm_gpu_packed){0};
    slot->result = (txm_gpu_result){
        .submitted = slot->in, .y = c.y, .rows = rows, .stats = conformed ? NULL : slot->stats, .pieces = slot->pieces};
    txm_status status = gpu_check(run_chunk(&c), "kernels", err);
    if (status)
        return status;
    job->before = slot->computed;
    job->submitted++;
    return TXM_OK;
}
