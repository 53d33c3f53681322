/* SPDX-License-Identifier: Apache-2.0
 * Names of tx files against the golden table, and publishing. test_find.c tests lookups. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/path.h"
#include "mill/write/publish.h"
#include "mill/write/seal.h"
#include "tile/name/name.h"
#include "tile/reader/blender_format.h"
#include "txmill/archive.h"
#include "txmill/out_file.h"
#include "util_check.h"

static const char xyz[] = "3.241_-1.537_-0.4986_0_-0.9692_1.876_0.04155_0_0.05563_-0.204_1.057_0";

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Names of the golden table are composed from the keys in its columns. The source's folder is made up, because a folder
 * enters only names in an absolute cache folder, and there only by its relation to the source. */
TEST(test_golden_names)
{
    const char *data = getenv("TXM_TESTDATA");
    char path[512], line[1024];
    unsigned rows = 0, absolute = 0;
    snprintf(path, sizeof path, "%s/golden/manifest.tsv", data ? data : "testdata");
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, f)) {
        char *field[5], *rest = line;
        if (line[0] == '#')
            continue;
        for (int i = 0; i < 5; i++)
            field[i] = strsep(&rest, "\t\n");
        char source[300];
        snprintf(source, sizeof source, "/any/where/src/%s", field[0]);
        bool literal_auto = !strcmp(field[1], "auto"), data_space = !strcmp(field[1], "Non-Color");
        txm_tx_key key = {.xyz_text = xyz, .colorspace = literal_auto ? "" : data_space ? "data" : field[1]};
        ck_assert(txm_alpha_parse(field[2], &key.alpha));
        const char *dir = !strcmp(field[3], "golden:cache")       ? "cache"
                          : !strcmp(field[3], "golden:abs-cache") ? "/any/where/abs-cache"
                                                                  : field[3];
        FREED char *tx = txm_tx_path(source, dir, &key);
        ck_assert_ptr_nonnull(tx);
        /* A 1x1 image is used as it is, so its row has the source's name. */
        if (strcmp(field[4], field[0]) != 0)
            ck_assert_msg(!strcmp(txm_path_base(tx), field[4]), "%s: %s, not %s", field[0], tx, field[4]);
        absolute += dir[0] == '/';
        rows++;
    }
    fclose(f);
    ck_assert_uint_eq(rows, 97);
    ck_assert_uint_eq(absolute, 2);
}

static const txm_tx_key srgb = {.xyz_text = xyz, .colorspace = "sRGB", .alpha = TXM_ALPHA_STRAIGHT};

static void expect_path(const char *source, const char *dir, const char *expected)
{
    FREED char *tx = txm_tx_path(source, dir, &srgb);
    ck_assert_str_eq(tx, expected);
}

TEST(test_places)
{
    static const char name[] = "rgb8.png.0-926BDA8569F1F2504902F06ABA51E46D.tx";
    char path[200];
    snprintf(path, sizeof path, "blender_tx/%s", name);
    expect_path("rgb8.png", NULL, path);
    expect_path("rgb8.png", "", path);
    expect_path("rgb8.png", "blender_tx", path);
    snprintf(path, sizeof path, "a/b/blender_tx/%s", name);
    expect_path("a/b/rgb8.png", NULL, path);
    snprintf(path, sizeof path, "/a/../c/cache/%s", name);
    expect_path("/a/rgb8.png", "../c/cache", path);
    snprintf(path, sizeof path, "/blender_tx/%s", name);
    expect_path("/rgb8.png", NULL, path);
    expect_path("/x/src/rgb8.png", "/x//abs-cache/.", "/x//abs-cache/./rgb8.png.0-5D2534C9EABB32D4FC4211C651A938F3.tx");
    expect_path("/x/y/../src/./rgb8.png", "/x/abs-cache",
                "/x/abs-cache/rgb8.png.0-5D2534C9EABB32D4FC4211C651A938F3.tx");
}

TEST(test_equiangular)
{
    txm_tx_key key = srgb;
    FREED char *plain = txm_tx_path("a.png", NULL, &key);
    key.equiangular = true;
    FREED char *equiangular = txm_tx_path("a.png", NULL, &key);
    ck_assert_str_ne(plain, equiangular);
}

