/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill doctor: prints what a bug report needs about the program, the machine and the current folder.
 *
 * Out: a list of facts, each good, a note, or bad: versions of the program and its libraries, devices, the OpenColorIO
 * config, limits of the process, environment variables. It changes nothing, so it can be run beside a render that
 * hangs.
 *
 * A fact is bad if it would make txmill fail or slow down: too few file descriptors, a folder that cannot be written
 * to, a config that does not load. Nothing is sent anywhere, and variables that may hold secrets are not listed.
 */
#include <errno.h>
#include <libdeflate.h>
#include <openexr.h>
#include <openssl/crypto.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>
#include <webp/decode.h>
#include <yaml.h>
#include <zstd.h>

/* Needs FILE. */
#include <jpeglib.h>

#include "base/fail.h"
#include "base/os/library.h"
#include "base/os/machine.h"
#include "base/os/plugin.h"
#include "base/os/process.h"
#include "tools/options/project.h"
#include "tools/output/colors.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/text.h"
#include "txmill/color.h"
#include "txmill/devices.h"

enum { VALUE = 1024 };

/* libjpeg-turbo has only the version that it was compiled as, and not as a string. */
#define JPEG_TEXT(version) #version
#define JPEG_VERSION_TEXT(version) JPEG_TEXT(version)

typedef struct doctor_args {
    bool json;
    txm_config_args config;
} doctor_args;

static const txm_option options[] = {
    TXM_OPTION(FLAG, "json", .offset = offsetof(doctor_args, json), .help = "Print one JSON object per line of text"),
    {0},
};
static const txm_option_group groups[] = {TXM_COLOUR_GROUP(doctor_args), {"Reports", options, 0}, {0}};

typedef enum health { GOOD, NOTE, BAD } health;

typedef struct examination {
    bool json;
    txm_tally tally;
} examination;

static void tell_fact(examination *x, health state, const char *part, const char *name, const char *value)
{
    static const char *const words[] = {"good", "note", "bad"};
    x->tally.findings |= state == BAD;
    if (x->json) {
        cJSON *o = txm_json_new("txmill.doctor");
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

static bool is_same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Compares the running file with the one that would be started: the command of a wheel is a script that executes the
 * program. */
static bool is_this_program(const char *path)
{
    struct stat this, that, started;
    const char *name = program_invocation_name;
    char self[PATH_MAX];
    if (stat(path, &that) != 0)
        return false;
    return (txm_program_path(self) && stat(self, &this) == 0 && is_same_inode(&this, &that)) ||
           (strchr(name, '/') && stat(name, &started) == 0 && is_same_inode(&started, &that));
}

/* The path of this txmill, and others in PATH: it is common to have a wheel's and a distribution's. */
static void examine_place(examination *x)
{
    char self[PATH_MAX], text[2 * VALUE];
    const char *path = getenv("PATH");
    bool first = true;
    txm_program_path(self);
    tell_fact(x, GOOD, "program", "path", self);
    for (const char *folder = path; folder && *folder;) {
        size_t length = strcspn(folder, ":");
        char other[VALUE];
        snprintf(other, sizeof other, "%.*s/txmill", (int)length, folder);
        folder += length + (folder[length] == ':');
        if (!length || access(other, X_OK) != 0)
            continue;
        if (!is_this_program(other)) {
            snprintf(text, sizeof text, "%s is another txmill, %s in PATH", other, first ? "first" : "later");
            tell_fact(x, NOTE, "program", "also here", text);
        } else {
            first = false;
        }
    }
}

static bool first_line(const char *program, const char *argument, char *line, size_t line_bytes)
{
    char *argv[] = {(char *)program, (char *)argument, NULL};
    int ends[2];
    long pid;
    txm_end end = {TXM_END_UNKNOWN, 0};
    *line = 0;
    if (txm_pipe(ends) != 0)
        return false;
    const txm_program asked = {.argv = argv, .file_count = 3, .files = {TXM_FILE_SAME, ends[1], TXM_FILE_SAME}};
    const bool started = txm_process_start(&asked, &pid) == 0;
    close(ends[1]);
    FILE *out = fdopen(ends[0], "r");
    if (!out)
        close(ends[0]);
    else if (!fgets(line, (int)line_bytes, out))
        *line = 0;
    if (out)
        fclose(out);
    line[strcspn(line, "\n")] = 0;
    if (started)
        txm_process_wait(pid, -1, &end);
    return end.cause == TXM_END_EXIT && end.code == 0 && *line;
}

/* What versions of OpenImageIO before Blender's get wrong, as measured with 2.4.7: with DEPS=system on Debian 12. */
#define OLD_FORMATS                                                                                                    \
    "OpenImageIO before 3.1, which Blender has, reads these otherwise: PSD of 32 bits (as sRGB), DDS with the sRGB "   \
    "formats of DXGI (refused), TGA whose palette does not begin at 0 (wrong colours), ICO of 256 px (refused), "      \
    "Softimage PIC with run lengths; save such images as PNG, TIFF or OpenEXR"

/* What the official builds of Blender 5.2 and 5.3 read with OpenImageIO. */
static const struct {
    const char *name, *words;
} blenders_formats[] = {
    {"bmp", "BMP"},         {"cineon", "Cineon"}, {"dds", "DDS"},
    {"dpx", "DPX"},         {"fits", "FITS"},     {"heif", "AVIF and HEIC"},
    {"hdr", "Radiance"},    {"ico", "ICO"},       {"iff", "IFF"},
    {"jpeg", "JPEG"},       {"png", "PNG"},       {"jpeg2000", "JPEG 2000"},
    {"openexr", "OpenEXR"}, {"pnm", "PNM"},       {"psd", "PSD"},
    {"rla", "RLA"},         {"sgi", "SGI"},       {"softimage", "Softimage PIC"},
    {"targa", "Targa"},     {"tiff", "TIFF"},     {"webp", "WebP"},
    {"zfile", "Zfile"},
};

/* `names`: the formats that OpenImageIO reads here, separated by commas. */
static void examine_formats(examination *x, const char *names)
{
    char text[VALUE] = "";
    for (size_t i = 0; i < sizeof blenders_formats / sizeof *blenders_formats; i++) {
        const size_t n = strlen(blenders_formats[i].name);
        const char *at = names;
        while (*at && !(strncmp(at, blenders_formats[i].name, n) == 0 && (!at[n] || at[n] == ',')))
            at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',');
        if (!*at)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? ", " : "",
                     blenders_formats[i].words);
    }
    if (*text) {
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "; Blender reads them, PNG, TIFF and OpenEXR can be read");
        tell_fact(x, NOTE, "library", "not readable", text);
    }
}

