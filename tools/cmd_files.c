/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill files: lists every file that the textures of scenes need, with their tx files.
 *
 * In: scenes. Out: a list for programs that copy files, or a manifest, by which txmill restore makes the copies fresh.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "tools/files/list_out.h"
#include "tools/files/scenes.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/guard.h"

typedef struct files_args {
    txm_scenes_args scenes;
    bool null, sha256, overwrite;
    const char *root, *manifest, *zip;
    txm_frame_list frames;
    txm_opt_list roles;
} files_args;

static txm_status check_role(const char *text, void *field, txm_error *err)
{
    (void)field;
    for (int i = 0; i < TXM_NEEDED_ROLES; i++)
        if (!strcmp(text, txm_needed_role_names[i]))
            return TXM_OK;
    return txm_fail(err, TXM_STATUS_USAGE, "must be scene, library, image, movie or tx");
}

#define AT(member) .offset = offsetof(files_args, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "null", .letter = '0', AT(null), .help = "End each path with a zero byte instead of a line end",
               .more = "For rsync --from0, tar --null and xargs -0: names may then contain anything."),
    TXM_OPTION(
        STRING, "manifest", AT(manifest), .arg = "FILE", .values = TXM_VALUES_FILE,
        .help = "Write a manifest, for txmill restore on the other side",
        .more =
            "It has the time and the content of each file. It appears complete or not at all, and is not part of the "
            "list itself."),
    TXM_OPTION(STRING, "zip", AT(zip), .arg = "FILE", .values = TXM_VALUES_FILE,
               .help = "Store all files in a zip archive, with a manifest",
               .more =
                   "Nothing is compressed, since images and tx files are. Paths are as in a manifest, and what links "
                   "lead to is stored. The archive appears complete or not at all. After unzipping, txmill restore "
                   "txmill.manifest checks all files."),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    TXM_OPTION(
        STRING, "root", AT(root), .arg = "DIR", .values = TXM_VALUES_DIR, .help = "Print paths relative to this folder",
        .more = "Files outside of it are named in messages, and the exit code is 5. In a manifest paths are always "
                "relative: by default to the folder of the project's .txmill if all files are in it, else to the "
                "deepest folder that has them all, else to the first scene's."),
    TXM_OPTION(CUSTOM, "frames", AT(frames), .arg = "LIST", .parse = txm_frame_list_parse,
               .help = "Frames of the render, such as 1-100, 1-100:5 or 7,9",
               .more = "By default those of the scenes. They decide which files of image sequences are listed."),
    TXM_OPTION(LIST, "role", AT(roles), .arg = "ROLE", .values = "scene library image movie tx", .parse = check_role,
               .help = "Only scene, library, image, movie or tx (repeatable)"),
    TXM_OPTION(FLAG, "sha256", .rare = true, AT(sha256),
               .help = "Add the SHA-256 of each file to JSON and the manifest",
               .more = "Shaman, by which Flamenco moves files, knows them by it."),
    TXM_OPTION_CACHE_DIR(AT(scenes.cache_dir), "Folder with the tx files (default: blender_tx)", NULL),
    {0},
};

static const txm_option_group groups[] = {
    {"List", options, 0}, TXM_SCENES_GROUPS, TXM_REPORTS_GROUP(txm_scenes_args), {0}};

typedef struct files_run {
    const files_args *args;
    txm_needed needed;
} files_run;

static bool wants(void *user, const txm_list_report *report, const txm_scene_image *image,
                  const txm_scene_image_file *file)
{
    return txm_needed_wants(&((files_run *)user)->needed, report, image, file);
}

static txm_status add_scene(void *user, txm_list_report *report, txm_one_file *file, txm_error *err)
{
    (void)file;
    return txm_needed_add(&((files_run *)user)->needed, report, err);
}

/* Whether two paths differ in digits only, as frames of a sequence do. */
static bool alike(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    while (*a && *b) {
        const size_t n = strspn(a, digits), m = strspn(b, digits);
        if (!n != !m || (!n && *a != *b))
            return false;
        a += n ? n : 1;
        b += m ? m : 1;
    }
    return *a == *b;
}

/* Names what a scene needs and is not there, of missing frames the first and the last. Tx files, of which there may be
 * thousands, are counted. */
