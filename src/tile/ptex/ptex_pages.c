/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads rectangles of the pages that a Ptex file's faces are packed into.
 *
 * The places of faces are known from the start; the pixels of a rectangle are read on demand from the faces that
 * overlap it. On levels down to the one whose frames are one texel wide, blocks are read at the faces' own smaller
 * sizes; on smaller levels, pixels of that level are averaged.
 *
 * Each thread that reads takes a reader, which keeps the faces that it read last, and leaves it for the next thread.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "tile/ptex/ptex_pages.h"

enum {
    PAGE_PX = 4096,
    MAX_PAGE_PX = 65536,
    PADDING_LOG2 = 2,
    KEPT_BYTES = 16 << 20, /* memory of faces that a reader keeps */
    MEAN_ROWS = 32,        /* rows that are read and averaged at a time, */
    BAND_ROWS = 16         /* for so many rows of means */
};

typedef struct ptex_reader {
    uint64_t of; /* number of the pages that it reads */
    txm_ptex_filter *filter;
    uint8_t *scratch; /* texels in the file's type and channels */
    size_t scratch_bytes;
} ptex_reader;

/* ---- readers ----------------------------------------------------------------------------------------------------- */

/* Readers that are not in use, of all files: a scene may have tens of thousands of files, so a new one takes the place
 * of the oldest. There is no lock, which the child of a fork() could find taken for ever. `idle_of` says where to look
 * for a reader, and may be outdated. */
enum { IDLE_READERS = 64 };
static _Atomic(ptex_reader *) idle[IDLE_READERS];
static atomic_uint_least64_t idle_of[IDLE_READERS];

static void free_reader(ptex_reader *r)
{
    if (!r)
        return;
    txm_ptex_filter_free(&r->filter);
    free(r->scratch);
    free(r);
}

static void leave_reader(ptex_reader *r)
{
    static atomic_uint turn;
    const uint32_t i = atomic_fetch_add(&turn, 1) % IDLE_READERS;
    atomic_store(&idle_of[i], r->of);
    free_reader(atomic_exchange(&idle[i], r));
}

/* NULL: none of these pages is idle. */
static ptex_reader *take_idle_reader(const txm_ptex_pages *pages)
{
    for (int i = 0; i < IDLE_READERS; i++) {
        ptex_reader *r = atomic_load(&idle_of[i]) == pages->number ? atomic_exchange(&idle[i], NULL) : NULL;
        if (r && r->of == pages->number)
            return r;
        if (r)
            leave_reader(r);
    }
    return NULL;
}

static txm_status take_reader(const txm_ptex_pages *pages, ptex_reader **out, txm_error *err)
{
    *out = take_idle_reader(pages);
    if (*out)
        return TXM_OK;
    ptex_reader *r = txm_calloc(1, sizeof *r);
    if (!r)
        return txm_no_memory(err, pages->ptex->path);
    r->of = pages->number;
    txm_status status = txm_ptex_filter_new(pages->ptex, KEPT_BYTES, &r->filter, err);
    if (status != TXM_OK)
        free_reader(r);
    else
        *out = r;
    return status;
}

/* ---- pixels ------------------------------------------------------------------------------------------------------ */

/* The file's channel for a channel of the page; -1: none, so the page has 0, or 1 for alpha. */
static int source_channel(const txm_ptex_info *info, int channel)
{
    const int alpha = info->alpha_channel, count = (int)info->channels - (alpha >= 0);
    if (channel == 3)
        return alpha;
    if (channel >= count && !(count == 1 && alpha >= 0))
        return -1;
    channel = count == 1 ? 0 : channel;
    return channel + (alpha >= 0 && channel >= alpha);
}

/* Converts texels of the file to pixels of a page. */
static void widen_texels(const txm_ptex_pages *pages, const uint8_t *in, size_t count, uint8_t *out)
{
    const txm_ptex_info *info = &pages->ptex->info;
    const size_t bytes = txm_type_bytes(info->type);
    if (info->channels == 1) {
        memcpy(out, in, count * bytes);
        return;
    }
    int from[4];
    uint8_t one[4];
    for (int c = 0; c < 4; c++)
        from[c] = source_channel(info, c);
    txm_samples_from_float(info->type, &(const float){1}, one, 1);
    for (size_t i = 0; i < count; i++, in += info->pixel_bytes)
        for (int c = 0; c < 4; c++, out += bytes)
            if (from[c] >= 0)
                memcpy(out, in + (size_t)from[c] * bytes, bytes);
            else if (c == 3)
                memcpy(out, one, bytes);
            else
                memset(out, 0, bytes);
}

