/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of scenes that are easier to reach than through whole files: what settings mean in a file's version, files on
 * disk, stored paths, zstd streams and the names of scenes. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/path.h"
#include "mill/scene/blend/blend.h"
#include "mill/scene/blend/digest.h"
#include "util_batch.h"
#include "util_blend.h"
#include "util_check.h"

/* ---- store ------------------------------------------------------------------------------------------------------- */

TEST(stores_keep_to_their_bound)
{
    txm_store store = {.limit_bytes = 200 << 10};
    const char *first = txm_store_string(&store, "abcdef", 3);
    ck_assert_str_eq(first, "abc");
    FREED char *large = malloc(150 << 10);
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
}

/* However many blocks a data-block claims to have, it takes no more memory than the largest real ones. */
TEST(data_blocks_keep_to_their_bound)
{
    const txm_block block = {.code = "DATA", .address = 16, .bytes = TXM_RUN_MAX_BLOCK_BYTES};
    FREED uint8_t *payload = calloc(1, TXM_RUN_MAX_BLOCK_BYTES);
    SCOPED(txm_run_free) txm_run run = {0};
    size_t added = 0;
    txm_run_reset(&run);
    while (txm_run_add(&run, &block, TXM_KIND_NODE, payload, TXM_RUN_MAX_BLOCK_BYTES))
        added++;
    ck_assert_uint_eq(added, TXM_RUN_MAX_BYTES / TXM_RUN_MAX_BLOCK_BYTES);
    ck_assert(run.budget.over_limit);
}

static txm_scene *new_scene(void)
{
    txm_scene *scene = calloc(1, sizeof *scene);
    scene->store.limit_bytes = TXM_SCENE_STORE_BYTES;
    scene->blend = calloc(1, sizeof *scene->blend);
    return scene;
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static const uint32_t three_tiles[] = {1001, 1002, 1011};

/* Resolves one image of a file of this version. */
static txm_scene_image settled(txm_scene *scene, int version, int subversion, txm_image image)
{
    static txm_id id = {.name = "IMa", .image = TXM_NO_INDEX, .own_library = TXM_NO_INDEX};
    txm_blend_file file = {.path = "/s/scene.blend", .folder = "/s", .library = TXM_NO_INDEX, .inside = TXM_NO_INDEX};
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
    ck_assert_msg(txm_blend_settle(scene, &file, &image, &out, &err) == TXM_OK, "%s", err.message);
    return out;
}

TEST(settings_mean_what_the_version_says)
{
    static const char *const paths[][2] = {{"//tex/wood.1001.v2.png", "/s/tex/wood.<UDIM>.v2.png"},
                                           {"//1001/wood_1002-a_1013.png", "/s/1001/wood_1002-a_<UDIM>.png"},
                                           {"//wood_u1_v1.png", "/s/wood_<UVTILE>.png"},
                                           {"//wood3001.png", "/s/wood3001.png"},
                                           {"//<UDIM>.1001.png", "/s/<UDIM>.1001.png"},
                                           {"//tex\\wood\\..\\a.png", "/s/tex/a.png"},
                                           {"", ""}};
    SCOPED(txm_scene_close) txm_scene *b = new_scene();
    txm_image i = {.source = 6, .has_tile_list = true, .tiles = {0, 3}};
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        i.path = paths[k][0];
        ck_assert_str_eq(settled(b, 301, 5, i).path, paths[k][1]);
    }
    static const txm_alpha modes[] = {TXM_ALPHA_DEFAULT,        TXM_ALPHA_STRAIGHT, TXM_ALPHA_PREMULTIPLIED,
                                      TXM_ALPHA_CHANNEL_PACKED, TXM_ALPHA_NONE,     TXM_ALPHA_DEFAULT};
    for (int mode = -1; mode <= 4; mode++)
        ck_assert_int_eq(settled(b, 304, 0, (txm_image){.alpha_mode = mode, .ignore_alpha = true}).alpha,
                         modes[mode + 1]);
}

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

TEST(colour_spaces_are_the_configs)
{
    SCOPED(txm_scene_close) txm_scene *b = new_scene();
    ck_assert(txm_scene_is_data(b, "Raw") && !txm_scene_is_data(b, "sRGB") && !txm_scene_is_data(b, ""));
    txm_scene_image out = settled(b, 304, 0, (txm_image){.colorspace = ""});
    ck_assert(out.colorspace_known && !out.colorspace_name && !out.data);
    ck_assert_str_eq(out.colorspace, "=");
    b->options.colors = (txm_scene_colors){NULL, only_known, raw_is_data};
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
}

/* ---- files on disk ----------------------------------------------------------------------------------------------- */

