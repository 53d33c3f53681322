/* SPDX-License-Identifier: Apache-2.0
 *
 * Edits of Ptex files: records at the end of the file that replace faces and metadata; later records override earlier
 * ones.
 *
 * The edit of a face contains its size, neighbours, constant colour and texels at full size. The face's stored
 * reductions belong to its old texels and are no longer used; its rank among the reductions stays as it is in the file.
 * The header gives the offset of the records. In files without metadata, Disney's library adds 8 bytes to it and does
 * not find the edits.
 */
#include "tile/ptex/ptex_impl.h"

enum {
    EDIT_HEAD_BYTES = 5, /* type and size of a record */
    EDIT_FACE = 0,
    EDIT_META = 1,
    FACE_ID_BYTES = 4,
    WORD_BYTES = 4,
    META_EDIT_BYTES = 8 /* packed and unpacked size of the zlib stream */
};

static txm_status edit_face(txm_ptex *p, uint64_t offset, uint32_t bytes, txm_error *err)
{
    const uint8_t *body = p->data + offset;
    uint32_t head = FACE_ID_BYTES + PTEX_FACE_BYTES + WORD_BYTES + p->info.pixel_bytes;
    if (bytes < head)
        return txm_ptex_corrupt(p, "the edit of a face is cut off", offset, err);
    uint32_t face = txm_load_le32(body), word = txm_load_le32(body + FACE_ID_BYTES + PTEX_FACE_BYTES);
    if (face >= p->info.faces)
        return txm_ptex_corrupt(p, "an edit of a face that does not exist", offset, err);
    if (txm_ptex_block_bytes(word) > bytes - head)
        return txm_ptex_corrupt(p, "the edit of a face is cut off", offset, err);
    memcpy(&p->faces[face], body + FACE_ID_BYTES, PTEX_FACE_BYTES);
    p->faces[face].flags |= TXM_PTEX_EDITED;
    memcpy(p->constants + (size_t)face * p->info.pixel_bytes, body + head - p->info.pixel_bytes, p->info.pixel_bytes);
    p->levels[0].words[face] = word;
    p->levels[0].offsets[face] = offset + head;
    p->info.face_edits++;
    return txm_ptex_check_face(p, face, offset, err);
}

static txm_status edit_meta(txm_ptex *p, uint64_t offset, uint32_t bytes, txm_error *err)
{
    if (bytes < META_EDIT_BYTES)
        return txm_ptex_corrupt(p, "an edit of metadata is cut off", offset, err);
    uint32_t zip_bytes = txm_load_le32(p->data + offset), unpacked = txm_load_le32(p->data + offset + 4);
    if (zip_bytes > bytes - META_EDIT_BYTES)
        return txm_ptex_corrupt(p, "an edit of metadata is cut off", offset, err);
    p->info.meta_edits++;
    return txm_ptex_add_metas(p, offset + META_EDIT_BYTES, zip_bytes, unpacked, err);
}

/* A record of size 0 ends the list; records of unknown type are skipped. */
txm_status txm_ptex_read_edits(txm_ptex *p, const ptex_places *at, txm_error *err)
{
    txm_status status = TXM_OK;
    uint64_t offset = at->edits, left = at->edit_bytes;
    if (!offset || !left)
        return TXM_OK;
    if (!txm_ptex_holds(p, offset, left))
        return txm_ptex_corrupt(p, "the edits are cut off", offset, err);
    while (status == TXM_OK && left >= EDIT_HEAD_BYTES) {
        uint8_t type = p->data[offset];
        uint32_t bytes = txm_load_le32(p->data + offset + 1);
        offset += EDIT_HEAD_BYTES;
        left -= EDIT_HEAD_BYTES;
        if (!bytes)
            break;
        if (bytes > left)
            return txm_ptex_corrupt(p, "an edit is cut off", offset, err);
        if (type == EDIT_FACE)
            status = edit_face(p, offset, bytes, err);
        else if (type == EDIT_META)
            status = edit_meta(p, offset, bytes, err);
        offset += bytes;
        left -= bytes;
    }
    return status;
}
