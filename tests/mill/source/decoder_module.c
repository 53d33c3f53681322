/* SPDX-License-Identifier: Apache-2.0
 * A module for tests. The text of the file that it opens says what its decoder does, and the picture's colour space
 * what its encoder does. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mill/source/oiio/oiio_module.h"

typedef struct fake {
    char deed[32];
} fake;

/* As in libraries of real modules, a function that runs at the end of the process waits for a thread that no longer
 * exists. */
static void wait_for_ever(void)
{
    for (;;)
        pause();
}

__attribute__((constructor)) static void on_load(void)
{
    atexit(wait_for_ever);
}

static void misbehave(const char *deed, const char *when)
{
    char crash[40], loop[40], killed[40], leave[40], call_exit[40], eat[40];
    snprintf(crash, sizeof crash, "crash in %s", when);
    snprintf(loop, sizeof loop, "loop in %s", when);
    snprintf(killed, sizeof killed, "killed in %s", when);
    snprintf(leave, sizeof leave, "leave in %s", when);
    snprintf(call_exit, sizeof call_exit, "exit in %s", when);
    snprintf(eat, sizeof eat, "eat in %s", when);
    if (strcmp(deed, crash) == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would turn it into an exit */
        raise(SIGSEGV);
    }
    if (strcmp(deed, loop) == 0)
        for (;;)
            ;
    if (strcmp(deed, killed) == 0)
        raise(SIGKILL);
    if (strcmp(deed, leave) == 0)
        _exit(3);
    if (strcmp(deed, call_exit) == 0)
        exit(1);
    if (strcmp(deed, eat) == 0) {
        /* Allocates memory without end, in pieces that fit. */
        for (;;) {
            char *p = malloc(64 << 20);
            if (!p)
                break;
            *(volatile char *)p = 1;
        }
    }
}

static txm_status fail(txm_error *err, txm_status status, const char *path, const char *words)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, "%s: %s", path, words);
    return status;
}

static txm_status open_image(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                             txm_error *err)
{
    fake *f = calloc(1, sizeof *f);
    FILE *in = fopen(path, "rb");
    (void)options;
    if (!in || !f || !fgets(f->deed, sizeof f->deed, in))
        strcpy(err->message, "no deed");
    if (in)
        fclose(in);
    misbehave(f->deed, "open");
    if (strcmp(f->deed, "eat in open") == 0) {
        free(f);
        return fail(err, TXM_STATUS_NO_MEMORY, path, "no memory is left");
    }
    if (strcmp(f->deed, "fail in open") == 0) {
        free(f);
        return fail(err, TXM_STATUS_CORRUPT, path, "a decoder's words");
    }
    info->width = strcmp(f->deed, "lie in open") == 0 ? 2000000 : 5;
    info->height = 7;
    info->file_channels = info->channels = 3;
    strcpy(info->format, "fake");
    info->attributes = calloc(1, sizeof *info->attributes);
    info->attributes[0].name = strdup("Artist");
    info->attributes[0].value = strdup("a person");
    info->attribute_count = 1;
    /* Reports which process served, so that a test sees whether a worker is reused. */
    snprintf(info->software, sizeof info->software, "%ld", (long)getpid());
    *self = f;
    return TXM_OK;
}

static txm_status read_rows(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    fake *f = self;
    misbehave(f->deed, "read");
    if (strcmp(f->deed, "fail in read") == 0)
        return fail(err, TXM_STATUS_CORRUPT, "file", "a row is damaged");
    for (uint32_t r = 0; r < rows; r++)
        memset((char *)dst + r * stride_bytes, (int)(y + r), 15);
    return TXM_OK;
}

static txm_status rewind_image(void *self, txm_error *err)
{
    (void)err;
    misbehave(((fake *)self)->deed, "rewind");
    return TXM_OK;
}

static void close_image(void *self)
{
    misbehave(((fake *)self)->deed, "close");
    free(self);
}

static txm_status begin_picture(const char *name, const txm_picture *picture, void **self, txm_error *err)
{
    fake *f = calloc(1, sizeof *f);
    if (!f)
        return fail(err, TXM_STATUS_NO_MEMORY, name, "no memory");
    snprintf(f->deed, sizeof f->deed, "%s", picture->colorspace ? picture->colorspace : "");
    *self = f;
    misbehave(f->deed, "begin");
    return TXM_OK;
}

static txm_status add_rows(void *self, uint32_t y, uint32_t rows, const void *data, txm_error *err)
{
    const fake *f = self;
    (void)y, (void)rows, (void)data;
    misbehave(f->deed, "rows");
    if (strcmp(f->deed, "fail in rows") == 0)
        return fail(err, TXM_STATUS_INTERNAL, "row", "cannot be encoded");
    return TXM_OK;
}

static txm_status finish_picture(void *self, const void **data, size_t *bytes, txm_error *err)
{
    (void)err;
    misbehave(((fake *)self)->deed, "finish");
    *data = "picture";
    *bytes = 7;
    return TXM_OK;
}

static int library_version(void)
{
    return 10203;
}

static const char *formats(void)
{
    return "fake,bmp,cineon,dds,dpx,fits,hdr,ico,iff,jpeg,openexr,png,pnm,psd,rla,sgi,softimage,tiff,webp,zfile";
}

extern const txm_oiio_module txm_oiio_module_table;
const txm_oiio_module txm_oiio_module_table = {
    TXM_OIIO_MODULE_VERSION,
    {"fake", open_image, read_rows, rewind_image, close_image, NULL, NULL},
    {begin_picture, add_rows, finish_picture, close_image},
    library_version,
    formats,
};
