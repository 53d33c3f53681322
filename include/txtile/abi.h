/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes of structs, for bindings of other languages.
 *
 * A program in C or C++ takes the layout of structs from these headers, and keeps it when the library is replaced by a
 * later one: status.h says which structs may grow and how. A binding that declares the structs anew compares its own
 * sizes with these when it loads the library, and refuses it if the size of a struct that never grows differs, or if
 * the library's size of a struct that it returns is smaller.
 *
 * NULL: as in status.h.
 *
 * Thread safety: any thread may call this at any time.
 */
#ifndef TXTILE_ABI_H
#define TXTILE_ABI_H

#include <stddef.h>

#include "txtile/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The size in bytes of a struct of libtxtile's headers in the library that is running, by its name
 * ("txm_lookup_state"); 0 if it has no struct of this name. */
TXM_API size_t txm_sizeof(const char *name);

#ifdef __cplusplus
}
#endif
#endif
