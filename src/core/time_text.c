/* SPDX-License-Identifier: Apache-2.0
 * Times of files for people. */
#include "core/time_text.h"

#include <stdio.h>

const char *txm_time_text(time_t time, char out[TXM_TIME_BYTES])
{
    struct tm local;
    if (!localtime_r(&time, &local) || !strftime(out, TXM_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &local))
        snprintf(out, TXM_TIME_BYTES, "%lld", (long long)time);
    return out;
}
