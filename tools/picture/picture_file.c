/* SPDX-License-Identifier: Apache-2.0
 * Pictures as files. */
#include "tools/picture/picture_file.h"

#include "batch/out_file.h"

txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err)
{
    txm_bytes file = {0};
    txm_status status = txm_picture_encode(path, picture, &file, err);
    if (status == TXM_OK)
        status = txm_out_file_write(path, file.data, file.size, err);
    txm_bytes_free(&file);
    return status;
}
