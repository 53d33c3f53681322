/* SPDX-License-Identifier: Apache-2.0
 * Parts of src/base and src/tile/terms that are otherwise reached only through larger ones. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/content.h"
#include "base/fail.h"
#include "base/os/library.h"
#include "base/os/plugin.h"
#include "base/path.h"
#include "base/shell.h"
#include "base/text_file.h"
#include "tile/terms/file_map.h"
#include "util_batch.h"
#include "util_check.h"
#include "util_tx.h"

TEST(names_in_commands_are_quoted)
{
    static const char *const words[][3] = {
        {"a/b-1.png", "a/b-1.png", "a/b-1.png"},
        {"-c.png", "-c.png", "./-c.png"},
        {"- c", "\"- c\"", "\"./- c\""},
        {"", "\"\"", "\"\""},
        {"it's", "\"it's\"", "\"it's\""},
        {"$5's", "'$5'\\''s'", "'$5'\\''s'"},
        {"\xC3\xA9", "\"\xC3\xA9\"", "\"\xC3\xA9\""},
        {"a\n\xFF'\\\xC2\x85", "$'a\\012\\377\\'\\\\\\302\\205'", "$'a\\012\\377\\'\\\\\\302\\205'"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        FREED char *word = txm_shell_word(words[i][0]), *path = txm_shell_path(words[i][0]);
        ck_assert_str_eq(word, words[i][1]);
        ck_assert_str_eq(path, words[i][2]);
    }
}

static void *stop_soon(void *flag)
{
    usleep(50000);
    __atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* A FIFO without a writer must not block the open, and a read must end when it is cancelled. */
TEST(a_silent_pipe_can_be_left)
{
    static volatile int cancel;
    char line[64];
    pthread_t thread;
    batch_enter();
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    FILE *f = txm_text_file_open("pipe", &cancel);
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(pthread_create(&thread, NULL, stop_soon, (void *)(uintptr_t)&cancel), 0);
    ck_assert_ptr_null(fgets(line, sizeof line, f));
    ck_assert_int_eq(errno, ECANCELED);
    pthread_join(thread, NULL);
    fclose(f);
    batch_leave();
}

/* ---- maps -------------------------------------------------------------------------------------------------------- */