static size_t page_pixel_bytes(const txm_ptex_pages *pages)
{
    return pages->info.channels * txm_type_bytes(pages->info.type);
}

/* Computes the colour of pixels outside all faces: the average of the faces' constants, weighted by size. */
static txm_status find_mean(txm_ptex_pages *pages, txm_error *err)
{
    const txm_ptex *p = pages->ptex;
    const uint32_t n = p->info.channels;
    double *sum = txm_calloc(n, sizeof *sum), weights = 0;
    float *mean = txm_calloc(n, sizeof *mean);
    uint8_t *texel = txm_calloc(1, p->info.pixel_bytes);
    const bool there = sum && mean && texel;
    for (uint32_t i = 0; there && i < p->info.faces; i++) {
        const double weight = (double)(1ull << (p->faces[i].u_log2 + p->faces[i].v_log2));
        const uint8_t *constant = p->constants + (size_t)i * p->info.pixel_bytes;
        for (uint32_t c = 0; c < n; c++) {
            const float f = txm_ptex_sample(p->info.type, constant + c * txm_type_bytes(p->info.type));
            sum[c] += f - f == 0.0f ? weight * (double)f : 0;
        }
        weights += weight;
    }
    for (uint32_t c = 0; there && c < n; c++)
        mean[c] = (float)(sum[c] / (weights > 0 ? weights : 1));
    if (there) {
        txm_samples_from_float(p->info.type, mean, texel, n);
        widen_texels(pages, texel, 1, pages->mean);
    }
    free(sum);
    free(mean);
    free(texel);
    return there ? TXM_OK : txm_no_memory(err, p->path);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* A rectangle of a level of a page; rows are counted from the bottom here, and from the top in `pixels`. */
typedef struct page_part {
    const txm_ptex_pages *pages;
    ptex_reader *reader;
    uint32_t level, x, y, width, height;
    uint8_t *pixels;
    size_t row_bytes;
    uint32_t shown; /* the level that was requested: `level`, or a smaller one that is averaged from it */
    txm_error *err;
} page_part;

/* The first and last cell that overlap a range of pixels; false if there are none. */
static bool cells_in_range(uint32_t start, uint32_t size, uint32_t count, uint32_t from, uint32_t length,
                           uint32_t *first, uint32_t *last)
{
    if (from + length <= start || from >= start + size * count)
        return false;
    *first = from > start ? (from - start) / size : 0;
    *last = (from + length - 1 - start) / size;
    *last = *last < count ? *last : count - 1;
    return true;
}

/* The chart in a cell of a grid: its number in the order of sizes. */
static uint32_t chart_of_cell(const ptex_grid *g, uint32_t column, uint32_t row)
{
    const uint32_t begin = row / g->strip * g->strip, left = g->rows - begin;
    const uint32_t high = left < g->strip ? left : g->strip;
    return g->first + begin * g->columns + column * high + (row - begin);
}

/* Fills pixels with the file's colour for the whole face. This is used on levels on which the face is at most one
 * pixel, which would otherwise take as long to make as the first levels. */
static void fill_face(page_part *r, uint32_t face, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1)
{
    const size_t bytes = page_pixel_bytes(r->pages);
    uint8_t pixel[16];
    widen_texels(r->pages, r->pages->ptex->constants + (size_t)face * r->pages->ptex->info.pixel_bytes, 1, pixel);
    for (uint32_t y = y0; y < y1; y++)
        txm_ptex_fill(r->pixels + (r->y + r->height - 1 - y) * r->row_bytes + (x0 - r->x) * bytes, pixel, bytes,
                      x1 - x0);
}

/* Reads a part of a face, in pixels x0 to x1 and y0 to y1 of the page, where the face's corner is at (left, bottom). A
 * turned face is read as it is in the file, and then turned. */
static txm_status read_face(page_part *r, uint32_t face, int left, int bottom, uint32_t x0, uint32_t y0, uint32_t x1,
                            uint32_t y1)
{
    const txm_ptex_pages *pages = r->pages;
    const ptex_spot size = pages->spots[face];
    const unsigned turn = size.turn;
    if (size.width_log2 <= r->shown && size.height_log2 <= r->shown && r->shown > r->level) {
        fill_face(r, face, x0, y0, x1, y1);
        return TXM_OK;
    }
    const uint32_t w_log2 = size.width_log2 - r->level, h_log2 = size.height_log2 - r->level;
    const int x = (int)x0 - left, y = (int)y0 - bottom, columns = (int)(x1 - x0), rows = (int)(y1 - y0);
    const int from_right = (1 << w_log2) - x - columns, from_top = (1 << h_log2) - y - rows;
    const ptex_part part = turn == 0   ? (ptex_part){x, y, columns, rows}
                           : turn == 1 ? (ptex_part){y, from_right, rows, columns}
                           : turn == 2 ? (ptex_part){from_right, from_top, columns, rows}
                                       : (ptex_part){from_top, x, rows, columns};
    const size_t texel = pages->ptex->info.pixel_bytes, row = (size_t)part.width * texel;
    const size_t read = row * (size_t)part.height, bytes = read + (size_t)columns * texel;
    if (bytes > r->reader->scratch_bytes) {
        free(r->reader->scratch);
        r->reader->scratch = txm_alloc_pixels(bytes, 1);
        r->reader->scratch_bytes = r->reader->scratch ? bytes : 0;
        if (!r->reader->scratch)
            return txm_no_memory(r->err, pages->ptex->path);
    }
    uint8_t *const texels = r->reader->scratch;
    txm_status status = txm_ptex_read_framed(r->reader->filter, face, turn & 1 ? h_log2 : w_log2,
                                             turn & 1 ? w_log2 : h_log2, &part, texels, row, r->err);
    /* From one column of the page to the next, a turned face goes along its rows or columns, one way or the other. */
    const ptrdiff_t steps[] = {(ptrdiff_t)texel, -(ptrdiff_t)row, -(ptrdiff_t)texel, (ptrdiff_t)row};
    for (int i = 0; status == TXM_OK && i < rows; i++) {
        const size_t starts[] = {(size_t)i * row, read - row + (size_t)i * texel, read - (size_t)i * row - texel,
                                 row - (size_t)(i + 1) * texel};
        uint8_t *line = texels + starts[turn];
        if (turn) {
            for (int k = 0; k < columns; k++)
                memcpy(texels + read + (size_t)k * texel, line + k * steps[turn], texel);
            line = texels + read;
        }
        widen_texels(pages, line, (size_t)columns,
                     r->pixels + (r->y + r->height - 1 - y0 - (uint32_t)i) * r->row_bytes +
                         (x0 - r->x) * page_pixel_bytes(pages));
    }
    return status;
}

/* Reads the part of a block that is inside the rectangle. The faces at the sides of a chart have its frame, too. */
static txm_status read_block(page_part *r, const ptex_grid *g, uint32_t column, uint32_t row)
{
    const txm_ptex_pages *pages = r->pages;
    const uint32_t *members = pages->members + pages->order[chart_of_cell(g, column, row)];
    const ptex_spot size = pages->spots[*members];
    const uint32_t width = txm_ptex_block_px(g->width_log2, g->frame_log2) >> r->level;
    const uint32_t height = txm_ptex_block_px(g->height_log2, g->frame_log2) >> r->level;
    const uint32_t left = (g->x >> r->level) + column * width, bottom = (g->y >> r->level) + row * height;
    const uint32_t frame = 1u << (g->frame_log2 - r->level);
    const uint32_t face_width = 1u << (size.width_log2 - r->level), face_height = 1u << (size.height_log2 - r->level);
    const uint32_t columns = 1u << (g->width_log2 - size.width_log2), rows = 1u << (g->height_log2 - size.height_log2);
    txm_status status = TXM_OK;
    uint32_t low, high, first, last;
    if (!cells_in_range(bottom + frame, face_height, rows, r->y, r->height, &low, &high))
        low = high = r->y < bottom + frame ? 0 : rows - 1;
    if (!cells_in_range(left + frame, face_width, columns, r->x, r->width, &first, &last))
        first = last = r->x < left + frame ? 0 : columns - 1;
    for (uint32_t j = low; j <= high && status == TXM_OK; j++)
        for (uint32_t i = first; i <= last && status == TXM_OK; i++) {
            const uint32_t x = left + frame + i * face_width, y = bottom + frame + j * face_height;
            const uint32_t from_x = i ? x : left, from_y = j ? y : bottom;
            const uint32_t to_x = i + 1 < columns ? x + face_width : left + width;
            const uint32_t to_y = j + 1 < rows ? y + face_height : bottom + height;
            const uint32_t x0 = from_x > r->x ? from_x : r->x, y0 = from_y > r->y ? from_y : r->y;
            const uint32_t x1 = to_x < r->x + r->width ? to_x : r->x + r->width;
            const uint32_t y1 = to_y < r->y + r->height ? to_y : r->y + r->height;
            if (x0 < x1 && y0 < y1)
                status = read_face(r, members[j * columns + i], (int)x, (int)y, x0, y0, x1, y1);
        }
    return status;
}

static txm_status read_grid(page_part *r, const ptex_grid *g)
{
    uint32_t left, right, low, high;
    txm_status status = TXM_OK;
    if (!cells_in_range(g->x >> r->level, txm_ptex_block_px(g->width_log2, g->frame_log2) >> r->level, g->columns, r->x,
                        r->width, &left, &right) ||
        !cells_in_range(g->y >> r->level, txm_ptex_block_px(g->height_log2, g->frame_log2) >> r->level, g->rows, r->y,
                        r->height, &low, &high))
        return TXM_OK;
    for (uint32_t row = low; row <= high && status == TXM_OK; row++)
        for (uint32_t column = left; column <= right && status == TXM_OK; column++)
            status = read_block(r, g, column, row);
    return status;
}

/* ---- levels below ------------------------------------------------------------------------------------------------ */

/* Sums of pixels, each times the number of pixels of level 0 that it stands for. */
typedef struct mean_sums {
    double *colours, *pixels;
    uint8_t *rows; /* MEAN_ROWS of a grid */
    float *row;
} mean_sums;

/* Adds a grid on the smallest level that is made from its faces, whose pixels are larger level's in part. Several rows
 * of it are read at a time, because most of the cost is reading the faces that they overlap. */
static txm_status add_grid(const page_part *r, const ptex_grid *g, const mean_sums *sums)
{
    const uint32_t base = g->frame_log2, shift = r->level - base, channels = r->pages->info.channels;
    const uint32_t left = g->x >> base, low = g->y >> base;
    const uint32_t right = left + g->columns * (txm_ptex_block_px(g->width_log2, base) >> base);
    const uint32_t high = low + g->rows * (txm_ptex_block_px(g->height_log2, base) >> base);
    const uint64_t part_right = (uint64_t)(r->x + r->width) << shift, part_high = (uint64_t)(r->y + r->height) << shift;
    const uint32_t x = r->x << shift > left ? r->x << shift : left,
                   end_x = part_right < right ? (uint32_t)part_right : right;
    const uint32_t y = r->y << shift > low ? r->y << shift : low, end_y = part_high < high ? (uint32_t)part_high : high;
    const double weight = (double)(1ull << 2 * base);
    txm_status status = TXM_OK;
    if (x >= end_x)
        return TXM_OK;
    page_part part = {r->pages, r->reader, base, x, y, end_x - x, 0, sums->rows, 0, r->shown, r->err};
    part.row_bytes = part.width * page_pixel_bytes(r->pages);
    for (; part.y < end_y && status == TXM_OK; part.y += part.height) {
        part.height = end_y - part.y < MEAN_ROWS ? end_y - part.y : MEAN_ROWS;
        status = read_grid(&part, g);
        for (uint32_t j = 0; j < part.height && status == TXM_OK; j++) {
            const uint32_t to_row = r->height - 1 - (((part.y + part.height - 1 - j) >> shift) - r->y);
            txm_samples_to_float(r->pages->info.type, part.pixels + j * part.row_bytes, sums->row,
                                 (size_t)part.width * channels);
            for (uint32_t i = 0; i < part.width; i++) {
                const size_t to = (size_t)to_row * r->width + ((x + i) >> shift) - r->x;
                sums->pixels[to] += weight;
                for (uint32_t c = 0; c < channels; c++)
                    sums->colours[to * channels + c] += weight * (double)sums->row[i * channels + c];
            }
        }
    }
    return status;
}

/* Averages the pixels of grids that have no such level of their own. Where there are none, the file's mean colour is
 * already there. */
static txm_status read_means(const page_part *r, const ptex_page *page, const mean_sums *sums)
{
    const uint32_t channels = r->pages->info.channels;
    const double columns = fmin(page->width, ldexp(1, (int)r->level)),
                 rows = fmin(page->height, ldexp(1, (int)r->level));
    txm_status status = TXM_OK;
    memset(sums->colours, 0, (size_t)r->width * r->height * channels * sizeof *sums->colours);
    memset(sums->pixels, 0, (size_t)r->width * r->height * sizeof *sums->pixels);
    for (uint32_t i = 0; i < page->grids && status == TXM_OK; i++) {
        const ptex_grid *g = &r->pages->grids[r->pages->by_page[page->first_grid + i]];
        if (g->frame_log2 < r->level)
            status = add_grid(r, g, sums);
    }
    for (size_t i = 0; i < (size_t)r->width * r->height && status == TXM_OK; i++) {
        uint8_t *pixel = r->pixels + i / r->width * r->row_bytes + i % r->width * page_pixel_bytes(r->pages);
        const double rest = columns * rows - sums->pixels[i];
        if (!(sums->pixels[i] > 0))
            continue;
        txm_samples_to_float(r->pages->info.type, pixel, sums->row, channels);
        for (uint32_t c = 0; c < channels; c++)
            sums->row[c] = (float)((sums->colours[i * channels + c] + (rest > 0 ? rest * (double)sums->row[c] : 0)) /
                                   (columns * rows));
        txm_samples_from_float(r->pages->info.type, sums->row, pixel, channels);
    }
    return status;
}

/* Reads a rectangle. Grids whose frames are wide enough have this level of their own. */
static txm_status read_part(page_part *r, const ptex_page *page)
{
    const uint32_t channels = r->pages->info.channels;
    const bool means = r->level > r->pages->padding_log2;
    mean_sums sums = {0};
    txm_status status = TXM_OK;
    for (uint32_t y = 0; y < r->height; y++)
        txm_ptex_fill(r->pixels + y * r->row_bytes, r->pages->mean, page_pixel_bytes(r->pages), r->width);
    if (means) {
        const uint64_t wide = (uint64_t)r->width << (r->level - r->pages->padding_log2);
        const size_t most = wide < page->width ? (size_t)wide : page->width, band = (size_t)BAND_ROWS * r->width;
        sums = (mean_sums){txm_alloc_pixels(band, channels * sizeof *sums.colours),
                           txm_alloc_pixels(band, sizeof *sums.pixels),
                           txm_alloc_pixels(MEAN_ROWS * most, page_pixel_bytes(r->pages)),
                           txm_alloc_pixels(most * channels, sizeof *sums.row)};
        if (!sums.colours || !sums.pixels || !sums.rows || !sums.row)
            status = txm_no_memory(r->err, r->pages->ptex->path);
    }
    for (uint32_t y = 0; means && y < r->height && status == TXM_OK; y += BAND_ROWS) {
        page_part band = *r;
        band.height = r->height - y < BAND_ROWS ? r->height - y : BAND_ROWS;
        band.y = r->y + r->height - y - band.height;
        band.pixels = r->pixels + y * r->row_bytes;
        status = read_means(&band, page, &sums);
    }
    for (uint32_t i = 0; i < page->grids && status == TXM_OK; i++) {
        const ptex_grid *g = &r->pages->grids[r->pages->by_page[page->first_grid + i]];
        if (g->frame_log2 >= r->level)
            status = read_grid(r, g);
    }
    free(sums.colours);
    free(sums.pixels);
    free(sums.rows);
    free(sums.row);
    return status;
}

txm_status txm_ptex_page_read(const txm_ptex_pages *pages, uint32_t page, uint32_t level, uint32_t x, uint32_t y,
                              uint32_t width, uint32_t height, void *pixels, size_t row_stride_bytes, txm_error *err)
{
    txm_error_clear(err);
    if (page >= pages->info.pages)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: no page %u: there are %u", pages->ptex->path, page,
                        pages->info.pages);
    const ptex_page *of = &pages->pages[page];
    const uint32_t all_width = level < 32 && of->width >> level ? of->width >> level : 1;
    const uint32_t all_height = level < 32 && of->height >> level ? of->height >> level : 1;
    if (level >= txm_level_count(of->width, of->height) || !width || !height || x >= all_width ||
        width > all_width - x || y >= all_height || height > all_height - y)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: page %u, level %u has no such rectangle", pages->ptex->path, page,
                        level);
    ptex_reader *reader;
    txm_status status = take_reader(pages, &reader, err);
    if (status != TXM_OK)
        return status;
    page_part r = {pages,  reader,           level, x,  all_height - y - height, width, height,
                   pixels, row_stride_bytes, level, err};
    status = read_part(&r, of);
    leave_reader(reader);
    txm_map_drop_pages(&pages->ptex->map);
    return status;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Fills in where faces are. Their turns are known. */
