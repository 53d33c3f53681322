/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of fields as in files: fields that Blender renamed in its sources keep their first name in SDNA
 * (Image.name and Library.name are the paths). A field that a file lacks, or that has another type there, reads as
 * absent, so old and future versions are not an error. Integers are sign-extended from their stored size; addresses
 * have the file's pointer size.
 */
#include "mill/scene/blend/schema.h"

#include <string.h>

#include "base/endian.h"

static const char *const struct_names[TXM_KIND_COUNT] = {
    [TXM_KIND_ID] = "ID",
    [TXM_KIND_TREE] = "bNodeTree",
    [TXM_KIND_NODE] = "bNode",
    [TXM_KIND_TEX_IMAGE] = "NodeTexImage",
    [TXM_KIND_TEX_ENVIRONMENT] = "NodeTexEnvironment",
    [TXM_KIND_LINK] = "bNodeLink",
    [TXM_KIND_SOCKET] = "bNodeSocket",
    [TXM_KIND_OVERRIDE] = "IDOverrideLibrary",
    [TXM_KIND_OVERRIDDEN] = "IDOverrideLibraryProperty",
    [TXM_KIND_IMAGE] = "Image",
    [TXM_KIND_TILE] = "ImageTile",
    [TXM_KIND_IMAGE_PACKED] = "ImagePackedFile",
    [TXM_KIND_PACKED] = "PackedFile",
    [TXM_KIND_LIBRARY] = "Library",
    [TXM_KIND_GLOBAL] = "FileGlobal",
    [TXM_KIND_SCENE] = "Scene",
};

