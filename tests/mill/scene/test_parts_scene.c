/* SPDX-License-Identifier: Apache-2.0
 *
 * The stages from a .blend file to a scene's images one by one: store, schema, digest, scan, link, collect, settle,
 * expand, examine; and zstd streams. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "mill/scene/digest.h"
#include "mill/scene/formats.h"
#include "mill/scene/locate.h"
#include "mill/scene/scene.h"
#include "mill/scene/scene_scan.h"
#include "util_batch.h"
#include "util_blend.h"
#include "util_check.h"

static const scene_layout layouts[] = {{.pointer_bytes = 8, .version = 304},
                                       {.pointer_bytes = 4, .version = 304},
                                       {.pointer_bytes = 8, .big_endian = true, .version = 304},
                                       {.pointer_bytes = 4, .big_endian = true, .version = 304},
                                       {.pointer_bytes = 8, .large_heads = true, .version = 501}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static txm_stream *stream_of(const void *data, size_t bytes)
{
    txm_stream *stream = NULL;
    int fd = memfd_create("scene", MFD_CLOEXEC);
    ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
    ck_assert_int_eq(txm_stream_from_fd(fd, "scene", &stream, NULL), TXM_OK);
    return stream;
}

/* ---- store ------------------------------------------------------------------------------------------------------- */

START_TEST(stores_keep_to_their_bound)
{
    txm_store store = {.limit_bytes = 200 << 10};
    const char *first = txm_store_string(&store, "abcdef", 3);
    ck_assert_str_eq(first, "abc");
    char *large = malloc(150 << 10);
    memset(large, 'x', 150 << 10);
    ck_assert_ptr_null(txm_store_string(&store, large, 150 << 10));
    ck_assert(store.over_limit);
    ck_assert_str_eq(first, "abc");
    store.over_limit = false;
    const char *text = txm_store_string(&store, large, 100 << 10);
    ck_assert_uint_eq(strlen(text), 100 << 10);
    struct {
        uint64_t *data;
        size_t count, capacity;
    } table = {0};
    while (TXM_STORE_ADD(&store, &table)) {
        ck_assert_uint_eq(table.data[table.count - 1], 0);
        table.data[table.count - 1] = table.count;
    }
    ck_assert(store.over_limit && store.used_bytes <= store.limit_bytes);
    ck_assert_uint_eq(table.count, table.capacity);
    for (size_t i = 0; i < table.count; i++)
        ck_assert_uint_eq(table.data[i], i + 1);
    free(table.data);
    txm_store_free(&store);
    txm_store_free(&store);
    ck_assert_uint_eq(store.used_bytes, 0);
    free(large);
}
END_TEST

/* ---- schema and digest ------------------------------------------------------------------------------------------- */

/* A scene whose definitions are resolved, as in a scan. */
typedef struct opened {
    scene_file *file;
    txm_stream *stream;
    txm_blend_layout format;
    txm_tape tape;
    txm_dna *dna;
    txm_schema schema;
} opened;

static opened open_parts(const char *name, const char *codes, scene_layout layout)
{
    opened o = {.file = small_scene(name, codes, layout)};
    size_t bytes;
    uint8_t *data = scene_encode(o.file, &bytes);
    o.stream = stream_of(data, bytes);
    free(data);
    ck_assert_int_eq(txm_scene_read_header(o.stream, &o.format, NULL), TXM_OK);
    ck_assert_int_eq(txm_locate_dna(o.stream, &o.format, &o.tape, &o.dna, NULL), TXM_OK);
    txm_schema_init(&o.schema, &o.format, o.dna);
    return o;
}

static void close_parts(opened *o)
{
    txm_dna_free(&o->dna);
    txm_tape_free(&o->tape);
    txm_stream_close(&o->stream);
    scene_free(o->file);
}

static txm_record record_of(const scene_block *b)
{
    return (txm_record){b->data, b->bytes};
}

