/* SPDX-License-Identifier: Apache-2.0
 *
 * Every struct of options begins with its size, which its init function sets. A program that was compiled with an older
 * header passes a shorter struct. One with a newer header passes a longer struct, of which the part that this library
 * does not have must be zero, since it would be silently ignored.
 */
#include "base/options.h"

#include <string.h>

#include "base/fail.h"

txm_status txm_options_take(void *own, size_t own_bytes, const void *given, const char *name, txm_error *err)
{
    size_t bytes;
    if (!given)
        return TXM_OK;
    memcpy(&bytes, given, sizeof bytes);
    if (bytes < sizeof bytes || bytes > 65536)
        return txm_fail(err, TXM_STATUS_USAGE, "a %s was not initialised: call %s_init first", name, name);
    const unsigned char *beyond = given;
    for (size_t i = own_bytes; i < bytes; i++)
        if (beyond[i])
            return txm_fail(err, TXM_STATUS_USAGE,
                            "a %s sets a member that this version of the library (%s) does not have", name,
                            TXM_VERSION);
    memcpy(own, given, bytes < own_bytes ? bytes : own_bytes);
    memcpy(own, &own_bytes, sizeof own_bytes);
    return TXM_OK;
}

void txm_options_open(void *options, size_t struct_size, const void *all, size_t all_bytes)
{
    memset(options, 0, struct_size);
    memcpy(options, all, struct_size < all_bytes ? struct_size : all_bytes);
}
