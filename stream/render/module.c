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
    struct stat module, link, program;
    if (stat(path, &module) != 0 || lstat(path, &link) != 0 || stat("/proc/self/exe", &program) != 0)
        return false;
    const uid_t owners[] = {module.st_uid, link.st_uid};
    bool ours = true;
    for (int i = 0; i < 2; i++)
        ours = ours && (owners[i] == 0 || owners[i] == geteuid() || owners[i] == program.st_uid);
    return ours;
}

/* NULL if it is in neither folder, or memory is exhausted; *looked_in, the caller's, names the folder beside which it
 * was expected. */
static char *find(const char *file, char **looked_in)
{
    const char *named = secure_getenv("TXMILL_PLUGINS");
    char *path = named && *named ? stm_path_join(named, file) : NULL;
    if (path && access(path, F_OK) == 0)
        return path;
    free(path);
    *looked_in = stm_program_folder();
    path = *looked_in ? stm_path_join(*looked_in, file) : NULL;
    if (path && (access(path, F_OK) != 0 || !may_load(path))) {
        free(path);
        path = NULL;
    }
    return path;
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

const void *txm_module_table(const txm_module *m, txm_error *err)
{
    char *looked_in = NULL, *path = find(m->file, &looked_in);
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const void *table = handle ? dlsym(handle, m->symbol) : NULL;
    const char *why = path && !table ? dlerror() : NULL;
    if (!path && !looked_in)
        stm_no_memory(err, NULL);
    else if (!path)
        stm_fail(err, TXM_STATUS_NOT_INSTALLED, "%s, which Python wheels leave out: %s is not in %s", m->lack, m->file,
                 looked_in);
    else if (!table && memory_is_short())
        stm_fail(err, TXM_STATUS_NO_MEMORY, "there is not enough memory to load %s: %s", m->file, why);
    else if (!table)
        stm_fail(err, TXM_STATUS_NOT_INSTALLED, "%s; on Debian and Ubuntu install %s: %s", m->lack, m->package, why);
    free(path);
    free(looked_in);
    return table;
}