START_TEST(fields_read_the_same_in_any_layout)
{
    opened o = open_parts("materials.blend", "MA IM GLOB", layouts[_i]);
    scene_block *image = scene_find(o.file, "IM", NULL);
    txm_store store = {.limit_bytes = 1 << 20};
    size_t bytes;
    ck_assert_int_eq(txm_schema_kind(&o.schema, txm_dna_struct(o.dna, "Image")), TXM_KIND_IMAGE);
    ck_assert_int_eq(txm_schema_kind(&o.schema, txm_dna_struct(o.dna, "Material")), TXM_KIND_OTHER);
    ck_assert_int_eq(txm_schema_kind(&o.schema, TXM_DNA_NONE), TXM_KIND_OTHER);
    ck_assert_int_eq(txm_schema_kind(&o.schema, 12345), TXM_KIND_OTHER);
    scene_set_number(o.file, image, "source", (uint64_t)-3);
    ck_assert_int_eq(txm_record_integer(&o.schema, record_of(image), TXM_IMAGE_SOURCE, 7), -3);
    scene_set_number(o.file, image, "id.lib", 0x1234);
    ck_assert_uint_eq(txm_record_address(&o.schema, record_of(image), TXM_IMAGE_TILES),
                      scene_number(o.file, image, "tiles.first"));
    ck_assert_uint_eq(txm_record_address(&o.schema, record_of(image), TXM_ID_LIB), 0x1234);
    /* A field of another size is not read as an address, an address not as a number, and neither as text. */
    ck_assert_uint_eq(txm_record_address(&o.schema, record_of(image), TXM_IMAGE_SOURCE), 0);
    ck_assert_str_eq(txm_record_string(&o.schema, record_of(image), TXM_ID_LIB, &store), "");
    ck_assert_int_eq(txm_record_integer(&o.schema, record_of(image), TXM_IMAGE_PATH, -9), -9);
    /* A text that fills its field has no NUL. */
    uint8_t *path = scene_at(o.file, image, "name", &bytes);
    memset(path, 'p', bytes);
    const char *text = txm_record_string(&o.schema, record_of(image), TXM_IMAGE_PATH, &store);
    ck_assert_uint_eq(strlen(text), bytes);
    /* If a block ends before a field, the field counts as absent. */
    size_t end = (size_t)(path - image->data) + bytes;
    ck_assert(txm_record_has(&o.schema, (txm_record){image->data, end}, TXM_IMAGE_PATH));
    ck_assert(!txm_record_has(&o.schema, (txm_record){image->data, end - 1}, TXM_IMAGE_PATH));
    ck_assert_str_eq(txm_record_string(&o.schema, (txm_record){image->data, end - 1}, TXM_IMAGE_PATH, &store), "");
    ck_assert_int_eq(txm_record_integer(&o.schema, (txm_record){NULL, 0}, TXM_IMAGE_SOURCE, 7), 7);
    ck_assert_uint_eq(txm_record_address(&o.schema, (txm_record){NULL, 0}, TXM_ID_LIB), 0);
    /* Blender 3.4 has lists of packed files, but libraries have no archives. */
    ck_assert(txm_record_has(&o.schema, record_of(image), TXM_IMAGE_PACKED_FILES));
    ck_assert_uint_eq(o.schema.fields[TXM_LIBRARY_ARCHIVE_PARENT].bytes, 0);
    txm_store_free(&store);
    close_parts(&o);
}
END_TEST

/* Returns the blocks of the data-block that begins with `head`, and a model that contains it. */
static void fill_run(const opened *o, const scene_block *head, txm_role role, txm_run *run, txm_model *model,
                     txm_store *store)
{
    const scene_block *end = o->file->blocks + o->file->block_count;
    txm_run_reset(run);
    for (const scene_block *b = head; b < end && (b == head || !strcmp(b->code, "DATA")); b++) {
        const txm_block block = {
            .code = "DATA", .address = b->address, .position = (uint64_t)(b - head), .bytes = b->bytes};
        uint32_t sdna = *b->type ? txm_dna_struct(o->dna, b->type) : TXM_DNA_NONE;
        txm_kind kind = txm_schema_kind(&o->schema, sdna);
        size_t kept = b->bytes < TXM_RUN_MAX_BLOCK_BYTES ? b->bytes : TXM_RUN_MAX_BLOCK_BYTES;
        ck_assert(txm_run_add(run, &block, kind, b->data, kept));
    }
    txm_id *id = TXM_STORE_ADD(store, &model->ids);
    if (id)
        *id = (txm_id){.address = head->address, .role = role, .image = TXM_NO_INDEX, .own_library = TXM_NO_INDEX};
}

START_TEST(images_are_digested_as_stored)
{
    opened o = open_parts("packed.blend", "MA IM GLOB", layouts[_i]);
    txm_store store = {.limit_bytes = 1 << 20};
    txm_model model = {0};
    txm_run run = {0};
    txm_digest d = {&o.schema, &model, &store, false};
    uint32_t images = 0;
    for (size_t i = 0; i < o.file->block_count; i++) {
        scene_block *b = &o.file->blocks[i];
        size_t n;
        if (strcmp(b->code, "IM") != 0)
            continue;
        fill_run(&o, b, TXM_ROLE_IMAGE, &run, &model, &store);
        ck_assert(txm_digest_run(&d, images, &run));
        ck_assert_uint_eq(model.ids.data[images].image, images);
        const txm_image *image = &model.images.data[images++];
        ck_assert_str_eq(image->path, (const char *)scene_at(o.file, b, "name", &n));
        ck_assert_str_eq(image->colorspace, (const char *)scene_at(o.file, b, "colorspace_settings.name", &n));
        ck_assert(image->has_tile_list);
        ck_assert_int_eq(image->is_packed, scene_number(o.file, b, "packedfiles.first") != 0);
        ck_assert_int_eq(image->packed.end > image->packed.begin, image->is_packed);
        for (uint32_t p = image->packed.begin; p < image->packed.end; p++)
            ck_assert_uint_gt(model.packed.data[p].bytes, 20);
    }
    ck_assert_uint_ge(images, 3);
    txm_run_free(&run);
    txm_model_free(&model);
    txm_store_free(&store);
    close_parts(&o);
}
END_TEST

static scene_block *block_of_type(const scene_file *f, const char *type)
{
    for (size_t i = 0; i < f->block_count; i++)
        if (!strcmp(f->blocks[i].type, type))
            return &f->blocks[i];
    ck_abort_msg("no %s", type);
}

