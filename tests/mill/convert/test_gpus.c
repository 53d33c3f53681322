/* SPDX-License-Identifier: Apache-2.0
 *
 * Which image goes to which device: words of --device, how `auto` uses measurements, places and memory of devices. The
 * device is the runtime on the CPU (tests/device/gpu_runtime.c).
 */
#include <math.h>
#include <sys/stat.h>

#include "mill/convert/gpu_rates.h"
#include "mill/convert/gpus.h"
#include "tile/device/device_plugin.h"
#include "util_check.h"

static char why[TXM_MESSAGE_BYTES];

static txm_gpus *gpus_new(const char *word, uint64_t memory_bytes, txm_status expected)
{
    const txm_gpus_options options = {word, memory_bytes, 2, txm_ops_best()};
    txm_gpus *g = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_gpus_new(&options, &g, why, &err) == expected, "%s: %s", word, err.message);
    if (err.status)
        memcpy(why, err.message, sizeof why);
    return g;
}

static bool leased(txm_gpu_choice choice)
{
    return choice == TXM_GPU_LEASED;
}

static txm_gpu_plan plan_of(uint32_t width, uint32_t height)
{
    return (txm_gpu_plan){.width = width,
                          .height = height,
                          .tile_px = 64,
                          .conform = {3, 4, false, false},
                          .channels = 4,
                          .curve = TXM_CURVE_SRGB,
                          .filter = true,
                          .borders = true,
                          .rows = true};
}

TEST(words)
{
    setenv("TXM_FAKE_DEVICES", "2", 1);
    ck_assert_ptr_null(gpus_new("cpu", 0, TXM_OK));
    ck_assert_str_eq(why, "");
    ck_assert_ptr_null(gpus_new("cuda:2", 0, TXM_STATUS_DEVICE));
    ck_assert_ptr_nonnull(strstr(why, "there are 2 CUDA devices"));
    txm_gpus *g = gpus_new("cuda:1", 0, TXM_OK);
    txm_gpu_lease lease;
    const txm_gpu_plan plan = plan_of(300, 300);
    ck_assert(leased(txm_gpus_lease(g, &plan, 0, &lease, why)));
    ck_assert_str_eq(lease.label, "cuda:1");
    txm_gpus_return(&lease, TXM_OK);
    txm_gpus_return(&lease, TXM_OK); /* harmless */
    txm_gpus_free(&g);
    setenv("TXM_FAKE_DEVICES", "0", 1);
    ck_assert_ptr_null(gpus_new("cuda", 0, TXM_STATUS_DEVICE));
    ck_assert_ptr_nonnull(strstr(why, "there is no CUDA device"));
    setenv("TXM_FAKE_DEVICES", "2", 1);
}

/* Files are spread over devices. A device takes one for each of the two threads and as many more as keep it busy; a
 * device that failed gets none, and its failure is news once. */
TEST(places)
{
    static const struct {
        const char *processors;
        uint32_t ahead;
    } cases[] = {{"1", 1}, {"90", 2}, {"132", 3}, {"1000", 8}};
    enum { MOST = 10 };
    const txm_gpu_plan plan = plan_of(1000, 1000);
    txm_gpu_lease l[2 * MOST + 1];
    setenv("TXM_FAKE_DEVICES", "2", 1);
    ck_assert_uint_eq(txm_gpus_expect(NULL, 5), 0);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const uint32_t each = 2 + cases[c].ahead, all = 2 * each;
        setenv("TXM_FAKE_PROCESSORS", cases[c].processors, 1);
        ck_assert_uint_eq(txm_gpus_ahead((uint32_t)atoi(cases[c].processors)), cases[c].ahead);
        SCOPED(txm_gpus_free) txm_gpus *g = gpus_new("cuda", 0, TXM_OK);
        ck_assert_uint_eq(txm_gpus_expect(g, 100), all);
        for (uint32_t i = 0; i < all; i++)
            ck_assert(leased(txm_gpus_lease(g, &plan, 0, &l[i], why)) && l[i].device == i % 2);
        ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &l[all], why), TXM_GPU_NONE);
        ck_assert_str_eq(why, "the devices are busy");
        ck_assert(txm_gpus_is_news(&l[0]) && !txm_gpus_is_news(&l[2]));
        txm_gpus_return(&l[0], TXM_STATUS_DEVICE);
        ck_assert_uint_eq(txm_gpus_expect(g, 100), each);
        ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &l[all], why), TXM_GPU_NONE);
        txm_gpus_return(&l[1], TXM_OK);
        ck_assert(leased(txm_gpus_lease(g, &plan, 0, &l[1], why)) && l[1].device == 1);
        ck_assert(txm_gpus_is_news(&l[1]));
        for (uint32_t i = 1; i < all; i++)
            txm_gpus_return(&l[i], TXM_STATUS_DEVICE);
        ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &l[0], why), TXM_GPU_NONE);
        ck_assert_str_eq(why, "no device can be used any more");
    }
    unsetenv("TXM_FAKE_PROCESSORS");
}

