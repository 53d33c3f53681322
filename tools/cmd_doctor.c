/* SPDX-License-Identifier: Apache-2.0
 * txmill doctor: what a bug report needs to know of the program, this machine and this place. */
#include <libdeflate.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <tiffio.h>
#include <unistd.h>
#include <zstd.h>

#include "core/fail.h"
#include "color/color.h"
#include "core/plugin.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/text.h"
#include "txmill/devices.h"

enum { DOCTOR_SCHEMA_VERSION = 1, VALUE = 1024 };

typedef struct doctor_args {
    bool json;
    txm_config_args config;
} doctor_args;

static const txm_option options[] = {
    {.name = "json",
     .type = TXM_OPT_FLAG,
     .offset = offsetof(doctor_args, json),
     .help = "Print one JSON object a line of the text"},
    {0},
};
static const txm_option_group groups[] = {
    {"Colour", txm_config_options, offsetof(doctor_args, config)}, {"Reports", options, 0}, {0}};

typedef enum health { GOOD, NOTE, BAD } health;

typedef struct examination {
    bool json;
    txm_tally tally;
} examination;

/* One fact: what it is about, what it is, whether something is wrong with it. */
static void tell(examination *x, health state, const char *part, const char *name, const char *value)
{
    static const char *const words[] = {"good", "note", "bad"};
    x->tally.findings |= state == BAD;
    if (x->json) {
        cJSON *o = txm_json_new("txmill.doctor", DOCTOR_SCHEMA_VERSION);
        txm_json_text(o, "part", part);
        txm_json_text(o, "name", name);
        txm_json_text(o, "value", value);
        txm_json_text(o, "health", words[state]);
        txm_json_emit(o);
        return;
    }
    printf("%-10s %-14s ", part, name);
    fputs(txm_style_on(state == BAD ? TXM_BAD : TXM_PLAIN), stdout);
    txm_print_safe(value);
    puts(txm_style_on(TXM_PLAIN));
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static void examine_program(examination *x)
{
    struct utsname system;
    char text[VALUE];
    tell(x, GOOD, "program", "txmill", TXM_VERSION);
    tell(x, GOOD, "program", "compiler", __VERSION__);
    if (uname(&system) == 0) {
        snprintf(text, sizeof text, "%s %s, %s", system.sysname, system.release, system.machine);
        tell(x, GOOD, "program", "system", text);
    }
}

static void examine_libraries(examination *x)
{
    char tiff[VALUE], *looked_in = NULL;
    snprintf(tiff, sizeof tiff, "%.*s", (int)strcspn(TIFFGetVersion(), "\n"), TIFFGetVersion());
    tell(x, GOOD, "library", "libtiff", tiff);
    tell(x, GOOD, "library", "libdeflate", LIBDEFLATE_VERSION_STRING);
    tell(x, GOOD, "library", "zstd", ZSTD_versionString());
    tell(x, GOOD, "library", "OpenSSL", OpenSSL_version(OPENSSL_VERSION));
    tell(x, GOOD, "library", "cJSON", cJSON_Version());
    char *module = txm_plugin_path("txmill-oiio.so", &looked_in);
    if (module) {
        tell(x, GOOD, "library", "OpenImageIO", module);
    } else {
        char text[VALUE];
        snprintf(text, sizeof text, "txmill-oiio.so is not in %s: only PNG, JPEG, TIFF, EXR and the like can be read",
                 looked_in ? looked_in : "its place");
        tell(x, BAD, "library", "OpenImageIO", text);
    }
    free(module);
    free(looked_in);
}

/* ---- the machine ------------------------------------------------------------------------------------------------ */

static void examine_devices(examination *x)
{
    txm_cpu_info cpu;
    txm_device_info *gpus = NULL;
    size_t count = 0;
    txm_error err = {0};
    char text[VALUE], memory[TXM_FORMAT_BYTES];
    txm_cpu_describe(&cpu);
    snprintf(text, sizeof text, "%u threads, %s", cpu.cores, cpu.isa);
    tell(x, GOOD, "device", "cpu", text);
    if (txm_device_list(&gpus, &count, &err) != TXM_OK || !count)
        tell(x, NOTE, "device", "cuda", err.message);
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%s, %s%s%s", gpus[i].name, txm_format_bytes(gpus[i].memory_bytes, memory),
                 gpus[i].usable ? "" : ", not usable: ", gpus[i].usable ? "" : gpus[i].reason);
        tell(x, gpus[i].usable ? GOOD : NOTE, "device", "cuda", text);
    }
    free(gpus);
}