START_TEST(hostile_lists_end)
{
    opened o = open_parts("packed.blend", "MA IM GLOB", scene_plain);
    txm_store store = {.limit_bytes = 1 << 20};
    txm_model model = {0};
    txm_run run = {0};
    txm_digest d = {&o.schema, &model, &store, false};
    scene_block *head = scene_find(o.file, "IM", NULL);
    while (strcmp(head->code, "IM") != 0 || !scene_number(o.file, head, "packedfiles.first"))
        head++;
    scene_block *tile = head, *list = head, *packed = head;
    while (strcmp(tile->type, "ImageTile") != 0)
        tile++;
    while (strcmp(list->type, "ImagePackedFile") != 0)
        list++;
    while (strcmp(packed->type, "PackedFile") != 0)
        packed++;
    scene_set_number(o.file, tile, "next", tile->address); /* a list that is circular */
    scene_set_number(o.file, tile, "tile_number", 123456);
    scene_set_number(o.file, list, "next", 0xDEAD);
    scene_set_number(o.file, packed, "size", 0x7FFFFFFF); /* more than there are */
    fill_run(&o, head, TXM_ROLE_IMAGE, &run, &model, &store);
    ck_assert(txm_digest_run(&d, 0, &run));
    const txm_image *image = &model.images.data[0];
    ck_assert_uint_le(image->tiles.end - image->tiles.begin, run.blocks.count);
    ck_assert_uint_ge(image->tiles.end - image->tiles.begin, 1);
    ck_assert_uint_eq(model.tiles.data[image->tiles.begin], 1001);
    ck_assert(image->is_packed);
    ck_assert_uint_eq(image->packed.end, image->packed.begin);
    /* The data-block's own block has another role, or is missing. */
    model.ids.data[0].address = tile->address;
    ck_assert(txm_digest_run(&d, 0, &run));
    model.ids.data[0].role = TXM_ROLE_LIBRARY;
    ck_assert(txm_digest_run(&d, 0, &run));
    model.ids.data[0].role = TXM_ROLE_OTHER;
    ck_assert(txm_digest_run(&d, 0, &run));
    ck_assert_uint_eq(model.images.count, 1);
    ck_assert_uint_eq(model.libraries.count, 0);
    txm_run_free(&run);
    txm_model_free(&model);
    txm_store_free(&store);
    close_parts(&o);
}
END_TEST

START_TEST(trees_keep_what_is_asked_for)
{
    opened o = open_parts("lint.blend", "MA NT IM GLOB", scene_plain);
    scene_block *tree = block_of_type(o.file, "bNodeTree"), *head = tree;
    while (head->code[0] == 'D') /* DATA: the tree belongs to the material */
        head--;
    size_t nodes[2];
    for (int links = 0; links < 2; links++) {
        txm_store store = {.limit_bytes = 1 << 20};
        txm_model model = {0};
        txm_run run = {0};
        txm_digest d = {&o.schema, &model, &store, links};
        fill_run(&o, head, TXM_ROLE_TREE, &run, &model, &store);
        ck_assert(txm_digest_run(&d, 0, &run));
        ck_assert_uint_eq(model.trees.count, 1);
        ck_assert_uint_eq(model.ids.data[0].trees.end, 1);
        nodes[links] = model.nodes.count;
        ck_assert_int_eq(model.links.count > 0, links);
        for (size_t i = 0; i < model.nodes.count; i++)
            ck_assert(links || model.nodes.data[i].id);
        for (size_t i = 0; i < model.links.count; i++) {
            ck_assert_uint_lt(model.links.data[i].from, model.nodes.count);
            ck_assert_uint_lt(model.links.data[i].to, model.nodes.count);
            ck_assert(!i || model.links.data[i - 1].from <= model.links.data[i].from);
        }
        txm_model_free(&model);
        /* A compositor's tree is not a shader's. */
        scene_set_number(o.file, tree, "type", 1);
        fill_run(&o, head, TXM_ROLE_TREE, &run, &model, &store);
        ck_assert(txm_digest_run(&d, 0, &run));
        ck_assert_uint_eq(model.trees.count, 0);
        scene_set_number(o.file, tree, "type", 0);
        txm_run_free(&run);
        txm_model_free(&model);
        txm_store_free(&store);
    }
    ck_assert_uint_gt(nodes[0], 0);
    ck_assert_uint_gt(nodes[1], nodes[0]);
    close_parts(&o);
}
END_TEST

/* For any memory limit, either everything is there or the digest reports that it is incomplete. */
START_TEST(digests_without_room_fail)
{
    opened o = open_parts("lint.blend", "MA NT IM GLOB", scene_plain);
    scene_block *head = block_of_type(o.file, "bNodeTree");
    while (head->code[0] == 'D')
        head--;
    bool fitted = false;
    for (size_t limit = 4096; !fitted; limit += limit / 4) {
        txm_store store = {.limit_bytes = limit};
        txm_model model = {0};
        txm_run run = {0};
        txm_digest d = {&o.schema, &model, &store, true};
        fill_run(&o, head, TXM_ROLE_TREE, &run, &model, &store);
        ck_assert_uint_eq(model.ids.count, 1);
        fitted = txm_digest_run(&d, 0, &run);
        ck_assert_int_eq(fitted, !store.over_limit);
        ck_assert_uint_le(store.used_bytes, limit);
        ck_assert(fitted || limit < 1 << 20);
        ck_assert(!fitted || limit > 4096);
        txm_run_free(&run);
        txm_model_free(&model);
        txm_store_free(&store);
    }
    close_parts(&o);
}
END_TEST

