/* SPDX-License-Identifier: Apache-2.0
 * The tx files that scenes ask for. */
#ifndef TXM_BATCH_USED_H
#define TXM_BATCH_USED_H
#include <sys/stat.h>

#include "core/names.h"
#include "txmill/garbage.h"

struct txm_used {
    txm_names files;  /* device and inode of tx files */
    txm_names packed; /* names of images that are inside scenes */
};

bool txm_used_has(const txm_used *used, const struct stat *tx, const char *image_name);
#endif
