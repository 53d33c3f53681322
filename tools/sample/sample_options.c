/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of `txmill sample`, and the sampler that they describe.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "tile/terms/extension.h"
#include "tools/sample/sample.h"
#include "txmill/level.h"
#include "txtile/sampler.h"

enum { WORDS_TEXT = 1024 };

/* Names in the order of the library's enumeration, and what each means, in sentences for the manual. */
static char filter_values[WORDS_TEXT], filter_more[WORDS_TEXT];

/* Text that does not fit is left out; a test checks that all of it is there. */
static void append_words(char text[WORDS_TEXT], const char *between, const char *a, const char *colon, const char *b)
{
    const size_t length = strlen(text);
    snprintf(text + length, WORDS_TEXT - length, "%s%s%s%s", length ? between : "", a, colon, b);
}

__attribute__((constructor)) static void compose_filters(void)
{
    const char *word;
    for (unsigned i = 0; (word = txm_filter_name((txm_filter)i)); i++) {
        append_words(filter_values, " ", word, "", "");
        append_words(filter_more, "; ", word, ": ", txm_filter_about((txm_filter)i));
    }
    append_words(filter_more, "", ". Those that read random pixels need --seed.", "", "");
}

#define AT(member) .offset = offsetof(txm_sample_args, member)
#define ANY_NUMBER .least = -INFINITY, .most = INFINITY
const txm_option txm_sample_place_options[] = {
    TXM_OPTION(NUMBER, "u", .letter = 'u', AT(u), ANY_NUMBER, .arg = "U",
               .help = "From left, 0, to right, 1 (default: 0.5; with --grid 0)"),
    TXM_OPTION(NUMBER, "v", .letter = 'v', AT(v), ANY_NUMBER, .arg = "V",
               .help = "From bottom, 0, to top, 1 (default: 0.5; with --grid 0)"),
    TXM_OPTION(NUMBER, "dudx", .rare = true, AT(dudx), ANY_NUMBER, .arg = "F",
               .help = "Change of u to the next pixel of the picture on the right (default: 0)"),
    TXM_OPTION(NUMBER, "dvdx", .rare = true, AT(dvdx), ANY_NUMBER, .arg = "F",
               .help = "Change of v to the next pixel on the right (default: 0)"),
    TXM_OPTION(NUMBER, "dudy", .rare = true, AT(dudy), ANY_NUMBER, .arg = "F",
               .help = "Change of u to the next pixel of the picture above (default: 0)"),
    TXM_OPTION(NUMBER, "dvdy", .rare = true, AT(dvdy), ANY_NUMBER, .arg = "F",
               .help = "Change of v to the next pixel above (default: 0)"),
    TXM_OPTION(CHOICE, "extension", .letter = 'e', AT(extension), .arg = "MODE", .values = TXM_EXTENSION_VALUES,
               .help = "What a lookup finds beyond the image's edge (default: repeat); one of" TXM_EXTENSION_TABLE(
                   TXM_EXTENSION_SPACED)),
    {0},
};
const txm_option txm_sample_how_options[] = {
    TXM_OPTION(CHOICE, "filter", AT(filter), .arg = "FILTER", .values = filter_values,
               .help = "How the pixels of a level are filtered (default: linear)", .more = filter_more),
    TXM_OPTION(CHOICE, "rule", .rare = true, AT(rule), .arg = "RULE", .values = "cycles ellipse probes",
               .help = "How the level is computed from the derivatives (default: cycles)",
               .more = "With cycles the footprint is measured along u and v, with ellipse along its own axes, so that "
                       "the level does not depend on the rotation of the texture. With probes, an elongated footprint "
                       "is read at several places along its long axis."),
    TXM_OPTION(
        CHOICE, "mode", .rare = true, AT(mode), .arg = "MODE", .values = "stochastic stochastic-full floor trilinear",
        .help = "How the fraction of a level is used (default: stochastic)",
        .more = "With stochastic one of the two levels is chosen at random, as in Cycles in half of the range, or with "
                "stochastic-full in all of it; without --seed it is the finer one. With trilinear both are blended."),
    TXM_OPTION(UINT, "anisotropy", .rare = true, AT(anisotropy), .arg = "N",
               .help = "Largest ratio of a footprint's axes without blurring: 1 to 16 (default: 16)", .min = 1,
               .max = TXM_MAX_ANISOTROPY),
    TXM_OPTION(NUMBER, "mip-bias", .rare = true, AT(mip_bias), ANY_NUMBER, .arg = "F",
               .help = "Added to the level: 1 halves the resolution (default: 0)"),
    TXM_OPTION(UINT, "seed", .rare = true, AT(seed), .arg = "N",
               .help = "State of the random generator, 0 for none (default: 0; with --grid 1)", .max = UINT32_MAX),
    TXM_OPTION(FLAG, "unassociate", .rare = true, AT(unassociate),
               .help = "Divide the colour by alpha, as Cycles' image node does on request"),
    TXM_OPTION(FLAG, "srgb", AT(srgb), .help = "Decode the colour from sRGB, as Cycles does for 8-bit sRGB images"),
    {0},
};
const txm_option txm_sample_output_options[] = {
    TXM_OPTION(FLAG, "explain", AT(explain), .help = "Also print level, tiles, pixels and weights"),
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object per file, with everything that --explain prints"),
    TXM_OPTION(PIXELS, "grid", .letter = 'g', AT(grid), .arg = "WxH",
               .help = "Render a patch of this size in pixels to the file given with -o",
               .more = "Its bottom left corner is at u, v, and the derivatives are the steps between its pixels; "
                       "without any, the patch is the whole image."),
    TXM_OPTION_OUTPUT(AT(output), "File for the patch of --grid", "Any format that OpenImageIO writes."),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    {0},
};