START_TEST(scans_fill_a_model_or_leave_it_zero)
{
    static const txm_model zero;
    scene_file *file = small_scene("lint.blend", "MA NT IM GLOB", layouts[_i]);
    size_t bytes, nodes[2];
    uint8_t *data = scene_encode(file, &bytes);
    for (int links = 0; links < 2; links++) {
        txm_store store = {.limit_bytes = 1 << 20};
        txm_model model = {0};
        txm_error err = {0};
        txm_stream *stream = stream_of(data, bytes);
        const txm_scan_options options = {.links = links};
        ck_assert_msg(txm_scan(stream, &options, &store, &model, &err) == TXM_OK, "%s", err.message);
        ck_assert_int_eq(model.format.version, layouts[_i].version);
        ck_assert_uint_gt(model.images.count, 0);
        ck_assert_uint_gt(model.trees.count, 0);
        nodes[links] = model.nodes.count;
        ck_assert_uint_eq(txm_model_find(&model, model.ids.data[0].address), 0);
        ck_assert_uint_eq(txm_model_find(&model, 3), TXM_NO_INDEX);
        txm_model_free(&model);
        txm_store_free(&store);
        txm_stream_close(&stream);
        store = (txm_store){.limit_bytes = 3000};
        stream = stream_of(data, bytes);
        ck_assert_int_eq(txm_scan(stream, &options, &store, &model, &err), TXM_STATUS_TOO_LARGE);
        ck_assert_mem_eq(&model, &zero, sizeof zero);
        txm_store_free(&store);
        txm_stream_close(&stream);
        stream = stream_of(data, bytes / 2);
        store = (txm_store){.limit_bytes = 1 << 20};
        err = (txm_error){0};
        ck_assert_int_eq(txm_scan(stream, &options, &store, &model, &err), TXM_STATUS_CORRUPT);
        ck_assert_mem_eq(&model, &zero, sizeof zero);
        txm_store_free(&store);
        txm_stream_close(&stream);
    }
    ck_assert_uint_gt(nodes[1], nodes[0]);
    free(data);
    scene_free(file);
}
END_TEST

/* ---- the scene --------------------------------------------------------------------------------------------------- */

static txm_scene *new_blend(void)
{
    txm_scene *blend = calloc(1, sizeof *blend);
    blend->store.limit_bytes = TXM_SCENE_STORE_BYTES;
    return blend;
}

