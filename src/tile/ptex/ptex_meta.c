/* SPDX-License-Identifier: Apache-2.0
 *
 * Metadata of Ptex files: records of a key, a type and data.
 *
 * Small records are unpacked as one block when the file is opened. For large ones only the list is unpacked; their data
 * stay zipped in the file until they are read. Edits add records in the format of small ones.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/words.h"
#include "tile/ptex/ptex_impl.h"

static const uint8_t meta_widths[] = {1, 1, 2, 4, 4, 8};

const char *txm_ptex_meta_type_name(txm_ptex_meta_type type)
{
    static const char *const words[] = {"string", "int8", "int16", "int32", "float", "double"};
    return TXM_WORD_OF(words, type);
}

/* The rest of a block that is being read. `offset` is the position of its zlib stream, for messages. */
typedef struct meta_cursor {
    const uint8_t *at;
    size_t bytes;
    uint64_t offset;
} meta_cursor;

/* Reads key, type and size. A key's last byte is its NUL, whatever the file contains there. */
static txm_status take_meta_head(const txm_ptex *p, meta_cursor *c, size_t tail, ptex_meta *out, txm_error *err)
{
    size_t key = c->bytes ? c->at[0] : 0;
    if (key < 2 || c->bytes - 1 < key + 5 + tail)
        return txm_ptex_corrupt(p, "the metadata is cut off", c->offset, err);
    const uint8_t *rest = c->at + 1 + key;
    if (rest[0] > TXM_PTEX_DOUBLE)
        return txm_ptex_corrupt(p, "metadata of an unknown type", c->offset, err);
    uint32_t bytes = txm_load_le32(rest + 1), width = meta_widths[rest[0]];
    if (bytes % width)
        return txm_ptex_corrupt(p, "metadata that ends within a number", c->offset, err);
    *out = (ptex_meta){.meta = {.key = (const char *)c->at + 1,
                                .type = (txm_ptex_meta_type)rest[0],
                                .bytes = bytes,
                                .count = bytes / width}};
    c->at += 1 + key + 5;
    c->bytes -= 1 + key + 5;
    return TXM_OK;
}

static txm_status add_ptex_meta(txm_ptex *p, const ptex_meta *meta, txm_error *err)
{
    if (!TXM_GROW(p->metas, p->metas_capacity, p->info.metas))
        return txm_no_memory(err, p->path);
    p->metas[p->info.metas++] = *meta;
    return TXM_OK;
}

/* Terminates a key in place, by writing a NUL over its last byte. */
static void end_meta_key(uint8_t *record)
{
    record[record[0]] = 0;
}

static txm_status unpack_metas(txm_ptex *p, uint64_t offset, uint32_t zip_bytes, uint32_t bytes, meta_cursor *out,
                               txm_error *err)
{
    uint8_t *block;
    if (!TXM_GROW(p->unpacked, p->unpacked_capacity, p->unpacked_count))
        return txm_no_memory(err, p->path);
    txm_status status = txm_ptex_unpack(p, offset, zip_bytes, bytes, &block, "the metadata cannot be read", err);
    if (status != TXM_OK)
        return status;
    p->unpacked[p->unpacked_count++] = block;
    *out = (meta_cursor){block, bytes, offset};
    return TXM_OK;
}

txm_status txm_ptex_add_metas(txm_ptex *p, uint64_t offset, uint32_t zip_bytes, uint32_t bytes, txm_error *err)
{
    meta_cursor c;
    txm_status status = unpack_metas(p, offset, zip_bytes, bytes, &c, err);
    while (status == TXM_OK && c.bytes) {
        ptex_meta m;
        uint8_t *record = (uint8_t *)c.at;
        status = take_meta_head(p, &c, 0, &m, err);
        if (status != TXM_OK)
            break;
        if (m.meta.bytes > c.bytes)
            return txm_ptex_corrupt(p, "the metadata is cut off", offset, err);
        m.data = c.at;
        c.at += m.meta.bytes;
        c.bytes -= m.meta.bytes;
        end_meta_key(record);
        status = add_ptex_meta(p, &m, err);
    }
    return status;
}

