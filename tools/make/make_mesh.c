/* SPDX-License-Identifier: Apache-2.0
 *
 * The step of `txmill make --mesh` before images are converted.
 *
 * In: a Ptex file and its mesh. Out: the pages' names as inputs of the run, with the pattern that Blender uses for
 * them. A mesh most of whose neighbouring faces do not touch is unwrapped all the same, with a warning, because it may
 * only have separate vertices.
 */
#include "tools/make/make_mesh.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "tools/output/exits.h"
#include "tools/output/say.h"

#define AT(member) .offset = offsetof(txm_mesh_args, member)
const txm_option txm_mesh_options[] = {
    TXM_OPTION(STRING, "mesh", .rare = true, AT(mesh), .arg = "FILE", .values = TXM_VALUES_FILE,
               .help = "Mesh of a Ptex file, OBJ or PLY: write pages of its faces, and the mesh with a UV layer",
               .more =
                   "The pages are then converted into tx files. Default: the mesh in the file's metadata. See PTEX."),
    TXM_OPTION(STRING, "pages", .rare = true, AT(pages), .arg = "DIR", .values = TXM_VALUES_DIR,
               .help = "Write pages and mesh to this folder (default: beside the Ptex file)"),
    TXM_OPTION(UINT, "page-size", .rare = true, AT(page_px), .arg = "PX", .min = 64, .max = 65536,
               .help = "Maximum width and height of a page (default: 4096)",
               .more = "A face that needs more has a larger page."),
    TXM_OPTION(CHOICE, "padding", .rare = true, AT(padding), .arg = "PX", .values = "auto 1 2 4 8 16",
               .help = "Texels of the neighbours around faces (default: 4, or less if faces are small)",
               .more = "They separate faces on the first levels of the pages; each doubling adds a level."),
    {0},
};
#undef AT

static bool is_ptex(const char *path)
{
    return txm_path_has_ext(path, "ptx");
}

bool txm_make_mesh_wanted(const txm_make_args *args, const txm_operands *operands)
{
    return args->mesh.mesh || (operands->count == 1 && is_ptex(operands->items[0]));
}

txm_status txm_make_mesh_check(const txm_make_args *args, const txm_operands *operands, txm_error *err)
{
    static const char *const without[] = {"output", "shards", "shard", "key", "packed"};
    const txm_mesh_args *m = &args->mesh;
    if (!txm_make_mesh_wanted(args, operands)) {
        static const char *const only[] = {"pages", "page-size", "padding"};
        for (size_t i = 0; i < sizeof only / sizeof *only; i++)
            if (txm_opt_given(operands, only[i]))
                return txm_fail(err, TXM_STATUS_USAGE, "--%s needs a Ptex file", only[i]);
        for (size_t i = 0; i < operands->count; i++)
            if (is_ptex(operands->items[i]))
                return txm_fail(err, TXM_STATUS_USAGE,
                                "%s: a Ptex file has no texture coordinates; name it alone to unwrap its mesh",
                                operands->items[i]);
        return TXM_OK;
    }
    if ((m->mesh && !*m->mesh) || (m->pages && !*m->pages))
        return txm_fail(err, TXM_STATUS_USAGE, "--%s: the name is empty", m->mesh && !*m->mesh ? "mesh" : "pages");
    if (operands->count != 1 || !is_ptex(operands->items[0]))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "--mesh: name one Ptex file, as in 'txmill make hero.ptx --mesh hero.obj'");
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (txm_opt_given(operands, without[i]))
            return txm_fail(err, TXM_STATUS_USAGE, "%s cannot be combined with --%s%s",
                            m->mesh ? "--mesh" : operands->items[0], without[i],
                            i ? "" : "; --pages sets the folder for pages and mesh");
    return TXM_OK;
}

typedef struct page_progress {
    bool lines; /* requested */
    atomic_int percent;
} page_progress;

static void on_page_rows(void *user, uint64_t done, uint64_t rows)
{
    page_progress *p = user;
    const int percent = (int)(100 * done / rows);
    int shown = atomic_load(&p->percent);
    while (percent > shown && !atomic_compare_exchange_weak(&p->percent, &shown, percent))
        ;
    if (percent <= shown)
        return;
    if (txm_say_can_animate())
        txm_say_status("%3d%% of the pages", percent);
    else if (p->lines)
        txm_say_last("txmill: pages %d%%", percent);
}

txm_status txm_make_mesh_unwrap(const txm_make_args *args, const char *ptex, txm_unwrapped *made, txm_error *err)
{
    const txm_mesh_args *m = &args->mesh;
    page_progress progress = {.lines = args->progress && !args->report.quiet};
    txm_unwrap_options o;
    txm_unwrap_options_init(&o);
    o.folder = m->pages;
    o.page_px = m->page_px;
    o.padding_px = m->padding ? 1u << (m->padding - 1) : 0;
    o.threads = args->running.threads;
    o.force = args->force;
    o.dry_run = args->dry_run || args->plan;
    o.no_claims = args->no_claims;
    o.cancel = txm_signal_flag();
    o.progress = args->report.quiet ? NULL : on_page_rows;
    o.progress_user = &progress;
    txm_status status = txm_unwrap_ptex(ptex, m->mesh, &o, made, err);
    txm_say_status("%s", "");
    if (status == TXM_STATUS_UNSUPPORTED && !m->mesh) {
        const txm_error own = *err;
        txm_error_clear(err);
        return txm_fail(err, own.status, "%s; give its mesh with --mesh FILE (OBJ or PLY)", own.message);
    }
    if (status == TXM_OK && 2 * (uint64_t)made->edges_apart > made->edges)
        txm_say(TXM_SAY_WARNING,
                "%s: most neighbouring faces of %s do not share vertices in the mesh: its polygons are in another "
                "order than when it was painted, or have separate vertices",
                m->mesh ? m->mesh : ptex, ptex);
    return status;
}

txm_status txm_make_mesh_inputs(void *unwrapped, txm_inputs *inputs, txm_error *err)
{
    const txm_unwrapped *made = unwrapped;
    txm_status status = TXM_OK;
    for (uint32_t i = 0; i < made->pages.pages && status == TXM_OK; i++) {
        char *path = txm_unwrapped_page_path(made, i);
        const txm_input input = {.path = path, .pattern = made->pattern};
        status = path ? txm_inputs_add_entry(inputs, &input, err) : txm_no_memory(err, made->pattern);
        free(path);
    }
    return status;
}