/* Runs the worker, which loads OpenImageIO as it does for an image; if one of its libraries is missing, its output says
 * so. */
static void examine_image_library(examination *x)
{
    char said[VALUE / 2], text[VALUE], *looked_in = NULL;
    char *worker = txm_plugin_path("txmill-oiio-worker", &looked_in);
    bool works = worker && first_line(worker, "--version", said, sizeof said);
    char *formats = works ? strchr(said, ' ') : NULL;
    if (formats)
        *formats++ = 0;
    if (works)
        snprintf(text, sizeof text, "%s (%s)", said, worker);
    else if (worker)
        snprintf(text, sizeof text,
                 "%s cannot load it: %s; images other than PNG, JPEG, TIFF, EXR and the like cannot be read", worker,
                 *said ? said : "it exits without a message");
    else
        snprintf(text, sizeof text,
                 "txmill-oiio-worker is not in %s: images other than PNG, JPEG, TIFF, EXR and the like cannot be read",
                 looked_in ? looked_in : "its place");
    tell_fact(x, works ? GOOD : BAD, "library", "OpenImageIO", text);
    int major = 0, minor = 0;
    if (works && sscanf(said, "%d.%d", &major, &minor) == 2 && major * 100 + minor < 301)
        tell_fact(x, NOTE, "library", "image formats", OLD_FORMATS);
    if (formats)
        examine_formats(x, formats);
    free(worker);
    free(looked_in);
}

/* If possible, the versions that libraries report at run time, not those of their headers. */
static void examine_libraries(examination *x)
{
    char tiff[VALUE], text[VALUE];
    const char *extra = NULL;
    int number[3] = {0};
    snprintf(tiff, sizeof tiff, "%.*s", (int)strcspn(TIFFGetVersion(), "\n"), TIFFGetVersion());
    tell_fact(x, GOOD, "library", "libtiff", tiff);
    tell_fact(x, GOOD, "library", "libdeflate", LIBDEFLATE_VERSION_STRING);
    tell_fact(x, GOOD, "library", "zstd", ZSTD_versionString());
    tell_fact(x, GOOD, "library", "OpenSSL", OpenSSL_version(OPENSSL_VERSION));
    tell_fact(x, GOOD, "library", "cJSON", cJSON_Version());
    tell_fact(x, GOOD, "library", "libpng", png_get_libpng_ver(NULL));
    tell_fact(x, GOOD, "library", "libjpeg-turbo", JPEG_VERSION_TEXT(LIBJPEG_TURBO_VERSION));
    snprintf(text, sizeof text, "%d.%d.%d", WebPGetDecoderVersion() >> 16, WebPGetDecoderVersion() >> 8 & 255,
             WebPGetDecoderVersion() & 255);
    tell_fact(x, GOOD, "library", "libwebp", text);
    tell_fact(x, GOOD, "library", "libyaml", yaml_get_version_string());
    txm_colors_describe(text, sizeof text);
    tell_fact(x, txm_colors_exact() ? GOOD : NOTE, "library", "OpenColorIO", text);
    exr_get_library_version(&number[0], &number[1], &number[2], &extra);
    snprintf(text, sizeof text, "%d.%d.%d%s", number[0], number[1], number[2], extra ? extra : "");
    tell_fact(x, GOOD, "library", "OpenEXR", text);
    if (number[0] * 100 + number[1] < 304)
        tell_fact(x, NOTE, "library", "not readable",
                  "OpenEXR with HTJ2K, which Blender reads; zip or PIZ can be read");
    examine_image_library(x);
}