/* The table is sorted, each row's values are consistent, and the last row is the version that is written. */
TEST(test_format_versions)
{
    const txm_blender_format *now = txm_blender_format_now(), *first = txm_blender_format_of(0);
    char begin[32];
    ck_assert_ptr_nonnull(first);
    ck_assert_str_eq(first->software, "Blender maketx v0");
    ck_assert_ptr_eq(txm_blender_format_of(now->version), now);
    ck_assert_ptr_null(txm_blender_format_of(now->version + 1));
    const txm_tx_key key = {xyz, "sRGB", TXM_ALPHA_STRAIGHT, false};
    FREED char *tx = txm_tx_path("/a/wood.png", NULL, &key);
    snprintf(begin, sizeof begin, "wood.png.%u-", now->version);
    ck_assert_ptr_eq(strstr(txm_path_base(tx), begin), txm_path_base(tx));
}

TEST(test_parse_names)
{
    static const char *const bad[] = {"",
                                      ".tx",
                                      "a.tx",
                                      "a.0-926BDA8569F1F2504902F06ABA51E46D",
                                      "a.0-926BDA8569F1F2504902F06ABA51E46.tx",
                                      "a.0-926bda8569f1f2504902f06aba51e46d.tx",
                                      "a.0_926BDA8569F1F2504902F06ABA51E46D.tx",
                                      "a0-926BDA8569F1F2504902F06ABA51E46D.tx",
                                      ".0-926BDA8569F1F2504902F06ABA51E46D.tx",
                                      "0-926BDA8569F1F2504902F06ABA51E46D.tx",
                                      "-926BDA8569F1F2504902F06ABA51E46D.tx",
                                      "a.-926BDA8569F1F2504902F06ABA51E46D.tx",
                                      "a.1234567-926BDA8569F1F2504902F06ABA51E46D.tx"};
    size_t n;
    unsigned version = 9;
    char hex[33];
    ck_assert(txm_tx_name_parse("my.0-x.png.0-926BDA8569F1F2504902F06ABA51E46D.tx", &n, &version, hex));
    ck_assert_uint_eq(n, strlen("my.0-x.png"));
    ck_assert_uint_eq(version, 0);
    ck_assert_str_eq(hex, "926BDA8569F1F2504902F06ABA51E46D");
    ck_assert(!txm_tx_name_parse("a.png.12-926BDA8569F1F2504902F06ABA51E46D.tx", &n, &version, hex));
    ck_assert_uint_eq(version, 12);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!txm_tx_name_parse(bad[i], &n, &version, hex), "accepted %s", bad[i]);
}

/* ---- publishing ------------------------------------------------------------------------------------------------- */

static char dir[] = "/tmp/txm-cache-XXXXXX";
static char target[256];
static const struct timespec stamp = {1234567890, 123456789};

static void make_dir(void)
{
    memcpy(strstr(dir, "cache-") + 6, "XXXXXX", 6);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(target, sizeof target, "%s/sub/deep/a.tx", dir);
}

static void remove_dir(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}
FIXTURE(make_dir, remove_dir)

