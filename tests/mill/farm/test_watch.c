/* SPDX-License-Identifier: Apache-2.0
 * Watching folders: which files are reported, which are not, and when everything is examined instead. */
#include <sys/stat.h>

#include "txmill/watch.h"
#include "util_batch.h"
#include "util_check.h"

static volatile int cancel;

static txm_watch *start(const char *const *folders, size_t count, double settle_s)
{
    const txm_watch_options options = {
        .struct_size = sizeof(txm_watch_options), .settle_s = settle_s, .cancel = &cancel};
    txm_watch *w = NULL;
    txm_watch_work what;
    txm_error err = {0};
    ck_assert_msg(txm_watch_new(folders, count, &options, &w, &err) == TXM_OK, "%s", err.message);
    /* Files that were there before. */
    ck_assert_int_eq(txm_watch_wait(w, 0, &what, NULL), TXM_OK);
    ck_assert_int_eq(what, TXM_WATCH_WORK_EVERYTHING);
    return w;
}

#define START(settle_s, ...)                                                                                           \
    start((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), settle_s)

/* Waits for `count` files and returns how often `name` is among them. */
static size_t expect(txm_watch *w, size_t count, const char *name)
{
    size_t seen = 0, found = 0;
    while (seen < count) {
        txm_watch_work what;
        size_t n;
        ck_assert_int_eq(txm_watch_wait(w, 60, &what, NULL), TXM_OK);
        ck_assert_int_eq(what, TXM_WATCH_WORK_FILES);
        char *const *files = txm_watch_files(w, &n);
        for (size_t i = 0; i < n; i++)
            found += strcmp(files[i], name) == 0;
        seen += n;
    }
    ck_assert_uint_eq(seen, count);
    return found;
}

static void expect_nothing(txm_watch *w)
{
    txm_watch_work what;
    ck_assert_int_eq(txm_watch_wait(w, 0, &what, NULL), TXM_OK);
    ck_assert_int_eq(what, TXM_WATCH_WORK_NOTHING);
}

TEST(test_files)
{
    batch_enter();
    batch_folder("a");
    batch_folder("b");
    txm_watch *w = START(0, "a", "b/");
    ck_assert_uint_eq(txm_watch_folders(w), 2);
    expect_nothing(w);
    batch_file("a/1.png", "x");
    ck_assert_uint_eq(expect(w, 1, "a/1.png"), 1);
    batch_file("b/2.png", "x");
    ck_assert_uint_eq(expect(w, 1, "b/2.png"), 1);
    /* Files that are not images, hidden, made by txmill, or removed again are not reported. */
    batch_file("a/text.txt", "x");
    batch_file("a/.hidden.png", "x");
    batch_file("a/x.tx", "x");
    batch_folder("a/blender_tx");
    batch_file("a/blender_tx/y.png", "x");
    batch_file("a/gone.png", "x");
    ck_assert_int_eq(unlink("a/gone.png"), 0);
    expect_nothing(w);
    ck_assert_uint_eq(txm_watch_folders(w), 2);
    txm_watch_free(&w);
    ck_assert_ptr_null(w);
    txm_watch_free(&w);
    batch_leave();
}

TEST(test_folders)
{
    batch_enter();
    batch_folder("a");
    batch_folder("new");
    batch_folder("new/sub");
    batch_file("new/sub/1.png", "x");
    /* A link that leads back is not followed. */
    ck_assert_int_eq(symlink("..", "new/sub/up"), 0);
    txm_watch *w = START(0, "a");
    ck_assert_int_eq(rename("new", "a/new"), 0);
    ck_assert_uint_eq(expect(w, 1, "a/new/sub/1.png"), 1);
    ck_assert_uint_eq(txm_watch_folders(w), 3);
    ck_assert_int_eq(rename("a/new", "a/other"), 0);
    batch_file("a/other/sub/2.png", "x");
    ck_assert_uint_eq(expect(w, 2, "a/other/sub/2.png"), 1);
    ck_assert_uint_eq(txm_watch_folders(w), 3);
    ck_assert_int_eq(rename("a/other", "away"), 0);
    batch_file("away/3.png", "x");
    expect_nothing(w);
    ck_assert_uint_eq(txm_watch_folders(w), 1);
    txm_watch_free(&w);
    batch_leave();
}

/* Whichever of a folder's names is found first: when one goes, changes are reported under the other. */
TEST(test_two_names)
{
    static const char *const links[] = {"a/b_link", "a/0_link"};
    batch_enter();
    for (size_t i = 0; i < 2; i++) {
        batch_folder("a");
        batch_folder("a/b");
        batch_folder("a/b/sub");
        ck_assert_int_eq(symlink("b", links[i]), 0);
        txm_watch *w = START(0, "a");
        ck_assert_uint_eq(txm_watch_folders(w), 3);
        ck_assert_int_eq(unlink(links[i]), 0);
        batch_file("a/b/sub/1.png", "x");
        ck_assert_uint_eq(expect(w, 1, "a/b/sub/1.png"), 1);
        ck_assert_uint_eq(txm_watch_folders(w), 3);
        /* A link that appears is followed, and one that leads elsewhere is followed there. */
        batch_folder("far");
        ck_assert_int_eq(symlink("../far", links[i]), 0);
        expect_nothing(w);
        batch_folder("near");
        ck_assert_int_eq(symlink("../near", "a/new"), 0);
        expect_nothing(w);
        ck_assert_int_eq(rename("a/new", links[i]), 0);
        expect_nothing(w);
        batch_file("far/2.png", "x");
        expect_nothing(w);
        batch_file("near/3.png", "x");
        char near[32];
        snprintf(near, sizeof near, "%s/3.png", links[i]);
        ck_assert_uint_eq(expect(w, 1, near), 1);
        txm_watch_free(&w);
        ck_assert_int_eq(system("rm -r a far near"), 0);
    }
    batch_leave();
}

