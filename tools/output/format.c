/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats bytes, seconds and counts for people; JSON has the plain numbers.
 */
#include "tools/output/format.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Powers of 1000, as in file managers and for disks. */
char *txm_format_bytes(uint64_t bytes, char out[TXM_FORMAT_BYTES])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double value = (double)bytes / 1000;
    int unit = 0;
    /* 999.95 would be printed as 1000.0. */
    while (value >= 999.95 && unit < 3) {
        value /= 1000;
        unit++;
    }
    if (bytes < 1000)
        snprintf(out, TXM_FORMAT_BYTES, "%u B", (unsigned)bytes);
    else
        snprintf(out, TXM_FORMAT_BYTES, "%.1f %s", value, units[unit]);
    return out;
}

/* About three digits at every size, because further ones would be noise in a measured time. */
char *txm_format_seconds(double seconds, char out[TXM_FORMAT_BYTES])
{
    if (seconds < 0.1)
        snprintf(out, TXM_FORMAT_BYTES, "%.0f ms", seconds * 1000);
    else if (seconds < 10)
        snprintf(out, TXM_FORMAT_BYTES, "%.2f s", seconds);
    else if (seconds < 59.95)
        snprintf(out, TXM_FORMAT_BYTES, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(out, TXM_FORMAT_BYTES, "%.0f min %02.0f s", floor(fmax(seconds, 60) / 60),
                 floor(fmod(fmax(seconds, 60), 60)));
    else
        snprintf(out, TXM_FORMAT_BYTES, "%.0f h %02.0f min", floor(seconds / 3600), floor(fmod(seconds, 3600) / 60));
    return out;
}

const char *txm_format_count(size_t count, const char *noun, char out[TXM_FORMAT_COUNT])
{
    size_t n = strlen(noun);
    bool y = n > 1 && noun[n - 1] == 'y' && !strchr("aeiou", noun[n - 2]);
    if (count == 1)
        snprintf(out, TXM_FORMAT_COUNT, "1 %s", noun);
    else
        snprintf(out, TXM_FORMAT_COUNT, "%zu %.*s%s", count, (int)(n - y), noun, y ? "ies" : "s");
    return out;
}

static const char *count_and_verb(size_t count, const char *noun, const char *one, const char *many, char *out)
{
    txm_format_count(count, noun, out);
    size_t n = strlen(out);
    snprintf(out + n, TXM_FORMAT_COUNT - n, " %s", count == 1 ? one : many);
    return out;
}

const char *txm_format_are(size_t count, const char *noun, char out[TXM_FORMAT_COUNT])
{
    return count_and_verb(count, noun, "is", "are", out);
}

const char *txm_format_were(size_t count, const char *noun, char out[TXM_FORMAT_COUNT])
{
    return count_and_verb(count, noun, "was", "were", out);
}

const char *txm_format_channels(uint32_t channels)
{
    static const char *const names[] = {"no channels", "grey", "grey+alpha", "RGB", "RGBA"};
    return names[channels <= 4 ? channels : 0];
}