START_TEST(stages_follow_each_other)
{
    txm_scene *blend = new_blend();
    char *path = scene_path("linked.blend");
    txm_error err = {0};
    ck_assert_msg(txm_scene_link(blend, path, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_ge(blend->files.count, 3); /* the scene, a library, and a library that this one links */
    ck_assert_str_eq(blend->files.data[0].path, path);
    /* Placeholders lead to the data-blocks in their libraries. */
    const txm_model *scene = &blend->files.data[0].model;
    size_t followed = 0;
    for (size_t i = 0; i < scene->ids.count; i++) {
        uint32_t file = 0, id = 99;
        bool leads = txm_scene_follow(blend, &file, scene->ids.data[i].address, &id);
        if (scene->ids.data[i].role != TXM_ROLE_PLACEHOLDER || !scene->ids.data[i].reached)
            continue;
        ck_assert(leads && file > 0);
        ck_assert_str_eq(blend->files.data[file].model.ids.data[id].name, scene->ids.data[i].name);
        followed++;
    }
    ck_assert_uint_gt(followed, 0);
    uint32_t file = 0, id;
    ck_assert(!txm_scene_follow(blend, &file, 3, &id));
    txm_stream *stream = NULL;
    ck_assert_int_eq(txm_scene_stream(blend, 1, &stream, &err), TXM_OK);
    ck_assert_str_eq(txm_stream_name(stream), blend->files.data[1].path);
    txm_stream_close(&stream);
    ck_assert_uint_eq(blend->images.count, 0);
    ck_assert_int_eq(txm_scene_collect(blend, &err), TXM_OK);
    ck_assert_uint_gt(blend->images.count, 0);
    size_t users = 0;
    for (size_t i = 0; i < blend->images.count; i++) {
        users += blend->images.data[i].user_count;
        ck_assert_uint_gt(blend->images.data[i].user_count, 0);
        ck_assert(!i || strcmp(blend->images.data[i - 1].library, blend->images.data[i].library) <= 0 ||
                  strcmp(blend->images.data[i - 1].name, blend->images.data[i].name) <= 0);
    }
    ck_assert_uint_eq(users, blend->uses.count);
    txm_scene_close(&blend);
    free(path);
}
END_TEST

/* A packed library is read from a copy of its bytes. A missing one is a finding; one that is not a scene is a
 * failure. */
START_TEST(libraries_need_not_be_there)
{
    txm_error err = {0};
    txm_stream *stream = NULL;
    txm_scene *blend = new_blend();
    char *path = scene_path("inside.blend");
    char magic[7];
    ck_assert_int_eq(txm_scene_link(blend, path, &err), TXM_OK);
    uint32_t packed = 1;
    while (blend->files.data[packed].inside == TXM_NO_INDEX)
        ck_assert_uint_lt(++packed, blend->files.count);
    ck_assert_int_eq(txm_scene_stream(blend, packed, &stream, &err), TXM_OK);
    ck_assert_int_eq(txm_stream_read(stream, magic, 7, &err), TXM_OK);
    ck_assert_mem_eq(magic, "BLENDER", 7);
    txm_stream_close(&stream);
    setenv("TMPDIR", "/proc/no-folder", 1);
    ck_assert_int_ne(txm_scene_stream(blend, packed, &stream, &err), TXM_OK);
    ck_assert_ptr_nonnull(strstr(err.message, "TMPDIR"));
    unsetenv("TMPDIR");
    txm_scene_close(&blend);
    free(path);
    blend = new_blend();
    path = scene_path("missing.blend");
    ck_assert_int_eq(txm_scene_link(blend, path, &err), TXM_OK);
    ck_assert_uint_eq(blend->libraries.count, 1);
    ck_assert_int_eq(blend->libraries.data[0].state, TXM_SCENE_LIBRARY_STATE_MISSING);
    txm_scene_close(&blend);
    free(path);
    blend = new_blend();
    path = scene_path("README.md");
    err = (txm_error){0};
    ck_assert_int_eq(txm_scene_link(blend, path, &err), TXM_STATUS_CORRUPT);
    txm_scene_close(&blend);
    free(path);
}
END_TEST

START_TEST(findings_need_links)
{
    static const bool lints[] = {false, true};
    char *path = scene_path("lint.blend");
    for (int i = 0; i < 2; i++) {
        txm_scene *blend = new_blend();
        txm_error err = {0};
        blend->lint = lints[i];
        blend->info.format = "blend";
        ck_assert_int_eq(txm_scene_link(blend, path, &err), TXM_OK);
        ck_assert_int_eq(txm_scene_collect(blend, &err), TXM_OK);
        ck_assert_uint_eq(blend->findings.count, 0);
        ck_assert_int_eq(txm_scene_examine(blend, &err), TXM_OK);
        size_t normals = 0;
        for (size_t f = 0; f < blend->findings.count; f++)
            normals += !strcmp(blend->findings.data[f].id, "normal-map-color");
        ck_assert_int_eq(normals > 0, lints[i]);
        txm_scene_close(&blend);
    }
    free(path);
}
END_TEST

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static const uint32_t three_tiles[] = {1001, 1002, 1011};

/* Resolves one image of a file of this version. */
static txm_scene_image settled(txm_scene *blend, int version, int subversion, txm_image image)
{
    static txm_id id = {.name = "IMa", .image = TXM_NO_INDEX, .own_library = TXM_NO_INDEX};
    txm_scene_file file = {.path = "/s/scene.blend", .folder = "/s", .library = TXM_NO_INDEX, .inside = TXM_NO_INDEX};
    txm_scene_image out = {0};
    txm_error err = {0};
    file.model.format.version = version;
    file.model.subversion = subversion;
    file.model.ids.data = &id;
    file.model.ids.count = 1;
    file.model.tiles.data = (uint32_t *)three_tiles;
    file.model.tiles.count = 3;
    image.path = image.path ? image.path : "//a.png";
    image.colorspace = image.colorspace ? image.colorspace : "";
    ck_assert_msg(txm_scene_settle(blend, &file, &image, &out, &err) == TXM_OK, "%s", err.message);
    return out;
}

START_TEST(settings_mean_what_the_version_says)
{
    txm_scene *b = new_blend();
    const txm_image tiled = {.source = 6, .has_tile_list = true, .tiles = {0, 3}};
    txm_image i = tiled;
    ck_assert_uint_eq(settled(b, 283, 3, i).tile_count, 3);
    ck_assert_uint_eq(settled(b, 283, 2, i).tile_count, 1);
    i.has_tile_list = false;
    ck_assert_uint_eq(settled(b, 304, 0, i).tile_count, 1);
    i.source = 1;
    ck_assert_uint_eq(settled(b, 304, 0, i).tile_count, 0);
    /* Since 3.1.6, numbers in paths of tiled images are tokens. */
    i = tiled;
    i.path = "//tex/wood.1001.v2.png";
    ck_assert_str_eq(settled(b, 301, 5, i).path, "/s/tex/wood.<UDIM>.v2.png");
    ck_assert_str_eq(settled(b, 301, 6, i).path, "/s/tex/wood.1001.v2.png");
    i.path = "//1001/wood_1002-a_1013.png";
    ck_assert_str_eq(settled(b, 300, 0, i).path, "/s/1001/wood_1002-a_<UDIM>.png");
    i.path = "//wood_u1_v1.png";
    ck_assert_str_eq(settled(b, 300, 0, i).path, "/s/wood_<UVTILE>.png");
    i.path = "//wood3001.png";
    ck_assert_str_eq(settled(b, 300, 0, i).path, "/s/wood3001.png");
    i.path = "//<UDIM>.1001.png";
    ck_assert_str_eq(settled(b, 300, 0, i).path, "/s/<UDIM>.1001.png");
    i = (txm_image){.path = "//tex\\wood\\..\\a.png"};
    ck_assert_str_eq(settled(b, 304, 0, i).stored_path, "//tex/wood/../a.png");
    ck_assert_str_eq(settled(b, 304, 0, i).path, "/s/tex/a.png");
    i.path = "";
    ck_assert_str_eq(settled(b, 304, 0, i).path, "");
    /* Alpha has numbered modes, a flag in old versions, or neither. */
    static const txm_alpha modes[] = {TXM_ALPHA_DEFAULT,        TXM_ALPHA_STRAIGHT, TXM_ALPHA_PREMULTIPLIED,
                                      TXM_ALPHA_CHANNEL_PACKED, TXM_ALPHA_NONE,     TXM_ALPHA_DEFAULT};
    for (int mode = -1; mode <= 4; mode++) {
        i = (txm_image){.alpha_mode = mode, .ignore_alpha = true};
        ck_assert_int_eq(settled(b, 304, 0, i).alpha, modes[mode + 1]);
        ck_assert_int_eq(settled(b, 280, 69, i).alpha, TXM_ALPHA_NONE);
    }
    txm_scene_close(&b);
}
END_TEST

static const char *only_known(void *user, const char *name)
{
    (void)user;
    return !strcmp(name, "sRGB") ? "sRGB - Texture" : !strcmp(name, "data") ? "Raw data" : NULL;
}

static bool raw_is_data(void *user, const char *name)
{
    (void)user;
    return !strcmp(name, "Raw data");
}

START_TEST(colour_spaces_are_the_configs)
{
    txm_scene *b = new_blend();
    txm_scene_image out = settled(b, 304, 0, (txm_image){.colorspace = "Non-Color"});
    ck_assert(out.data && out.colorspace_known);
    ck_assert(txm_scene_is_data(b, "Raw") && !txm_scene_is_data(b, "sRGB") && !txm_scene_is_data(b, ""));
    out = settled(b, 304, 0, (txm_image){.colorspace = ""});
    ck_assert(out.colorspace_known && !out.colorspace_name && !out.data);
    ck_assert_str_eq(out.colorspace, "=");
    /* Before 2.80.66 the setting was in nodes. */
    out = settled(b, 280, 65, (txm_image){.colorspace = "sRGB", .legacy_data = true});
    ck_assert_str_eq(out.colorspace, "Non-Color");
    out = settled(b, 280, 66, (txm_image){.colorspace = "sRGB", .legacy_data = true});
    ck_assert_str_eq(out.colorspace, "sRGB");
    b->colors = (txm_scene_colors){NULL, only_known, raw_is_data};
    out = settled(b, 304, 0, (txm_image){.colorspace = "sRGB"});
    ck_assert_str_eq(out.colorspace, "sRGB");
    ck_assert_str_eq(out.colorspace_name, "sRGB - Texture");
    ck_assert_str_eq(out.colorspace_stored, "sRGB");
    out = settled(b, 304, 0, (txm_image){.colorspace = "P3"});
    ck_assert(!out.colorspace_known && !out.colorspace_name);
    ck_assert_str_eq(out.colorspace, "=");
    ck_assert_str_eq(out.colorspace_stored, "P3");
    out = settled(b, 280, 0, (txm_image){.colorspace = "sRGB", .legacy_data = true});
    ck_assert_str_eq(out.colorspace, "Raw data");
    ck_assert_str_eq(out.colorspace_name, "Raw data");
    ck_assert(out.data);
    ck_assert(!txm_scene_is_data(b, "Non-Color"));
    txm_scene_close(&b);
}
END_TEST

/* ---- files on disk ----------------------------------------------------------------------------------------------- */

static txm_scene_image expanded(txm_scene *b, txm_scene_source source, const char *path, const txm_image *image)
{
    static const txm_image plain;
    txm_scene_image out = {.source = source, .path = path, .tiles = three_tiles, .tile_count = 3};
    txm_error err = {0};
    ck_assert_msg(txm_scene_expand(b, image ? image : &plain, &out, &err) == TXM_OK, "%s", err.message);
    return out;
}

static void check_files(txm_scene_image image, txm_scene_state state, size_t count, uint32_t first, uint32_t last)
{
    ck_assert_int_eq(image.state, state);
    ck_assert_uint_eq(image.file_count, count);
    if (count) {
        ck_assert_uint_eq(image.files[0].number, first);
        ck_assert_uint_eq(image.files[count - 1].number, last);
    }
    free((void *)image.files);
}

START_TEST(images_are_the_files_that_are_there)
{
    static const char *const names[] = {"a.png",       "wood.1001.png", "wood.1011.png", "wood.1012.png", "w_u1_v1.png",
                                        "w_u1_v2.png", "f007.png",      "f012.png",      "f123.png",      "f1234.png",
                                        "g012.png",    "f01x.png",      "f012.jpg"};
    txm_scene *b = new_blend();
    const txm_image packed = {.is_packed = true};
    batch_enter();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        batch_file(names[i], "12345");
    batch_folder("folder.png");
    txm_scene_image one = expanded(b, TXM_SCENE_SOURCE_FILE, "a.png", NULL);
    ck_assert(one.files[0].exists && one.files[0].bytes == 5);
    check_files(one, TXM_SCENE_STATE_READY, 1, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "b.png", NULL), TXM_SCENE_STATE_MISSING, 1, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "a.png/b.png", NULL), TXM_SCENE_STATE_MISSING, 1, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "folder.png", NULL), TXM_SCENE_STATE_READY, 1, 0,
                0); /* opening it says what it is */
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "", NULL), TXM_SCENE_STATE_NO_PATH, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "a.png", &packed), TXM_SCENE_STATE_PACKED, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_MOVIE, "a.png", NULL), TXM_SCENE_STATE_NO_FILE, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_TILED, "wood.<UDIM>.png", NULL), TXM_SCENE_STATE_READY, 2, 1001, 1011);
    check_files(expanded(b, TXM_SCENE_SOURCE_TILED, "w_<UVTILE>.png", NULL), TXM_SCENE_STATE_READY, 2, 1001, 1011);
    check_files(expanded(b, TXM_SCENE_SOURCE_TILED, "none.<UDIM>.png", NULL), TXM_SCENE_STATE_MISSING, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_TILED, "a.png", NULL), TXM_SCENE_STATE_READY, 1, 1001, 1001);
    char *frame = txm_path_absolute("f012.png");
    check_files(expanded(b, TXM_SCENE_SOURCE_SEQUENCE, frame, NULL), TXM_SCENE_STATE_READY, 3, 7, 123);
    free(frame);
    check_files(expanded(b, TXM_SCENE_SOURCE_SEQUENCE, "a.png", NULL), TXM_SCENE_STATE_READY, 1, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_SEQUENCE, "gone/f001.png", NULL), TXM_SCENE_STATE_MISSING, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_SEQUENCE, "f1234567890.png", NULL), TXM_SCENE_STATE_MISSING, 0, 0, 0);
    batch_leave();
    /* There is no memory for a path. */
    txm_store_free(&b->store);
    b->store.limit_bytes = 10;
    txm_scene_image out = {.source = TXM_SCENE_SOURCE_FILE, .path = "a.png"};
    txm_error err = {0};
    b->files.data = calloc(1, sizeof *b->files.data);
    b->files.data[0].path = "scene.blend";
    b->files.count = 1;
    ck_assert_int_ne(txm_scene_expand(b, &(txm_image){0}, &out, &err), TXM_OK);
    ck_assert_ptr_nonnull(strstr(err.message, "scene.blend"));
    ck_assert_ptr_null(txm_scene_path(b, "//a", "/s"));
    txm_scene_close(&b);
}
END_TEST