static void place_faces(txm_ptex_pages *pages)
{
    for (size_t i = 0; i < pages->grid_count; i++) {
        const ptex_grid *g = &pages->grids[i];
        const uint32_t width = txm_ptex_block_px(g->width_log2, g->frame_log2), frame = 1u << g->frame_log2;
        const uint32_t height = txm_ptex_block_px(g->height_log2, g->frame_log2);
        for (uint32_t k = 0; k < g->columns * g->rows; k++) {
            const uint32_t column = k / g->rows, row = k % g->rows;
            const uint32_t *members = pages->members + pages->order[chart_of_cell(g, column, row)];
            const ptex_packed size =
                txm_ptex_packed_size(pages->ptex, *members, pages->spots[*members].turn, pages->padding_log2);
            const uint32_t columns_log2 = g->width_log2 - size.width_log2;
            for (uint32_t m = 0; m < 1u << (columns_log2 + g->height_log2 - size.height_log2); m++) {
                const uint32_t x =
                    g->x + column * width + frame + ((m & ((1u << columns_log2) - 1)) << size.width_log2);
                const uint32_t y = g->y + row * height + frame + (m >> columns_log2 << size.height_log2);
                ptex_spot *at = &pages->spots[members[m]];
                *at = (ptex_spot){x & 0x1ffff,           g->page & 0x3fff,       y & 0x1ffff,
                                  size.width_log2 & 15u, size.height_log2 & 15u, at->turn};
            }
        }
    }
}

