/* SPDX-License-Identifier: Apache-2.0
 *
 * Which image goes to which device: words of --device, how `auto` uses measurements, places and memory of devices. The
 * device is the runtime on the CPU (tests/device/gpu_runtime.c).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    txm_gpus_return(&lease, false);
    txm_gpus_return(&lease, false); /* harmless */
    txm_gpus_free(&g);
    setenv("TXM_FAKE_DEVICES", "0", 1);
    ck_assert_ptr_null(gpus_new("cuda", 0, TXM_STATUS_DEVICE));
    ck_assert_ptr_nonnull(strstr(why, "there is no CUDA device"));
    setenv("TXM_FAKE_DEVICES", "2", 1);
}

/* Files are spread over devices. A device takes two at a time, and a device that failed gets none. */
TEST(places)
{
    setenv("TXM_FAKE_DEVICES", "2", 1);
    SCOPED(txm_gpus_free) txm_gpus *g = gpus_new("cuda", 0, TXM_OK);
    const txm_gpu_plan plan = plan_of(1000, 1000);
    txm_gpu_lease l[5];
    for (int i = 0; i < 4; i++)
        ck_assert(leased(txm_gpus_lease(g, &plan, 0, &l[i], why)) && l[i].device == (uint32_t)i % 2);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &l[4], why), TXM_GPU_NONE);
    ck_assert_str_eq(why, "the devices are busy");
    txm_gpus_return(&l[0], true);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &l[4], why), TXM_GPU_NONE);
    txm_gpus_return(&l[1], false);
    ck_assert(leased(txm_gpus_lease(g, &plan, 0, &l[4], why)) && l[4].device == 1);
    for (int i = 2; i < 5; i++)
        txm_gpus_return(&l[i], false);
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
            txm_gpus_return(&a, false);
        if (second)
            txm_gpus_return(&b, false);
        ck_assert_int_eq(txm_gpus_lease(g, &plan, pinned - 1, &a, why), TXM_GPU_REFUSED);
        if (first)
            ck_assert(leased(txm_gpus_lease(g, &plan, pinned, &a, why)) && a.plan.chunk_rows == 64 &&
                      a.plan.slots == 2);
        if (first)
            txm_gpus_return(&a, false);
    }
    ck_assert(without && most && fewer);
}

/* Stores a measurement of this device: nanoseconds for each pixel on the device and on a thread of the CPU. */
static void remember(const char *label, const char *driver, double start, double device_ns, double cpu_ns)
{
    txm_gpu_rates r = {.name = "Imaginary 0", .start = start};
    txm_error err = {0};
    snprintf(r.label, sizeof r.label, "%s", label);
    snprintf(r.driver, sizeof r.driver, "%s", driver);
    for (int i = 0; i < 2 * TXM_GPU_TYPES; i++)
        r.rate[i / 2][i % 2] = (txm_gpu_rate){device_ns * 1e-9, cpu_ns * 1e-9};
    ck_assert_msg(!txm_gpu_rates_write(&r, &err), "%s", err.message);
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
    ck_assert_str_eq(why, "measured: 2.00 ns per pixel there, 10.00 ns on 2 CPU threads");
    ck_assert_str_eq(lease.label, "cuda:0");
    txm_gpus_return(&lease, false);
    txm_gpus_free(&g);
    remember("cuda:0", "13.0", 0.05, 2, 20);
    g = gpus_new("auto", 0, TXM_OK);
    ck_assert_int_eq(txm_gpus_lease(g, &plan, 0, &lease, why), TXM_GPU_NONE);
    ck_assert_str_eq(why, "cuda:0 could have saved 0.03 s so far, starting it takes 0.05 s");
    ck_assert(leased(txm_gpus_lease(g, &plan, 0, &lease, why)));
    txm_gpus_return(&lease, false);
    txm_gpus_free(&g);
    remember("cuda:0", "13.0", 0, 10, 20);
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
    ck_assert_msg(p && !txm_gpu_rates_measure(p->jobs, 0, txm_ops_best(), &r, &err), "%s", err.message);
    for (int i = 0; i < 2 * TXM_GPU_TYPES; i++)
        ck_assert(r.rate[i / 2][i % 2].device > 0 && r.rate[i / 2][i % 2].cpu > 0 && r.rate[i / 2][i % 2].cpu < 1e-5);
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