/* ---- the machine ------------------------------------------------------------------------------------------------ */

/* A missing device is not a problem: the CPU makes the same files. */
static void examine_devices(examination *x)
{
    txm_cpu_info cpu;
    txm_device_info *gpus = NULL;
    size_t count = 0;
    txm_error err = {0};
    char text[VALUE], memory[TXM_FORMAT_BYTES], threads[TXM_FORMAT_COUNT];
    txm_cpu_describe(&cpu);
    snprintf(text, sizeof text, "%s, %s", txm_format_count(cpu.cores, "thread", threads), cpu.isa);
    tell_fact(x, GOOD, "device", "cpu", text);
    const char *backend;
    for (size_t k = 0; (backend = txm_device_backend(k)); k++) {
        if (txm_device_list_of(backend, &gpus, &count, &err) != TXM_OK)
            tell_fact(x, NOTE, "device", backend, err.message);
        for (size_t i = 0; i < count; i++) {
            snprintf(text, sizeof text, "%s, %s%s%s", gpus[i].name, txm_format_bytes(gpus[i].memory_bytes, memory),
                     gpus[i].usable ? "" : ", not usable: ", gpus[i].usable ? "" : gpus[i].reason);
            tell_fact(x, gpus[i].usable ? GOOD : NOTE, "device", backend, text);
        }
        free(gpus);
    }
}

