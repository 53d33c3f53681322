/* SPDX-License-Identifier: Apache-2.0
 * Row operations with AVX-512. */
#include "device/isa.h"

void txm_ops_fill_avx512(txm_ops *ops)
{
    (void)ops;
}
