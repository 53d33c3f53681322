/* SPDX-License-Identifier: Apache-2.0
 * Samples as the public headers hand them out. */
#include "device/ops.h"

void txm_samples_to_float(txm_type type, const void *samples, float *out, size_t count)
{
    txm_ops_best()->to_float(type, samples, out, count);
}

void txm_samples_from_float(txm_type type, const float *values, void *out, size_t count)
{
    txm_ops_best()->from_float(type, values, out, count);
}
