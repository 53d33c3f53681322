/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenImageIO reader: loads the module when the first source needs it, and passes calls on.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "source/oiio_module.h"
#include "source/readers.h"

#define MODULE_FILE "txmill-oiio.so"

static struct {
    pthread_once_t once;
    const txm_oiio_module *module;
    char reason[512]; /* why there is no module */
} loaded = {.once = PTHREAD_ONCE_INIT};

/* Takes the module if it was built for these structures. The handle is kept for good: the libraries behind it do not
 * survive being unloaded. */
static void take(void *handle, const char *path)
{
    const txm_oiio_module *m = dlsym(handle, TXM_OIIO_MODULE_SYMBOL);
    if (m && m->version == TXM_OIIO_MODULE_VERSION && m->info_bytes == sizeof(txm_source_info) &&
        m->error_bytes == sizeof(txm_error))
        loaded.module = m;
    else
        snprintf(loaded.reason, sizeof loaded.reason, "%s belongs to another version of txmill", path);
}

static void try_folder(const char *folder)
{
    if (loaded.module || !folder || !*folder)
        return;
    char *path = txm_asprintf("%s/%s", folder, MODULE_FILE);
    if (path && access(path, F_OK) == 0) {
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (handle)
            take(handle, path);
        else
            snprintf(loaded.reason, sizeof loaded.reason, "%s", dlerror());
    }
    free(path);
}

/* Where the module may lie: named by the environment, beside the program (a build folder), or where it was installed.
 */
static void load(void)
{
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    char *slash = strrchr(exe, '/');
    if (slash)
        *slash = 0;
    try_folder(getenv("TXMILL_PLUGINS"));
    try_folder(exe);
    try_folder(TXM_MODULE_DIR);
    if (!loaded.module && !loaded.reason[0])
        snprintf(loaded.reason, sizeof loaded.reason, MODULE_FILE " is neither in %.200s nor in %.200s", exe,
                 TXM_MODULE_DIR);
}

static bool probe(const uint8_t *head, size_t head_bytes, const char *path)
{
    (void)head, (void)head_bytes, (void)path;
    return true;
}

static txm_status open_image(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                             txm_error *err)
{
    pthread_once(&loaded.once, load);
    if (!loaded.module)
        return txm_fail(err, TXM_UNSUPPORTED, "%s: this kind of image needs OpenImageIO, which cannot be loaded: %s",
                        path, loaded.reason);
    txm_status status = loaded.module->reader.open(path, options, info, self, err);
    if (status == TXM_OK && strcmp(info->format, "png") == 0)
        snprintf(info->interop_id, sizeof info->interop_id, "%s", txm_interop_of_png(path));
    return status;
}

static txm_status read_rows(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    return loaded.module->reader.read(self, y, rows, dst, stride_bytes, err);
}

static txm_status rewind_image(void *self, txm_error *err)
{
    return loaded.module->reader.rewind(self, err);
}

static void close_image(void *self)
{
    loaded.module->reader.close(self);
}

const txm_reader_ops txm_oiio_reader = {"oiio", probe, open_image, read_rows, rewind_image, close_image};
