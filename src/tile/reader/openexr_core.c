/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads OpenEXRCore.
 *
 * The usual codecs of tx files are decoded in this library, so most renders need no OpenEXR. It is loaded by name at
 * the first tile with a rarer codec, and stays loaded.
 */
#include "tile/reader/openexr_core.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/os/library.h"
#include "base/os/plugin.h"

static txm_openexr_core functions;
static bool complete, lacked_memory;

/* All functions must be found: a library that lacks one is treated as missing. */
static void load_openexr_core(void)
{
    /* The name includes the version of the headers that were compiled in, because structures differ between
     * versions. */
    const char *why;
    void *library = txm_library_open(TXM_OPENEXR_SONAME, &why);
    complete = library != NULL;
    lacked_memory = !library && txm_loading_lacked_memory(why);
#define FIND(name)                                                                                                     \
    if (complete) {                                                                                                    \
        void *found = txm_library_find(library, #name, &why);                                                          \
        memcpy(&functions.name, &found, sizeof found); /* ISO C has no cast from object to function pointers */        \
        complete = found != NULL;                                                                                      \
    }
    TXM_OPENEXR_FUNCTIONS(FIND)
#undef FIND
}

/* The library is never unloaded, because contexts of open files point into it. */
const txm_openexr_core *txm_openexr_core_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_openexr_core);
    return complete ? &functions : NULL;
}

bool txm_openexr_core_lacked_memory(void)
{
    return lacked_memory;
}