static void examine_memory(examination *x)
{
    static const char *const groups_of[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    char text[VALUE], size[TXM_FORMAT_BYTES], bound[TXM_FORMAT_BYTES];
    uint64_t all = txm_machine_bytes();
    unsigned long long most = 0;
    for (int i = 0; i < 2 && !most; i++) {
        FILE *f = fopen(groups_of[i], "re");
        if (f && fscanf(f, "%llu", &most) != 1)
            most = 0;
        if (f)
            fclose(f);
    }
    bool bounded = most && most < all;
    snprintf(text, sizeof text, "%s%s%s", txm_format_bytes(all, size), bounded ? ", limited by a cgroup to " : "",
             bounded ? txm_format_bytes(most, bound) : "");
    tell_fact(x, GOOD, "limit", "memory", text);
}

/* A value below `least`, which a run needs, is bad. */
static void examine_limit(examination *x, txm_limit limit, const char *name, uint64_t least)
{
    uint64_t value;
    char text[VALUE] = "no bound";
    if (txm_limit_of(limit, &value))
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    const bool low = value < least;
    tell_fact(x, low ? BAD : GOOD, "limit", name, text);
}

/* ---- the place -------------------------------------------------------------------------------------------------- */

/* Loads the config as make would, with the same options, so that an error is the same as in make. */
static void examine_config(examination *x, const txm_config_args *args)
{
    const txm_color_options how = txm_color_options_from(args);
    txm_color_config *config = NULL;
    txm_error err = {0};
    char text[VALUE], spaces[TXM_FORMAT_COUNT];
    if (txm_color_load(&how, &config, &err) != TXM_OK) {
        txm_config_explain(args, &err);
        tell_fact(x, BAD, "config", "OpenColorIO", err.message);
        return;
    }
    const char *linear = txm_color_role(config, "scene_linear"), *left_out = txm_color_config_left_out(config);
    const char *named_by = *txm_color_config_named_by(config) ? txm_color_config_named_by(config)
                           : args->ocio && !txm_color_is_project(args->ocio)
                               ? args->ocio_origin ? args->ocio_origin : "--ocio"
                               : "";
    snprintf(text, sizeof text, "%s%s%s%s, profile %s, %s, working space %s", txm_color_config_name(config),
             *named_by ? " (" : "", named_by, *named_by ? ")" : "", txm_color_config_version(config),
             txm_format_count(txm_color_count(config), "colour space", spaces), linear ? linear : "none");
    tell_fact(x, linear ? GOOD : BAD, "config", "OpenColorIO", text);
    if (*txm_color_config_replaced(config))
        tell_fact(x, NOTE, "config", "not used", txm_color_config_replaced(config));
    if (*left_out)
        tell_fact(x, NOTE, "config", "left out", left_out);
    tell_fact(x, GOOD, "config", "for Blender", txm_blender_name(txm_color_blender(config)));
    txm_color_free(&config);
}

static void examine_folder(examination *x, const char *name, const char *path)
{
    txm_volume fs;
    char text[VALUE], size[TXM_FORMAT_BYTES];
    if (!txm_volume_of(path, &fs)) {
        snprintf(text, sizeof text, "%s: cannot be examined", path);
        tell_fact(x, BAD, "files", name, text);
        return;
    }
    bool writable = access(path, W_OK) == 0;
    char *real = realpath(path, NULL);
    snprintf(text, sizeof text, "%s: %s, %s free, %s%s", real ? real : path, fs.kind,
             txm_format_bytes(fs.free_bytes, size), writable ? "writable" : "not writable",
             fs.read_only ? ", mounted read-only" : "");
    free(real);
    tell_fact(x, writable && fs.free_bytes > 100 << 20 ? GOOD : NOTE, "files", name, text);
    if (fs.network)
        tell_fact(x, NOTE, "files", "slow share",
                  "its files are on another machine; tx files on a local disk are read faster: set Blender's texture "
                  "cache folder to one, and run: txmill mirror --to /LOCAL/FOLDER SCENE.blend");
}

static void examine_environment(examination *x)
{
    static const char *const names[] = {"BLENDER_OCIO",  "OCIO",         "TMPDIR",         "LC_ALL",
                                        "LANG",          "TERM",         "NO_COLOR",       "TXMILL_PLUGINS",
                                        "TXMILL_READER", "TXMILL_FSYNC", "TXMILL_SETTINGS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            tell_fact(x, GOOD, "variable", names[i], value);
    }
}

/* The .txmill file that applies here, and its settings. A mistake in it is bad, because every command will fail. */
static void examine_project(examination *x)
{
    txm_project project;
    txm_error err = {0};
    char text[VALUE];
    const char *cache_dir = NULL;
    if (txm_project_find(NULL, 0, &project, &err) != TXM_OK) {
        tell_fact(x, BAD, "project", ".txmill", err.message);
        return;
    }
    tell_fact(x, GOOD, "project", ".txmill", project.path ? project.path : "none in this folder or above it");
    for (size_t i = 0; i < project.count; i++) {
        snprintf(text, sizeof text, "%s (%s)", project.values[i].value, project.values[i].origin);
        tell_fact(x, GOOD, "project", txm_project_key_name(project.values[i].key), text);
        cache_dir = project.values[i].key == TXM_KEY_CACHE_DIR && !cache_dir ? project.values[i].value : cache_dir;
    }
    /* A relative cache folder is beside each image; here it is looked for in the current folder. */
    if (access(cache_dir ? cache_dir : "blender_tx", F_OK) == 0)
        examine_folder(x, "cache folder", cache_dir ? cache_dir : "blender_tx");
    else if (cache_dir)
        tell_fact(x, NOTE, "files", "cache folder", "does not exist yet");
    txm_project_free(&project);
}

/* The exit code is 5 if anything is bad, so that a farm can use the command to check its nodes. */
static int run_doctor(void *p, const txm_operands *operands)
{
    doctor_args *args = p;
    const txm_project_targets project = {NULL, &args->config, NULL, NULL};
    examination x = {.json = args->json, .tally = {.total = 1}};
    txm_error err = {0};
    const char *temp = getenv("TMPDIR");
    /* examine_project reports what is wrong with the project. */
    txm_project_apply(&project, operands, &err);
    /* The compiler and system of the build and of the machine, which a report needs first. */
    char system[TXM_SYSTEM_BYTES];
    tell_fact(&x, GOOD, "program", "txmill", TXM_VERSION);
    tell_fact(&x, GOOD, "program", "compiler", __VERSION__);
    txm_system_text(system);
    if (*system)
        tell_fact(&x, GOOD, "program", "system", system);
    examine_place(&x);
    examine_libraries(&x);
    examine_devices(&x);
    examine_config(&x, &args->config);
    examine_project(&x);
    examine_folder(&x, "this folder", ".");
    examine_folder(&x, "temporary", temp && *temp ? temp : "/tmp");
    examine_memory(&x);
    examine_limit(&x, TXM_LIMIT_PROCESSES, "processes", 64);
    examine_limit(&x, TXM_LIMIT_FILES, "open files", 256);
    examine_limit(&x, TXM_LIMIT_ADDRESSES, "address space", UINT64_C(1) << 30);
    examine_limit(&x, TXM_LIMIT_FILE_BYTES, "file size", UINT64_C(1) << 30);
    examine_environment(&x);
    return txm_finish(&x.tally);
}

TXM_COMMAND(doctor, doctor_args,
            .purpose = "Print what a bug report needs: versions, libraries, devices, config, limits",
            .synopsis = "[OPTION...]",
            .no_operands = "the command takes none, and examines this machine and the current folder",
            .exits = TXM_EXITS_FINDINGS);
