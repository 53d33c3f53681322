/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenes that are not .blend files, from the list of their nodes to the tables; XML and USD with every allocation
 * failing once. cli_scenes_*.sh test the formats. */
#include <sys/stat.h>

#include "mill/scene/nodes.h"
#include "util_check.h"
#include "util_faults.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

static void setup(void)
{
    strcpy(folder, "/tmp/txm-scenes-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    put("a.png", "x");
    put("t.1001.png", "x");
    put("t.1011.png", "x");
    put("t.10110.png", "x");
    put("t.abcd.png", "x");
    put("s.xml", "<cycles><shader name='m'><image_texture name='n' filename='a.png' tiles='1001'/><image_texture "
                 "filename='a.png' colorspace='nobody'/></shader><include src='i.xml'/></cycles>");
    put("i.xml", "<cycles><background><environment_texture filename='a.png'/></background></cycles>");
    put("s.usda", "#usda 1.0\n");
    put("python", "#!/bin/sh\n"
                  "echo '{\"kind\": \"layer\", \"path\": \"/l\", \"there\": true}'\n"
                  "echo '{\"kind\": \"node\", \"path\": \"/x.png\", \"tiles\": [1001, 1, 1e300]}'\n"
                  "echo '{\"kind\": \"end\"}'\n");
    ck_assert_int_eq(chmod(in_folder("python"), 0755), 0);
    setenv("TXMILL_PYTHON", in_folder("python"), 1);
}

static void teardown(void)
{
    static const char *const names[] = {"a.png", "t.1001.png", "t.1011.png", "t.10110.png", "t.abcd.png",
                                        "s.xml", "i.xml",      "s.usda",     "python"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(in_folder(names[i]));
    }
    rmdir(folder);
}
FIXTURE(setup, teardown)

static const char *config_name(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "Raw") == 0 ? "Non-Color" : strcmp(name, "nobody") == 0 ? NULL : name;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static txm_image_node node_of(const char *node, const char *path, const char *space)
{
    return (txm_image_node){.node = node,
                            .owner = "m",
                            .owner_type = "material",
                            .library = "",
                            .stored_path = path,
                            .path = path,
                            .colorspace = space,
                            .alpha = TXM_ALPHA_AUTO,
                            .interpolation = "linear"};
}

TEST(nodes_of_one_lookup_are_one_image)
{
    SCOPED(txm_scene_close) txm_scene *scene = calloc(1, sizeof *scene);
    txm_node_list list = {0};
    char a[128], tiles[128];
    static const uint32_t numbers[] = {1001, 1002};
    strcpy(a, in_folder("a.png"));
    strcpy(tiles, in_folder("t.<UDIM>.png"));
    txm_image_node nodes[] = {node_of("1", a, "sRGB"),     node_of("2", a, "Raw"),   node_of("3", a, "sRGB"),
                              node_of("4", a, "nobody"),   node_of("5", a, ""),      node_of("6", tiles, "sRGB"),
                              node_of("7", tiles, "sRGB"), node_of("8", "", "sRGB"), node_of("9", "", "sRGB")};
    nodes[5].tiled = nodes[6].tiled = true;
    nodes[6].tiles = numbers;
    nodes[6].tile_count = 2;
    scene->store.limit_bytes = 1 << 20;
    scene->options.colors.canonical = config_name;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        ck_assert_int_eq(txm_nodes_add(scene, &list, &nodes[i], NULL), TXM_OK);
    ck_assert_int_eq(txm_nodes_collect(scene, &list, NULL), TXM_OK);
    free(list.entries.data);
    const struct {
        const char *users, *colorspace;
        txm_scene_state state;
        size_t files;
    } expected[] = {{"8", "sRGB", TXM_SCENE_STATE_NO_PATH, 0},   {"9", "sRGB", TXM_SCENE_STATE_NO_PATH, 0},
                    {"4", "==nobody", TXM_SCENE_STATE_READY, 1}, {"2", "Raw", TXM_SCENE_STATE_READY, 1},
                    {"5", "auto", TXM_SCENE_STATE_READY, 1},     {"13", "sRGB", TXM_SCENE_STATE_READY, 1},
                    {"6", "sRGB", TXM_SCENE_STATE_READY, 2},     {"7", "sRGB", TXM_SCENE_STATE_READY, 1}};
    ck_assert_uint_eq(txm_scene_image_count(scene), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const txm_scene_image *image = txm_scene_image_at(scene, i);
        ck_assert_str_eq(image->colorspace, expected[i].colorspace);
        ck_assert_int_eq(image->state, expected[i].state);
        ck_assert_uint_eq(image->file_count, expected[i].files);
        ck_assert_uint_eq(image->user_count, strlen(expected[i].users));
        for (size_t u = 0; u < image->user_count; u++)
            ck_assert_int_eq(image->users[u].node[0], expected[i].users[u]);
    }
    ck_assert_uint_eq(txm_scene_image_at(scene, 6)->files[1].number, 1011);
}

TEST(words_of_cycles)
{
    ck_assert_int_eq(txm_node_alpha("unassociated"), TXM_ALPHA_STRAIGHT);
    ck_assert_int_eq(txm_node_alpha("channel_packed"), TXM_ALPHA_CHANNEL_PACKED);
    /* This is txmill's word, not Cycles'. */
    ck_assert_int_eq(txm_node_alpha("straight"), TXM_ALPHA_AUTO);
    ck_assert_int_eq(txm_node_alpha(NULL), TXM_ALPHA_AUTO);
    ck_assert_int_eq(txm_node_extension("black"), TXM_EXTENSION_CLIP);
    ck_assert_int_eq(txm_node_extension("clip"), TXM_EXTENSION_REPEAT);
    ck_assert_str_eq(txm_node_interpolation("cubic"), "cubic");
    ck_assert_str_eq(txm_node_interpolation("Cubic"), "linear");
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static const char *const scenes[] = {"s.xml", "s.usda"};

/* Each allocation fails once: the scene is refused and everything is freed, or it is complete. */
TESTS(refused_memory, REFUSES_MEMORY ? 2 : 0)
{
    const char *path = in_folder(scenes[_i]);
    const txm_scene_options options = {.struct_size = sizeof options, .colors.canonical = config_name};
    for (long n = 1;; n++) {
        txm_scene *scene = NULL;
        txm_error err = {0};
        refuse_memory(n);
        txm_status status = txm_scene_open(path, &options, &scene, &err);
        size_t images = scene ? txm_scene_image_count(scene) : 0;
        txm_scene_close(&scene);
        long live = faults.live;
        if (!memory_was_refused()) {
            ck_assert_int_eq(status, TXM_OK);
            ck_assert_uint_eq(images, _i == 0 ? 3 : 1);
            ck_assert_int_gt(n, 10);
            return;
        }
        /* If there is no memory for the name of a folder, the helper is not searched there. */
        ck_assert_msg(status == TXM_STATUS_NO_MEMORY ||
                          (_i == 1 && (status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_NOT_INSTALLED)) ||
                          (status == TXM_OK && images == (_i == 0 ? 3 : 1)),
                      "%ld: %d %s", n, (int)status, err.message);
        ck_assert_msg(live == 0, "%ld: %ld left", n, live);
    }
}
