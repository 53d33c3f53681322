/* SPDX-License-Identifier: Apache-2.0
 *
 * Globs of --include, --exclude and rules.
 *
 *     *       any characters but '/'          [a-z]   one of them, [!a-z] none of them
 *     ?       one character but '/'           **      as a whole component: any folders, or none
 *     \       takes away the next character's meaning
 *
 * Case is ignored (ASCII), because file names in a project are rarely consistent. A glob without '/' is compared with
 * the file name. One with '/' is compared with whole components at the end of the path, or with the whole path if it
 * begins with '/'. Paths are bytes and need not be valid UTF-8.
 */
#ifndef TXM_FARM_GLOB_H
#define TXM_FARM_GLOB_H
#include <stdbool.h>

bool txm_glob_match(const char *glob, const char *path);
#endif
