/* SPDX-License-Identifier: Apache-2.0
 *
 * A derived context shares all of its base except the colour config, because scenes have working spaces of their own,
 * and projects have configs.
 */
#include "mill/convert/context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/os/machine.h"
#include "base/text.h"
#include "mill/color/ocio.h"
#include "mill/source/oiio/worker.h"
#include "mill/write/claim_file.h"
#include "mill/write/publish.h"

static txm_status load_color(txm_context *c, const char *ocio_path, const char *working_space, txm_blender blender,
                             txm_error *err)
{
    if (ocio_path && !(c->ocio_path = txm_strdup(ocio_path)))
        return txm_no_memory(err, NULL);
    const txm_color_options options = {.struct_size = sizeof(txm_color_options),
                                       .ocio_path = c->ocio_path,
                                       .ignore_environment = c->ignore_environment,
                                       .working_space = working_space,
                                       .blender = blender};
    return txm_color_load(&options, &c->color, err);
}

static void tell_left_out(const txm_context *c, const txm_context *base)
{
    const char *replaced = txm_color_config_replaced(c->color);
    if (*replaced && (!base || strcmp(replaced, txm_color_config_replaced(base->color)) != 0))
        txm_context_log(c, TXM_LOG_LEVEL_WARNING, "%s", replaced);
    if (*txm_color_config_left_out(c->color))
        txm_context_log(c, TXM_LOG_LEVEL_INFO, "%s: profile %s is newer than the library; left out: %s",
                        txm_color_config_name(c->color), txm_color_config_version(c->color),
                        txm_color_config_left_out(c->color));
}

txm_status txm_context_new(const txm_context_options *options, txm_context **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    txm_context_options given = {0}, *o = &given;
    txm_status status = txm_options_take(o, sizeof *o, options, "txm_context_options", err);
    if (status)
        return status;
    txm_context *c = txm_calloc(1, sizeof *c);
    if (!c)
        return txm_no_memory(err, NULL);
    c->ops = txm_ops_best();
    c->max_memory_bytes = o->max_memory_bytes;
    c->log = o->log;
    c->log_user = o->log_user;
    c->part = o->part;
    c->part_user = o->part_user;
    c->cancel = o->cancel;
    c->whole_content = o->content;
    c->ignore_environment = o->ignore_environment;
    if ((status = load_color(c, o->ocio_path, o->working_space, o->blender, err)))
        goto fail;
    tell_left_out(c, NULL);
    unsigned threads = o->threads ? o->threads : txm_cpu_count();
    c->pool = txm_pool_new(threads);
    if (!c->pool) {
        status = txm_fail_errno(err, errno, "cannot start %u threads; use fewer", threads);
        goto fail;
    }
    /* Devices are not started here, except those that were chosen by name. */
    const txm_gpus_options devices = {o->device, o->device_memory_bytes, threads, c->ops};
    char why[TXM_MESSAGE_BYTES];
    if ((status = txm_gpus_new(&devices, &c->gpus, why, err)))
        goto fail;
    if (!c->gpus && *why)
        txm_context_log(c, TXM_LOG_LEVEL_INFO, "computing on the CPU: %s", why);
    *out = c;
    return TXM_OK;
fail:
    txm_context_free(&c);
    return status;
}

void txm_cancel_request(volatile int *cancel)
{
    __atomic_store_n(cancel, 1, __ATOMIC_RELEASE);
}

/* The pool and the devices belong to the base, which must outlive the context. */
static txm_status derive(const txm_context *base, const char *ocio_path, const char *working_space, txm_blender blender,
                         txm_context **out, txm_error *err)
{
    *out = NULL;
    txm_context *c = txm_calloc(1, sizeof *c);
    if (!c)
        return txm_no_memory(err, NULL);
    *c = *base;
    c->color = NULL;
    c->ocio_path = NULL;
    c->borrows_pool = true;
    txm_status status = load_color(c, ocio_path, working_space, blender, err);
    if (status)
        txm_context_free(&c);
    else
        *out = c;
    return status;
}

txm_status txm_context_derive(const txm_context *base, const char *working_space, txm_context **out, txm_error *err)
{
    txm_error_clear(err);
    return derive(base, base->ocio_path, working_space, txm_color_blender(base->color), out, err);
}

/* The images of a project use it. It warns of what is left out of the config, because the config is newly loaded. */
txm_status txm_context_derive_config(const txm_context *base, const char *ocio_path, const char *working_space,
                                     txm_context **out, txm_error *err)
{
    txm_error_clear(err);
    return txm_context_derive_blender(base, ocio_path, working_space, txm_color_blender(base->color), out, err);
}

txm_status txm_context_derive_blender(const txm_context *base, const char *ocio_path, const char *working_space,
                                      txm_blender blender, txm_context **out, txm_error *err)
{
    txm_error_clear(err);
    txm_status status = derive(base, ocio_path, working_space, blender, out, err);
    if (!status)
        tell_left_out(*out, base);
    return status;
}

void txm_context_free(txm_context **context)
{
    if (!context || !*context)
        return;
    if (!(*context)->borrows_pool) {
        txm_pool_free((*context)->pool);
        txm_gpus_free(&(*context)->gpus);
    }
    txm_color_free(&(*context)->color);
    free((*context)->ocio_path);
    free(*context);
    *context = NULL;
}

void txm_context_log(const txm_context *context, txm_log_level level, const char *format, ...)
{
    char message[TXM_MESSAGE_BYTES];
    va_list args;
    if (!context->log)
        return;
    va_start(args, format);
    txm_vformat(message, sizeof message, format, args);
    va_end(args);
    context->log(context->log_user, level, message);
}

txm_pool *txm_context_pool(txm_context *context)
{
    return context ? context->pool : NULL;
}

unsigned txm_context_threads(const txm_context *context)
{
    return txm_pool_threads(context->pool);
}

size_t txm_context_expect(txm_context *context, size_t files)
{
    enum { MOST_WAITING = 64 };
    unsigned waiting = txm_gpus_expect(context->gpus, files);
    waiting = waiting < MOST_WAITING ? waiting : MOST_WAITING;
    if (waiting && files > 1)
        txm_pool_spare(context->pool, waiting);
    return txm_pool_threads(context->pool) + (size_t)waiting;
}

typedef struct piece {
    void (*work)(void *user, size_t index);
    void *user;
    size_t index;
} piece;

static void run_piece(void *arg)
{
    const piece *p = arg;
    p->work(p->user, p->index);
}

void txm_context_run(txm_context *context, size_t count, void (*work)(void *user, size_t index), void *user)
{
    piece *pieces = txm_calloc(count, sizeof *pieces);
    txm_group *group = pieces ? txm_group_new_outer(context->pool) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (pieces)
            pieces[i] = (piece){work, user, i};
        /* Work that cannot be queued for lack of memory runs on this thread. */
        if (!group || !txm_group_submit(group, false, run_piece, &pieces[i]))
            work(user, i);
    }
    txm_group_free(group);
    free(pieces);
}

const txm_color_config *txm_context_color(const txm_context *context)
{
    return context->color;
}

void txm_remove_temporaries(void)
{
    txm_publish_abort_all();
    txm_claim_file_remove_all();
    txm_worker_end_all();
}

void txm_before_abort(void (*end)(bool lacks_memory))
{
    txm_ocio_before_abort(end);
}

const char *txm_abort_reason(void)
{
    return txm_ocio_abort_reason();
}