txm_status txm_ptex_place_of(const txm_ptex_pages *pages, uint32_t face, txm_ptex_place *out, txm_error *err)
{
    txm_error_clear(err);
    if (face >= pages->ptex->info.faces)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: no face %u: the file has %u, counted from 0", pages->ptex->path,
                        face, pages->ptex->info.faces);
    const ptex_spot at = pages->spots[face];
    *out = (txm_ptex_place){at.page, at.x, at.y, 1u << at.width_log2, 1u << at.height_log2};
    return TXM_OK;
}

txm_status txm_ptex_place_corners(const txm_ptex_pages *pages, uint32_t face, double out[4][2], txm_error *err)
{
    static const uint8_t corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    txm_ptex_place at;
    txm_error_clear(err);
    txm_status status = txm_ptex_place_of(pages, face, &at, err);
    if (status != TXM_OK)
        return status;
    const ptex_page *page = &pages->pages[at.page];
    for (unsigned k = 0; k < 4; k++) {
        const uint8_t *corner = corners[(k + pages->spots[face].turn) & 3];
        out[k][0] = at.page % 10 + (double)(at.x + corner[0] * at.width) / page->width;
        out[k][1] = at.page / 10 + (double)(at.y + corner[1] * at.height) / page->height;
    }
    return TXM_OK;
}