START_TEST(paths_are_absolute_and_normal)
{
    txm_scene *b = new_blend();
    ck_assert_str_eq(txm_scene_path(b, "//a/../b.png", "/s/t"), "/s/t/b.png");
    ck_assert_str_eq(txm_scene_path(b, "//..\\b.png", "/s/t"), "/s/b.png");
    /* Paths of Windows, as Blender resolves them on Linux. */
    char *server = txm_path_absolute("\\\\server/share/a.png"), *device = txm_path_absolute("\\\\?\\C:/a.png");
    ck_assert_str_eq(txm_scene_path(b, "P:\\tex\\a.png", "/s"), "/p/tex/a.png");
    ck_assert_str_eq(txm_scene_path(b, "P:/tex/../a.png", "/s"), "/p/a.png");
    ck_assert_str_eq(txm_scene_path(b, "z:\\\\a.png", "/s"), "/z/a.png");
    ck_assert_str_eq(txm_scene_path(b, "/Q:/a.png", "/s"), "/Q:/a.png");
    ck_assert_str_eq(txm_scene_path(b, "\\root\\a.png", "/s"), "/root/a.png");
    ck_assert_str_eq(txm_scene_path(b, "\\\\server\\share\\a.png", "/s"), server);
    ck_assert_str_eq(txm_scene_path(b, "\\\\?\\C:\\a.png", "/s"), device);
    free(server);
    free(device);
    /* A map counts for whole components, and the first one that applies. */
    static const txm_path_map maps[] = {{"P:\\job\\", "/mnt/job"},
                                        {"p:", "/mnt/p/"},
                                        {"//Server/share", "/mnt/my share"},
                                        {"/Volumes/tex", "/mnt/tex"}};
    static const char *const mapped[][2] = {{"P:/JOB/a.png", "/mnt/job/a.png"},
                                            {"P:\\jobs\\a.png", "/mnt/p/jobs/a.png"},
                                            {"P:\\job", "/mnt/job"},
                                            {"\\\\SERVER\\Share\\x\\..\\a.png", "/mnt/my share/a.png"},
                                            {"//server/share/a.png", "/s/server/share/a.png"},
                                            {"/Volumes/tex/a.png", "/mnt/tex/a.png"},
                                            {"/volumes/tex/a.png", "/volumes/tex/a.png"},
                                            {"/Volumes/textures/a.png", "/Volumes/textures/a.png"},
                                            {"Q:\\a.png", "/q/a.png"}};
    b->maps = maps;
    b->map_count = sizeof maps / sizeof *maps;
    for (size_t k = 0; k < sizeof mapped / sizeof *mapped; k++)
        ck_assert_str_eq(txm_scene_path(b, mapped[k][0], "/s"), mapped[k][1]);
    b->maps = NULL;
    b->map_count = 0;
    ck_assert_str_eq(txm_scene_path(b, "/x//y/./z", "/s"), "/x/y/z");
    ck_assert_str_eq(txm_scene_path(b, "//", "/s"), "/s");
    /* Packed data-blocks are relative to their library, which may leave its path to its parent. */
    txm_id ids[] = {{.address = 16, .name = "LIarchive", .own_library = 0},
                    {.address = 32, .name = "LIparent", .own_library = 1},
                    {.address = 48, .name = "IMa", .library = 16, .own_library = TXM_NO_INDEX}};
    txm_library libraries[] = {{.path = "", .archive_parent = 32}, {.path = "//lib/far.blend"}};
    uint32_t order[] = {0, 1, 2};
    txm_scene_file file = {.path = "/s/scene.blend", .folder = "/s"};
    file.model.ids.data = ids;
    file.model.ids.count = 3;
    file.model.by_address = order;
    file.model.libraries.data = libraries;
    file.model.libraries.count = 2;
    ck_assert_str_eq(txm_scene_folder_of(b, &file, &ids[2]), "/s/lib");
    libraries[0].path = "//other/near.blend";
    ck_assert_str_eq(txm_scene_folder_of(b, &file, &ids[2]), "/s/other");
    ids[2].library = 99; /* its library does not exist */
    ck_assert_str_eq(txm_scene_folder_of(b, &file, &ids[2]), "/s");
    ids[2].library = 0;
    ck_assert_str_eq(txm_scene_folder_of(b, &file, &ids[2]), "/s");
    txm_scene_close(&b);
}
END_TEST

