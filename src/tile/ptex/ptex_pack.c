/* SPDX-License-Identifier: Apache-2.0
 *
 * Assigns the charts of a Ptex file's faces to places in pages.
 *
 * Charts with their frames are blocks of few different sizes, since all sizes are powers of two, but there may be
 * millions of each size. Blocks are therefore not placed one by one: starting with the largest size, whole rectangles
 * are filled with a grid of blocks. The remains of a rectangle beside and above a grid are kept for smaller sizes. The
 * number of steps depends only on the number of sizes and pages, so several page widths can be tried, and the one that
 * leaves the least free is used.
 */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/ptex/ptex_pages.h"

enum {
    SIZES = TXM_PTEX_MAX_LOG2 + 1,
    LARGEST_LOG2 = 15,
    MAX_PAGES = 8999,
    NEAR_PX = 128,        /* approximate height of a strip of a grid */
    WIDTHS = 96,          /* page widths that are tried */
    WIDEST_SHARE_LOG2 = 2 /* of a chart's side for a frame: a quarter */
};

ptex_packed txm_ptex_packed_size(const txm_ptex *p, uint32_t face, unsigned turn, uint32_t padding_log2)
{
    const txm_ptex_face *f = &p->faces[face];
    const bool constant = f->flags & TXM_PTEX_CONSTANT_NEIGHBOURHOOD;
    uint32_t u = constant || f->u_log2 < padding_log2 ? padding_log2 : f->u_log2;
    uint32_t v = constant || f->v_log2 < padding_log2 ? padding_log2 : f->v_log2;
    u = u < LARGEST_LOG2 ? u : LARGEST_LOG2;
    v = v < LARGEST_LOG2 ? v : LARGEST_LOG2;
    return turn & 1 ? (ptex_packed){(uint8_t)v, (uint8_t)u} : (ptex_packed){(uint8_t)u, (uint8_t)v};
}

typedef struct free_rect {
    uint32_t page, x, y, width, height;
} free_rect;

/* A size of blocks, and the number of blocks of that size. */
typedef struct block_size {
    uint32_t width, height, count, first;
    uint8_t width_log2, height_log2, frame_log2;
} block_size;

/* By log2 of a chart's width and height, and of its frame. */
typedef uint32_t size_table[SIZES][SIZES][PTEX_WIDEST_LOG2 + 1];

/* An attempt with one page width. */
typedef struct packing {
    uint32_t width, height;
    free_rect *rects;
    size_t rect_count, rect_capacity;
    ptex_grid *grids;
    size_t grid_count, grid_capacity;
    ptex_page *pages;
    size_t page_count, page_capacity;
} packing;

static void free_packing(packing *p)
{
    free(p->rects);
    free(p->grids);
    free(p->pages);
    *p = (packing){0};
}

/* ---- one attempt ------------------------------------------------------------------------------------------------- */

static bool keep_rect(packing *p, uint32_t page, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    if (!width || !height)
        return true;
    if (!TXM_GROW(p->rects, p->rect_capacity, p->rect_count))
        return false;
    p->rects[p->rect_count++] = (free_rect){page, x, y, width, height};
    return true;
}

/* Takes the smallest rectangle that the block fits in off the list, which leaves large ones for more blocks. */
static bool take_rect(packing *p, const block_size *b, free_rect *out)
{
    size_t best = SIZE_MAX;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < p->rect_count; i++) {
        const free_rect *r = &p->rects[i];
        const uint64_t area = (uint64_t)r->width * r->height;
        if (r->width >= b->width && r->height >= b->height && area < least) {
            least = area;
            best = i;
        }
    }
    if (best == SIZE_MAX)
        return false;
    *out = p->rects[best];
    p->rects[best] = p->rects[--p->rect_count];
    return true;
}