static txm_scene_image expanded(txm_scene *b, txm_scene_source source, const char *path, bool packed)
{
    txm_scene_image out = {.source = source, .path = path, .tiles = three_tiles, .tile_count = 3};
    txm_error err = {0};
    ck_assert_msg(txm_scene_expand(b, packed, &out, &err) == TXM_OK, "%s", err.message);
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

TEST(images_are_the_files_that_are_there)
{
    static const char *const names[] = {"a.png",       "wood.1001.png", "wood.1011.png", "wood.1012.png", "w_u1_v1.png",
                                        "w_u1_v2.png", "f007.png",      "f012.png",      "f123.png",      "f1234.png",
                                        "g012.png",    "f01x.png",      "f012.jpg"};
    SCOPED(txm_scene_close) txm_scene *b = new_scene();
    batch_enter();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        batch_file(names[i], "12345");
    batch_folder("folder.png");
    txm_scene_image one = expanded(b, TXM_SCENE_SOURCE_FILE, "a.png", false);
    ck_assert(one.files[0].exists && one.files[0].bytes == 5);
    check_files(one, TXM_SCENE_STATE_READY, 1, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "b.png", false), TXM_SCENE_STATE_MISSING, 1, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "a.png/b.png", false), TXM_SCENE_STATE_MISSING, 1, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "folder.png", false), TXM_SCENE_STATE_READY, 1, 0,
                0); /* opening it says what it is */
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "", false), TXM_SCENE_STATE_NO_PATH, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_FILE, "a.png", true), TXM_SCENE_STATE_PACKED, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_MOVIE, "a.png", false), TXM_SCENE_STATE_NO_FILE, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_TILED, "wood.<UDIM>.png", false), TXM_SCENE_STATE_READY, 2, 1001, 1011);
    check_files(expanded(b, TXM_SCENE_SOURCE_TILED, "w_<UVTILE>.png", false), TXM_SCENE_STATE_READY, 2, 1001, 1011);
    check_files(expanded(b, TXM_SCENE_SOURCE_TILED, "none.<UDIM>.png", false), TXM_SCENE_STATE_MISSING, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_TILED, "a.png", false), TXM_SCENE_STATE_READY, 1, 1001, 1001);
    char *frame = txm_path_absolute("f012.png");
    check_files(expanded(b, TXM_SCENE_SOURCE_SEQUENCE, frame, false), TXM_SCENE_STATE_READY, 4, 7, 1234);
    free(frame);
    check_files(expanded(b, TXM_SCENE_SOURCE_SEQUENCE, "a.png", false), TXM_SCENE_STATE_READY, 1, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_SEQUENCE, "gone/f001.png", false), TXM_SCENE_STATE_MISSING, 0, 0, 0);
    check_files(expanded(b, TXM_SCENE_SOURCE_SEQUENCE, "f1234567890.png", false), TXM_SCENE_STATE_MISSING, 0, 0, 0);
    batch_leave();
    /* There is no memory for a path. */
    txm_store_free(&b->store);
    b->store.limit_bytes = 10;
    txm_scene_image out = {.source = TXM_SCENE_SOURCE_FILE, .path = "a.png"};
    txm_error err = {0};
    b->info.path = "scene.blend";
    ck_assert_int_ne(txm_scene_expand(b, false, &out, &err), TXM_OK);
    ck_assert_ptr_nonnull(strstr(err.message, "scene.blend"));
    ck_assert_ptr_null(txm_scene_path(b, "//a", "/s"));
}

TEST(paths_are_absolute_and_normal)
{
    SCOPED(txm_scene_close) txm_scene *b = new_scene();
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
    b->options.maps = maps;
    b->options.map_count = sizeof maps / sizeof *maps;
    for (size_t k = 0; k < sizeof mapped / sizeof *mapped; k++)
        ck_assert_str_eq(txm_scene_path(b, mapped[k][0], "/s"), mapped[k][1]);
    b->options.maps = NULL;
    b->options.map_count = 0;
    ck_assert_str_eq(txm_scene_path(b, "/x//y/./z", "/s"), "/x/y/z");
    ck_assert_str_eq(txm_scene_path(b, "//", "/s"), "/s");
    /* Packed data-blocks are relative to their library, which may leave its path to its parent. */
    txm_id ids[] = {{.address = 16, .name = "LIarchive", .own_library = 0},
                    {.address = 32, .name = "LIparent", .own_library = 1},
                    {.address = 48, .name = "IMa", .library = 16, .own_library = TXM_NO_INDEX}};
    txm_library libraries[] = {{.path = "", .archive_parent = 32}, {.path = "//lib/far.blend"}};
    uint32_t order[] = {0, 1, 2};
    txm_blend_file file = {.path = "/s/scene.blend", .folder = "/s"};
    file.model.ids.data = ids;
    file.model.ids.count = 3;
    file.model.by_address = order;
    file.model.libraries.data = libraries;
    file.model.libraries.count = 2;
    static const struct {
        uint64_t library;
        const char *own, *path;
    } places[] = {{16, "", "/s/lib/a.png"},
                  {16, "//other/near.blend", "/s/other/a.png"},
                  {99, "//other/near.blend", "/s/a.png"}, /* its library does not exist */
                  {0, "//other/near.blend", "/s/a.png"}};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        txm_scene_image out = {0};
        ids[2].library = places[k].library;
        libraries[0].path = places[k].own;
        ck_assert_int_eq(
            txm_blend_settle(b, &file, &(txm_image){.id = 2, .path = "//a.png", .colorspace = ""}, &out, NULL), TXM_OK);
        ck_assert_str_eq(out.path, places[k].path);
    }
}

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

TEST(zstd_jumps_by_its_table)
{
    enum { BYTES = 20000, FRAME_BYTES = 1000 };
    FREED uint8_t *data = malloc(BYTES);
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
}

/* ---- formats ---------------------------------------------------------------------------------------------------- */

TEST(names_have_formats)
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
    size_t count = 0;
    for (const txm_scene_format *f; (f = txm_scene_format_at(count)); count++)
        ck_assert(*f->noun && *f->extensions);
    ck_assert_uint_gt(count, 0);
}
