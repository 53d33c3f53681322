/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that `txmill stream` writes.
 *
 * One list of them says which verbs write a file and what it is called in messages. It is checked before the first ray,
 * because a render may take an hour, and must not end with the discovery that its picture would replace one of its
 * textures.
 */
#include <string.h>

#include "base/base.h"
#include "cli/say.h"
#include "command/stream_args.h"
#include "txmill/guard.h"

/* A file that may be written: its option, the verbs that write it, and its description. */
typedef struct written_file {
    txm_output file;
    unsigned verbs;
    const char *what;
} written_file;

enum { OUTPUTS = 9 };

/* The list of outputs that are checked, guarded and named. */
static void list_outputs(const stm_stream_args *a, written_file out[OUTPUTS])
{
    const bool o = a->overwrite;
    const written_file all[OUTPUTS] = {
        {{"-o", a->output, TXM_OUTPUT_PICTURE, o},
         STM_STREAM_RENDER | STM_STREAM_PLAY | STM_STREAM_VIEW,
         "the picture"},
        {{"--heat-level", a->heat_level, TXM_OUTPUT_PICTURE, o}, STM_STREAM_RENDER, "the map of levels"},
        {{"--heat-misses", a->heat_misses, TXM_OUTPUT_PICTURE, o}, STM_STREAM_RENDER, "the map of misses"},
        {{"--heat-passes", a->heat_passes, TXM_OUTPUT_PICTURE, o}, STM_STREAM_RENDER, "the map of passes"},
        {{"--heat-tiles", a->heat_tiles, TXM_OUTPUT_PICTURE, o}, STM_STREAM_RENDER, "the maps of tiles"},
        {{"--strip", a->play.strip, TXM_OUTPUT_PICTURE, o}, STM_STREAM_PLAY, "the pictures side by side"},
        {{"--html", a->html, TXM_OUTPUT_PAGE, o}, STM_STREAM_RENDER | STM_STREAM_BUDGET | STM_STREAM_PLAY, "the page"},
        {{"--trace", a->trace, TXM_OUTPUT_TRACE, o}, STM_STREAM_RENDER, "the trace"},
        {{"--tiles", a->tiles, TXM_OUTPUT_TABLE, o}, STM_STREAM_BUDGET, "the table of tiles"}};
    memcpy(out, all, sizeof all);
}

/* Names are compared as given, because the usual mistake is to give the same one twice. */
txm_status stm_stream_check_outputs(const stm_stream_args *a, stm_stream_verb verb, txm_error *err)
{
    written_file files[OUTPUTS];
    list_outputs(a, files);
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (files[i].file.path && !(files[i].verbs & (unsigned)verb)) {
            const written_file *f = &files[i];
            if (verb == STM_STREAM_BUDGET && f->file.kind == TXM_OUTPUT_PICTURE)
                return stm_fail(err, TXM_STATUS_USAGE, "%s: a budget has no picture; use 'txmill stream %s'",
                                f->file.option, f->verbs & STM_STREAM_RENDER ? "render" : "play");
            return stm_fail(err, TXM_STATUS_USAGE, "%s: use 'txmill stream %s'", f->file.option,
                            f->verbs & STM_STREAM_RENDER   ? "render"
                            : f->verbs & STM_STREAM_BUDGET ? "budget"
                                                           : "play");
        }
        for (size_t k = 0; files[i].file.path && k < i; k++)
            if (files[k].file.path && strcmp(files[k].file.path, files[i].file.path) == 0)
                return stm_fail(err, TXM_STATUS_USAGE, "%s %s: %s already writes this file; give each a different name",
                                files[i].file.option, files[i].file.path, files[k].file.option);
    }
    return TXM_OK;
}

/* The files that a scene is read from; only its images need a guard. */
static const char *image_of_scene(const void *scene, size_t index)
{
    return stm_render_image_path(scene, index);
}

txm_status stm_stream_guard_outputs(const stm_stream_args *a, const stm_render_scene *scene, txm_error *err)
{
    written_file files[OUTPUTS];
    txm_status status = TXM_OK;
    list_outputs(a, files);
    for (size_t i = 0; status == TXM_OK && i < OUTPUTS; i++)
        status = txm_guard_output(&files[i].file, image_of_scene, scene, err);
    return status;
}

/* Output on standard output needs no name. */
void stm_stream_say_written(const stm_stream_args *a)
{
    written_file files[OUTPUTS];
    list_outputs(a, files);
    for (size_t i = 0; i < OUTPUTS; i++)
        if (files[i].file.path && strcmp(files[i].file.path, "-") != 0)
            stm_say(STM_SAY_INFO, "%s: wrote %s", files[i].file.path, files[i].what);
}