/* Fills a rectangle with as many blocks as fit. For the last blocks, only whole rows or part of one row are used. */
static bool fill_rect(packing *p, const free_rect *r, block_size *b)
{
    uint32_t columns = r->width / b->width, rows = r->height / b->height, strip = NEAR_PX / b->height;
    if (columns >= b->count) {
        columns = b->count;
        rows = 1;
    } else if (rows > b->count / columns) {
        rows = b->count / columns;
    }
    if (!TXM_GROW(p->grids, p->grid_capacity, p->grid_count))
        return false;
    p->grids[p->grid_count++] = (ptex_grid){.page = r->page,
                                            .x = r->x,
                                            .y = r->y,
                                            .columns = columns,
                                            .rows = rows,
                                            .strip = strip ? strip : 1,
                                            .first = b->first,
                                            .width_log2 = b->width_log2,
                                            .height_log2 = b->height_log2,
                                            .frame_log2 = b->frame_log2};
    b->first += columns * rows;
    b->count -= columns * rows;
    ptex_page *page = &p->pages[r->page];
    if (r->y + rows * b->height > page->height)
        page->height = r->y + rows * b->height;
    /* What remains around the used corner is cut to make the larger piece as large as possible. */
    const uint32_t width = columns * b->width, height = rows * b->height;
    const uint32_t right = r->width - width, above = r->height - height;
    const bool wide = (uint64_t)above * r->width > (uint64_t)right * r->height;
    return keep_rect(p, r->page, r->x + width, r->y, right, wide ? height : r->height) &&
           keep_rect(p, r->page, r->x, r->y + height, wide ? r->width : width, above);
}

/* Cuts pages off above their highest block. Returns false if there is no memory. */
static bool pack_blocks(packing *p, const block_size *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (block_size b = sizes[i]; b.count;) {
            free_rect r;
            if (!take_rect(p, &b, &r)) {
                if (!TXM_GROW(p->pages, p->page_capacity, p->page_count))
                    return false;
                p->pages[p->page_count++] = (ptex_page){.width = p->width};
                if (!keep_rect(p, (uint32_t)p->page_count - 1, 0, 0, p->width, p->height) || !take_rect(p, &b, &r))
                    return false;
            }
            if (!fill_rect(p, &r, &b))
                return false;
        }
    return true;
}

static uint64_t packed_pixels(const packing *p)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->page_count; i++)
        sum += (uint64_t)p->pages[i].width * p->pages[i].height;
    return sum;
}

/* ---- the best attempt -------------------------------------------------------------------------------------------- */

/* A candidate width that may leave little free: around the square root of the area, or a page's width if more than one
 * page is needed. Every other attempt takes whole columns of one size. */
static uint32_t width_to_try(const block_size *sizes, size_t count, uint64_t area, uint32_t most, uint32_t least,
                             unsigned attempt)
{
    const double square = sqrt((double)area), share = (double)(attempt / 2) / (WIDTHS / 2);
    const bool many = square > (double)most;
    double width = many ? (double)most * (1 - share / 4) : square * (1 + (attempt % 4 < 2 ? share : -share / 2));
    if (attempt % 2 == 0) {
        const uint32_t column = sizes[attempt / 2 % count].width;
        width = (many ? floor(width / column) : ceil(width / column)) * column;
    }
    return width < (double)least ? least : width > (double)most ? most : (uint32_t)width;
}

static uint32_t round_up(uint32_t value, uint32_t to)
{
    return (value + to - 1) / to * to;
}

static txm_status pack_best(const txm_ptex_pages *pages, const block_size *sizes, size_t count, uint32_t page_px,
                            packing *best, txm_error *err)
{
    const uint64_t area = pages->info.block_pixels;
    uint32_t least = 0, tallest = 0;
    for (size_t i = 0; i < count; i++) {
        least = sizes[i].width > least ? sizes[i].width : least;
        tallest = sizes[i].height > tallest ? sizes[i].height : tallest;
    }
    /* All sides of a page are multiples of twice the widest frame, so that the page has one level more than those that
     * are made from faces, on which the edges of faces are in the middle of pixels. */
    const uint32_t unit = 2u << sizes[0].frame_log2, whole = page_px / unit * unit;
    const uint32_t most = whole > least ? whole : least, height = whole > tallest ? whole : tallest;
    packing p = {0};
    for (unsigned attempt = 0; attempt < WIDTHS && attempt < WIDTHS / 8 * (count + 1) &&
                               (!attempt || packed_pixels(best) > area + area / 256);
         attempt++) {
        p.width = round_up(width_to_try(sizes, count, area, most, least, attempt), unit);
        p.height = round_up(height, unit);
        p.rect_count = p.grid_count = p.page_count = 0;
        if (!pack_blocks(&p, sizes, count)) {
            free_packing(&p);
            return txm_no_memory(err, pages->ptex->path);
        }
        for (size_t i = 0; i < p.page_count; i++)
            p.pages[i].height = round_up(p.pages[i].height, unit);
        if (!best->page_count || packed_pixels(&p) < packed_pixels(best)) {
            const packing other = *best;
            *best = p;
            p = other;
        }
    }
    free_packing(&p);
    return best->page_count <= MAX_PAGES
               ? TXM_OK
               : txm_fail(err, TXM_STATUS_TOO_LARGE,
                          "%s: its faces fill %zu pages of %u px, but UDIM tiles have %d numbers; use larger pages",
                          pages->ptex->path, best->page_count, height, MAX_PAGES);
}