/* Counts the files in the target's folder. */
static unsigned entries(void)
{
    char *folder = txm_path_dir(target);
    DIR *d = opendir(folder);
    unsigned n = 0;
    free(folder);
    if (!d)
        return 0;
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

static txm_publish *begin(const char *content)
{
    txm_publish *p = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_publish_begin(target, TXM_PUBLISH_IN_CACHE, &p, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(write(txm_publish_fd(p), content, strlen(content)), (ssize_t)strlen(content));
    return p;
}

static void expect_content(const char *expected)
{
    char content[64] = "";
    FILE *f = fopen(target, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(content, sizeof content, f));
    fclose(f);
    ck_assert_str_eq(content, expected);
}

TEST(test_publish)
{
    struct stat st;
    txm_publish *p = begin("one");
    ck_assert_int_ne(access(target, F_OK), 0);
    ck_assert_int_eq(access(txm_publish_temp_path(p), F_OK), 0);
    ck_assert_int_eq(txm_publish_commit(&p, &stamp, NULL), TXM_OK);
    ck_assert_ptr_null(p);
    ck_assert_int_eq(stat(target, &st), 0);
    ck_assert(st.st_mtim.tv_sec == stamp.tv_sec && st.st_mtim.tv_nsec == stamp.tv_nsec);
    p = begin("two");
    expect_content("one");
    ck_assert_int_eq(txm_publish_commit(&p, &stamp, NULL), TXM_OK);
    expect_content("two");
    ck_assert_uint_eq(entries(), 1);
}

TEST(test_abort)
{
    txm_publish *p = begin("old");
    ck_assert_int_eq(txm_publish_commit(&p, &stamp, NULL), TXM_OK);
    p = begin("new");
    ck_assert_uint_eq(entries(), 2);
    txm_publish_abort(&p);
    ck_assert_ptr_null(p);
    txm_publish_abort(&p);
    txm_publish_abort(NULL);
    ck_assert_uint_eq(entries(), 1);
    expect_content("old");
}

TEST(test_unique_temporaries)
{
    txm_publish *p[8];
    for (int i = 0; i < 8; i++)
        p[i] = begin("x");
    ck_assert_uint_eq(entries(), 8);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(txm_publish_commit(&p[i], &stamp, NULL), TXM_OK);
    ck_assert_uint_eq(entries(), 1);
}

TEST(test_long_name)
{
    char name[256];
    txm_publish *p = NULL;
    txm_error err = {0};
    /* Names have up to 255 bytes, the limit of file systems. The temporary file's name must still fit. */
    memset(name, 'n', 255);
    name[255] = 0;
    char *path = txm_path_join(dir, name);
    ck_assert_int_eq(txm_publish_begin(path, TXM_PUBLISH_IN_CACHE, &p, NULL), TXM_OK);
    ck_assert_int_eq(txm_publish_commit(&p, &stamp, &err), TXM_OK);
    free(path);
    char longer[400];
    snprintf(longer, sizeof longer, "%s/%sn", dir, name);
    /* This fails before anything is written. */
    size_t before = entries();
    ck_assert_int_eq(txm_publish_begin(longer, TXM_PUBLISH_IN_CACHE, &p, &err), TXM_STATUS_TOO_LARGE);
    ck_assert_uint_eq(entries(), before);
    ck_assert_ptr_nonnull(strstr(err.message, "too long"));
}

/* A name that is shortened for the temporary file is not cut inside a character. */
TEST(test_long_name_utf8)
{
    for (int shift = 0; shift < 3; shift++) {
        char name[256] = "ab";
        txm_publish *p = NULL;
        name[shift] = 0;
        while (strlen(name) + 3 <= 240)
            strcat(name, "\xE2\x82\xAC");
        FREED char *path = txm_path_join(dir, name);
        ck_assert_int_eq(txm_publish_begin(path, TXM_PUBLISH_IN_CACHE, &p, NULL), TXM_OK);
        const char *temp = txm_path_base(txm_publish_temp_path(p)) + 1;
        size_t same = 0;
        while (temp[same] == name[same])
            same++;
        ck_assert_uint_gt(same, 100);
        ck_assert_uint_eq((same - (size_t)shift) % 3, 0);
        ck_assert_int_eq(temp[same], '.');
        txm_publish_abort(&p);
    }
}

static void refused(const char *path, txm_status status, const char *why)
{
    txm_publish *p = NULL;
    txm_error err = {0};
    ck_assert_int_eq(txm_publish_begin(path, TXM_PUBLISH_IN_CACHE, &p, &err), status);
    ck_assert_ptr_null(p);
    ck_assert_int_eq(err.status, status);
    ck_assert_msg(strstr(err.message, why) != NULL, "'%s' lacks '%s'", err.message, why);
}

TEST(test_refusals)
{
    char path[300];
    txm_publish *p = begin("x");
    ck_assert_int_eq(txm_publish_commit(&p, &stamp, NULL), TXM_OK);
    snprintf(path, sizeof path, "%s/x.tx", target); /* a file in a folder's place */
    refused(path, TXM_STATUS_USAGE, "a folder is needed, but this is a file");
    char *folder = txm_path_dir(target);
    refused(folder, TXM_STATUS_NOT_A_FILE, "move it away");
    free(folder);
    refused("/proc/txmill/a.tx", TXM_STATUS_NOT_FOUND, "/proc/txmill");
}

/* Runs `fn` in a child process as the user nobody, if this process may do that. */
TEST(test_denied)
{
    if (geteuid() != 0)
        return; /* shell tests cover other users */
    pid_t child = fork();
    if (child == 0) {
        txm_publish *p = NULL;
        txm_error err = {0};
        bool ok = setuid(65534) == 0 &&
                  txm_publish_begin(target, TXM_PUBLISH_IN_CACHE, &p, &err) == TXM_STATUS_DENIED &&
                  strstr(err.message, "--cache-dir") && !p;
        _exit(ok ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

/* Does what a handler of SIGTERM does: every temporary file of the process is removed, and no file appears
 * afterwards. */
TEST(test_abort_all)
{
    txm_publish *p = begin("old");
    ck_assert_int_eq(txm_publish_commit(&p, &stamp, NULL), TXM_OK);
    pid_t child = fork();
    if (child == 0) {
        txm_publish *a = begin("new"), *b = begin("new"), *c = NULL;
        txm_error err = {0};
        bool ok = entries() == 3;
        txm_publish_abort_all();
        ok &= entries() == 1;
        ok &= txm_publish_commit(&a, &stamp, &err) == TXM_STATUS_CANCELLED && strstr(err.message, "stopped");
        txm_publish_abort(&b);
        ok &= txm_publish_begin(target, TXM_PUBLISH_IN_CACHE, &c, NULL) == TXM_STATUS_CANCELLED && entries() == 1;
        _exit(ok ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    expect_content("old");
}

/* Another program removes the temporary file, as a cleaner of the folder might. */
TEST(test_lost_temporary)
{
    txm_publish *p = begin("old");
    txm_error err = {0};
    ck_assert_int_eq(txm_publish_commit(&p, &stamp, NULL), TXM_OK);
    p = begin("new");
    ck_assert_int_eq(unlink(txm_publish_temp_path(p)), 0);
    ck_assert_int_eq(txm_publish_commit(&p, &stamp, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "rename"));
    expect_content("old");
}

/* ---- seals ------------------------------------------------------------------------------------------------------ */

enum { FAR = 64 << 10, SEALED_BYTES = 300000 };
#define SEAL TXM_OUT_FILE_SEAL

/* A file of noise with seals where they are looked for and, not far away, where they are not. */
static int sealed_file(const size_t *at, size_t count, size_t bytes)
{
    char name[] = "/tmp/txm-seal-XXXXXX";
    int fd = mkstemp(name);
    FREED uint8_t *data = malloc(bytes);
    ck_assert_int_ge(fd, 0);
    unlink(name);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t i = 0; i < count; i++)
        memcpy(data + at[i], SEAL, sizeof SEAL - 1);
    ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
    return fd;
}

static bool is_whole(int fd)
{
    bool whole = false;
    txm_error err = {0};
    ck_assert_msg(txm_seal_check(fd, "a file", &whole, &err) == TXM_OK, "%s", err.message);
    return whole;
}

TEST(test_seals)
{
    static const struct {
        size_t bytes, at[3], count;
        bool seals;
    } files[] = {
        {SEALED_BYTES, {0}, 1, true},
        {SEALED_BYTES, {FAR - sizeof SEAL + 1}, 1, true},
        {SEALED_BYTES, {SEALED_BYTES - FAR}, 1, true},
        {SEALED_BYTES, {SEALED_BYTES - sizeof SEAL + 1}, 1, true},
        {SEALED_BYTES, {100, 5000, SEALED_BYTES - 40}, 3, true},
        {SEALED_BYTES, {100000}, 1, false},
        {SEALED_BYTES, {0}, 0, false},
        {FAR + 40, {FAR - 9}, 1, true},
        {2 * FAR - 1, {FAR - 9}, 1, true},
        {sizeof SEAL - 1, {0}, 1, true},
        {1, {0}, 0, false},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        SCOPED(close_descriptor) int fd = sealed_file(files[i].at, files[i].count, files[i].bytes);
        ck_assert(!is_whole(fd));
        ck_assert_int_eq(txm_seal_file(fd, "a file", NULL), TXM_OK);
        ck_assert_msg(is_whole(fd) == files[i].seals, "file %zu", i);
        /* Each of some bytes counts, those of the seal too. */
        for (size_t at = 0; files[i].seals && at < files[i].bytes; at += 1 + files[i].bytes / 40) {
            char byte, other;
            ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at), 1);
            other = (char)(byte ^ 1);
            ck_assert_int_eq(pwrite(fd, &other, 1, (off_t)at), 1);
            ck_assert_msg(!is_whole(fd), "file %zu, byte %zu", i, at);
            ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
        }
        ck_assert(is_whole(fd) == files[i].seals);
        ck_assert_int_eq(ftruncate(fd, (off_t)files[i].bytes + 1), 0);
        ck_assert(!is_whole(fd));
    }
    /* A file that cannot be read is not one that was changed. */
    bool whole = true;
    ck_assert_int_eq(txm_seal_check(-1, "a file", &whole, NULL), TXM_STATUS_IO);
    ck_assert(!whole);
}

/* ---- archives --------------------------------------------------------------------------------------------------- */

/* cli_files.sh has whole archives; here are more files than the fields of plain zip can count, and what fails. */
TEST(test_archives)
{
    static const char check[] = "import sys, zipfile; z = zipfile.ZipFile('%s'); n = z.namelist(); "
                                "sys.exit(len(n) != 66000 or n[65999] != 'd/65999' or z.read('d/65999') != b'x')";
    char path[300], name[32], text[600];
    txm_archive *a = NULL;
    txm_error err = {0};
    snprintf(path, sizeof path, "%s/a.zip", dir);
    ck_assert_int_eq(txm_archive_begin(path, &a, NULL), TXM_OK);
    for (int i = 0; i < 66000; i++) {
        snprintf(name, sizeof name, "d/%d", i);
        ck_assert_int_eq(txm_archive_file(a, name, 1, i * 60000LL, NULL), TXM_OK);
        txm_archive_data(a, "x", 1);
    }
    ck_assert_int_eq(txm_archive_commit(&a, NULL), TXM_OK);
    snprintf(text, sizeof text, "python3 -SEc \"");
    snprintf(text + strlen(text), sizeof text - strlen(text), check, path);
    ck_assert_int_eq(system(strcat(text, "\"")), 0);
    ck_assert(txm_archive_keeps(1e9) && !txm_archive_keeps(0) && !txm_archive_keeps(1LL << 40));
    /* A file that is longer or shorter than was said, and a name that is too long. */
    struct stat before, after;
    ck_assert_int_eq(stat(path, &before), 0);
    for (int bytes = 0; bytes <= 2; bytes += 2) {
        ck_assert_int_eq(txm_archive_begin(path, &a, &err), TXM_OK);
        ck_assert_int_eq(txm_archive_file(a, "b", 1, 0, &err), TXM_OK);
        txm_archive_data(a, "xy", (size_t)bytes);
        ck_assert_int_eq(txm_archive_commit(&a, &err), TXM_STATUS_CHANGED);
        ck_assert_ptr_null(a);
    }
    char *longest = calloc(1, 70000);
    ck_assert_int_eq(txm_archive_begin(path, &a, &err), TXM_OK);
    ck_assert_int_eq(txm_archive_file(a, memset(longest, 'n', 69999), 1, 0, &err), TXM_STATUS_TOO_LARGE);
    txm_archive_abort(&a);
    txm_archive_abort(&a);
    free(longest);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert(before.st_ino == after.st_ino && before.st_size == after.st_size);
    snprintf(path, sizeof path, "%s/none/a.zip", dir);
    ck_assert_int_eq(txm_archive_begin(path, &a, &err), TXM_STATUS_NOT_FOUND);
}
