/* SPDX-License-Identifier: Apache-2.0
 *
 * What kind of map a texture is, judged by its file name alone.
 *
 * The last word of the name counts, numbers, resolutions and variants after it aside: wood_normal.png,
 * WoodNormal.1001.exr, wood-nor-gl-4k.png and normal_map.jpg are normal maps; normal_wood.png and abnormal.png are not.
 * A word in front is the name of a material as often as not (rusty_metal_diffuse.png).
 */
#ifndef TXM_FARM_KIND_H
#define TXM_FARM_KIND_H

typedef enum txm_map_kind {
    TXM_MAP_UNKNOWN = 0,
    TXM_MAP_COLOR,     /* diffuse, albedo, base colour, emission */
    TXM_MAP_NORMAL,    /* normal and bump maps */
    TXM_MAP_ROUGHNESS, /* roughness and gloss */
    TXM_MAP_DATA       /* metalness, occlusion, displacement, masks: no colours either */
} txm_map_kind;

txm_map_kind txm_map_kind_of(const char *path);
/* "normal map". Never NULL. */
const char *txm_map_kind_name(txm_map_kind kind);
#endif
