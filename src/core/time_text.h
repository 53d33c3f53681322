/* SPDX-License-Identifier: Apache-2.0
 * Times of files for people. */
#ifndef TXM_CORE_TIME_TEXT_H
#define TXM_CORE_TIME_TEXT_H
#include <time.h>

enum { TXM_TIME_BYTES = 32 };

/* "2026-11-21 07:30:00", local time, into `out`, which is returned; seconds since 1970 where no calendar reaches. */
const char *txm_time_text(time_t time, char out[TXM_TIME_BYTES]);
#endif
