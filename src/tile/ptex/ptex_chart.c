/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins faces to charts, which need one frame for many faces.
 *
 * A chart is a rectangle of faces that have one size in it and continue each other as they do on the mesh, turned as
 * necessary. Between its faces, a page holds what their frames would hold: two faces are joined only if that is so at
 * the ends of their edge, too, where four faces or a border of the mesh must meet. Sides are powers of two, so a chart
 * is packed like a face of its size.
 *
 * Charts of equal size are joined in pairs. At first, the pairs are those of a grid that is laid over the mesh from
 * face to face, so that they fit together again whatever the numbers of faces are; then all others that fit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/ptex/ptex_pages.h"

enum { RIGHT = 1, TOP = 2, LEFT = 3, BOTTOM = 0, CHART_LOG2 = 9, NO_FACE = -1 };

static unsigned edge_towards(unsigned turn, unsigned direction)
{
    return (direction - turn) & 3;
}

/* The face that lies in a direction of one that is turned, and its own turn; NO_FACE if there is none, or if it does
 * not have the first as its neighbour. */
static int32_t step(const ptex_charts *c, uint32_t face, unsigned turn, unsigned direction, unsigned *next_turn)
{
    const unsigned edge = edge_towards(turn, direction);
    const txm_ptex_face *f = &c->file.faces[face];
    const int32_t next = f->neighbours[edge];
    if (next < 0)
        return NO_FACE;
    const txm_ptex_face *g = &c->file.faces[next];
    const unsigned back = txm_ptex_edge(f, edge) & 3;
    *next_turn = (direction + 2 - back) & 3;
    return g->neighbours[back] == (int32_t)face && (txm_ptex_edge(g, back) & 3) == edge &&
                   !((f->flags ^ g->flags) & TXM_PTEX_SUBFACE)
               ? next
               : NO_FACE;
}

/* Whether the frames beyond one end of the edge between two faces hold the same as those of the faces there. */
static bool end_is_plain(const ptex_charts *c, uint32_t face, unsigned turn, uint32_t next, unsigned next_turn,
                         unsigned direction, unsigned aside)
{
    unsigned own_turn, other_turn, turn_there;
    if (c->file.faces[face].neighbours[edge_towards(turn, aside)] < 0 &&
        c->file.faces[next].neighbours[edge_towards(next_turn, aside)] < 0)
        return true;
    const int32_t own = step(c, face, turn, aside, &own_turn), other = step(c, next, next_turn, aside, &other_turn);
    return own >= 0 && other >= 0 && step(c, (uint32_t)own, own_turn, direction, &turn_there) == other &&
           turn_there == other_turn;
}

static ptex_packed size_of(const ptex_charts *c, uint32_t face, unsigned turn)
{
    return txm_ptex_packed_size(&c->file, face, turn, c->padding_log2);
}

/* Faces without neighbours of another colour have the least size, and no use for a chart. */
static bool may_join(const ptex_charts *c, uint32_t face)
{
    return !(c->file.faces[face].flags & TXM_PTEX_CONSTANT_NEIGHBOURHOOD);
}

/* Lists the faces of a chart, row by row. */
static void list_chart(const ptex_charts *c, uint32_t chart, uint32_t *out)
{
    unsigned turn, row_turn;
    uint32_t row = chart;
    for (uint32_t y = 0; y < 1u << c->log2[chart][1]; y++) {
        uint32_t face = row;
        for (uint32_t x = 0; x < 1u << c->log2[chart][0]; x++) {
            *out++ = face;
            face = (uint32_t)step(c, face, c->cells[face].turn, RIGHT, &turn);
        }
        row = (uint32_t)step(c, row, c->cells[row].turn, TOP, &row_turn);
    }
}

/* Where a cell of a chart with these log2 sizes is after some quarter turns. */
static ptex_cell turn_cell(ptex_cell at, unsigned turns, uint8_t columns_log2, uint8_t rows_log2)
{
    const uint32_t x = at.x, y = at.y, last_x = (1u << columns_log2) - 1, last_y = (1u << rows_log2) - 1;
    const uint32_t to[4][2] = {{x, y}, {last_y - y, x}, {last_x - x, last_y - y}, {y, last_x - x}};
    return (ptex_cell){(at.turn + turns) & 3, to[turns & 3][0] & 0x7fff, to[turns & 3][1] & 0x7fff};
}

