/* SPDX-License-Identifier: Apache-2.0
 * Pictures as files. */
#include "source/oiio/picture.h"
#include "txmill/out_file.h"

txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err)
{
    txm_error_clear(err);
    txm_bytes file = {0};
    txm_status status = txm_picture_encode_bytes(path, picture, &file, err);
    if (status == TXM_OK)
        status = txm_out_file_write(path, file.data, file.size, err);
    txm_bytes_free(&file);
    return status;
}

txm_status txm_picture_encode(const char *name, const txm_picture *picture, unsigned char **file, size_t *file_bytes,
                              txm_error *err)
{
    txm_error_clear(err);
    txm_bytes bytes = {0};
    *file = NULL;
    *file_bytes = 0;
    txm_status status = txm_picture_encode_bytes(name, picture, &bytes, err);
    if (status != TXM_OK) {
        txm_bytes_free(&bytes);
        return status;
    }
    *file = (unsigned char *)bytes.data;
    *file_bytes = bytes.size;
    return TXM_OK;
}