txm_status txm_ptex_place_uv(const txm_ptex_pages *pages, uint32_t face, double u, double v, double out[2],
                             txm_error *err)
{
    double at[4][2];
    txm_error_clear(err);
    const txm_status status = txm_ptex_place_corners(pages, face, at, err);
    for (int k = 0; k < 2 && status == TXM_OK; k++)
        out[k] = at[0][k] + u * (at[1][k] - at[0][k]) + v * (at[3][k] - at[0][k]);
    return status;
}

/* ---- from the file to its pages ---------------------------------------------------------------------------------- */

static txm_status take_pages_options(txm_ptex_pages *pages, const txm_ptex_pages_options *given, uint32_t *page_px,
                                     uint32_t *least_log2, double shares[2], txm_error *err)
{
    txm_ptex_pages_options o = {.struct_size = sizeof o};
    txm_status status = txm_options_take(&o, sizeof o, given, "txm_ptex_pages_options", err);
    if (status != TXM_OK)
        return status;
    if (o.page_px > MAX_PAGE_PX || (o.page_px && o.page_px < 64))
        return txm_fail(err, TXM_STATUS_USAGE, "pages of %u px: use a size from 64 to %d px", o.page_px, MAX_PAGE_PX);
    if (o.padding_px & (o.padding_px - 1) || o.padding_px > 1u << PTEX_MAX_PADDING_LOG2)
        return txm_fail(err, TXM_STATUS_USAGE, "padding %u px: use 1, 2, 4, 8 or 16", o.padding_px);
    *page_px = o.page_px ? o.page_px : PAGE_PX;
    shares[0] = o.padding_px ? INFINITY : o.most_percent ? o.most_percent / 100.0 : 1.15;
    shares[1] = o.padding_px ? INFINITY : o.most_percent ? o.most_percent / 100.0 : 1.3;
    pages->padding_log2 = o.padding_px ? 0 : PADDING_LOG2;
    while (o.padding_px >> (pages->padding_log2 + 1))
        pages->padding_log2++;
    pages->widest_log2 = o.padding_px || o.most_percent ? pages->padding_log2 : PTEX_WIDEST_LOG2;
    *least_log2 = o.padding_px ? pages->padding_log2 : 0;
    return TXM_OK;
}

