/* SPDX-License-Identifier: Apache-2.0
 *
 * Conforming turns rows as the source delivers them into rows as level 0 stores them: associated alpha, one channel or
 * RGBA, converted to scene-linear if the colour space requires it, without non-finite values.
 */
#ifndef TXM_CONVERT_CONFORM_H
#define TXM_CONVERT_CONFORM_H
#include "mill/source/source.h"
#include "tile/ops/ops.h"
#include "txmill/color.h"
#include "txtile/settings.h"

typedef struct txm_conform {
    const txm_ops *ops;
    const txm_color_space *space; /* OCIO converts to it; NULL: no conversion */
    uint32_t width, height;
    uint32_t src_channels, channels; /* channels that the source delivers, and channels that are stored */
    txm_type src_type, type;
    bool associate;  /* multiply colour by alpha */
    bool set_opaque; /* makes alpha opaque, for alpha type `none` */
    bool divide;     /* the colour conversion runs on unassociated colours */
    txm_curve curve; /* how further levels are filtered: as in txm_pyramid_spec */
} txm_conform;

/* The steps for a source with these settings in a release of Blender; `alpha` is resolved. */
txm_conform txm_conform_plan(const txm_source_info *info, const txm_color_space *space, txm_alpha alpha,
                             txm_blender blender, const txm_ops *ops);

/* Whether two plans for one image in one space give the same pixels; and whether two releases of Blender do, for an
 * image in a space of this class. */
bool txm_conform_same(const txm_conform *a, const txm_conform *b);
bool txm_conform_same_release(const txm_source_info *info, txm_color_class class, txm_alpha alpha, txm_blender a,
                              txm_blender b);

/* The colour space as the tx file names it: its class or, if it is converted, the requested name, which may be an
 * alias. Cycles takes tiled images that its own tx writer made for scene-linear if they would be converted: integers
 * still become half, but values are kept. */
const char *txm_conform_detected(const txm_source_info *info, const txm_color_space *space, const char *named);

/* Whether rows can be read directly into their place because nothing changes their layout. */
bool txm_conform_in_place(const txm_conform *conform);

/* Conforms `rows` rows; src may be dst if txm_conform_in_place. `scratch` has 4 floats for each
 * pixel of a row. Thread-safe with separate scratch memory. */
void txm_conform_rows(const txm_conform *conform, const void *src, size_t src_stride, void *dst, size_t dst_stride,
                      uint32_t rows, float *scratch);
#endif