/* Joins a chart with the one beside it, if that has the same size and fits along the whole side. */
static bool join(const ptex_charts *c, uint32_t chart, unsigned direction, bool in_grid)
{
    const bool across = direction & 1;
    const uint8_t *log2 = c->log2[chart];
    const uint32_t columns = 1u << log2[0], rows = 1u << log2[1], along = across ? rows : columns;
    const ptex_packed own = size_of(c, chart, c->cells[chart].turn);
    if ((uint32_t)(across ? log2[0] + own.width_log2 : log2[1] + own.height_log2) >= c->most_log2 ||
        (in_grid && c->curve[chart] >> (2 * log2[!across] + !across) & 1) || !may_join(c, chart))
        return false;
    uint32_t face = chart, other = 0;
    unsigned turn, turns = 0;
    for (uint32_t i = 1; i < (direction == RIGHT ? columns : direction == TOP ? rows : 1); i++)
        face = (uint32_t)step(c, face, c->cells[face].turn, direction, &turn);
    for (uint32_t i = 0; i < along; i++) {
        const unsigned face_turn = c->cells[face].turn;
        const int32_t next = step(c, face, face_turn, direction, &turn);
        if (next < 0 || c->chart[next] == chart || (i && c->chart[next] != other) || !may_join(c, (uint32_t)next))
            return false;
        const ptex_packed size = size_of(c, (uint32_t)next, turn);
        if (!i) {
            other = c->chart[next];
            turns = (turn - c->cells[next].turn) & 3;
            if ((turns && (in_grid || !c->turns)) || size.width_log2 != own.width_log2 ||
                size.height_log2 != own.height_log2 || c->log2[other][turns & 1] != log2[0] ||
                c->log2[other][!(turns & 1)] != log2[1])
                return false;
        }
        const ptex_cell at = turn_cell(c->cells[next], turns, c->log2[other][0], c->log2[other][1]);
        if (at.turn != turn || at.x != (across ? (direction == RIGHT ? 0 : columns - 1) : i) ||
            at.y != (across ? i : (direction == TOP ? 0 : rows - 1)) ||
            (!i && !end_is_plain(c, face, face_turn, (uint32_t)next, turn, direction, across ? BOTTOM : LEFT)) ||
            (i + 1 == along &&
             !end_is_plain(c, face, face_turn, (uint32_t)next, turn, direction, across ? TOP : RIGHT)))
            return false;
        if (i + 1 < along)
            face = (uint32_t)step(c, face, face_turn, across ? TOP : RIGHT, &turn);
    }
    const uint32_t count = columns * rows;
    const bool after = direction == RIGHT || direction == TOP;
    uint32_t name = chart;
    list_chart(c, chart, c->list);
    list_chart(c, other, c->list + count);
    for (uint32_t i = 0; i < 2 * count; i++) {
        ptex_cell *cell = &c->cells[c->list[i]];
        if (i >= count)
            *cell = turn_cell(*cell, turns, c->log2[other][0], c->log2[other][1]);
        if ((i >= count) == after) {
            cell->x = (cell->x + (across ? columns : 0)) & 0x7fff;
            cell->y = (cell->y + (across ? 0 : rows)) & 0x7fff;
        }
        if (!cell->x && !cell->y)
            name = c->list[i];
    }
    for (uint32_t i = 0; i < 2 * count; i++)
        c->chart[c->list[i]] = name;
    const uint8_t joined[2] = {(uint8_t)(log2[0] + across), (uint8_t)(log2[1] + !across)};
    memcpy(c->log2[name], joined, sizeof joined);
    return true;
}