/* The file must not be reported before it has settled; no machine is so slow that an hour passes. */
TEST(test_settles)
{
    batch_enter();
    batch_folder("a");
    txm_watch *w = START(3600, "a");
    batch_file("a/1.png", "x");
    expect_nothing(w);
    txm_watch_free(&w);
    batch_leave();
}

/* More changes than are remembered. */
TEST(test_bounded)
{
    batch_enter();
    batch_folder("a");
    txm_watch *w = START(0, "a");
    batch_file("source", "x");
    for (int i = 0; i <= TXM_WATCH_MOST_PENDING; i++) {
        char path[32];
        snprintf(path, sizeof path, "a/%d.png", i);
        ck_assert_int_eq(link("source", path), 0);
    }
    txm_watch_work what;
    ck_assert_int_eq(txm_watch_wait(w, 60, &what, NULL), TXM_OK);
    ck_assert_int_eq(what, TXM_WATCH_WORK_EVERYTHING);
    /* Changes that came meanwhile are examined as well, and then there are none left. */
    do
        ck_assert_int_eq(txm_watch_wait(w, 0, &what, NULL), TXM_OK);
    while (what != TXM_WATCH_WORK_NOTHING);
    batch_file("a/after.png", "x");
    ck_assert_uint_eq(expect(w, 1, "a/after.png"), 1);
    txm_watch_free(&w);
    batch_leave();
}

TEST(test_again)
{
    batch_enter();
    batch_folder("a");
    batch_file("a/1.png", "x");
    txm_watch_work what;
    txm_watch *w = START(0, "a");
    ck_assert_int_eq(txm_watch_again(w, "a/1.png", 0, NULL), TXM_OK);
    ck_assert_int_eq(txm_watch_again(w, "a/1.png", 0, NULL), TXM_OK);
    ck_assert_uint_eq(expect(w, 1, "a/1.png"), 1);
    ck_assert_int_eq(txm_watch_again(w, "a/1.png", 3600, NULL), TXM_OK);
    expect_nothing(w);
    ck_assert_int_eq(txm_watch_again(w, NULL, 0, NULL), TXM_OK);
    ck_assert_int_eq(txm_watch_wait(w, 60, &what, NULL), TXM_OK);
    ck_assert_int_eq(what, TXM_WATCH_WORK_EVERYTHING);
    txm_watch_free(&w);
    batch_leave();
}

TEST(test_folder_vanishes)
{
    batch_enter();
    batch_folder("a");
    txm_watch_work what;
    txm_watch *w = START(0, "a");
    ck_assert_int_eq(rmdir("a"), 0);
    expect_nothing(w);
    ck_assert(!txm_watch_is_there(w, 0));
    ck_assert(!txm_watch_is_there(w, 1));
    batch_folder("a");
    batch_file("a/1.png", "x");
    ck_assert_int_eq(txm_watch_wait(w, 60, &what, NULL), TXM_OK);
    ck_assert_int_eq(what, TXM_WATCH_WORK_EVERYTHING);
    ck_assert(txm_watch_is_there(w, 0));
    batch_file("a/2.png", "x");
    ck_assert_uint_eq(expect(w, 1, "a/2.png"), 1);
    /* The file was removed and made again before anybody looked. */
    ck_assert_int_eq(unlink("a/1.png") || unlink("a/2.png") || rmdir("a"), 0);
    batch_folder("a");
    ck_assert_int_eq(txm_watch_wait(w, 60, &what, NULL), TXM_OK);
    ck_assert_int_eq(what, TXM_WATCH_WORK_EVERYTHING);
    batch_file("a/3.png", "x");
    ck_assert_uint_eq(expect(w, 1, "a/3.png"), 1);
    txm_watch_free(&w);
    batch_leave();
}

TEST(test_refusals)
{
    batch_enter();
    const txm_watch_options options = {.struct_size = sizeof(txm_watch_options), .cancel = &cancel};
    const char *const missing[] = {"missing"}, *const file[] = {"file"}, *const folder[] = {"."};
    txm_watch *w = NULL;
    txm_watch_work what;
    txm_error err = {0};
    batch_file("file", "x");
    ck_assert_int_eq(txm_watch_new(missing, 1, &options, &w, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "missing"));
    ck_assert_int_ne(txm_watch_new(file, 1, &options, &w, NULL), TXM_OK);
    ck_assert_int_eq(txm_watch_new(folder, 1, &options, &w, NULL), TXM_OK);
    cancel = 1;
    ck_assert_int_eq(txm_watch_wait(w, 60, &what, NULL), TXM_STATUS_CANCELLED);
    cancel = 0;
    txm_watch_free(&w);
    batch_leave();
}