static const struct {
    txm_kind kind;
    const char *path;
} field_paths[TXM_FIELD_COUNT] = {
    [TXM_ID_NAME] = {TXM_KIND_ID, "name"},
    [TXM_ID_LIB] = {TXM_KIND_ID, "lib"},
    [TXM_ID_OVERRIDE] = {TXM_KIND_ID, "override_library"},
    [TXM_OVERRIDE_REFERENCE] = {TXM_KIND_OVERRIDE, "reference"},
    [TXM_OVERRIDE_PROPERTIES] = {TXM_KIND_OVERRIDE, "properties.first"},
    [TXM_OVERRIDDEN_NEXT] = {TXM_KIND_OVERRIDDEN, "next"},
    [TXM_OVERRIDDEN_PATH] = {TXM_KIND_OVERRIDDEN, "rna_path"},
    [TXM_TREE_TYPE] = {TXM_KIND_TREE, "type"},
    [TXM_TREE_NODES] = {TXM_KIND_TREE, "nodes.first"},
    [TXM_TREE_LINKS] = {TXM_KIND_TREE, "links.first"},
    [TXM_NODE_NEXT] = {TXM_KIND_NODE, "next"},
    [TXM_NODE_NAME] = {TXM_KIND_NODE, "name"},
    [TXM_NODE_IDNAME] = {TXM_KIND_NODE, "idname"},
    [TXM_NODE_TYPE] = {TXM_KIND_NODE, "type"},
    [TXM_NODE_ID] = {TXM_KIND_NODE, "id"},
    [TXM_NODE_STORAGE] = {TXM_KIND_NODE, "storage"},
    [TXM_TEX_IMAGE_EXTENSION] = {TXM_KIND_TEX_IMAGE, "extension"},
    [TXM_TEX_IMAGE_INTERPOLATION] = {TXM_KIND_TEX_IMAGE, "interpolation"},
    [TXM_TEX_IMAGE_COLOR_SPACE] = {TXM_KIND_TEX_IMAGE, "color_space"},
    [TXM_TEX_IMAGE_FRAMES] = {TXM_KIND_TEX_IMAGE, "iuser.frames"},
    [TXM_TEX_IMAGE_START] = {TXM_KIND_TEX_IMAGE, "iuser.sfra"},
    [TXM_TEX_IMAGE_OFFSET] = {TXM_KIND_TEX_IMAGE, "iuser.offset"},
    [TXM_TEX_IMAGE_CYCLIC] = {TXM_KIND_TEX_IMAGE, "iuser.cycl"},
    [TXM_TEX_ENVIRONMENT_INTERPOLATION] = {TXM_KIND_TEX_ENVIRONMENT, "interpolation"},
    [TXM_TEX_ENVIRONMENT_COLOR_SPACE] = {TXM_KIND_TEX_ENVIRONMENT, "color_space"},
    [TXM_TEX_ENVIRONMENT_FRAMES] = {TXM_KIND_TEX_ENVIRONMENT, "iuser.frames"},
    [TXM_TEX_ENVIRONMENT_START] = {TXM_KIND_TEX_ENVIRONMENT, "iuser.sfra"},
    [TXM_TEX_ENVIRONMENT_OFFSET] = {TXM_KIND_TEX_ENVIRONMENT, "iuser.offset"},
    [TXM_TEX_ENVIRONMENT_CYCLIC] = {TXM_KIND_TEX_ENVIRONMENT, "iuser.cycl"},
    [TXM_LINK_NEXT] = {TXM_KIND_LINK, "next"},
    [TXM_LINK_FROM_NODE] = {TXM_KIND_LINK, "fromnode"},
    [TXM_LINK_TO_NODE] = {TXM_KIND_LINK, "tonode"},
    [TXM_LINK_FROM_SOCKET] = {TXM_KIND_LINK, "fromsock"},
    [TXM_LINK_TO_SOCKET] = {TXM_KIND_LINK, "tosock"},
    [TXM_SOCKET_IDENTIFIER] = {TXM_KIND_SOCKET, "identifier"},
    [TXM_SOCKET_NAME] = {TXM_KIND_SOCKET, "name"},
    [TXM_SOCKET_TYPE] = {TXM_KIND_SOCKET, "type"},
    [TXM_IMAGE_PATH] = {TXM_KIND_IMAGE, "name"},
    [TXM_IMAGE_SOURCE] = {TXM_KIND_IMAGE, "source"},
    [TXM_IMAGE_FLAG] = {TXM_KIND_IMAGE, "flag"},
    [TXM_IMAGE_ALPHA_MODE] = {TXM_KIND_IMAGE, "alpha_mode"},
    [TXM_IMAGE_COLORSPACE] = {TXM_KIND_IMAGE, "colorspace_settings.name"},
    [TXM_IMAGE_INTEROP_ID] = {TXM_KIND_IMAGE, "colorspace_settings.interop_id"},
    [TXM_IMAGE_TILES] = {TXM_KIND_IMAGE, "tiles.first"},
    [TXM_IMAGE_PACKED_FILES] = {TXM_KIND_IMAGE, "packedfiles.first"},
    [TXM_IMAGE_PACKED_FILE] = {TXM_KIND_IMAGE, "packedfile"},
    [TXM_TILE_NEXT] = {TXM_KIND_TILE, "next"},
    [TXM_TILE_NUMBER] = {TXM_KIND_TILE, "tile_number"},
    [TXM_IMAGE_PACKED_NEXT] = {TXM_KIND_IMAGE_PACKED, "next"},
    [TXM_IMAGE_PACKED_FILE_OF] = {TXM_KIND_IMAGE_PACKED, "packedfile"},
    [TXM_IMAGE_PACKED_TILE] = {TXM_KIND_IMAGE_PACKED, "tile_number"},
    [TXM_IMAGE_PACKED_PATH] = {TXM_KIND_IMAGE_PACKED, "filepath"},
    [TXM_PACKED_SIZE] = {TXM_KIND_PACKED, "size"},
    [TXM_PACKED_DATA] = {TXM_KIND_PACKED, "data"},
    [TXM_LIBRARY_PATH] = {TXM_KIND_LIBRARY, "name"},
    [TXM_LIBRARY_PACKED_FILE] = {TXM_KIND_LIBRARY, "packedfile"},
    [TXM_LIBRARY_ARCHIVE_PARENT] = {TXM_KIND_LIBRARY, "archive_parent_library"},
    [TXM_GLOBAL_SUBVERSION] = {TXM_KIND_GLOBAL, "subversion"},
    [TXM_GLOBAL_SCENE_LINEAR] = {TXM_KIND_GLOBAL, "colorspace_scene_linear_name"},
    [TXM_GLOBAL_TO_XYZ] = {TXM_KIND_GLOBAL, "colorspace_scene_linear_to_xyz"},
    [TXM_SCENE_FIRST] = {TXM_KIND_SCENE, "r.sfra"},
    [TXM_SCENE_LAST] = {TXM_KIND_SCENE, "r.efra"},
    [TXM_SCENE_STEP] = {TXM_KIND_SCENE, "r.frame_step"},
};