/* Files that are expected share the memory, with fewer encoders each, as long as that is enough for some of them. After
 * memory has run out, the next file gets half as much, until nothing is left. */
TEST(shares)
{
    txm_gpu_plan plan = plan_of(4096, 4096);
    txm_gpu_lease l[10];
    plan.encoders = UINT32_MAX;
    setenv("TXM_FAKE_DEVICES", "1", 1);
    setenv("TXM_FAKE_PROCESSORS", "1000", 1);
    txm_gpus *g = gpus_new("cuda", 512 << 20, TXM_OK);
    ck_assert(leased(txm_gpus_lease(g, &plan, 0, &l[0], why)));
    const uint64_t alone = l[0].device_bytes;
    ck_assert_uint_eq(l[0].plan.encoders, 512);
    txm_gpus_return(&l[0], TXM_OK);
    txm_gpus_expect(g, 1000);
    uint64_t sum = 0;
    for (int i = 0; i < 10; i++) {
        ck_assert_msg(leased(txm_gpus_lease(g, &plan, 0, &l[i], why)), "%d: %s", i, why);
        ck_assert_uint_ge(l[i].plan.encoders, 128);
        sum += l[i].device_bytes;
    }
    ck_assert(sum <= 512 << 20 && l[0].device_bytes < alone);
    for (int i = 0; i < 10; i++)
        txm_gpus_return(&l[i], TXM_OK);
    txm_gpus_expect(g, 0);
    uint64_t before = UINT64_MAX;
    int tries = 0;
    while (leased(txm_gpus_lease(g, &plan, 0, &l[0], why)) && tries++ < 40) {
        ck_assert_uint_le(l[0].device_bytes, before);
        before = l[0].device_bytes / 2;
        ck_assert_int_eq(txm_gpus_is_news(&l[0]), tries == 1);
        txm_gpus_return(&l[0], TXM_STATUS_NO_MEMORY);
    }
    ck_assert_int_gt(tries, 2);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &l[0], why), TXM_GPU_NONE); /* it was said before */
    txm_gpus_free(&g);
    unsetenv("TXM_FAKE_PROCESSORS");
    setenv("TXM_FAKE_DEVICES", "2", 1);
}

