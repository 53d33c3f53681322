/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of files that say whose they are, `.<what>.<host>-<machine>-<pid>-<random><suffix>` (see core/owner.h): unique
 * over hosts and processes, and whoever finds one left behind can tell whether its process still lives. The file says
 * so from the moment it exists, whatever is, or is not yet, in it.
 */
#ifndef TXM_CORE_OWNED_NAME_H
#define TXM_CORE_OWNED_NAME_H
#include "core/owner.h"

/* Path of a new such name of this process in `folder`. `what` is shortened where the name would pass the 255 bytes that
 * file systems allow; `suffix` has up to 32 bytes. New string, NULL when memory is exhausted. */
char *txm_owned_path(const char *folder, const char *what, const char *suffix);
/* The state of the process that such a name tells. ELSEWHERE for names of another form. */
txm_owner_state txm_owned_name_state(const char *name, const char *suffix);
#endif
