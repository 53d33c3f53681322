/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill devices: lists what this machine can compute with.
 *
 * Out: the vector code that the CPU can run, every GPU with its memory and, where it cannot be used, why, and the
 * OpenColorIO that converts colours. Nothing is converted.
 *
 * The same facts that --device auto decides by: when a conversion runs on the CPU though there is a GPU, this
 * says why.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile/base/fail.h"
#include "tools/options/args.h"
#include "tools/options/opt.h"
#include "tools/output/colors.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/text.h"
#include "txmill/color.h"
#include "txmill/devices.h"

enum { TXM_DEVICES_SCHEMA_VERSION = 1 };

typedef struct devices_args {
    bool json;
} devices_args;

static const txm_option options[] = {
    TXM_OPTION(FLAG, "json", .offset = offsetof(devices_args, json), .help = "Print the list as one JSON object"),
    {0},
};

static const txm_option_group groups[] = {{"Reports", options, 0}, {0}};

/* What there is. */
typedef struct devices {
    txm_cpu_info cpu;
    txm_device_info *gpus;
    size_t gpu_count;
    txm_error none; /* why there are none */
} devices;

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* The vector code in use first; others that this machine could run are for TXMILL_ISA, in tests and
 * measurements. */
static void print_cpu(const txm_cpu_info *cpu)
{
    printf("%-8s %u thread%s, vector code %s", "cpu", cpu->cores, cpu->cores == 1 ? "" : "s", cpu->isa);
    const char *separator = " (also here: ";
    for (const char *const *isa = cpu->isas; *isa; isa++) {
        if (strcmp(*isa, cpu->isa) == 0)
            continue;
        printf("%s%s", separator, *isa);
        separator = ", ";
    }
    puts(separator[0] == ',' ? ")" : "");
}

/* A device that cannot be used keeps its line, with the reason after it. */
static void print_gpu(const txm_device_info *d)
{
    char memory[TXM_FORMAT_BYTES], unused[TXM_FORMAT_BYTES];
    printf("%-8s ", d->label);
    if (*d->name) {
        txm_print_safe(d->name);
        printf(", compute capability %s, %u multiprocessors, %s, %s free, driver for CUDA %s", d->architecture,
               d->processors, txm_format_bytes(d->memory_bytes, memory), txm_format_bytes(d->free_bytes, unused),
               d->driver);
    }
    if (!d->usable) {
        printf("%snot usable: ", *d->name ? "; " : "");
        txm_print_safe(d->reason);
    }
    putchar('\n');
}

/* No GPU is not an error: the line says what was looked for and not found. */
static void print_text(const devices *d)
{
    print_cpu(&d->cpu);
    for (size_t i = 0; i < d->gpu_count; i++)
        print_gpu(&d->gpus[i]);
    if (!d->gpu_count) {
        printf("%-8s none: ", "cuda");
        txm_print_safe(d->none.message);
        putchar('\n');
    }
    char colors[TXM_MESSAGE_BYTES];
    txm_colors_describe(colors, sizeof colors);
    printf("%-8s OpenColorIO %s\n", "colours", colors);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

/* `index` is what --device takes after "cuda:". */
static void add_gpu(cJSON *array, const txm_device_info *d)
{
    cJSON *o = txm_json_append(array);
    txm_json_uint(o, "index", d->index);
    txm_json_text(o, "name", d->name);
    txm_json_uint(o, "memory_bytes", d->memory_bytes);
    txm_json_uint(o, "free_bytes", d->free_bytes);
    txm_json_uint(o, "multiprocessors", d->processors);
    txm_json_text(o, "compute_capability", d->architecture);
    txm_json_text(o, "driver_cuda", d->driver);
    txm_json_bool(o, "usable", d->usable);
    txm_json_text(o, "reason", d->usable ? NULL : d->reason);
}

/* A machine without a GPU has an empty list and the reason why, not a missing member. */
static void print_json(const devices *d)
{
    cJSON *object = txm_json_new("txmill.devices", TXM_DEVICES_SCHEMA_VERSION);
    cJSON *cpu = txm_json_object(object, "cpu");
    txm_json_uint(cpu, "threads", d->cpu.cores);
    txm_json_text(cpu, "isa", d->cpu.isa);
    cJSON *isas = txm_json_array(cpu, "isas");
    for (const char *const *isa = d->cpu.isas; *isa; isa++)
        txm_json_append_text(isas, *isa);
    cJSON *cuda = txm_json_object(object, "cuda");
    txm_json_text(cuda, "reason", d->gpu_count ? NULL : d->none.message);
    cJSON *list = txm_json_array(cuda, "devices");
    for (size_t i = 0; i < d->gpu_count; i++)
        add_gpu(list, &d->gpus[i]);
    cJSON *color = txm_json_object(object, "color");
    txm_json_text(color, "library", txm_color_library_version());
    txm_json_bool(color, "exact", txm_colors_exact());
    txm_json_emit(object);
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

/* Always exit code 0, unless memory runs out: scripts read the answer from JSON. */
static int run_devices(void *p, const txm_operands *operands)
{
    const devices_args *args = p;
    devices d = {0};
    if (operands->count) {
        txm_fail(&d.none, TXM_STATUS_USAGE, "unexpected argument '%s'; devices looks at this machine and takes none",
                 operands->items[0]);
        return txm_finish_failed(&d.none, 0);
    }
    txm_cpu_describe(&d.cpu);
    /* Having no GPU is an answer, not a failure. */
    txm_status status = txm_device_list(&d.gpus, &d.gpu_count, &d.none);
    if (status != TXM_OK && status != TXM_STATUS_DEVICE)
        return txm_finish_failed(&d.none, 1);
    (args->json ? print_json : print_text)(&d);
    free(d.gpus);
    return txm_finish(&(txm_tally){.total = 1});
}

TXM_COMMAND(devices, devices_args, .purpose = "List what this machine can compute with", .synopsis = "[OPTION...]",
            .exits = TXM_EXITS_RETRY);