/* For any bound, a plan stays within it, and so do two files together. */
TEST(memory)
{
    uint64_t device, pinned;
    txm_gpu_lease a, b;
    unsigned without = 0, fewer = 0, most = 0;
    for (uint64_t bound = 1 << 16; bound < 1ull << 29; bound += bound / 3) {
        SCOPED(txm_gpus_free) txm_gpus *g = gpus_new("cuda:0", bound, TXM_OK);
        txm_gpu_plan plan = plan_of(3000, 2000);
        plan.encoders = UINT32_MAX;
        bool first = leased(txm_gpus_lease(g, &plan, 0, &a, why));
        if (!first)
            ck_assert_ptr_nonnull(strstr(why, "it would take"));
        bool second = leased(txm_gpus_lease(g, &plan, 0, &b, why));
        without += first && !a.plan.encoders; /* the CPU compresses if there is no room for encoders */
        most += first && a.plan.encoders == 512;
        fewer += first && a.plan.encoders && a.plan.encoders < 512;
        plan.encoders = 0;
        plan.chunk_rows = 64;
        plan.slots = 2;
        txm_device_plugin_load(txm_device_backend_at(0), NULL)->jobs->memory(&plan, &device, &pinned);
        ck_assert_int_eq(first, device <= bound); /* refused only if the smallest plan does not fit */
        ck_assert(!second || a.device_bytes + b.device_bytes <= bound);
        ck_assert(!first || (a.device_bytes <= bound && a.plan.chunk_rows % 64 == 0 && a.plan.slots >= 2));
        if (first)
            txm_gpus_return(&a, TXM_OK);
        if (second)
            txm_gpus_return(&b, TXM_OK);
        ck_assert_int_eq(txm_gpus_lease(g, &plan, pinned - 1, &a, why), TXM_GPU_REFUSED);
        if (first)
            ck_assert(leased(txm_gpus_lease(g, &plan, pinned, &a, why)) && a.plan.chunk_rows == 64 &&
                      a.plan.slots == 2);
        if (first)
            txm_gpus_return(&a, TXM_OK);
    }
    ck_assert(without && most && fewer);
}

/* Stores a measurement of this device: nanoseconds for each pixel on the device, of processors beside it, and on a
 * thread of the CPU. */
static void remember_all(const char *label, const char *driver, double start, double device_ns, double host_ns,
                         double cpu_ns)
{
    txm_gpu_rates r = {.name = "Imaginary 0", .start = start};
    txm_error err = {0};
    snprintf(r.label, sizeof r.label, "%s", label);
    snprintf(r.driver, sizeof r.driver, "%s", driver);
    for (int i = 0; i < 2 * TXM_GPU_TYPES; i++)
        r.rate[i / 2][i % 2] = (txm_gpu_rate){device_ns * 1e-9, host_ns * 1e-9, cpu_ns * 1e-9};
    ck_assert_msg(!txm_gpu_rates_write(&r, &err), "%s", err.message);
}

static void remember(const char *label, const char *driver, double start, double device_ns, double cpu_ns)
{
    remember_all(label, driver, start, device_ns, 1, cpu_ns);
}

/* Makes an empty folder for caches. */
static void new_cache(void)
{
    char folder[] = "/tmp/txm-rates-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
}

