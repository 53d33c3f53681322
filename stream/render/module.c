/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds and loads a module: in the folder that $TXMILL_PLUGINS names, or beside the program. If that fails, the message
 * says what to install: the module may have been left out of the build, or its library may be missing on this machine.
 */
#include "render/module.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

/* A module beside the program is code of this process: it must belong to this user, to root, or to the owner of the
 * program. */
static bool may_load(const char *path)
{
    struct stat module, link, own;
    char *program = stm_program_path();
    bool ours = program && stat(program, &own) == 0 && stat(path, &module) == 0 && lstat(path, &link) == 0;
    free(program);
    const uid_t owners[] = {ours ? module.st_uid : 0, ours ? link.st_uid : 0};
    for (int i = 0; i < 2; i++)
        ours = ours && (owners[i] == 0 || owners[i] == geteuid() || owners[i] == own.st_uid);
    return ours;
}

/* Where the module is: in the named folder or beside the program. NULL if memory is exhausted. */
static char *find(const char *file, bool *named)
{
    const char *folder = secure_getenv("TXMILL_PLUGINS");
    char *path = folder && *folder ? stm_path_join(folder, file) : NULL;
    *named = path && access(path, F_OK) == 0;
    if (*named)
        return path;
    free(path);
    return stm_beside_program(file);
}

/* The linker has no codes for its failures: whether there is room for another library tells the two kinds apart. */
static bool memory_is_short(void)
{
    enum { LIBRARY_BYTES = 64 << 20 };
    void *room = mmap(NULL, LIBRARY_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED)
        munmap(room, LIBRARY_BYTES);
    return room == MAP_FAILED;
}

const void *stm_module_table(const stm_module *m, txm_error *err)
{
    bool named;
    char *path = find(m->file, &named);
    const bool there = path && access(path, F_OK) == 0, may = named || (there && may_load(path));
    void *handle = may ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const void *table = handle ? dlsym(handle, m->symbol) : NULL;
    const char *why = may && !table ? dlerror() : NULL;
    if (!path)
        stm_no_memory(err, NULL);
    else if (!there)
        stm_fail(err, TXM_STATUS_NOT_INSTALLED, "%s, which Python wheels leave out: %s does not exist", m->lack, path);
    else if (!may)
        stm_fail(err, TXM_STATUS_DENIED,
                 "%s: belongs to another user; if you trust it, set TXMILL_PLUGINS to its folder", path);
    else if (!table && memory_is_short())
        stm_fail(err, TXM_STATUS_NO_MEMORY, "there is not enough memory to load %s: %s", m->file, why);
    else if (!table)
        stm_fail(err, TXM_STATUS_NOT_INSTALLED, "%s; on Debian and Ubuntu install %s: %s", m->lack, m->package, why);
    free(path);
    return table;
}