static bool report_missing(const files_run *run)
{
    const txm_needed *needed = &run->needed;
    char count[TXM_FORMAT_COUNT];
    size_t tx = 0, other = 0;
    for (size_t i = 0; i < needed->count; i++) {
        const txm_needed_file *file = &needed->files[i];
        if (file->there)
            continue;
        if (file->role == TXM_NEEDED_TX) {
            tx++;
            txm_say(TXM_SAY_DETAIL, "%s: %s", file->path, txm_state_words(file->state)->word);
            continue;
        }
        if (file->foreign) {
            other++;
            txm_say(TXM_SAY_WARNING, "%s: a scene uses it as %s, but it is not one, so it is not in the list",
                    file->path, file->role == TXM_NEEDED_MOVIE ? "a movie" : "an image");
            continue;
        }
        const size_t first = i;
        while (i + 1 < needed->count && !needed->files[i + 1].there && !needed->files[i + 1].foreign &&
               needed->files[i + 1].role == file->role && file->frames && alike(file->path, needed->files[i + 1].path))
            i++;
        other++;
        if (i > first)
            txm_say(TXM_SAY_WARNING, "%s: this image is missing, and %s, up to %s", file->path,
                    txm_format_are(i - first, "other frame", count), txm_path_base(needed->files[i].path));
        else
            txm_say(TXM_SAY_WARNING, "%s: this %s is missing%s%s", file->path, txm_needed_role_names[file->role],
                    file->frames ? "; needed in frame " : "", file->frames ? file->frames : "");
    }
    if (tx)
        txm_say(TXM_SAY_WARNING, "%s no tx file that Cycles loads; 'txmill make' or 'txmill refresh' mends this",
                tx == 1 ? "1 texture has" : (snprintf(count, sizeof count, "%zu textures have", tx), count));
    return tx || other;
}

static void print_all(void *user, txm_tally *tally, txm_error *err)
{
    files_run *run = user;
    const files_args *args = run->args;
    txm_listing listing = {.sha256 = args->sha256};
    const bool prints = (!args->manifest && !args->zip) || args->scenes.report.json || args->null;
    char count[TXM_FORMAT_COUNT];
    size_t there = 0;
    if (txm_needed_finish(&run->needed, err) == TXM_OK &&
        txm_listing_make(&run->needed, args->root, args->manifest || args->zip, &listing, err) == TXM_OK) {
        for (size_t i = 0; i < listing.count; i++)
            there += listing.items[i].file->there;
        tally->findings |= report_missing(run) || listing.outside;
        if (listing.links && (prints || args->manifest))
            txm_say(TXM_SAY_WARNING, "%s: a symbolic link%s; copy what it leads to, as rsync -L and tar -h do",
                    listing.linked, listing.links == 1 ? "" : ", and not the only one");
        if (prints && args->scenes.report.json)
            txm_listing_json(&listing, err);
        else if (prints)
            tally->findings |= txm_listing_print(&listing, args->null ? 0 : '\n') > 0;
        for (int zip = 0; zip < 2; zip++) {
            const char *path = zip ? args->zip : args->manifest;
            if (path && tally->failed)
                txm_say(TXM_SAY_ERROR, "%s: not written, because not everything that the scenes need is known", path);
            else if (path && !err->status &&
                     (zip ? txm_listing_zip : txm_listing_manifest)(&listing, path, err) == TXM_OK)
                txm_say(TXM_SAY_INFO, "%s: %s below %s; where they arrive, run: txmill restore --root FOLDER %s", path,
                        txm_format_count(there, "file", count), listing.root,
                        zip ? "txmill.manifest" : txm_path_base(path));
        }
    }
    txm_listing_free(&listing);
}

static int run_files(void *p, const txm_operands *operands)
{
    const files_args *args = p;
    files_run run = {.args = args, .needed.frames = &args->frames};
    txm_error err = {0};
    txm_report_args_apply(&args->scenes.report);
    const txm_output manifest = {"--manifest", args->manifest, TXM_OUTPUT_LOG, false},
                     zip = {"--zip", args->zip, TXM_OUTPUT_ARCHIVE, args->overwrite};
    for (int i = 0; args->roles.count && i < TXM_NEEDED_ROLES; i++) {
        run.needed.without[i] = true;
        for (size_t r = 0; r < args->roles.count; r++)
            run.needed.without[i] &= strcmp(args->roles.items[r], txm_needed_role_names[i]) != 0;
    }
    if (args->null && args->scenes.report.json)
        txm_fail(&err, TXM_STATUS_USAGE, "--null and --json are two forms of the list; give one of them");
    else if (args->zip && !strcmp(args->zip, "-"))
        txm_fail(&err, TXM_STATUS_USAGE, "--zip -: an archive cannot be written to standard output; give a name");
    else if (txm_guard_operands(&manifest, operands->items, operands->count, &err) == TXM_OK)
        txm_guard_operands(&zip, operands->items, operands->count, &err);
    const int code = err.status ? txm_finish_failed(&err, operands->count)
                                : txm_scenes_run(&(txm_scenes_how){.command = "files",
                                                                   .args = p,
                                                                   .user = &run,
                                                                   .one = add_scene,
                                                                   .wants = wants,
                                                                   .after = print_all},
                                                 operands);
    txm_needed_free(&run.needed);
    return code;
}

TXM_COMMAND(files, files_args, .purpose = "List the files that scenes need, for programs that copy files",
            .synopsis = "[OPTION...] SCENE...", .operand_values = TXM_VALUES_SCENE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