/* ---- zstd -------------------------------------------------------------------------------------------------------- */

/* Decodes these bytes, reads everything from a place on, and compares it. */
static void pull_from(const uint8_t *packed, size_t packed_bytes, const uint8_t *data, size_t bytes, bool has_table)
{
    txm_stream_input input = {.fd = memfd_create("zstd", MFD_CLOEXEC), .name = "zstd", .file_bytes = packed_bytes};
    void *z = NULL;
    uint64_t size = 0, landed, at = 0;
    uint8_t chunk[777];
    ck_assert_int_eq(write(input.fd, packed, packed_bytes), (ssize_t)packed_bytes);
    ck_assert_int_eq(txm_stream_zstd.open(&input, &z, NULL), TXM_OK);
    ck_assert_int_eq(txm_stream_zstd.size(z, &input, &size), has_table);
    ck_assert_uint_eq(size, has_table ? bytes : 0);
    const uint64_t places[] = {0, 5000, bytes - 1, 4999, 1, 0, bytes + 100};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        ck_assert_int_eq(txm_stream_zstd.jump(z, &input, at, places[i], &landed, NULL), TXM_OK);
        ck_assert_uint_le(landed, places[i]);
        ck_assert(!has_table || places[i] - landed < 1000 || places[i] > bytes || landed == at);
        for (at = landed; at < bytes;) {
            size_t got;
            ck_assert_int_eq(txm_stream_zstd.pull(z, &input, chunk, sizeof chunk, &got, NULL), TXM_OK);
            ck_assert_uint_gt(got, 0);
            ck_assert_mem_eq(chunk, data + at, got);
            at += got;
            if (places[i] < bytes && at > places[i])
                break;
        }
    }
    txm_stream_zstd.close(z);
    close(input.fd);
}

