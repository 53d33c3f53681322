/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises what kind of map a texture is by its file name. The last word counts, ignoring numbers, resolutions and
 * variants: wood_normal.png, WoodNormal.1001.exr, wood-nor-gl-4k.png and normal_map.jpg are normal maps;
 * normal_wood.png and abnormal.png are not. Words before it are often the name of a material
 * (rusty_metal_diffuse.png).
 */
#ifndef TXM_FARM_KIND_H
#define TXM_FARM_KIND_H

typedef enum txm_map_kind {
    TXM_MAP_UNKNOWN = 0,
    TXM_MAP_COLOR,     /* diffuse, albedo, base colour, emission */
    TXM_MAP_NORMAL,    /* normal and bump maps */
    TXM_MAP_ROUGHNESS, /* roughness and gloss */
    TXM_MAP_DATA       /* metalness, occlusion, displacement, masks: not colours either */
} txm_map_kind;

txm_map_kind txm_map_kind_of(const char *path);
#endif