/* The zlib streams of the data follow one another after the list. */
static txm_status add_large_metas(txm_ptex *p, const ptex_places *at, txm_error *err)
{
    meta_cursor c;
    uint64_t offset = at->large_data, left = at->large_data_bytes;
    txm_status status = unpack_metas(p, at->large_header, at->large_zip_bytes, at->large_bytes, &c, err);
    if (status == TXM_OK && !txm_ptex_holds(p, offset, left))
        status = txm_ptex_corrupt(p, "large metadata is cut off", offset, err);
    while (status == TXM_OK && c.bytes) {
        ptex_meta m;
        uint8_t *record = (uint8_t *)c.at;
        status = take_meta_head(p, &c, 4, &m, err);
        if (status != TXM_OK)
            break;
        m.zip_bytes = txm_load_le32(c.at);
        m.offset = offset;
        if (m.zip_bytes > left || !txm_ptex_may_hold(m.zip_bytes, m.meta.bytes))
            return txm_ptex_corrupt(p, "large metadata is cut off", offset, err);
        c.at += 4;
        c.bytes -= 4;
        offset += m.zip_bytes;
        left -= m.zip_bytes;
        end_meta_key(record);
        status = add_ptex_meta(p, &m, err);
    }
    return status;
}

txm_status txm_ptex_read_metas(txm_ptex *p, const ptex_places *at, txm_error *err)
{
    txm_status status = TXM_OK;
    if (at->meta_zip_bytes || at->meta_bytes)
        status = txm_ptex_add_metas(p, at->meta, at->meta_zip_bytes, at->meta_bytes, err);
    if (status == TXM_OK && (at->large_zip_bytes || at->large_bytes))
        status = add_large_metas(p, at, err);
    return status;
}

/* ---- keys that come again ---------------------------------------------------------------------------------------- */

/* Compares by key, then by address, which is the order in the file since records are in one array. */
static int compare_metas(const void *a, const void *b)
{
    const ptex_meta *x = *(const ptex_meta *const *)a, *y = *(const ptex_meta *const *)b;
    int order = strcmp(x->meta.key, y->meta.key);
    return order ? order : (x > y) - (x < y);
}

/* If several records have the same key, the last one is kept, at the position of the first. */
txm_status txm_ptex_settle_metas(txm_ptex *p, txm_error *err)
{
    uint32_t count = p->info.metas, kept = 0;
    if (count < 2)
        return TXM_OK;
    ptex_meta **order = txm_calloc(count, sizeof(ptex_meta *));
    if (!order)
        return txm_no_memory(err, p->path);
    for (uint32_t i = 0; i < count; i++)
        order[i] = &p->metas[i];
    qsort(order, count, sizeof *order, compare_metas);
    for (uint32_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && !strcmp(order[i]->meta.key, order[end]->meta.key))
            end++;
        *order[i] = *order[end - 1];
        for (uint32_t k = i + 1; k < end; k++)
            order[k]->meta.key = NULL;
    }
    free(order);
    for (uint32_t i = 0; i < count; i++)
        if (p->metas[i].meta.key)
            p->metas[kept++] = p->metas[i];
    p->info.metas = kept;
    return TXM_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

const txm_ptex_meta *txm_ptex_meta_of(const txm_ptex *ptex, uint32_t index)
{
    return index < ptex->info.metas ? &ptex->metas[index].meta : NULL;
}

txm_status txm_ptex_meta_read(const txm_ptex *ptex, uint32_t index, void *data, txm_error *err)
{
    txm_error_clear(err);
    if (index >= ptex->info.metas)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: no metadata %u: the file has %u entries", ptex->path, index,
                        ptex->info.metas);
    const ptex_meta *m = &ptex->metas[index];
    if (m->data) {
        memcpy(data, m->data, m->meta.bytes);
        return TXM_OK;
    }
    txm_status status = txm_ptex_check_map(ptex, err);
    if (status == TXM_OK)
        status =
            txm_ptex_inflate(ptex, m->offset, m->zip_bytes, data, m->meta.bytes, "large metadata cannot be read", err);
    return txm_ptex_settle(ptex, status, err);
}