txm_status txm_ptex_pages_new(const txm_ptex *ptex, const txm_ptex_pages_options *options, txm_ptex_pages **out,
                              txm_error *err)
{
    static atomic_uint_least64_t made;
    uint32_t page_px = 0, least_log2 = 0;
    double shares[2] = {0}; /* wanted, at most */
    txm_error_clear(err);
    *out = NULL;
    txm_ptex_pages *pages = txm_calloc(1, sizeof *pages);
    if (!pages)
        return txm_no_memory(err, ptex->path);
    pages->number = atomic_fetch_add(&made, 1) + 1;
    pages->ptex = ptex;
    pages->info.type = ptex->info.type;
    pages->info.channels = ptex->info.channels == 1 ? 1 : 4;
    pages->info.has_alpha = ptex->info.alpha_channel >= 0 && ptex->info.channels > 1;
    txm_status status = take_pages_options(pages, options, &page_px, &least_log2, shares, err);
    if (status == TXM_OK)
        status = txm_ptex_pack(pages, page_px, least_log2, shares[0], shares[1], err);
    if (status == TXM_OK) {
        place_faces(pages);
        status = find_mean(pages, err);
    }
    if (status != TXM_OK)
        txm_ptex_pages_free(&pages);
    *out = pages;
    return status;
}

void txm_ptex_pages_free(txm_ptex_pages **pages)
{
    if (!pages || !*pages)
        return;
    txm_ptex_pages *p = *pages;
    for (ptex_reader *r; (r = take_idle_reader(p));)
        free_reader(r);
    free(p->grids);
    free(p->by_page);
    free(p->members);
    free(p->spots);
    free(p->pages);
    free(p->order);
    free(p);
    *pages = NULL;
}

const txm_ptex_pages_info *txm_ptex_pages_info_of(const txm_ptex_pages *pages)
{
    return &pages->info;
}

void txm_ptex_page_size(const txm_ptex_pages *pages, uint32_t page, uint32_t *width, uint32_t *height)
{
    const bool there = page < pages->info.pages;
    *width = there ? pages->pages[page].width : 0;
    *height = there ? pages->pages[page].height : 0;
}