float txm_given_or(double number, float otherwise)
{
    return isnan(number) ? otherwise : (float)number;
}

txm_sampler txm_sample_args_sampler(const txm_sample_args *args)
{
    txm_sampler how;
    txm_sampler_init(&how);
    how.rule = (uint8_t)args->rule;
    how.mode = (uint8_t)args->mode;
    how.filter = (uint8_t)args->filter;
    how.anisotropy = (uint8_t)args->anisotropy;
    how.mip_bias = (float)args->mip_bias;
    how.after = (uint8_t)((args->unassociate ? TXM_AFTER_UNASSOCIATE : 0) | (args->srgb ? TXM_AFTER_SRGB : 0));
    return how;
}

/* UINT32_MAX means that no seed was given; txm_sample_check replaces it. */
void txm_sample_defaults(void *p)
{
    txm_sample_args *args = p;
    args->u = args->v = args->dudx = args->dvdx = args->dudy = args->dvdy = (double)NAN;
    args->filter = TXM_FILTER_LINEAR;
    args->anisotropy = TXM_MAX_ANISOTROPY;
    args->seed = UINT32_MAX; /* no seed was given */
}

txm_status txm_sample_check(txm_sample_args *args, txm_error *err)
{
    const txm_sampler how = txm_sample_args_sampler(args);
    if (args->grid.w && (!args->output || strcmp(args->output, "-") == 0))
        return txm_fail(err, TXM_STATUS_USAGE, "--grid writes a picture: name its file with -o");
    if (args->grid.w && (args->json || args->explain))
        return txm_fail(err, TXM_STATUS_USAGE, "--explain and --json apply to a single lookup; leave out --grid");
    if (args->output && !args->grid.w)
        return txm_fail(err, TXM_STATUS_USAGE, "-o needs --grid WxH for the size of the picture");
    if (args->seed == UINT32_MAX)
        args->seed = args->grid.w ? 1 : 0;
    if (txm_filter_is_stochastic((txm_filter)args->filter) && !args->seed)
        return txm_fail(err, TXM_STATUS_USAGE, "--filter %s reads random pixels; give it a --seed above 0",
                        txm_filter_name((txm_filter)args->filter));
    return txm_sampler_check(&how, err);
}
