/* SPDX-License-Identifier: Apache-2.0
 * Row operations with AVX2 and F16C. */
#include "device/isa.h"

void txm_ops_fill_avx2(txm_ops *ops)
{
    (void)ops;
}
