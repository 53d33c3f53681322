/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of options that several commands share.
 *
 * Commands share the tables; each group is parsed into a struct of its own, which is a member of the command's struct.
 * The checks that need more than one option are below the tables.
 */
#include "tools/options/args.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "tile/terms/backends.h"
#include "tile/terms/releases.h"
#include "tools/options/project.h"
#include "tools/options/rule_args.h"
#include "tools/output/exits.h"
#include "tools/output/say.h"

/* ---- parsers ---------------------------------------------------------------------------------------------------- */

static txm_status parse_alpha(const char *text, void *field, txm_error *err)
{
    if (txm_alpha_parse(text, field))
        return TXM_OK;
    const char *near = txm_alpha_near(text);
    return txm_fail(err, TXM_STATUS_USAGE,
                    "must be straight, premultiplied, channel_packed, none, default or auto%s%s%s",
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Level 0 means the writer's choice, so it is not a valid number. */
static txm_status parse_compression(const char *text, void *field, txm_error *err)
{
    static const struct {
        const char *name;
        txm_codec codec;
        long max_level;
    } codecs[] = {{"zip", TXM_CODEC_ZIP, 12}, {"zstd", TXM_CODEC_ZSTD, 19}, {"none", TXM_CODEC_NONE, 0}};
    size_t n = strcspn(text, ":");
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (strlen(codecs[i].name) != n || memcmp(text, codecs[i].name, n) != 0)
            continue;
        long level = 0;
        if (text[n]) {
            const char *digits = text + n + 1;
            level = strlen(digits) <= 2 && strspn(digits, "0123456789") == strlen(digits) ? atol(digits) : 0;
            if (level < 1 || level > codecs[i].max_level)
                break;
        }
        *(txm_compression *)field = (txm_compression){codecs[i].codec, (int)level};
        return TXM_OK;
    }
    return txm_fail(err, TXM_STATUS_USAGE, "must be zip, zip:1 to zip:12, zstd, zstd:1 to zstd:19, or none");
}

/* Powers of two, as Cycles requires, written without a sign or leading zero. */
static txm_status parse_tile(const char *text, void *field, txm_error *err)
{
    char *end;
    long px = *text >= '1' && *text <= '9' ? strtol(text, &end, 10) : 0;
    if (px < TXM_MIN_TILE_PX || px > TXM_MAX_TILE_PX || *end || (px & (px - 1)))
        return txm_fail(err, TXM_STATUS_USAGE, "must be 16, 32, 64, 128, 256, 512 or 1024");
    *(uint32_t *)field = (uint32_t)px;
    return TXM_OK;
}

/* Checks only the form; the writer checks the name, which depends on the file. */
static txm_status check_attribute(const char *text, void *field, txm_error *err)
{
    (void)field;
    if (text[0] == '=' || !strchr(text, '='))
        return txm_fail(err, TXM_STATUS_USAGE, "must be NAME=VALUE");
    return TXM_OK;
}

/* Whether the device exists is checked when it is opened, where the message gives the reason. */
static txm_status parse_device(const char *text, void *field, txm_error *err)
{
#define NAME(name, title) name,
    static const char *const backends[] = {TXM_BACKENDS(NAME)};
    bool good = !strcmp(text, "auto") || !strcmp(text, "cpu");
    for (size_t i = 0; i < sizeof backends / sizeof *backends && !good; i++) {
        size_t n = strlen(backends[i]);
        const char *number = text + n + 1;
        if (strncmp(text, backends[i], n))
            continue;
        good = !text[n] ||
               (text[n] == ':' && *number && strlen(number) <= 3 && strspn(number, "0123456789") == strlen(number));
    }
    if (!good)
        return txm_fail(err, TXM_STATUS_USAGE, "must be one of " TXM_DEVICE_WORDS);
    *(const char **)field = text;
    return TXM_OK;
}

/* A release that is newer than all that txmill knows counts as the newest of these: an extension that runs in it works
 * until txmill is updated. */
static bool is_newer(const char *text)
{
    /* Both parts have had one digit since 3.0; with more it is a typing mistake, such as 5.20 for 5.2.0. */
    if (!isdigit((unsigned char)text[0]) || text[1] != '.' || !isdigit((unsigned char)text[2]))
        return false;
    const size_t digits = text[3] == '.' ? strspn(text + 4, "0123456789") : 0;
    return strncmp(text, txm_release_names[TXM_RELEASE_COUNT - 1], 3) > 0 &&
           (!text[3] || (digits && !text[4 + digits]));
}

txm_status txm_args_blender(const char *text, txm_blender *out, txm_error *err)
{
    if (txm_blender_parse(text, out))
        return TXM_OK;
    if (!is_newer(text))
        return txm_fail(err, TXM_STATUS_USAGE, "must be " TXM_RELEASES_OR);
    *out = TXM_BLENDER_NEWEST;
    txm_say(TXM_SAY_WARNING,
            "Blender %.20s is newer than this txmill, which knows " TXM_RELEASES_OR
            "; names and pixels are those of %s",
            text, txm_blender_name(*out));
    return TXM_OK;
}

static txm_status parse_blender(const char *text, void *field, txm_error *err)
{
    return txm_args_blender(text, field, err);
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(txm_config_args, member)
const txm_option txm_config_options[] = {
    TXM_OPTION(STRING, "ocio", .rare = true, AT(ocio), .arg = "FILE", .values = TXM_VALUES_CONFIG,
               .help = "OpenColorIO config, archive or ocio:// name (default: as in Blender, else built in)",
               .more =
                   "If the config cannot be loaded, the command fails; no other config is used instead. Without this "
                   "option the config is that of $BLENDER_OCIO, else of $OCIO, else, for Blender 5.3 and newer, of the "
                   "Blender project in whose folder the scene or image is (.blender_project/project.toml), which may "
                   "also be given here. If it is missing or broken, the next one is used, with a warning, since "
                   "Blender does so too. The built-in config has the colour spaces of Blender's default one."),
    TXM_OPTION(STRING, "working-space", .rare = true, AT(working_space), .arg = "NAME", .values = TXM_VALUES_SPACE,
               .help = "Scene-linear space to convert to (default: the config's scene_linear role)",
               .more = "Use the same as the scene's working space in Blender, for instance Linear Rec.2020 or ACEScg. "
                       "The names of tx files depend on it."),
    TXM_OPTION(CUSTOM, "blender", AT(blender), .arg = "VERSION", .values = TXM_RELEASES_SPACED, .parse = parse_blender,
               .help = "Blender " TXM_RELEASES_OR " (default: the newest)",
               .more = "The versions differ in the names of tx files, for colour spaces that a scene stores by another "
                       "name than the config's and for OpenColorIO configs that have neither the role aces_interchange "
                       "nor the role XYZ, in the pixels of some files with alpha, and in the metadata of OpenEXR tx "
                       "files. A newer version counts as the newest of these, with a warning."),
    {0},
};

static txm_status parse_map(const char *text, void *field, txm_error *err)
{
    (void)field;
    return txm_args_map(text, NULL, NULL, err);
}

#define PATH_MAP(without)                                                                                              \
    TXM_OPTION(                                                                                                        \
        LIST, "path-map", .rare = true, AT(maps), .arg = "'FROM TO'", .parse = parse_map,                              \
        .help = "Look for files whose stored paths begin with FROM in the folder TO (repeatable, the first "           \
                "match counts)",                                                                                       \
        .more = "FROM is what a scene stores, such as P:\\ or \\\\server\\share or /Volumes/tex; TO is an absolute "   \
                "path here. " without)
const txm_option txm_map_options[] = {PATH_MAP("Without it paths are relative to the scene's folder."), {0}};

const txm_option txm_scene_file_options[] = {
    PATH_MAP("Without it paths are resolved as Blender does it: P:\\tex\\a.png is /p/tex/a.png, and a server is not "
             "found."),
    TXM_OPTION(FLAG, "every-variant", .rare = true, AT(every_variant),
               .help = "For USD: also use the images of variants that the scene does not select"),
    {0},
};
#undef PATH_MAP
#undef AT

/* Splits at the first blanks before a slash, because names of shares may contain blanks. */
txm_status txm_args_map(const char *text, size_t *from_bytes, const char **to, txm_error *err)
{
    const char *end = strstr(text, " /");
    for (const char *tab = strstr(text, "\t/"); tab && (!end || tab < end); tab = NULL)
        end = tab;
    const char *at = end;
    while (at && at > text && isspace((unsigned char)at[-1]))
        at--;
    if (!at || at == text)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "a map has two parts, as in 'P:\\ /mnt/p': how stored paths begin, and an absolute path here");
    if (from_bytes)
        *from_bytes = (size_t)(at - text);
    if (to)
        *to = end + 1;
    return TXM_OK;
}

/* The settings that, besides folder and format, determine the name of a tx file: for commands that make files, and
 * for those that look for them. */
#define NAMING_OPTIONS                                                                                                 \
    TXM_OPTION(                                                                                                        \
        STRING, "colorspace", .letter = 'c', AT(settings.colorspace), .arg = "NAME", .values = TXM_VALUES_SPACE,       \
        .help = "Colour space: a name of the config, auto or default",                                                 \
        .more =                                                                                                        \
            "The word default stands for what a Blender scene uses: the file's own colour metadata if the config has " \
            "that space, else a file rule of the config that matches, other than its default rule, else the config's " \
            "role for the format. The word auto stands for what Blender's own maketx command uses for an image "       \
            "without a scene. Any other word is part of the name of the tx file as given, so an alias leads to "       \
            "another file than the name that it stands for; which name a scene leads to, txmill list shows. "          \
            "=default and =auto are colour spaces or roles of these names: Blender's config has a role "               \
            "default. = alone is for images whose colour space is empty in the scene or not in the config, which "     \
            "Cycles treats as scene-linear, under the name for auto. 'txmill colorspaces' lists the names."),          \
        TXM_OPTION(CUSTOM, "alpha-type", .letter = 'a', AT(settings.alpha), .arg = "TYPE",                             \
                   .values = "straight premultiplied channel_packed none default auto", .parse = parse_alpha,          \
                   .help = "Alpha: straight, premultiplied, channel_packed, none, default or auto",                    \
                   .more =                                                                                             \
                       "default stands for what Blender chooses for the file: premultiplied for OpenEXR, Cineon, DPX " \
                       "and Radiance files and straight for the others.")

#define AT(member) .offset = offsetof(txm_settings_args, member)
/* The library's defaults, so that both are the same. */
static void set_defaults(void *group)
{
    txm_settings_init(&((txm_settings_args *)group)->settings);
}

const txm_option txm_naming_options[] = {NAMING_OPTIONS, {.defaults = set_defaults}};
const txm_option txm_settings_options[] = {
    NAMING_OPTIONS,
    TXM_OPTION(FLAG, "envlatl", .rare = true, AT(settings.equiangular),
               .help = "Filter as a lat-long environment, with the file name for these",
               .more = "For versions of Cycles that use the format equiangular. Blender does not: it uses plain "
                       "files, also for environment textures, and will not find the files that this option makes."),
    TXM_OPTION(CUSTOM, "compression", .rare = true, AT(settings.compression), .arg = "CODEC[:LEVEL]",
               .values = "zip zstd none", .parse = parse_compression,
               .help = "zip[:1-12], zstd[:1-19] or none (default: zip, level chosen per tile)",
               .more =
                   "The official Blender's libtiff is built without zstd, so it renders such files magenta; Debian's "
                   "reads them. OpenEXR has no zstd either, so it is refused for images that become half or float."),
    TXM_OPTION(CUSTOM, "tile", .rare = true, AT(settings.tile_px), .arg = "N", .values = "16 32 64 128 256 512 1024",
               .parse = parse_tile, .help = "Edge of a tile in pixels: a power of two from 16 to 1024 (default: 64)",
               .more = "Blender makes tiles of 64, and Cycles is optimized for them."),
    TXM_OPTION(YESNO, "borders", .rare = true, AT(settings.borders), .arg = "yes|no", .values = "yes no",
               .help = "Append a section with the border pixels of every tile (default: yes)",
               .more = "Readers that support the section read a tile with its border in one read; others ignore it."),
    TXM_OPTION(YESNO, "mono", .rare = true, AT(settings.mono), .arg = "yes|no", .values = "yes no",
               .help = "Store opaque grey RGB images as one channel (default: yes)",
               .more = "Cycles samples the same values with a quarter of the memory."),
    TXM_OPTION(FLAG, "strict", .rare = true, AT(settings.strict),
               .help = "Write files as Blender itself does: no mono, no borders",
               .more = "An unknown colour space leads to a warning and is treated as linear, as in Blender. Takes "
                       "precedence over --mono and --borders."),
    TXM_OPTION(LIST, "attrib", .rare = true, AT(attributes), .arg = "NAME=VALUE", .parse = check_attribute,
               .help = "Store a text in the file's metadata (repeatable)"),
    TXM_OPTION(FLAG, "redact", .rare = true, AT(settings.redact),
               .help = "Store the source's file name without its folder"),
    TXM_OPTION_CACHE_DIR(AT(settings.cache_dir), "Folder of the tx files (default: blender_tx beside each image)",
                         "A relative path is relative to each image's folder. It must be the same as in Blender's "
                         "preferences: if it is absolute, the names of the tx files depend on it."),
    {.defaults = set_defaults},
};
#undef AT

#define AT(member) .offset = offsetof(txm_jobs_args, member)
const txm_option txm_jobs_options[] = {TXM_OPTION_JOBS(AT(threads)), {0}};
#undef AT

#define AT(member) .offset = offsetof(txm_running_args, member)
const txm_option txm_running_options[] = {
    TXM_OPTION_JOBS(AT(threads)),
    TXM_OPTION(SIZE, "max-memory", .rare = true, AT(max_memory_bytes), .arg = "SIZE",
               .help = "Memory limit, such as 800M or 4G (default: none for honest images)",
               .more = "An image that needs more is refused before memory is allocated. Without this option an image "
                       "is refused only if it claims more pixels than a file of its size can hold, or is likely to, "
                       "or if it needs more memory than is free."),
    TXM_OPTION(CUSTOM, "device", .rare = true, AT(device), .arg = "NAME", .values = "auto cpu cuda opencl",
               .parse = parse_device, .help = "auto, cpu, cuda[:N] or opencl[:N] (default: auto)",
               .more = "The bytes of the result do not depend on the device. txmill-devices(1) describes how auto "
                       "chooses, and what happens if there is no device."),
    TXM_OPTION(SIZE, "device-memory", .rare = true, AT(device_memory_bytes), .arg = "SIZE",
               .help = "Memory limit per device (default: nine tenths of its free memory)"),
    {0},
};
#undef AT

#define AT(member) .offset = offsetof(txm_report_args, member)
const txm_option txm_report_options[] = {
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print JSON on standard output, one object per line"),
    TXM_OPTION(FLAG, "quiet", .letter = 'q', AT(quiet), .help = "Print errors only"),
    TXM_OPTION(FLAG, "verbose", .rare = true, .letter = 'v', AT(verbose), .help = "Explain what is done and why"),
    {0},
};
#undef AT

/* ---- from arguments to what the library takes ------------------------------------------------------------------- */

/* Records which options were given: an existing file is remade only if it differs from these. */
void txm_settings_args_finish(txm_settings_args *args, const txm_operands *operands)
{
    static const struct {
        const char *option;
        unsigned bits;
    } asked[] = {{"compression", TXM_ASKED_COMPRESSION},
                 {"tile", TXM_ASKED_TILE},
                 {"borders", TXM_ASKED_BORDERS},
                 {"mono", TXM_ASKED_MONO},
                 {"colorspace", TXM_ASKED_COLORSPACE},
                 {"alpha-type", TXM_ASKED_ALPHA},
                 {"strict", TXM_ASKED_BORDERS | TXM_ASKED_MONO}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (txm_opt_given(operands, asked[i].option))
            args->settings.asked |= asked[i].bits;
    args->settings.attributes = args->attributes.items;
    if (args->settings.strict)
        args->settings.mono = args->settings.borders = false;
}

/* Warns about settings that are valid, because other readers exist, but that Blender does not support. */
void txm_settings_args_warn(const txm_settings_args *args)
{
    const txm_settings *s = &args->settings;
    if (s->compression.codec == TXM_CODEC_ZSTD)
        txm_say(TXM_SAY_WARNING, "--compression zstd: Cycles in the official Blender renders these files magenta, "
                                 "because its libtiff has no zstd; Debian's Blender and other readers support it. Use "
                                 "--compression zip for all versions of Blender");
    if (s->equiangular)
        txm_say(TXM_SAY_WARNING, "--envlatl: Blender will not find these files, because it uses plain files for "
                                 "environments too; leave out --envlatl for it");
    if (s->tile_px != TXM_DEFAULT_TILE_PX)
        txm_say(TXM_SAY_WARNING,
                "--tile %u: Blender makes tiles of %d pixels, and Cycles' cache is made for them; leave out --tile "
                "unless another reader needs it",
                s->tile_px, TXM_DEFAULT_TILE_PX);
}

/* Blender's own command names files after the alias as well, so an alias is not refused. Data spaces have one common
 * name, and scenes store the role of the working space, so neither needs a warning. */
void txm_settings_warn_alias(const txm_settings *settings, const txm_color_config *config)
{
    const char *space = settings->colorspace;
    const char *name = space ? txm_color_canonical(config, space) : NULL;
    if (!name || !strcmp(name, space) || txm_color_role(config, space) || txm_color_is_data(config, space))
        return;
    txm_say(TXM_SAY_WARNING,
            "-c %s: an alias of \"%s\"; the tx file has the name that Blender's maketx command gives it, but scenes "
            "that are set to %s look for another one: -c \"%s\" makes that",
            space, name, name, name);
}

void txm_report_args_apply(const txm_report_args *args)
{
    txm_say_set_level(args->quiet ? TXM_SAY_ERROR : args->verbose ? TXM_SAY_DETAIL : TXM_SAY_INFO);
}

/* Details from the library are shown with -v, its warnings always. */
static void log_message(void *user, txm_log_level level, const char *message)
{
    (void)user;
    txm_say(level == TXM_LOG_LEVEL_WARNING ? TXM_SAY_WARNING : TXM_SAY_DETAIL, "%s", message);
}

static void show_part(void *user, uint64_t done, uint64_t parts)
{
    (void)user;
    txm_say_part(done, parts);
}

txm_context_options txm_context_options_from(const txm_config_args *config, const txm_running_args *running)
{
    return (txm_context_options){
        .struct_size = sizeof(txm_context_options),
        .content = running->content,
        .threads = running->threads,
        .max_memory_bytes = running->max_memory_bytes,
        .ocio_path = config->ocio,
        .working_space = config->working_space,
        .blender = config->blender,
        .device = running->device,
        .device_memory_bytes = running->device_memory_bytes,
        .log = log_message,
        .cancel = txm_signal_flag(),
        .part = show_part,
    };
}

txm_color_options txm_color_options_from(const txm_config_args *config)
{
    return (txm_color_options){.struct_size = sizeof(txm_color_options),
                               .ocio_path = config->ocio,
                               .working_space = config->working_space,
                               .blender = config->blender};
}

void txm_config_warn(const txm_color_config *config)
{
    if (*txm_color_config_replaced(config))
        txm_say(TXM_SAY_WARNING, "%s", txm_color_config_replaced(config));
}

/* Commands that only read files need no GPU, and must not wait for one to start. */
txm_context_options txm_inspecting_options(const txm_config_args *config, const txm_jobs_args *jobs)
{
    const txm_running_args running = {.threads = jobs->threads, .device = "cpu"};
    return txm_context_options_from(config, &running);
}

txm_status txm_context_for_inspecting(const txm_config_args *config, const txm_jobs_args *jobs, txm_context **out,
                                      txm_error *err)
{
    const txm_context_options options = txm_inspecting_options(config, jobs);
    return txm_context_make(&options, config, out, err);
}

/* Does the same as txm_context_new, but failures name the options and settings. */
txm_status txm_context_make(const txm_context_options *options, const txm_config_args *config, txm_context **out,
                            txm_error *err)
{
    txm_error own = {0};
    txm_status status = txm_context_new(options, out, &own);
    if (status == TXM_OK)
        return status;
    txm_config_explain(config, &own);
    return txm_fail_with(err, own.status, &own);
}

void txm_config_explain(const txm_config_args *config, txm_error *err)
{
    /* If a file or a variable names the config, the advice to use --ocio would be wrong. */
    if (config->ocio && config->ocio_origin && err->status == TXM_STATUS_CONFIG) {
        txm_error_drop_advice(err);
        txm_error_advise(err, "name another config there, or none for the built-in one");
        txm_error_prefix(err, "%s", config->ocio_origin);
        txm_advise_config(config->ocio_origin);
    }
    /* A misspelt name is an error of the command line or the project, reported once before any file. */
    if (config->working_space && err->status == TXM_STATUS_COLORSPACE) {
        err->status = TXM_STATUS_USAGE;
        txm_error_prefix(err, "%s", config->working_space_origin ? config->working_space_origin : "--working-space");
    }
}