static void examine_limit(examination *x, __rlimit_resource_t resource, const char *name, rlim_t least)
{
    struct rlimit limit;
    char text[VALUE];
    if (getrlimit(resource, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY)
        snprintf(text, sizeof text, "no bound");
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)limit.rlim_cur);
    bool low = limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < least;
    tell(x, low ? BAD : GOOD, "limit", name, text);
}

/* ---- the place -------------------------------------------------------------------------------------------------- */

static void examine_config(examination *x, const txm_config_args *args)
{
    const txm_color_options how = {.ocio_path = args->ocio, .working_space = args->working_space};
    txm_color_config *config = NULL;
    txm_error err = {0};
    char text[VALUE];
    if (txm_color_load(&how, &config, &err) != TXM_OK) {
        tell(x, BAD, "config", "OpenColorIO", err.message);
        return;
    }
    const char *linear = txm_color_role(config, "scene_linear"), *left_out = txm_color_config_left_out(config);
    snprintf(text, sizeof text, "%s, profile %s, %zu colour spaces, working space %s", txm_color_config_name(config),
             txm_color_config_version(config), txm_color_count(config), linear ? linear : "none");
    tell(x, linear ? GOOD : BAD, "config", "OpenColorIO", text);
    if (*left_out)
        tell(x, NOTE, "config", "left out", left_out);
    txm_color_free(&config);
}

static void examine_folder(examination *x, const char *name, const char *path)
{
    struct statvfs fs;
    char text[VALUE], size[TXM_FORMAT_BYTES];
    if (statvfs(path, &fs) != 0) {
        snprintf(text, sizeof text, "%s: cannot be looked at", path);
        tell(x, BAD, "files", name, text);
        return;
    }
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    bool writable = access(path, W_OK) == 0;
    snprintf(text, sizeof text, "%s: %s free, %s%s", path, txm_format_bytes(free_bytes, size),
             writable ? "writable" : "not writable", fs.f_flag & ST_RDONLY ? ", mounted read-only" : "");
    tell(x, writable && free_bytes > 100 << 20 ? GOOD : NOTE, "files", name, text);
}

static void examine_environment(examination *x)
{
    static const char *const names[] = {"OCIO",        "TMPDIR",          "LC_ALL",         "LANG",
                                        "TERM",        "NO_COLOR",        "TXMILL_PLUGINS", "TXMILL_READER",
                                        "TXMILL_FSYNC"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            tell(x, GOOD, "variable", names[i], value);
    }
}

static void examine_project(examination *x)
{
    txm_project project;
    txm_error err = {0};
    char text[VALUE];
    if (txm_project_find(NULL, 0, &project, &err) != TXM_OK) {
        tell(x, BAD, "project", ".txmill", err.message);
        return;
    }
    tell(x, GOOD, "project", ".txmill", project.path ? project.path : "none in this folder or above it");
    for (size_t i = 0; i < project.count; i++) {
        snprintf(text, sizeof text, "%s (%s)", project.values[i].value, project.values[i].origin);
        tell(x, GOOD, "project", txm_project_key_name(project.values[i].key), text);
    }
    txm_project_free(&project);
}

static int run_doctor(void *p, const txm_operands *operands)
{
    const doctor_args *args = p;
    examination x = {.json = args->json, .tally = {.total = 1}};
    txm_error err = {0};
    const char *temp = getenv("TMPDIR");
    if (operands->count) {
        txm_fail(&err, TXM_STATUS_USAGE, "unexpected argument '%s'; doctor looks at this machine and this folder",
                 operands->items[0]);
        return txm_finish_failed(&err, 0);
    }
    examine_program(&x);
    examine_libraries(&x);
    examine_devices(&x);
    examine_config(&x, &args->config);
    examine_project(&x);
    examine_folder(&x, "this folder", ".");
    examine_folder(&x, "temporary", temp && *temp ? temp : "/tmp");
    examine_limit(&x, RLIMIT_NOFILE, "open files", 256);
    examine_limit(&x, RLIMIT_AS, "address space", (rlim_t)1 << 30);
    examine_limit(&x, RLIMIT_FSIZE, "file size", (rlim_t)1 << 30);
    examine_environment(&x);
    return txm_finish(&x.tally);
}

const txm_command txm_cmd_doctor = {
    .name = "doctor",
    .purpose = "Say what a bug report needs: versions, libraries, devices, config, limits",
    .synopsis = "[OPTION...]",
    .groups = groups,
    .exits = TXM_EXITS_FINDINGS,
    .args_bytes = sizeof(doctor_args),
    .run = run_doctor,
};