/* All fields are looked up once per file; reading one is then an addition. */
void txm_schema_init(txm_schema *schema, const txm_blend_layout *format, const txm_dna *dna)
{
    *schema = (txm_schema){.format = *format, .dna = dna};
    schema->structs[TXM_KIND_OTHER] = TXM_DNA_NONE;
    for (int kind = 1; kind < TXM_KIND_COUNT; kind++)
        schema->structs[kind] = txm_dna_struct(dna, struct_names[kind]);
    for (int f = 0; f < TXM_FIELD_COUNT; f++)
        schema->fields[f] = txm_dna_find(dna, struct_names[field_paths[f].kind], field_paths[f].path);
}

txm_kind txm_schema_kind(const txm_schema *schema, uint32_t sdna)
{
    for (int kind = 1; kind < TXM_KIND_COUNT; kind++)
        if (schema->structs[kind] == sdna && sdna != TXM_DNA_NONE)
            return (txm_kind)kind;
    return TXM_KIND_OTHER;
}

/* A block may be shorter than its struct: the fields at its end are then missing. */
bool txm_record_has(const txm_schema *schema, txm_record record, txm_field_id field)
{
    const txm_dna_field *f = &schema->fields[field];
    return f->bytes > 0 && (uint64_t)f->offset + f->bytes <= record.bytes;
}

int64_t txm_record_integer(const txm_schema *schema, txm_record record, txm_field_id field, int64_t fallback)
{
    const txm_dna_field *f = &schema->fields[field];
    if (!txm_record_has(schema, record, field) || f->bytes > 8)
        return fallback;
    uint64_t value = txm_load_uint(record.data + f->offset, f->bytes, schema->format.big_endian);
    unsigned unused_bits = 64 - 8 * f->bytes;
    return (int64_t)(value << unused_bits) >> unused_bits;
}

uint64_t txm_record_address(const txm_schema *schema, txm_record record, txm_field_id field)
{
    const txm_dna_field *f = &schema->fields[field];
    if (!txm_record_has(schema, record, field) || !f->is_pointer || f->bytes != schema->format.pointer_bytes)
        return 0;
    return txm_load_uint(record.data + f->offset, f->bytes, schema->format.big_endian);
}

bool txm_record_floats(const txm_schema *schema, txm_record record, txm_field_id field, float *out, size_t count)
{
    const txm_dna_field *f = &schema->fields[field];
    if (!txm_record_has(schema, record, field) || f->is_pointer || f->bytes != count * sizeof *out)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)txm_load_uint(record.data + f->offset + 4 * i, 4, schema->format.big_endian);
        memcpy(&out[i], &bits, sizeof bits);
    }
    return true;
}

/* Cut at the end of the field if it lacks a terminator. */
const char *txm_record_string(const txm_schema *schema, txm_record record, txm_field_id field, txm_store *store)
{
    const txm_dna_field *f = &schema->fields[field];
    if (!txm_record_has(schema, record, field) || f->is_pointer)
        return "";
    const char *s = (const char *)record.data + f->offset;
    return txm_store_string(store, s, strnlen(s, f->bytes));
}