static void drop_cache(void)
{
    char path[256];
    const char *folder = getenv("XDG_CACHE_HOME");
    snprintf(path, sizeof path, "%s/txmill/devices", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/txmill", folder);
    rmdir(path);
    ck_assert_int_eq(rmdir(folder), 0); /* and no temporary file is left */
}

/* Without a measurement the CPU is used. With one, a device is not started for little work, and a slower one is not
 * used. */
TEST(auto_goes_by_what_was_measured)
{
    txm_gpu_lease lease;
    const txm_gpu_plan small = plan_of(500, 500), plan = plan_of(2000, 2000);
    new_cache();
    ck_assert_ptr_null(gpus_new("auto", 0, TXM_OK));
    ck_assert_str_eq(why, "no device was measured on this machine (txmill devices --measure)");
    remember("cuda:0", "13.0", 0.03, 2, 20);
    txm_gpus *g = gpus_new("auto", 0, TXM_OK);
    ck_assert_int_eq(txm_gpus_lease(g, &small, 0, &lease, why), TXM_GPU_NONE);
    ck_assert_str_eq(why, "small images stay there");
    /* 4 million pixels, 20 ns shared by two threads or 2 ns: 0.032 s. */
    ck_assert(leased(txm_gpus_lease(g, &plan, 0, &lease, why)));
    ck_assert_str_eq(
        why, "measured: 2.00 ns per pixel there and 1.00 ns of processor time meanwhile, 10.00 ns on 2 CPU threads");
    ck_assert_str_eq(lease.label, "cuda:0");
    txm_gpus_return(&lease, TXM_OK);
    txm_gpus_free(&g);
    remember("cuda:0", "13.0", 0.05, 2, 20);
    g = gpus_new("auto", 0, TXM_OK);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
    ck_assert_str_eq(why, "cuda:0 could have saved 0.03 s so far, starting it takes 0.05 s");
    ck_assert(leased(txm_gpus_lease(g, &plan, 0, &lease, why)));
    txm_gpus_return(&lease, TXM_OK);
    txm_gpus_free(&g);
    remember("cuda:0", "13.0", 0, 10, 20);
    g = gpus_new("auto", 0, TXM_OK);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
    txm_gpus_free(&g);
    /* A driver that computes on the CPU: quick with all cores, but not for the processor time that it takes. */
    remember_all("cuda:0", "13.0", 0, 2, 20, 20);
    g = gpus_new("auto", 0, TXM_OK);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
    txm_gpus_free(&g);
    drop_cache();
}

/* A device that replaced another one, or that is gone, is not mistaken for it. */
TEST(auto_knows_devices_again)
{
    txm_gpu_lease lease;
    const txm_gpu_plan plan = plan_of(2000, 2000);
    new_cache();
    remember("cuda:0", "12.4", 0, 2, 20);
    txm_gpus *g = gpus_new("auto", 0, TXM_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
        ck_assert_str_eq(why, "CUDA device 0: it was not measured on this machine");
    }
    txm_gpus_free(&g);
    setenv("TXM_FAKE_DEVICES", "0", 1);
    g = gpus_new("auto", 0, TXM_OK);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
    ck_assert_str_eq(why, "there is no CUDA device");
    txm_gpus_free(&g);
    setenv("TXM_FAKE_DEVICES", "1", 1);
    drop_cache();
}

/* A measurement is read back as it was stored. Lines of a damaged file are ignored one by one, and the file can be
 * replaced. */
TEST(rates)
{
    txm_gpu_rates r = {.label = "cuda:0", .name = "a\tname"}, *read;
    txm_error err = {0};
    char path[256];
    new_cache();
    const txm_device_plugin *p = txm_device_plugin_load(txm_device_backend_at(0), &err);
    ck_assert_msg(p && !txm_gpu_rates_measure(p->jobs, 0, 3, txm_ops_best(), &r, &err), "%s", err.message);
    for (int i = 0; i < 2 * TXM_GPU_TYPES; i++)
        ck_assert(r.rate[i / 2][i % 2].device > 0 && r.rate[i / 2][i % 2].cpu > 0 && r.rate[i / 2][i % 2].cpu < 1e-5);
    /* Without room for all jobs at once, fewer are measured. */
    setenv("TXM_FAKE_MEMORY", "70000000", 1);
    ck_assert_msg(!txm_gpu_rates_measure(p->jobs, 0, 16, txm_ops_best(), &r, &err), "%s", err.message);
    unsetenv("TXM_FAKE_MEMORY");
    ck_assert(!txm_gpu_rates_write(&r, &err));
    remember("opencl:0", "1", 1, 2, 3);
    remember("opencl:0", "2", 1, 2, 3);
    ck_assert_uint_eq(txm_gpu_rates_read(&read), 2);
    ck_assert_str_eq(read[0].name, "a name");
    ck_assert_str_eq(read[0].driver, "-");
    ck_assert(fabs(read[0].rate[1][1].device - r.rate[1][1].device) < 2e-12);
    ck_assert_str_eq(read[1].driver, "2");
    free(read);
    snprintf(path, sizeof path, "%s/txmill/devices", getenv("XDG_CACHE_HOME"));
    FILE *f = fopen(path, "a");
    fputs("cuda:1\tname\tdriver\t1\t2\ncuda:1\tname\tdriver\t-1\n\n\t\t\tx", f);
    fclose(f);
    ck_assert_uint_eq(txm_gpu_rates_read(&read), 2);
    free(read);
    f = fopen(path, "w");
    fputs("something else\n", f);
    fclose(f);
    ck_assert_uint_eq(txm_gpu_rates_read(&read), 0);
    ck_assert_ptr_null(read);
    remember("cuda:0", "1", 1, 2, 3);
    ck_assert_uint_eq(txm_gpu_rates_read(&read), 1);
    free(read);
    drop_cache();
}

int main(void)
{
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/tests/gpu", getenv("TXM_BUILD"));
    setenv("TXMILL_PLUGINS", folder, 1);
    return run_tests();
}
