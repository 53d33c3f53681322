/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoes PNG's row filters with AVX2.
 */
#if defined(__x86_64__)
#include "mill/source/png/png_unfilter_x86.h"

const txm_unfilter_ops txm_unfilter_avx2 = UNFILTER_TABLE("avx2");
#endif
