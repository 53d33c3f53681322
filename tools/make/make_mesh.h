/* SPDX-License-Identifier: Apache-2.0
 *
 * `txmill make hero.ptx --mesh hero.obj`, or without --mesh: unwraps the mesh of a Ptex file; its pages are then the
 * images of the run.
 */
#ifndef TXM_TOOLS_MAKE_MESH_H
#define TXM_TOOLS_MAKE_MESH_H
#include "tools/make/make_run.h"
#include "txmill/unwrap.h"

extern const txm_option txm_mesh_options[];
#define TXM_MESH_GROUP(args)                                                                                           \
    {                                                                                                                  \
        "Ptex", txm_mesh_options, offsetof(args, mesh)                                                                 \
    }

/* Whether a mesh is to be unwrapped: --mesh is given, or nothing but a Ptex file. */
bool txm_make_mesh_wanted(const txm_make_args *args, const txm_operands *operands);
/* Checks which options are given with a Ptex file, or without one. USAGE. */
txm_status txm_make_mesh_check(const txm_make_args *args, const txm_operands *operands, txm_error *err);

/* Writes pages and mesh, or finds them up to date; a dry run writes nothing. Free *made with txm_unwrapped_clear. */
txm_status txm_make_mesh_unwrap(const txm_make_args *args, const char *ptex, txm_unwrapped *made, txm_error *err);

/* Adds the pages as inputs. `unwrapped` is what txm_make_mesh_unwrap made. */
txm_status txm_make_mesh_inputs(void *unwrapped, txm_inputs *inputs, txm_error *err);
#endif
