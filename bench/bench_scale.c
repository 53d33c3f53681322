/* SPDX-License-Identifier: Apache-2.0
 *
 * What a file costs when there are many: bench_scale tx|ptex FILE FOLDER MOST. It writes copies of FILE into FOLDER,
 * each with another SHA-1 of its pixels, and opens 100, 1000 and so on up to MOST of them through caches of three
 * sizes. It prints rows of a table: microseconds of processor time to register a file, to open it, and for the first
 * lookup in it; the most memory of the process; how many maps the process has. Each row is measured in a process of its
 * own.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lookup_util.h"
#include "txtile/cache.h"
#include "txtile/ptex_pages.h"

typedef struct page {
    txm_ptex *ptex;
    txm_ptex_pages *pages;
} page;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_scale: %s\n", what);
    exit(1);
}

static const char *copy_path(const char *folder, uint32_t number)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%u", folder, number);
    return path;
}

static void link_copies(const char *path, const char *folder, uint32_t most)
{
    for (uint32_t i = 0; i < most; i++)
        if (link(path, copy_path(folder, i)))
            die("a file cannot be linked");
}

/* Copies that have the SHA-1 of others would share their tiles. */
static void write_copies(const char *path, const char *folder, uint32_t most)
{
    static const char mark[] = "oiio:SHA-1=";
    static char bytes[1 << 20];
    const int in = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t count = read(in, bytes, sizeof bytes);
    if (count <= 0 || count == sizeof bytes)
        die("the file cannot be copied");
    close(in);
    char *digest = memmem(bytes, (size_t)count, mark, sizeof mark - 1);
    for (uint32_t i = 0; i < most; i++) {
        char digits[9];
        snprintf(digits, sizeof digits, "%08x", i);
        if (digest)
            memcpy(digest + sizeof mark - 1, digits, 8);
        const int out = open(copy_path(folder, i), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (out < 0 || write(out, bytes, (size_t)count) != count || close(out))
            die("a copy cannot be written");
    }
}

/* ---- Ptex files as sources of tiles, as a renderer makes them ---- */

static txm_status describe(void *user, txm_tile_shape *shape, txm_error *err)
{
    const page *p = user;
    const txm_ptex_pages_info *info = txm_ptex_pages_info_of(p->pages);
    (void)err;
    txm_ptex_page_size(p->pages, 0, &shape->width, &shape->height);
    shape->levels = txm_level_count(shape->width, shape->height);
    shape->tile_px = TXM_DEFAULT_TILE_PX;
    shape->channels = info->channels;
    shape->type = (uint32_t)info->type;
    shape->encoding = TXM_ENCODING_SRGB;
    return TXM_OK;
}

static txm_status read_page(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                            void *pixels, size_t row_stride_bytes, txm_error *err)
{
    return txm_ptex_page_read(((page *)user)->pages, 0, level, x, y, width, height, pixels, row_stride_bytes, err);
}

static void open_ptex(page *p, const char *path)
{
    txm_error err;
    if (txm_ptex_open(path, TXM_PTEX_PREMULTIPLY, &p->ptex, &err) || txm_ptex_pages_new(p->ptex, NULL, &p->pages, &err))
        die(err.message);
}

/* ---- rows ---- */

static uint32_t maps(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    uint32_t lines = 0;
    for (int c; f && (c = getc(f)) != EOF;)
        lines += c == '\n';
    if (f)
        fclose(f);
    return lines;
}

static void look_up(txm_cache_thread *t, uint32_t texture, bool is_large)
{
    const float step = is_large ? exp2f(-13 * bench_unit()) : 0.01f, middle = 0.5f;
    const txm_lookup place = {is_large ? bench_unit() : middle, is_large ? bench_unit() : middle, step, 0, 0, step};
    txm_sampler how;
    float color[4];
    txm_sampler_init(&how);
    if (txm_cache_sample(t, texture, &how, &place, NULL, color) != TXM_LOOKUP_HIT)
        die("a lookup failed");
}

static void measure(const char *kind, const char *folder, uint32_t count, uint64_t mb)
{
    const bool is_ptex = !strcmp(kind, "ptex"), is_large = !strcmp(kind, "large");
    enum { STEPS = 3 };
    double at[STEPS + 1];
    txm_cache_options o;
    txm_cache *c;
    txm_cache_thread *t;
    txm_error err;
    uint32_t *ids = calloc(count, sizeof *ids);
    page *pages = calloc(count, sizeof *pages);
    txm_cache_options_init(&o);
    o.max_bytes = mb << 20;
    o.policy = TXM_CACHE_POLICY_LRU;
    o.coalesce = is_large ? 0 : o.coalesce;
    if (!ids || !pages || txm_cache_new(&o, &c, &err) || txm_cache_thread_new(c, &t, &err))
        die("no memory");
    at[0] = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t i = 0; i < count; i++) {
        const txm_tile_source source = {sizeof source, &pages[i], describe, read_page, NULL};
        if (is_ptex)
            open_ptex(&pages[i], copy_path(folder, i));
        if (is_ptex ? txm_cache_add_source(c, copy_path(folder, i), &source, TXM_EXTENSION_EXTEND, &ids[i], &err)
                    : txm_cache_add(c, copy_path(folder, i), TXM_EXTENSION_REPEAT, &ids[i], &err))
            die(err.message);
    }
    at[1] = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t i = 0; i < count; i++)
        if (txm_cache_open(c, ids[i], NULL, &err))
            die(err.message);
    at[2] = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t i = 0; i < count; i++)
        look_up(t, ids[i], is_large);
    at[3] = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t i = 0; is_large && i < 3 * count; i++)
        look_up(t, ids[i % count], true);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("| %s | %u | %s |",
           is_ptex    ? "Ptex"
           : is_large ? "tx, 8192 px"
                      : "tx",
           count,
           mb == 2048  ? "2 GB"
           : mb == 200 ? "200 MB"
                       : "20 MB");
    for (int i = 0; i < STEPS; i++)
        printf(" %.1f |", 1e6 * (at[i + 1] - at[i]) / count);
    printf(" %.1f MB | %u |\n", (double)used.ru_maxrss / 1000, maps());
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    static const uint64_t budgets[] = {2048, 200, 20};
    if (argc != 5 || (strcmp(argv[1], "tx") && strcmp(argv[1], "ptex") && strcmp(argv[1], "large")))
        die("bench_scale tx|ptex|large FILE FOLDER MOST");
    const uint32_t most = (uint32_t)strtoul(argv[4], NULL, 10);
    const bool is_large = !strcmp(argv[1], "large");
    (is_large ? link_copies : write_copies)(argv[2], argv[3], most);
    for (uint32_t count = is_large ? most : 100; count < 10 * most; count *= 10)
        for (int i = 0; i < 3; i++) {
            const pid_t child = fork();
            int status = 1;
            if (child == 0)
                measure(argv[1], argv[3], count < most ? count : most, budgets[i]);
            if (child < 0 || waitpid(child, &status, 0) != child || status)
                die("a row could not be measured");
        }
    return 0;
}
