/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the files that are loaded or started on demand: in the folder that $TXMILL_PLUGINS names, beside the library
 * or the program, or where they were installed, in this order. A build for a Python wheel (MODULEDIR empty) has no
 * installation folder.
 */
#include "tile/base/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tile/base/mem.h"
#include "tile/base/path.h"

/* The path of the running program, with links resolved; "" if unknown. Without /proc it is the path with which the
 * program was started. */
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

/* The folder of the running program, "" if unknown. */
static char *program_folder(void)
{
    char exe[PATH_MAX];
    return txm_program_path(exe) ? txm_path_dir(exe) : txm_strdup("");
}

/* The folder of the shared library that contains this code; "" if unknown, or if the code is part of the program, whose
 * name in the system depends on how it was started. */
static char *library_folder(void)
{
    static const char in_this_library;
    Dl_info found;
    char real[PATH_MAX];
    if (!dladdr(&in_this_library, &found) || !found.dli_fname || !strchr(found.dli_fname, '/') ||
        (getauxval(AT_PHDR) & ~(unsigned long)4095) == (unsigned long)(uintptr_t)found.dli_fbase ||
        !realpath(found.dli_fname, real))
        return txm_strdup("");
    return txm_path_dir(real);
}

/* NULL if it is not found; *looked_in then says where it was looked for. */
char *txm_plugin_path(const char *file, char **looked_in)
{
    char *program = program_folder(), *library = library_folder(), *path = NULL;
    /* An installation that was moved as a whole has its modules at the same relative path: LIBDIR/txmill. */
    char *beside_program = program && *program ? txm_path_join(program, "../lib/txmill") : NULL;
    char *beside_library = library && *library ? txm_path_join(library, "txmill") : NULL;
    const char *folders[] = {
        secure_getenv("TXMILL_PLUGINS"), library, beside_library, program, beside_program, TXM_MODULE_DIR};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !path; i++) {
        if (!folders[i] || !*folders[i])
            continue;
        path = txm_path_join(folders[i], file);
        if (path && access(path, F_OK) != 0) {
            free(path);
            path = NULL;
        }
    }
    if (!path && looked_in)
        *looked_in = txm_asprintf("%s is neither in %s nor in %s", file,
                                  library && *library ? library
                                  : program           ? program
                                                      : "",
                                  *TXM_MODULE_DIR ? TXM_MODULE_DIR : "../lib/txmill beside it");
    free(beside_library);
    free(beside_program);
    free(library);
    free(program);
    return path;
}

/* The linker has no codes for its failures. Its texts for lack of memory are the same in all versions; for a library
 * that was mapped in part they differ, but then there is no room for another one of that size either. */
bool txm_loading_lacked_memory(const char *why)
{
    enum { LARGE_LIBRARY_BYTES = 64 << 20 };
    static const char *const texts[] = {"failed to map segment", "annot allocate memory", "cannot create ",
                                        "cannot map zero-fill",  "Too many open files",   "memory exhausted"};
    for (size_t i = 0; why && i < sizeof texts / sizeof *texts; i++)
        if (strstr(why, texts[i]))
            return true;
    void *room = mmap(NULL, LARGE_LIBRARY_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED)
        munmap(room, LARGE_LIBRARY_BYTES);
    return room == MAP_FAILED;
}
