/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill devices: lists the vector code and devices of this machine.
 *
 * Out: the vector code that the CPU can run, every device with its memory and, if it cannot be used, the reason, and
 * the OpenColorIO that converts colours. With --measure, the speed of each device compared with the CPU, which is kept
 * for later runs.
 *
 * --device auto decides by the same facts, so the output explains why a conversion runs on the CPU although there is a
 * device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "tools/options/args.h"
#include "tools/options/opt.h"
#include "tools/output/colors.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/text.h"
#include "txmill/color.h"
#include "txmill/devices.h"

typedef struct devices_args {
    bool json, measure;
} devices_args;

static const txm_option options[] = {
    TXM_OPTION(FLAG, "measure", .offset = offsetof(devices_args, measure),
               .help = "Measure every device and the CPU, for the device auto",
               .more = "This takes a few seconds per device. Measure again when a device or its driver has changed: "
                       "until then, auto treats it as one that was not measured."),
    TXM_OPTION(FLAG, "json", .offset = offsetof(devices_args, json), .help = "Print the list as one JSON object"),
    {0},
};

static const txm_option_group groups[] = {{"Reports", options, 0}, {0}};

/* The devices of one back-end. */
typedef struct backend {
    const char *name;
    txm_device_info *devices;
    size_t count;
    txm_error none;                             /* why there are none */
    txm_device_rate (*rates)[TXM_DEVICE_RATES]; /* rates of each device, if measured */
    txm_error *failed;                          /* why a measurement failed */
} backend;

enum { BACKENDS_MAX = 4 };

typedef struct devices {
    txm_cpu_info cpu;
    backend backends[BACKENDS_MAX];
    size_t count;
} devices;

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* A device that cannot be used is listed too, with the reason. */
static void print_device(const txm_device_info *d)
{
    char memory[TXM_FORMAT_BYTES], unused[TXM_FORMAT_BYTES];
    printf("%-8s ", d->label);
    if (*d->name) {
        txm_print_safe(d->name);
        txm_format_bytes(d->memory_bytes, memory);
        if (!strcmp(d->backend, "cuda"))
            printf(", compute capability %s, %u multiprocessors, %s, %s free, driver for CUDA %s", d->architecture,
                   d->processors, memory, txm_format_bytes(d->free_bytes, unused), d->driver);
        else
            printf(", OpenCL %s, %u compute unit%s, %s, driver %s", d->architecture, d->processors,
                   d->processors == 1 ? "" : "s", memory, d->driver);
    }
    if (!d->usable) {
        printf("%snot usable: ", *d->name ? "; " : "");
        txm_print_safe(d->reason);
    }
    putchar('\n');
}

/* Nanoseconds per pixel on the device, of the CPU beside it, and on one thread of the CPU. */
static void print_rates(const backend *b, size_t i)
{
    if (b->failed[i].status) {
        printf("%-8s not measured: ", "");
        txm_print_safe(b->failed[i].message);
        putchar('\n');
        return;
    }
    for (int k = 0; b->devices[i].usable && k < TXM_DEVICE_RATES; k++) {
        const txm_device_rate *r = &b->rates[i][k];
        printf("%-8s %-6s %s  %7.2f ns per pixel and %7.2f ns of processor time, on a CPU thread %7.2f ns\n", "",
               txm_type_name(r->type), r->channels == 4 ? "RGBA" : "grey", r->device_ns, r->host_ns, r->cpu_ns);
    }
}