static uint64_t spread_bits(uint16_t value)
{
    uint64_t v = value;
    v = (v | v << 8) & 0x00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f;
    v = (v | v << 2) & 0x33333333;
    return (v | v << 1) & 0x55555555;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Lays a grid over the mesh: every face gets a place and a turn from that of a neighbour. Lists faces along the curve
 * of Morton through these places, and keys, which are a face's place on the curve and its number. */
static void lay_grid(const ptex_charts *c, uint16_t (*place)[2], uint64_t *keys)
{
    static const int moves[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
    const uint32_t faces = c->file.info.faces;
    uint32_t end = 0;
    memset(c->chart, 0xff, faces * sizeof *c->chart);
    for (uint32_t start = 0; start < faces; start++) {
        const uint32_t first = end;
        if (c->chart[start] == start)
            continue;
        c->list[end++] = start;
        c->chart[start] = start;
        for (uint32_t at = first; at < end; at++) {
            const uint32_t face = c->list[at];
            for (unsigned d = 0; d < 4 && c->turns; d++) {
                unsigned turn;
                const int32_t next = step(c, face, c->cells[face].turn, d, &turn);
                if (next < 0 || c->chart[next] == (uint32_t)next)
                    continue;
                c->chart[next] = (uint32_t)next;
                c->cells[next].turn = turn & 3;
                for (int k = 0; k < 2; k++)
                    place[next][k] = (uint16_t)(place[face][k] + moves[d][k]);
                c->list[end++] = (uint32_t)next;
            }
        }
        /* Places to the left of the first face and below it are negative. */
        for (uint32_t at = first; at < end; at++) {
            const uint16_t *xy = place[c->list[at]];
            keys[at] = (spread_bits(xy[0] ^ 0x8000) | spread_bits(xy[1] ^ 0x8000) << 1) << 32 | c->list[at];
        }
        qsort(keys + first, end - first, sizeof *keys, by_number);
    }
}

txm_status txm_ptex_sort_faces(const txm_ptex *ptex, ptex_charts *c, txm_error *err)
{
    const size_t faces = ptex->info.faces;
    uint64_t *keys = txm_alloc_pixels(faces + 1, sizeof *keys);
    uint16_t(*place)[2] = txm_calloc(faces + 1, sizeof *place);
    *c = (ptex_charts){.file = *ptex, .turns = ptex->info.mesh == TXM_PTEX_QUADS};
    c->turns &= ptex->info.edge_mode != TXM_PTEX_EDGE_TANGENT;
    c->number = txm_alloc_pixels(faces + 1, sizeof *c->number);
    c->curve = txm_alloc_pixels(faces + 1, sizeof *c->curve);
    c->first_turn = txm_calloc(faces + 1, sizeof *c->first_turn);
    c->cells = txm_calloc(faces + 1, sizeof *c->cells);
    c->chart = txm_alloc_pixels(faces + 1, sizeof *c->chart);
    c->list = txm_alloc_pixels(faces + 1, sizeof *c->list);
    c->log2 = txm_calloc(faces + 1, sizeof *c->log2);
    bool there = keys && place && c->number && c->curve && c->first_turn && c->cells && c->chart && c->list && c->log2;
    if (there)
        lay_grid(c, place, keys);
    free(place);
    for (size_t i = 0; there && i < faces; i++) {
        c->number[i] = (uint32_t)keys[i];
        c->curve[i] = (uint32_t)(keys[i] >> 32);
        c->first_turn[i] = (uint8_t)c->cells[c->number[i]].turn;
        c->chart[c->number[i]] = (uint32_t)i;
    }
    free(keys);
    c->file.faces = txm_alloc_pixels(faces + 1, sizeof *c->file.faces);
    there &= c->file.faces != NULL;
    for (size_t i = 0; there && i < faces; i++) {
        txm_ptex_face *f = &c->file.faces[i];
        *f = ptex->faces[c->number[i]];
        for (int e = 0; e < 4; e++)
            f->neighbours[e] = f->neighbours[e] < 0 || (e == 3 && ptex->info.mesh == TXM_PTEX_TRIANGLES)
                                   ? NO_FACE
                                   : (int32_t)c->chart[f->neighbours[e]];
    }
    return there ? TXM_OK : txm_no_memory(err, ptex->path);
}

void txm_ptex_charts_free(ptex_charts *c)
{
    free(c->file.faces);
    free(c->number);
    free(c->curve);
    free(c->first_turn);
    free(c->cells);
    free(c->chart);
    free(c->list);
    free(c->log2);
}

/* The shorter side of a chart is doubled first. */
static uint32_t join_all(const ptex_charts *c, bool in_grid)
{
    uint32_t joined = 0;
    for (uint32_t i = 0; i < c->file.info.faces; i++) {
        if (c->chart[i] != i)
            continue;
        const ptex_packed s = size_of(c, i, c->cells[i].turn);
        const bool is_wide = s.width_log2 + c->log2[i][0] > s.height_log2 + c->log2[i][1];
        const unsigned order[] = {is_wide ? TOP : RIGHT, is_wide ? RIGHT : TOP, is_wide ? BOTTOM : LEFT,
                                  is_wide ? LEFT : BOTTOM};
        for (int k = 0; k < (in_grid ? 2 : 4); k++)
            if (join(c, i, order[k], in_grid)) {
                joined++;
                break;
            }
    }
    return joined;
}

void txm_ptex_find_charts(ptex_charts *c, uint32_t padding_log2, uint32_t page_px)
{
    const uint32_t faces = c->file.info.faces;
    c->padding_log2 = padding_log2;
    for (c->most_log2 = 0; c->most_log2 < CHART_LOG2 && 8u << c->most_log2 <= page_px;)
        c->most_log2++;
    for (uint32_t i = 0; i < faces; i++) {
        const unsigned turn = c->first_turn[i];
        c->cells[i] = (ptex_cell){.turn = turn & 3};
        c->chart[i] = i;
        c->log2[i][0] = c->log2[i][1] = 0;
    }
    if (c->file.info.mesh != TXM_PTEX_QUADS)
        return;
    while (join_all(c, true))
        continue;
    while (join_all(c, false))
        continue;
    /* Charts that are higher than wide are turned. */
    for (uint32_t i = 0; c->turns && i < faces; i++) {
        const ptex_packed s = size_of(c, i, c->cells[i].turn);
        c->list[i] = s.width_log2 + c->log2[i][0] < s.height_log2 + c->log2[i][1];
    }
    for (uint32_t i = 0; c->turns && i < faces; i++)
        if (c->list[c->chart[i]])
            c->cells[i] = turn_cell(c->cells[i], 1, c->log2[c->chart[i]][0], c->log2[c->chart[i]][1]);
    for (uint32_t i = 0; c->turns && i < faces; i++)
        if (c->list[i] && c->chart[i] == i) {
            const uint8_t columns = c->log2[i][0];
            c->log2[i][0] = c->log2[i][1];
            c->log2[i][1] = columns;
        }
}