/* ---- charts by size ---------------------------------------------------------------------------------------------- */

/* Wider frames come first, because what remains of a rectangle begins at a multiple of the last frame's width. */
static int larger_first(const void *a, const void *b)
{
    const block_size *x = a, *y = b;
    const uint32_t of_x = x->width > x->height ? x->width : x->height;
    const uint32_t of_y = y->width > y->height ? y->width : y->height;
    if (x->frame_log2 != y->frame_log2)
        return x->frame_log2 < y->frame_log2 ? 1 : -1;
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    if (x->height != y->height)
        return x->height < y->height ? 1 : -1;
    return x->width < y->width ? 1 : x->width > y->width ? -1 : 0;
}

static uint32_t shorter_log2(ptex_packed size)
{
    return size.width_log2 < size.height_log2 ? size.width_log2 : size.height_log2;
}

/* The entry of the chart that this face stands for. A frame's width is a share of the chart's shorter side, 2^-narrow,
 * since pictures show the same level of all charts with so many texels across; it holds no more than the neighbour. */
static uint32_t *size_of_chart(const txm_ptex_pages *pages, const ptex_charts *c, uint32_t face, uint32_t narrow,
                               size_table table, block_size *out)
{
    const uint8_t *log2 = c->log2[face];
    const ptex_packed one = txm_ptex_packed_size(&c->file, face, c->cells[face].turn, pages->padding_log2);
    const ptex_packed all = {(uint8_t)(one.width_log2 + log2[0]), (uint8_t)(one.height_log2 + log2[1])};
    uint32_t frame = shorter_log2(all) > narrow ? shorter_log2(all) - narrow : 0;
    frame = frame < shorter_log2(one) ? frame : shorter_log2(one);
    frame = frame < pages->widest_log2 ? frame : pages->widest_log2;
    frame = frame > pages->padding_log2 ? frame : pages->padding_log2;
    *out = (block_size){.width = txm_ptex_block_px(all.width_log2, frame),
                        .height = txm_ptex_block_px(all.height_log2, frame),
                        .width_log2 = all.width_log2,
                        .height_log2 = all.height_log2,
                        .frame_log2 = (uint8_t)frame};
    return &table[all.width_log2][all.height_log2][frame];
}

/* Lists the sizes of charts, and how many there are. *narrowest: no frame can be narrower. */
static size_t count_sizes(txm_ptex_pages *pages, const ptex_charts *c, uint32_t narrow, block_size *sizes,
                          bool *narrowest)
{
    size_table numbers = {{{0}}};
    size_t count = 0;
    pages->info.block_pixels = 0;
    *narrowest = true;
    for (uint32_t i = 0; i < c->file.info.faces; i++)
        if (c->chart[i] == i) {
            block_size b;
            uint32_t *number = size_of_chart(pages, c, i, narrow, numbers, &b);
            if (!*number) {
                *number = (uint32_t)++count;
                sizes[count - 1] = b;
                *narrowest &= b.frame_log2 == pages->padding_log2;
            }
            sizes[*number - 1].count++;
            pages->info.block_pixels += (uint64_t)b.width * b.height;
        }
    qsort(sizes, count, sizeof *sizes, larger_first);
    for (size_t i = 1; i < count; i++)
        sizes[i].first = sizes[i - 1].first + sizes[i - 1].count;
    return count;
}

/* Lists charts by size, and in the order of their faces within a size. */
static txm_status list_charts(txm_ptex_pages *pages, ptex_charts *c, uint32_t narrow, const block_size *sizes,
                              size_t count, txm_error *err)
{
    const size_t faces = c->file.info.faces;
    uint32_t members = 0, *new_rank = c->list;
    size_table at;
    pages->order = txm_calloc(faces + 1, sizeof *pages->order);
    for (size_t i = 0; i < count; i++)
        at[sizes[i].width_log2][sizes[i].height_log2][sizes[i].frame_log2] = sizes[i].first;
    for (uint32_t i = 0; pages->order && i < faces; i++) {
        block_size b;
        if (c->chart[i] != i)
            continue;
        new_rank[i] = (*size_of_chart(pages, c, i, narrow, at, &b))++;
        pages->order[new_rank[i]] = members;
        members += 1u << (c->log2[i][0] + c->log2[i][1]);
    }
    free(c->file.faces);
    c->file.faces = NULL;
    pages->members = txm_calloc(faces + 1, sizeof *pages->members);
    pages->spots = txm_calloc(faces + 1, sizeof *pages->spots);
    if (!pages->order || !pages->members || !pages->spots)
        return txm_no_memory(err, pages->ptex->path);
    for (uint32_t i = 0; i < faces; i++) {
        const uint32_t chart = c->chart[i], face = c->number[i];
        const ptex_cell cell = c->cells[i];
        pages->members[pages->order[new_rank[chart]] + ((uint32_t)cell.y << c->log2[chart][0]) + cell.x] = face;
        pages->spots[face].turn = cell.turn;
    }
    return TXM_OK;
}