/* If there is no device, which is not an error, a line says why. */
static void print_text(const devices *d)
{
    /* The vector code in use comes first; the others can be chosen with TXMILL_ISA, for tests and measurements. */
    printf("%-8s %u thread%s, vector code %s", "cpu", d->cpu.cores, d->cpu.cores == 1 ? "" : "s", d->cpu.isa);
    const char *separator = " (also supported: ";
    for (const char *const *isa = d->cpu.isas; *isa; isa++) {
        if (strcmp(*isa, d->cpu.isa) == 0)
            continue;
        printf("%s%s", separator, *isa);
        separator = ", ";
    }
    puts(separator[0] == ',' ? ")" : "");
    for (const backend *b = d->backends; b < d->backends + d->count; b++) {
        for (size_t i = 0; i < b->count; i++) {
            print_device(&b->devices[i]);
            if (b->rates)
                print_rates(b, i);
        }
        if (!b->count) {
            printf("%-8s none: ", b->name);
            txm_print_safe(b->none.message);
            putchar('\n');
        }
    }
    char colors[TXM_MESSAGE_BYTES];
    txm_colors_describe(colors, sizeof colors);
    printf("%-8s OpenColorIO %s\n", "colours", colors);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

/* `index` is the number after "cuda:" or "opencl:" in --device. */
static void add_device(cJSON *array, const backend *b, size_t i)
{
    const txm_device_info *d = &b->devices[i];
    bool cuda = !strcmp(d->backend, "cuda");
    cJSON *o = txm_json_append(array);
    txm_json_uint(o, "index", d->index);
    txm_json_text(o, "name", d->name);
    txm_json_uint(o, "memory_bytes", d->memory_bytes);
    if (cuda)
        txm_json_uint(o, "free_bytes", d->free_bytes);
    txm_json_uint(o, cuda ? "multiprocessors" : "compute_units", d->processors);
    txm_json_text(o, cuda ? "compute_capability" : "opencl_version", d->architecture);
    txm_json_text(o, cuda ? "driver_cuda" : "driver", d->driver);
    txm_json_bool(o, "usable", d->usable);
    txm_json_text(o, "reason", d->usable ? NULL : d->reason);
    cJSON *rates = b->rates && b->devices[i].usable && !b->failed[i].status ? txm_json_array(o, "rates") : NULL;
    for (int k = 0; rates && k < TXM_DEVICE_RATES; k++) {
        const txm_device_rate *r = &b->rates[i][k];
        cJSON *row = txm_json_append(rates);
        txm_json_text(row, "type", txm_type_name(r->type));
        txm_json_uint(row, "channels", r->channels);
        txm_json_number(row, "device_ns", r->device_ns, 2);
        txm_json_number(row, "host_ns", r->host_ns, 2);
        txm_json_number(row, "cpu_ns", r->cpu_ns, 2);
    }
}

/* If there is no device, the list is empty and `reason` says why. */
static void print_json(const devices *d)
{
    cJSON *object = txm_json_new("txmill.devices");
    cJSON *cpu = txm_json_object(object, "cpu");
    txm_json_uint(cpu, "threads", d->cpu.cores);
    txm_json_text(cpu, "isa", d->cpu.isa);
    cJSON *isas = txm_json_array(cpu, "isas");
    for (const char *const *isa = d->cpu.isas; *isa; isa++)
        txm_json_append_text(isas, *isa);
    for (const backend *b = d->backends; b < d->backends + d->count; b++) {
        cJSON *o = txm_json_object(object, b->name);
        txm_json_text(o, "reason", b->count ? NULL : b->none.message);
        cJSON *list = txm_json_array(o, "devices");
        for (size_t i = 0; i < b->count; i++)
            add_device(list, b, i);
    }
    cJSON *color = txm_json_object(object, "color");
    txm_json_text(color, "library", txm_color_library_version());
    txm_json_bool(color, "exact", txm_colors_exact());
    txm_json_emit(object);
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

/* Returns false when memory is exhausted. */
static bool measure(backend *b)
{
    b->rates = calloc(b->count + 1, sizeof *b->rates);
    b->failed = calloc(b->count + 1, sizeof *b->failed);
    for (size_t i = 0; b->rates && b->failed && i < b->count; i++)
        if (b->devices[i].usable)
            txm_device_measure(&b->devices[i], b->rates[i], &b->failed[i]);
    return b->rates && b->failed;
}

/* Fails only with NO_MEMORY: having no device is not a failure. */
static txm_status list_devices(devices *d, bool measures, txm_error *err)
{
    const char *name;
    while (d->count < BACKENDS_MAX && (name = txm_device_backend(d->count))) {
        backend *b = &d->backends[d->count++];
        b->name = name;
        txm_status status = txm_device_list_of(name, &b->devices, &b->count, &b->none);
        if (status != TXM_OK && status != TXM_STATUS_DEVICE)
            return txm_fail_as(err, &b->none);
        if (measures && !measure(b))
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory");
    }
    return TXM_OK;
}

/* The exit code is 0 unless memory runs out; scripts read the result from the JSON. */
static int run_devices(void *p, const txm_operands *operands)
{
    const devices_args *args = p;
    devices d = {0};
    txm_error err = {0};
    (void)operands;
    txm_cpu_describe(&d.cpu);
    txm_status status = list_devices(&d, args->measure, &err);
    if (!status)
        (args->json ? print_json : print_text)(&d);
    for (size_t i = 0; i < d.count; i++) {
        free(d.backends[i].devices);
        free(d.backends[i].rates);
        free(d.backends[i].failed);
    }
    return status ? txm_finish_failed(&err, 1) : txm_finish(&(txm_tally){.total = 1});
}

TXM_COMMAND(devices, devices_args, .purpose = "List the vector code and devices of this machine",
            .synopsis = "[OPTION...]", .no_operands = "the command takes none, and lists the devices of this machine",
            .exits = TXM_EXITS_RETRY);