START_TEST(zstd_jumps_by_its_table)
{
    enum { BYTES = 20000, FRAME_BYTES = 1000 };
    uint8_t *data = malloc(BYTES);
    size_t n;
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * i >> 7 ^ i);
    uint8_t *packed = scene_zstd(data, BYTES, FRAME_BYTES, true, &n);
    pull_from(packed, n, data, BYTES, true);
    /* A wrong seek table makes jumps slow, but never gives a wrong byte. */
    enum { FOOTER = 9, ENTRY = 8 };
    static const struct {
        size_t from_end;
        uint8_t value;
    } lies[] = {{FOOTER, 19}, {FOOTER - 3, 255}, {1, 0}, {FOOTER + ENTRY, 1}, {FOOTER + 20 * ENTRY + 8, 0}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        uint8_t *at = &packed[n - lies[i].from_end], honest = *at;
        *at = lies[i].value;
        if (i != 4) { /* that frame is the head of the table's own frame */
            pull_from(packed, n, data, BYTES, false);
        }
        *at = honest;
    }
    free(packed);
    packed = scene_zstd(data, BYTES, FRAME_BYTES, false, &n);
    pull_from(packed, n, data, BYTES, false);
    /* The stream is cut short, and damaged. */
    txm_stream_input input = {.fd = memfd_create("zstd", MFD_CLOEXEC), .name = "cut.blend", .file_bytes = n - 5};
    txm_error err = {0};
    void *z = NULL;
    size_t got;
    txm_status status = TXM_OK;
    ck_assert_int_eq(write(input.fd, packed, n - 5), (ssize_t)n - 5);
    ck_assert_int_eq(txm_stream_zstd.open(&input, &z, NULL), TXM_OK);
    do
        status = txm_stream_zstd.pull(z, &input, data, BYTES, &got, &err);
    while (status == TXM_OK && got);
    ck_assert_int_eq(status, TXM_STATUS_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "cut.blend"));
    txm_stream_zstd.close(z);
    close(input.fd);
    free(packed);
    free(data);
}
END_TEST

/* ---- formats ---------------------------------------------------------------------------------------------------- */

START_TEST(names_have_formats)
{
    static const char *const names[][2] = {
        {"a.blend", "blend"}, {"b/a.BLEND", "blend"}, {"a.xml", "cycles-xml"}, {"a.usd", "usd"},     {"a.usda", "usd"},
        {"a.b.USDZ", "usd"},  {"a.mtlx", "usd"},      {"a.blend1", NULL},      {"blend", NULL},      {".blend", NULL},
        {"a.", NULL},         {"a.usdx", NULL},       {"usd.d/a", NULL},       {"a.usd usda", NULL}, {"", NULL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const txm_scene_format *f = txm_scene_format_of(names[i][0]);
        ck_assert_msg(names[i][1] ? f && !strcmp(f->id, names[i][1]) : !f, "%s", names[i][0]);
    }
    ck_assert_ptr_null(txm_scene_format_of(NULL));
    ck_assert_ptr_null(txm_scene_reader_of("abc"));
    size_t count = 0;
    for (; txm_scene_format_at(count); count++) {
        const txm_scene_format *f = txm_scene_format_at(count);
        ck_assert_ptr_eq(&txm_scene_reader_of(f->id)->shown, f);
        ck_assert(*f->noun && *f->extensions && txm_scene_reader_of(f->id)->read);
    }
    ck_assert_uint_eq(count, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of blend");
    TCase *t = add_case(suite, "files");
    add_tests(t, names_have_formats, stores_keep_to_their_bound, hostile_lists_end, trees_keep_what_is_asked_for,
              digests_without_room_fail);
    tcase_add_loop_test(t, fields_read_the_same_in_any_layout, 0, LAYOUTS);
    tcase_add_loop_test(t, images_are_digested_as_stored, 0, LAYOUTS);
    tcase_add_loop_test(t, scans_fill_a_model_or_leave_it_zero, 0, LAYOUTS);
    add_tests(t, zstd_jumps_by_its_table);
    t = add_case(suite, "scenes");
    add_tests(t, stages_follow_each_other, libraries_need_not_be_there, findings_need_links);
    t = add_case(suite, "images");
    add_tests(t, settings_mean_what_the_version_says, colour_spaces_are_the_configs,
              images_are_the_files_that_are_there, paths_are_absolute_and_normal);
    return run_suite(suite);
}