TEST(maps_know_what_they_hold)
{
    txm_map map = {0};
    batch_enter();
    batch_file("data", "0123456789");
    int fd = open("data", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(txm_map_open(&map, fd, 10), 0);
    close(fd);
    ck_assert_mem_eq(map.data, "0123456789", 10);
    ck_assert(txm_map_holds(&map, 0, 10) && txm_map_holds(&map, 10, 0));
    ck_assert(!txm_map_holds(&map, 1, 10) && !txm_map_holds(&map, 11, 0) && !txm_map_holds(&map, UINT64_MAX, 2));
    /* A fault at an address outside of all maps is not ours to catch. */
    ck_assert(!txm_map_catch(&fd));
    ck_assert(!txm_map_lost(&map));
    ck_assert(txm_map_catch((void *)(uintptr_t)map.data));
    ck_assert(txm_map_lost(&map));
    ck_assert_int_eq(map.data[0], 0);
    txm_map_close(&map);
    txm_map_close(&map);
    batch_leave();
}

/* Where the kernel allows no more maps, files are copied. Places are found and used again. */
TEST(there_may_be_more_files_than_maps)
{
    enum { MOST = 200000 };
    txm_map *maps = calloc(MOST, sizeof *maps);
    uint32_t count = 0, copies = 0;
    batch_enter();
    batch_file("data", "0123456789");
    int fd = open("data", O_RDONLY | O_CLOEXEC);
    for (; count < MOST && copies < 3; count++) {
        ck_assert_int_eq(txm_map_open(&maps[count], fd, 10), 0);
        copies += maps[count].copy != NULL;
    }
    close(fd);
    for (uint32_t i = 0; i<count; i += i> 8 && i + 8 < count ? count / 8 : 1) {
        ck_assert_mem_eq(maps[i].data, "0123456789", 10);
        ck_assert(txm_map_is_whole(&maps[i]));
        ck_assert_int_eq(txm_map_catch((void *)(uintptr_t)maps[i].data), !maps[i].copy);
    }
    for (uint32_t i = 0; i < count; i++)
        txm_map_close(&maps[i]);
    batch_leave();
    free(maps);
    if (!copies)
        printf("note this kernel allows more than %d maps\n", MOST);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static bool is_found(const char *file)
{
    FREED char *looked_in = NULL, *path = txm_plugin_path(file, &looked_in);
    const bool found = path;
    ck_assert(found == !looked_in);
    ck_assert(found || strstr(looked_in, "belongs to another user") || strstr(looked_in, "is neither in"));
    return found;
}

/* Beside this program: files and folders that others own or can replace are passed over. */
TEST(modules_of_others_are_passed_over)
{
    static const struct {
        uid_t owner;
        mode_t mode;
        bool used;
    } cases[] = {{0, 0755, true}, {0, 0775, true}, {0, 0777, false}, {0, 01777, true}, {65534, 0755, false}};
    char program[PATH_MAX], folder[PATH_MAX + 8], target[PATH_MAX];
    ck_assert(txm_program_path(program));
    *strrchr(program, '/') = 0;
    snprintf(folder, sizeof folder, "%s/../lib", program);
    FREED char *made = txm_path_join(folder, "txmill"), *file = txm_path_join(made, "of-others.so");
    ck_assert_int_eq(txm_folders_make(made, NULL), TXM_OK);
    FILE *f = fopen(file, "w");
    ck_assert_ptr_nonnull(f);
    fclose(f);
    snprintf(target, sizeof target, "%s/linked.so", made);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].owner && geteuid() != 0)
            continue;
        ck_assert_int_eq(chmod(made, cases[i].mode), 0);
        ck_assert(geteuid() != 0 || chown(made, cases[i].owner, (gid_t)-1) == 0);
        ck_assert_msg(is_found("of-others.so") == cases[i].used, "folder %zu", i);
        ck_assert(geteuid() != 0 || chown(made, 0, (gid_t)-1) == 0);
        ck_assert_int_eq(chmod(made, 0755), 0);
    }
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(file, 65534, (gid_t)-1), 0);
        ck_assert(!is_found("of-others.so"));
        ck_assert_int_eq(setenv("SUDO_UID", "65534", 1), 0);
        ck_assert(is_found("of-others.so"));
        unsetenv("SUDO_UID");
        ck_assert_int_eq(chown(file, 0, (gid_t)-1), 0);
        ck_assert_int_eq(symlink("of-others.so", target), 0);
        ck_assert(is_found("linked.so"));
        ck_assert_int_eq(lchown(target, 65534, (gid_t)-1), 0);
        ck_assert(!is_found("linked.so"));
        unlink(target);
    }
    ck_assert(!is_found("none.so"));
    unlink(file);
    rmdir(made);
    rmdir(folder);
}

/* Keys are those of xxhsum -H2. A key from a file may be anything. */
TEST(content_has_a_key)
{
    char key[TXM_CONTENT_KEY_BYTES], *path = strdup(temp_file("content"));
    FILE *f = fopen(path, "w");
    for (int i = 0; i < 300000; i++)
        fputc(i * 7 & 255, f);
    fclose(f);
    ck_assert(!txm_content_key(path, NULL, key, NULL));
    ck_assert_str_eq(key, "300000:4af1e63c1a6a3df12c9f5a6f6e250a6b");
    uint64_t bytes = 0;
    ck_assert(txm_content_key_parse(key, &bytes) && bytes == 300000);
    static const char *const none[] = {"",
                                       ":",
                                       "1:",
                                       "x:00000000000000000000000000000000",
                                       "1:0000000000000000000000000000000g",
                                       "1:000000000000000000000000000000001",
                                       "99999999999999999999:00000000000000000000000000000000",
                                       "-1:00000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert(!txm_content_key_parse(none[i], &bytes));
    ck_assert(!txm_content_key_parse(NULL, &bytes));
    static const struct {
        uint64_t bytes;
        const char *key;
        bool whole, same;
    } cases[] = {{300000, NULL, false, true},
                 {300000, NULL, true, true},
                 {299999, NULL, false, false},
                 {300000, "300000:00000000000000000000000000000000", false, true},
                 {300000, "300000:00000000000000000000000000000000", true, false},
                 {300000, "nonsense", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool same = !cases[i].same;
        ck_assert(!txm_content_compare(path, cases[i].bytes, cases[i].key ? cases[i].key : key, cases[i].whole, NULL,
                                       &same, NULL));
        ck_assert_int_eq(same, cases[i].same);
    }
    volatile int cancel = 1;
    ck_assert_int_eq(txm_content_key(path, &cancel, key, NULL), TXM_STATUS_CANCELLED);
    ck_assert_int_eq(txm_content_key(temp_file("no such"), NULL, key, NULL), TXM_STATUS_NOT_FOUND);
    free(path);
}
