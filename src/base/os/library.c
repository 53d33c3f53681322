/* SPDX-License-Identifier: Apache-2.0 */
#include "base/os/library.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

void *txm_library_open(const char *file, const char **why)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    *why = library ? "" : dlerror();
    return library;
}

void *txm_library_find(void *library, const char *name, const char **why)
{
    void *found = dlsym(library, name);
    *why = found ? "" : dlerror();
    return found;
}

void txm_library_refuse(void *library)
{
    dlclose(library);
}

bool txm_library_at(const void *address, char out[PATH_MAX])
{
    Dl_info found;
    return dladdr(address, &found) && found.dli_fname && strchr(found.dli_fname, '/') &&
           (getauxval(AT_PHDR) & ~(unsigned long)4095) != (unsigned long)(uintptr_t)found.dli_fbase &&
           realpath(found.dli_fname, out);
}

/* Without /proc it is the path with which the program was started. */
bool txm_program_path(char out[PATH_MAX])
{
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = 0;
    if (n > 0 || (started && strchr(started, '/') && realpath(started, out)))
        return true;
    *out = 0;
    return false;
}
