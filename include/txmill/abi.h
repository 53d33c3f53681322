/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes of structs, for bindings of other languages: see txtile/abi.h.
 *
 * NULL: as in status.h.
 *
 * Thread safety: any thread may call this at any time.
 */
#ifndef TXMILL_ABI_H
#define TXMILL_ABI_H

#include "txtile/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The size in bytes of a struct of either library's headers in the libraries that are running, by its name; 0 if they
 * have no struct of this name. */
TXM_API size_t txm_mill_sizeof(const char *name);

#ifdef __cplusplus
}
#endif
#endif
