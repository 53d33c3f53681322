/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading OpenEXRCore.
 *
 * A tx file that a render reads needs no OpenEXR: its usual codecs are decoded here. The library is loaded by name
 * when the first tile with a rarer codec is met, and stays.
 */
#include "tile/reader/openexr_core.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static txm_openexr_core functions;
static bool complete;

/* All functions or none: a library that lacks one is as good as missing. */
static void load_openexr_core(void)
{
    /* By the name of the version whose headers were compiled in: structures differ between versions. */
    void *library = dlopen(TXM_OPENEXR_SONAME, RTLD_NOW | RTLD_LOCAL);
    complete = library != NULL;
#define FIND(name)                                                                                                     \
    if (complete) {                                                                                                    \
        void *found = dlsym(library, #name);                                                                           \
        memcpy(&functions.name, &found, sizeof found); /* ISO C has no cast from objects to functions */               \
        complete = found != NULL;                                                                                      \
    }
    TXM_OPENEXR_FUNCTIONS(FIND)
#undef FIND
}

/* Never unloaded: contexts of open files point into it. */
const txm_openexr_core *txm_openexr_core_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_openexr_core);
    return complete ? &functions : NULL;
}
