/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a TIFF ends: the last byte that any of its directories points to. What follows is not part of the image; it is
 * a border section, or what is left of one.
 */
#include "container/tiff_reader_directory.h"

/* No more are followed, in all and of one field: pyramids have 17 at most. */
enum { MAX_DIRECTORIES = 64, MAX_SUB_DIRECTORIES = 16 };

typedef struct extent {
    const txm_tiff *t;
    uint64_t end;
    unsigned directories; /* still allowed */
    bool lost;            /* a value lies outside of the file */
} extent;

static void reach(extent *e, uint64_t offset, uint64_t bytes)
{
    if (txm_map_holds(&e->t->tx->map, offset, bytes) && bytes && offset + bytes > e->end)
        e->end = offset + bytes;
}

/* Tiles or strips: a table of offsets and one of sizes. */
static void reach_pieces(extent *e, const txm_tiff_directory *dir, uint16_t offsets_tag, uint16_t counts_tag)
{
    txm_tiff quiet = *e->t;
    txm_tiff_field offsets, counts;
    bool have_offsets, have_counts;
    quiet.err = NULL;
    if (txm_tiff_find(&quiet, dir, offsets_tag, &offsets, &have_offsets) != TXM_OK || !have_offsets ||
        txm_tiff_find(&quiet, dir, counts_tag, &counts, &have_counts) != TXM_OK || !have_counts)
        return;
    for (uint64_t i = 0; i < offsets.count && i < counts.count; i++)
        reach(e, txm_tiff_value(e->t, &offsets, i), txm_tiff_value(e->t, &counts, i));
}

static void reach_directory(extent *e, const txm_tiff_directory *dir);

static bool is_sub_directory(const txm_tiff_field *f)
{
    return (f->tag == TXM_TAG_EXIF || f->tag == TXM_TAG_GPS || f->tag == TXM_TAG_SUB_DIRECTORIES) &&
           txm_tiff_is_integer(f);
}

/* A chain of directories. The number of directories is bounded over all of them, so rings of them end. */
static void reach_chain(extent *e, uint64_t offset)
{
    txm_tiff quiet = *e->t;
    txm_tiff_directory dir;
    quiet.err = NULL;
    while (offset && e->directories && txm_tiff_open_directory(&quiet, offset, &dir) == TXM_OK) {
        e->directories--;
        reach_directory(e, &dir);
        offset = dir.next;
    }
}

static void reach_directory(extent *e, const txm_tiff_directory *dir)
{
    const uint8_t *data = e->t->tx->map.data;
    unsigned entry = e->t->big ? 20 : 12, tail = e->t->big ? 8 : 4;
    reach(e, (uint64_t)(dir->fields - data), dir->count * entry + tail);
    for (uint64_t i = 0; i < dir->count; i++) {
        txm_tiff_field f;
        if (!txm_tiff_field_at(e->t, dir, i, &f)) {
            e->lost |= f.width != 0; /* else only of a type that nobody knows */
            continue;
        }
        reach(e, (uint64_t)(f.data - data), f.count * f.width);
        for (uint64_t k = 0; is_sub_directory(&f) && k < f.count && k < MAX_SUB_DIRECTORIES; k++)
            reach_chain(e, txm_tiff_value(e->t, &f, k));
    }
    reach_pieces(e, dir, TXM_TAG_TILE_OFFSETS, TXM_TAG_TILE_COUNTS);
    reach_pieces(e, dir, TXM_TAG_STRIP_OFFSETS, TXM_TAG_STRIP_COUNTS);
}

static extent measure(const txm_tx *tx)
{
    txm_tiff t = {.tx = (txm_tx *)tx};
    extent e = {.t = &t, .directories = MAX_DIRECTORIES};
    uint64_t first;
    if (txm_tiff_header(&t, &first))
        reach_chain(&e, first);
    e.t = NULL;
    return e;
}

uint64_t txm_tiff_image_end(const txm_tx *tx)
{
    return measure(tx).end;
}

bool txm_tiff_lost_values(const txm_tx *tx)
{
    return measure(tx).lost;
}