/* Lists the grids of each page, for reading pages. */
static txm_status list_by_page(txm_ptex_pages *pages, txm_error *err)
{
    uint32_t first = 0;
    pages->by_page = txm_calloc(pages->grid_count + 1, sizeof *pages->by_page);
    if (!pages->by_page)
        return txm_no_memory(err, pages->ptex->path);
    for (size_t i = 0; i < pages->grid_count; i++)
        pages->pages[pages->grids[i].page].grids++;
    for (uint32_t i = 0; i < pages->info.pages; i++) {
        pages->pages[i].first_grid = first;
        first += pages->pages[i].grids;
        pages->pages[i].grids = 0;
    }
    for (size_t i = 0; i < pages->grid_count; i++) {
        ptex_page *page = &pages->pages[pages->grids[i].page];
        pages->by_page[page->first_grid + page->grids++] = (uint32_t)i;
    }
    return TXM_OK;
}

txm_status txm_ptex_pack(txm_ptex_pages *pages, uint32_t page_px, uint32_t least_log2, double wanted, double most,
                         txm_error *err)
{
    const size_t faces = pages->ptex->info.faces;
    block_size *sizes = txm_alloc_pixels((size_t)SIZES * SIZES * (PTEX_WIDEST_LOG2 + 1), sizeof *sizes);
    ptex_charts charts = {.list = NULL};
    packing best = {0};
    size_t count = 0;
    uint32_t narrow = 0;
    double texels = 0;
    txm_status status = sizes ? TXM_OK : txm_no_memory(err, pages->ptex->path);
    if (status == TXM_OK && !faces)
        status = txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: it has no faces", pages->ptex->path);
    if (status == TXM_OK)
        status = txm_ptex_sort_faces(pages->ptex, &charts, err);
    for (uint32_t i = 0; i < faces; i++)
        pages->info.face_pixels += 1ull << (pages->ptex->faces[i].u_log2 + pages->ptex->faces[i].v_log2);
    texels = (double)pages->info.face_pixels;
    /* The first frames that fit: those that are wide everywhere come before those that are wide where it costs little.
     */
    const double limits[] = {wanted, most};
    const uint32_t widest = pages->padding_log2;
    double least[PTEX_MAX_PADDING_LOG2 + 1] = {0};
    bool fits = false;
    for (int i = 0; i < 2; i++)
        for (uint32_t p = widest + 1; status == TXM_OK && !fits && p-- > least_log2;) {
            const bool last = i && p == least_log2;
            bool narrowest = least[p] > limits[i] && !last;
            pages->padding_log2 = p;
            if (!narrowest)
                txm_ptex_find_charts(&charts, p, page_px);
            for (narrow = WIDEST_SHARE_LOG2; status == TXM_OK && !fits && !narrowest; narrow++) {
                count = count_sizes(pages, &charts, narrow, sizes, &narrowest);
                least[p] = (double)pages->info.block_pixels / texels;
                fits = least[p] <= limits[i] || (narrowest && last);
                if (!fits)
                    continue;
                free_packing(&best);
                status = pack_best(pages, sizes, count, page_px, &best, err);
                fits = (double)packed_pixels(&best) <= limits[i] * texels || (narrowest && last);
            }
        }
    if (status == TXM_OK)
        status = list_charts(pages, &charts, narrow - 1, sizes, count, err);
    free(sizes);
    txm_ptex_charts_free(&charts);
    if (status != TXM_OK) {
        free_packing(&best);
        return status;
    }
    pages->grids = best.grids;
    pages->grid_count = best.grid_count;
    pages->pages = best.pages;
    pages->info.pages = (uint32_t)best.page_count;
    pages->info.page_pixels = packed_pixels(&best);
    pages->info.padding_px = 1u << pages->padding_log2;
    free(best.rects);
    return list_by_page(pages, err);
}
