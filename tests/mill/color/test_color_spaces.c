/* SPDX-License-Identifier: Apache-2.0
 *
 * Every colour space of the built-in config is compared with what its maker or standard published: the curve's formula
 * and the chromaticities of the primaries, evaluated here in double precision without any number of the config.
 *
 * The working space is ACES AP0, because makers specify how their white is adapted to that.
 */
#include <math.h>

#include "mill/color/ocio.h"
#include "txmill/color.h"
#include "util_check.h"
#include "util_gamut.h"

/* ---- primaries and whites --------------------------------------------------------------------------------------- */

#define D65                                                                                                            \
    {                                                                                                                  \
        0.3127, 0.3290                                                                                                 \
    }
#define ACES_WHITE                                                                                                     \
    {                                                                                                                  \
        0.32168, 0.33767                                                                                               \
    }
static const gamut ap0 = {{0.7347, 0.2653}, {0, 1}, {0.0001, -0.077}, ACES_WHITE};
static const gamut ap1 = {{0.713, 0.293}, {0.165, 0.830}, {0.128, 0.044}, ACES_WHITE};
static const gamut rec709 = {{0.64, 0.33}, {0.30, 0.60}, {0.15, 0.06}, D65};
static const gamut rec2020 = {{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}, D65};
static const gamut p3 = {{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, D65};
static const gamut adobe = {{0.64, 0.33}, {0.21, 0.71}, {0.15, 0.06}, D65};
static const gamut egamut = {{0.8, 0.3177}, {0.18, 0.9}, {0.065, -0.0805}, D65};
static const gamut awg3 = {{0.684, 0.313}, {0.221, 0.848}, {0.0861, -0.102}, D65};
static const gamut awg4 = {{0.7347, 0.2653}, {0.1424, 0.8576}, {0.0991, -0.0308}, D65};
static const gamut apple = {{0.725, 0.301}, {0.221, 0.814}, {0.068, -0.076}, D65};
static const gamut bmd5 = {
    {0.7177215, 0.3171181}, {0.2280410, 0.8615690}, {0.1005841, -0.0820452}, {0.3127170, 0.3290312}};
static const gamut davinci = {{0.8, 0.313}, {0.1682, 0.9877}, {0.079, -0.1155}, D65};
static const gamut cinema = {{0.74, 0.27}, {0.17, 1.14}, {0.08, -0.1}, D65};
static const gamut dgamut = {{0.71, 0.31}, {0.21, 0.88}, {0.09, -0.08}, D65};
static const gamut vgamut = {{0.73, 0.28}, {0.165, 0.84}, {0.1, -0.03}, D65};
static const gamut red = {{0.780308, 0.304253}, {0.121595, 1.493994}, {0.095612, -0.084589}, D65};
static const gamut sgamut3 = {{0.73, 0.28}, {0.14, 0.855}, {0.1, -0.05}, D65};
static const gamut sgamut3cine = {{0.766, 0.275}, {0.225, 0.8}, {0.089, -0.087}, D65};
static const gamut venice3 = {{0.740464264304292, 0.279364374750660},
                              {0.089241145423286, 0.893809528608105},
                              {0.110488236673827, -0.052579333080476},
                              D65};
static const gamut venice3cine = {{0.775901871567345, 0.274502392854799},
                                  {0.188682902773355, 0.828684937020288},
                                  {0.101337382499301, -0.089187517306263},
                                  D65};

/* ---- curves: code value to linear ---------------------------------------------------------------------------- */

static double linear(double v)
{
    return v;
}

/* IEC 61966-2-1 with the straight part of Blender and OpenColorIO: line and power meet with equal slope, which is at
 * 0.0393 with slope 12.923, and not at the rounded 0.04045 with 12.92. */
static double srgb(double v)
{
    const double offset = 0.055, power = 2.4, join = offset / (power - 1);
    double slope = power / (1 + offset) * pow((join + offset) / (1 + offset), power - 1);
    return v <= join ? v * slope : pow((v + offset) / (1 + offset), power);
}

static double gamma18(double v)
{
    return pow(v, 1.8);
}

static double gamma22(double v)
{
    return pow(v, 2.2);
}

static double gamma1961(double v)
{
    return pow(v, 1.961);
}

static double gamma24(double v)
{
    return pow(v, 2.4);
}

/* Adobe RGB (1998): 2 51/256. */
static double gamma_adobe(double v)
{
    return pow(v, 2 + 51.0 / 256);
}

/* SMPTE ST 2084, 1.0 at 100 nits. */
static double pq(double v)
{
    const double m1 = 2610.0 / 16384, m2 = 2523.0 / 32, c1 = 3424.0 / 4096, c2 = 2413.0 / 128, c3 = 2392.0 / 128;
    double p = pow(v, 1 / m2);
    return 100 * pow(fmax(p - c1, 0) / (c2 - c3 * p), 1 / m1);
}

/* Academy S-2014-003. */
static double acescc(double v)
{
    double lin = exp2(v * 17.52 - 9.72);
    return v <= (9.72 - 15) / 17.52 ? (lin - exp2(-16)) * 2 : fmin(lin, 65504);
}

/* Academy S-2016-001. */
static double acescct(double v)
{
    return v <= 0.155251141552511 ? (v - 0.0729055341958355) / 10.5402377416545 : fmin(exp2(v * 17.52 - 9.72), 65504);
}

static double filmic(double v)
{
    return exp2(v * 16.5 - 12.473931188);
}

/* ARRI, "ALEXA Log C Curve", EI 800. */
static double logc3(double v)
{
    return v > 5.367655 * 0.010591 + 0.092809 ? (pow(10, (v - 0.385537) / 0.247190) - 0.052272) / 5.555556
                                              : (v - 0.092809) / 5.367655;
}

/* ARRI, "LogC4 Logarithmic Color Space Specification". */
static double logc4(double v)
{
    const double a = (exp2(18) - 16) / 117.45, b = (1023.0 - 95) / 1023, c = 95.0 / 1023;
    const double s = 7 * log(2) * exp2(7 - 14 * c / b) / (a * b), t = (exp2(14 * (-c / b) + 6) - 64) / a;
    return v < 0 ? v * s + t : (exp2(14 * (v - c) / b + 6) - 64) / a;
}

/* Apple, "Apple Log Profile White Paper". */
static double apple_log(double v)
{
    const double r0 = -0.05641088, rt = 0.01, c = 47.28711236;
    if (v >= c * (rt - r0) * (rt - r0))
        return exp2((v - 0.69336945) / 0.08550479) - 0.00964052;
    return v > 0 ? sqrt(v / c) + r0 : r0;
}

/* Blackmagic, "Generation 5 Color Science". */
static double bmd_film5(double v)
{
    return v < 8.283605932402494 * 0.005 + 0.09246575342465753
               ? (v - 0.09246575342465753) / 8.283605932402494
               : exp((v - 0.5300133392291939) / 0.08692876065491224) - 0.005494072432257808;
}

/* Blackmagic, "DaVinci Wide Gamut and DaVinci Intermediate". */
static double intermediate(double v)
{
    return v <= 0.02740668 ? v / 10.44426855 : exp2(v / 0.07329248 - 7) - 0.0075;
}

/* Canon, "Canon Log Gamma Curves" (2018), scaled to reflectance. */
static double clog2(double v)
{
    return 0.9 * (v < 0.092864125 ? -(pow(10, (0.092864125 - v) / 0.24136077) - 1) / 87.099375
                                  : (pow(10, (v - 0.092864125) / 0.24136077) - 1) / 87.099375);
}

static double clog3(double v)
{
    double lin = v < 0.097465473   ? -(pow(10, (0.12783901 - v) / 0.36726845) - 1) / 14.98325
                 : v <= 0.15277891 ? (v - 0.12512219) / 1.9754798
                                   : (pow(10, (v - 0.12240537) / 0.36726845) - 1) / 14.98325;
    return 0.9 * lin;
}

/* DJI, "White Paper on D-Log and D-Gamut". */
static double dlog(double v)
{
    return v <= 0.14 ? (v - 0.0929) / 6.025 : (pow(10, (v - 0.584555) / 0.256663) - 0.0108) / 0.9892;
}

/* Panasonic, "V-Log/V-Gamut Reference Manual". */
static double vlog(double v)
{
    return v < 0.181 ? (v - 0.125) / 5.6 : pow(10, (v - 0.598206) / 0.241514) - 0.00873;
}

/* RED, "White Paper on REDWideGamutRGB and Log3G10". */
static double log3g10(double v)
{
    return v < 0 ? v / 15.1927 - 0.01 : (pow(10, v / 0.224282) - 1) / 155.975327 - 0.01;
}

/* Sony, "Technical Summary for S-Gamut3.Cine/S-Log3 and S-Gamut3/S-Log3". */
static double slog3(double v)
{
    return v >= 171.2102946929 / 1023 ? pow(10, (v * 1023 - 420) / 261.5) * (0.18 + 0.01) - 0.01
                                      : (v * 1023 - 95) * 0.01125 / (171.2102946929 - 95);
}

/* ---- the spaces ---------------------------------------------------------------------------------------------- */

typedef struct expectation {
    const char *space;
    const gamut *primaries;
    double (*decode)(double);
    const matrix *cone; /* of the adaptation to the white of ACES; unused if the white is the same */
    double tolerance;   /* relative to the largest channel */
} expectation;

#define EXACT 1e-5
#define LOG 1e-4
static const expectation expectations[] = {
    {"Linear Rec.709", &rec709, linear, &cone_bradford, EXACT},
    {"Linear DCI-P3 D65", &p3, linear, &cone_bradford, EXACT},
    {"Linear Rec.2020", &rec2020, linear, &cone_bradford, EXACT},
    {"Linear FilmLight E-Gamut", &egamut, linear, &cone_bradford, EXACT},
    {"Linear Adobe RGB", &adobe, linear, &cone_bradford, EXACT},
    {"ACES2065-1", &ap0, linear, &cone_bradford, EXACT},
    {"ACEScg", &ap1, linear, &cone_bradford, EXACT},
    {"sRGB", &rec709, srgb, &cone_bradford, EXACT},
    {"Display P3", &p3, srgb, &cone_bradford, EXACT},
    {"sRGB Encoded P3-D65", &p3, srgb, &cone_bradford, EXACT},
    {"sRGB Encoded AP1", &ap1, srgb, &cone_bradford, EXACT},
    {"Gamma 1.8 Encoded Rec.709", &rec709, gamma18, &cone_bradford, EXACT},
    {"Gamma 2.2 Encoded Rec.709", &rec709, gamma22, &cone_bradford, EXACT},
    {"Gamma 2.4 Encoded Rec.709", &rec709, gamma24, &cone_bradford, EXACT},
    {"Gamma 2.2 Encoded AP1", &ap1, gamma22, &cone_bradford, EXACT},
    {"Gamma 2.2 Encoded AdobeRGB", &adobe, gamma_adobe, &cone_bradford, EXACT},
    {"Rec.1886", &rec709, gamma24, &cone_bradford, EXACT},
    {"Rec.709-A", &rec709, gamma1961, &cone_bradford, EXACT},
    {"Rec.2020", &rec2020, gamma24, &cone_bradford, EXACT},
    {"Rec.2100-PQ", &rec2020, pq, &cone_bradford, LOG},
    {"ACEScc", &ap1, acescc, &cone_bradford, LOG},
    {"ACEScct", &ap1, acescct, &cone_bradford, LOG},
    {"Filmic Log", &rec709, filmic, &cone_bradford, LOG},
    {"ARRI LogC3 (EI800)", &awg3, logc3, &cone_cat02, LOG},
    {"Linear ARRI Wide Gamut 3", &awg3, linear, &cone_cat02, EXACT},
    {"ARRI LogC4", &awg4, logc4, &cone_cat02, LOG},
    {"Linear ARRI Wide Gamut 4", &awg4, linear, &cone_cat02, EXACT},
    {"Apple Log", &rec2020, apple_log, &cone_bradford, LOG},
    {"Apple Log 2", &apple, apple_log, &cone_bradford, LOG},
    {"Linear Apple Wide Gamut", &apple, linear, &cone_bradford, EXACT},
    {"BMDFilm WideGamut Gen5", &bmd5, bmd_film5, &cone_cat02, LOG},
    {"Linear BMD WideGamut Gen5", &bmd5, linear, &cone_cat02, EXACT},
    {"DaVinci Intermediate WideGamut", &davinci, intermediate, &cone_cat02, LOG},
    {"Linear DaVinci WideGamut", &davinci, linear, &cone_cat02, EXACT},
    {"CanonLog2 CinemaGamut D55", &cinema, clog2, &cone_cat02, LOG},
    {"CanonLog3 CinemaGamut D55", &cinema, clog3, &cone_cat02, LOG},
    {"Linear CinemaGamut D55", &cinema, linear, &cone_cat02, EXACT},
    {"D-Log D-Gamut", &dgamut, dlog, &cone_cat02, LOG},
    {"Linear D-Gamut", &dgamut, linear, &cone_cat02, EXACT},
    {"V-Log V-Gamut", &vgamut, vlog, &cone_bradford, LOG},
    {"Linear V-Gamut", &vgamut, linear, &cone_bradford, EXACT},
    {"Log3G10 REDWideGamutRGB", &red, log3g10, &cone_bradford, LOG},
    {"Linear REDWideGamutRGB", &red, linear, &cone_bradford, EXACT},
    {"S-Log3 S-Gamut3", &sgamut3, slog3, &cone_cat02, LOG},
    {"Linear S-Gamut3", &sgamut3, linear, &cone_cat02, EXACT},
    {"S-Log3 S-Gamut3.Cine", &sgamut3cine, slog3, &cone_cat02, LOG},
    {"Linear S-Gamut3.Cine", &sgamut3cine, linear, &cone_cat02, EXACT},
    {"S-Log3 Venice S-Gamut3", &venice3, slog3, &cone_cat02, LOG},
    {"Linear Venice S-Gamut3", &venice3, linear, &cone_cat02, EXACT},
    {"S-Log3 Venice S-Gamut3.Cine", &venice3cine, slog3, &cone_cat02, LOG},
    {"Linear Venice S-Gamut3.Cine", &venice3cine, linear, &cone_cat02, EXACT},
};
enum { EXPECTATIONS = sizeof expectations / sizeof *expectations };

/* Other tests check these. */
static const char *const others[] = {
    "Linear CIE-XYZ E", "Linear CIE-XYZ D65", "Non-Color",    "Rec.2100-HLG", "ADX10", "ADX16",
    "AgX Log",          "ACES 1.3 sRGB",      "ACES 2.0 sRGB"};
enum { OTHERS = sizeof others / sizeof *others };

/* Blender has these, too; they need Blender's lookup tables. */
static const char *const tables[] = {"AgX Base sRGB", "Filmic sRGB", "Khronos PBR Neutral sRGB",
                                     "Luminance Compensation Rec.2020"};
enum { TABLES = sizeof tables / sizeof *tables };

static const float samples[][3] = {
    {0.5f, 0.4f, 0.3f},    {0.1f, 0.2f, 0.9f},      {0.02f, 0.05f, 0.95f}, {1, 1, 1},
    {0.7f, 0.15f, 0.155f}, {0.01f, 0.015f, 0.012f}, {0.25f, 0.18f, 0.14f}, {0.75f, 0.099f, 0.2f}};
enum { SAMPLES = sizeof samples / sizeof *samples };

static txm_color_config *config; /* with AP0 as the working space */

static void setup(void)
{
    txm_color_options options = {
        .struct_size = sizeof(txm_color_options), .ignore_environment = true, .working_space = "ACES2065-1"};
    if (txm_color_load(&options, &config, NULL) != TXM_OK)
        abort();
}

static void teardown(void)
{
    txm_color_free(&config);
}
FIXTURE_ONCE(setup, teardown)

static void convert(const char *name, const float in[3], float out[3])
{
    const txm_color_space *space = NULL;
    float rgba[4] = {in[0], in[1], in[2], 0.5f};
    txm_error err = {0};
    ck_assert_msg(txm_color_find(config, name, &space, &err) == TXM_OK, "%s", err.message);
    if (txm_color_space_class(space) == TXM_COLOR_CLASS_OTHER)
        txm_color_apply(space, rgba, 1);
    ck_assert_double_le(fabs(rgba[3] - 0.5), OCIO_POWER_ERROR);
    memcpy(out, rgba, 3 * sizeof *out);
}

static void check_near(const char *name, const float in[3], const float got[3], const double want[3], double tolerance)
{
    double largest = fmax(fabs(want[0]), fmax(fabs(want[1]), fabs(want[2])));
    tolerance = fmax(tolerance, OCIO_POWER_ERROR);
    for (int c = 0; c < 3; c++)
        ck_assert_msg(fabs(got[c] - want[c]) <= tolerance * largest,
                      "%s: (%g %g %g) gives (%.9g %.9g %.9g), not (%.9g %.9g %.9g)", name, in[0], in[1], in[2], got[0],
                      got[1], got[2], want[0], want[1], want[2]);
}

static matrix to_ap0(const gamut *g, const matrix *cone)
{
    matrix rgb = gamut_to_xyz(g), aces = gamut_to_xyz(&ap0), from_xyz = matrix_inverse(&aces);
    matrix adapt = gamut_adaptation(cone, g->white, ap0.white), xyz = matrix_multiply(&adapt, &rgb);
    return matrix_multiply(&from_xyz, &xyz);
}

TESTS(space_matches_its_publication, EXPECTATIONS)
{
    const expectation *e = &expectations[_i];
    matrix m = to_ap0(e->primaries, e->cone);
    for (int s = 0; s < SAMPLES; s++) {
        double want[3];
        float got[3];
        for (int c = 0; c < 3; c++)
            want[c] = e->decode(samples[s][c]);
        matrix_apply(&m, want, want);
        /* OpenColorIO's ACEScc clamps the result to AP0's range at the end. */
        for (int c = 0; c < 3 && e->decode == acescc; c++)
            want[c] = fmax(want[c], 0);
        convert(e->space, samples[s], got);
        check_near(e->space, samples[s], got, want, e->tolerance);
    }
}

/* Below black, curves continue as published, with two exceptions: power curves leave the value as it is or, for
 * displays, clamp it, and OpenColorIO has PQ and Canon's curves as tables from 0 to 1. */
static double decode_negative(const expectation *e, double v)
{
    bool power = e->decode == gamma18 || e->decode == gamma22 || e->decode == gamma24 || e->decode == gamma1961 ||
                 e->decode == gamma_adobe;
    bool display = strncmp(e->space, "Rec.", 4) == 0;
    if (e->decode == pq || e->decode == clog2 || e->decode == clog3)
        return e->decode(0);
    return display ? 0 : power ? v : e->decode(v);
}

TESTS(negative_values_follow_the_curve, EXPECTATIONS)
{
    const expectation *e = &expectations[_i];
    const float in[3] = {-0.05f, 0.3f, -0.001f};
    if (strcmp(e->space, "Rec.2100-PQ") == 0) /* OpenColorIO mirrors this curve at zero */
        return;
    matrix m = to_ap0(e->primaries, e->cone);
    double want[3];
    float got[3];
    for (int c = 0; c < 3; c++)
        want[c] = in[c] < 0 ? decode_negative(e, in[c]) : e->decode(in[c]);
    matrix_apply(&m, want, want);
    for (int c = 0; c < 3 && e->decode == acescc; c++)
        want[c] = fmax(want[c], 0);
    convert(e->space, in, got);
    check_near(e->space, in, got, want, e->tolerance);
}

TEST(xyz_matches_its_white)
{
    matrix aces = gamut_to_xyz(&ap0), from_xyz = matrix_inverse(&aces);
    /* Blender's reference is adapted to D65 with the XYZ of the standard tables (0.95047 1 1.08883). */
    const xy e = {1.0 / 3, 1.0 / 3}, d65 = D65, table_d65 = {0.95047 / 3.0393, 1 / 3.0393};
    matrix e_to_d65 = gamut_adaptation(&cone_bradford, e, table_d65),
           d65_to_aces = gamut_adaptation(&cone_bradford, d65, ap0.white);
    for (int s = 0; s < SAMPLES; s++) {
        double d65_xyz[3] = {samples[s][0], samples[s][1], samples[s][2]}, want[3];
        float got[3];
        matrix_apply(&d65_to_aces, d65_xyz, want);
        matrix_apply(&from_xyz, want, want);
        convert("Linear CIE-XYZ D65", samples[s], got);
        check_near("Linear CIE-XYZ D65", samples[s], got, want, EXACT);
        matrix_apply(&e_to_d65, d65_xyz, want);
        matrix_apply(&d65_to_aces, want, want);
        matrix_apply(&from_xyz, want, want);
        convert("Linear CIE-XYZ E", samples[s], got);
        check_near("Linear CIE-XYZ E", samples[s], got, want, EXACT);
    }
}

/* BT.2100: the inverse OETF is followed by the OOTF of a display of 1000 nits (1.0 at 100 nits). */
TEST(hlg_matches_bt2100)
{
    const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
    matrix m = to_ap0(&rec2020, &cone_bradford);
    for (int s = 0; s < SAMPLES; s++) {
        double want[3];
        float got[3];
        for (int k = 0; k < 3; k++) {
            double v = samples[s][k];
            want[k] = v <= 0.5 ? v * v / 3 : (exp((v - c) / a) + b) / 12;
        }
        double luminance = 0.2627 * want[0] + 0.6780 * want[1] + 0.0593 * want[2];
        if (luminance < 1e-3) /* OpenColorIO limits the luminance from below in the system's power function */
            continue;
        for (int k = 0; k < 3; k++)
            want[k] *= 10 * pow(luminance, 0.2);
        matrix_apply(&m, want, want);
        convert("Rec.2100-HLG", samples[s], got);
        check_near("Rec.2100-HLG", samples[s], got, want, LOG);
    }
}

/* Blender's AgX: the logarithm of Rec.2020 primaries after their inset. */
TEST(agx_log_is_inset_rec2020)
{
    static const matrix inset = {{{0.856627153315983, 0.0951212405381588, 0.0482516061458583},
                                  {0.137318972929847, 0.761241990602591, 0.101439036467562},
                                  {0.11189821299995, 0.0767994186031903, 0.811302368396859}}};
    matrix m = to_ap0(&rec2020, &cone_bradford), outset = matrix_inverse(&inset);
    for (int s = 0; s < SAMPLES; s++) {
        double want[3];
        float got[3];
        for (int c = 0; c < 3; c++)
            want[c] = exp2(samples[s][c] * (12.5260688117 + 12.47393) - 12.47393);
        matrix_apply(&outset, want, want);
        matrix_apply(&m, want, want);
        convert("AgX Log", samples[s], got);
        check_near("AgX Log", samples[s], got, want, LOG);
    }
}

/* ADX is defined by tables and not by a formula; these are values that OpenColorIO publishes for its own transform. */
TEST(adx_matches_published_values)
{
    const float in10[3] = {0.5f, 0.4f, 0.3f}, in16[3] = {0.125f, 0.1f, 0.075f};
    const double want10[3] = {0.210518101020, 0.148655364394, 0.085189053481};
    const double want16[3] = {0.211320835792, 0.149169650771, 0.085452970479};
    float got[3];
    convert("ADX10", in10, got);
    check_near("ADX10", in10, got, want10, EXACT);
    convert("ADX16", in16, got);
    check_near("ADX16", in16, got, want16, EXACT);
}

/* These values are published for built-ins of newer versions of OpenColorIO, which 2.1 lacks. */
TEST(newer_builtins_are_matched)
{
    static const struct {
        const char *space;
        double want[3];
    } rows[] = {{"Apple Log", {0.153334766, 0.083515430, 0.032948254}},
                {"Apple Log 2", {0.160302015, 0.091223177, 0.026405713}},
                {"ARRI LogC4", {1.786878082249, 0.743018593362, 0.232840037656}}};
    const float in[3] = {0.5f, 0.4f, 0.3f};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float got[3];
        convert(rows[i].space, in, got);
        check_near(rows[i].space, in, got, rows[i].want, EXACT);
    }
}

static bool tested(const char *name)
{
    for (int i = 0; i < EXPECTATIONS; i++)
        if (strcmp(expectations[i].space, name) == 0)
            return true;
    for (int i = 0; i < OTHERS; i++)
        if (strcmp(others[i], name) == 0)
            return true;
    return false;
}

/* Every space that txmill has is tested here, and all of Blender's are known. */
TEST(the_list_is_complete)
{
    size_t available = 0, missing = 0;
    for (size_t i = 0; i < txm_color_count(config); i++) {
        txm_color_entry e;
        ck_assert_int_eq(txm_color_entry_at(config, i, &e, NULL), TXM_OK);
        available += e.available;
        missing += !e.available;
        ck_assert_msg(!e.available || tested(e.name), "%s has no test", e.name);
        ck_assert_msg(e.available == (*e.unavailable_reason == 0), "%s", e.name);
        ck_assert_msg(!e.available || *e.description, "%s has no description", e.name);
    }
    ck_assert_uint_eq(available, EXPECTATIONS + OTHERS);
    ck_assert_uint_eq(missing, TABLES);
    for (int i = 0; i < TABLES; i++) {
        const txm_color_space *space = NULL;
        txm_error err = {0};
        ck_assert_str_eq(txm_color_canonical(config, tables[i]), tables[i]);
        ck_assert_int_eq(txm_color_find(config, tables[i], &space, &err), TXM_STATUS_COLORSPACE);
        ck_assert_ptr_null(space);
        ck_assert_ptr_nonnull(strstr(err.message, "lookup table"));
    }
}

enum { MAX_NAMES = 400 };
static char *names[MAX_NAMES][2];

/* Those of one release; a row that names a release is of that one and those after it. */
static int load_names(txm_blender blender)
{
    char path[1024], *line = NULL;
    size_t capacity = 0;
    int n = 0;
    snprintf(path, sizeof path, "%s/color/blender-names.tsv", getenv("TXM_TESTDATA"));
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (getline(&line, &capacity, f) > 0) {
        char *tab = strchr(line, '\t');
        if (*line == '#')
            continue;
        ck_assert(tab && n < MAX_NAMES);
        *tab = 0;
        tab[1 + strcspn(tab + 1, "\n")] = 0;
        char *since = strchr(tab + 1, '\t');
        txm_blender first = TXM_BLENDER_5_2;
        if (since) {
            *since = 0;
            ck_assert(txm_blender_parse(since + 1, &first));
        }
        if (first > blender)
            continue;
        names[n][0] = strdup(line);
        names[n++][1] = strdup(tab + 1);
    }
    free(line);
    fclose(f);
    return n;
}

static bool is_blenders(int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i][0], name) == 0)
            return true;
    return false;
}

/* Each of Blender's names, aliases and roles leads to the same space as in Blender, and there are no others. */
TESTS(the_names_are_blenders, 4)
{
    /* With another working space the config is loaded, and not known. */
    const txm_color_options options = {.struct_size = sizeof options,
                                       .ignore_environment = true,
                                       .working_space = _i % 2 ? "ACEScg" : NULL,
                                       .blender = _i < 2 ? TXM_BLENDER_5_2 : TXM_BLENDER_5_3};
    SCOPED(txm_color_free) txm_color_config *own = NULL;
    ck_assert_int_eq(txm_color_load(&options, &own, NULL), TXM_OK);
    int n = load_names(options.blender), found = 0;
    ck_assert_int_eq(n, _i < 2 ? 283 : 291);
    for (int i = 0; i < n; i++) {
        const char *canonical = txm_color_canonical(own, names[i][0]);
        if (_i % 2 && strcmp(names[i][0], "scene_linear") == 0)
            continue;
        ck_assert_msg(canonical && strcmp(canonical, names[i][1]) == 0, "%s is %s, Blender's %s", names[i][0],
                      canonical ? canonical : "unknown", names[i][1]);
    }
    for (size_t i = 0; i < txm_color_count(own); i++) {
        txm_color_entry e;
        ck_assert_int_eq(txm_color_entry_at(own, i, &e, NULL), TXM_OK);
        ck_assert_msg(is_blenders(n, e.name), "%s", e.name);
        for (size_t j = 0; e.aliases[j]; j++, found++)
            ck_assert_msg(is_blenders(n, e.aliases[j]), "%s of %s", e.aliases[j], e.name);
        found++;
    }
    for (int i = 0; i < n; i++)
        found += txm_color_role(own, names[i][0]) != NULL;
    ck_assert_int_eq(found, n);
    for (int i = 0; i < 2 * n; i++)
        free(names[i / 2][i % 2]);
    const txm_color_space *space;
    txm_error err = {0};
    ck_assert_int_eq(txm_color_find(own, "rec.709-A", &space, &err), _i < 2 ? TXM_STATUS_COLORSPACE : TXM_OK);
}

/* Files, older Blender versions and other programs use these aliases. */
TEST(aliases_lead_to_their_space)
{
    static const struct {
        const char *alias, *space;
    } rows[] = {{"Linear", "Linear Rec.709"},
                {"lin_rec709_scene", "Linear Rec.709"},
                {"lin_rec709", "Linear Rec.709"},
                {"Linear BT.709", "Linear Rec.709"},
                {"lin_srgb", "Linear Rec.709"},
                {"Utility - Linear - sRGB", "Linear Rec.709"},
                {"srgb_rec709_scene", "sRGB"},
                {"srgb_rec709_display", "sRGB"},
                {"srgb_texture", "sRGB"},
                {"srgb_tx", "sRGB"},
                {"Utility - sRGB - Texture", "sRGB"},
                {"sRGB - Texture", "sRGB"},
                {"sRGB 2.2", "Gamma 2.2 Encoded Rec.709"},
                {"g22_rec709", "Gamma 2.2 Encoded Rec.709"},
                {"Raw", "Non-Color"},
                {"Generic Data", "Non-Color"},
                {"Non-Colour Data", "Non-Color"},
                {"Utility - Raw", "Non-Color"},
                {"XYZ", "Linear CIE-XYZ D65"},
                {"lin_ciexyzd65_scene", "Linear CIE-XYZ D65"},
                {"CIE-XYZ-D65", "Linear CIE-XYZ D65"},
                {"Linear ACES", "ACES2065-1"},
                {"lin_ap0_scene", "ACES2065-1"},
                {"lin_ap0", "ACES2065-1"},
                {"aces2065_1", "ACES2065-1"},
                {"Linear ACEScg", "ACEScg"},
                {"lin_ap1_scene", "ACEScg"},
                {"lin_ap1", "ACEScg"},
                {"lin_rec2020_scene", "Linear Rec.2020"},
                {"lin_p3d65_scene", "Linear DCI-P3 D65"},
                {"Linear P3-D65", "Linear DCI-P3 D65"},
                {"srgb_p3d65_scene", "sRGB Encoded P3-D65"},
                {"srgb_p3d65_display", "Display P3"},
                {"g24_rec709_display", "Rec.1886"},
                {"BT.1886", "Rec.1886"},
                {"g24_rec2020_display", "Rec.2020"},
                {"pq_rec2020_display", "Rec.2100-PQ"},
                {"hlg_rec2020_display", "Rec.2100-HLG"},
                {"g22_rec709_scene", "Gamma 2.2 Encoded Rec.709"},
                {"g18_rec709_scene", "Gamma 1.8 Encoded Rec.709"},
                {"srgb_ap1_scene", "sRGB Encoded AP1"},
                {"g22_ap1_scene", "Gamma 2.2 Encoded AP1"},
                {"g22_adobergb_scene", "Gamma 2.2 Encoded AdobeRGB"},
                {"lin_adobergb_scene", "Linear Adobe RGB"},
                {"arri_logc4", "ARRI LogC4"},
                {"slog3_sgamut3cine", "S-Log3 S-Gamut3.Cine"},
                {"scene_linear", "ACES2065-1"},
                {"data", "Non-Color"},
                {"cie_xyz_d65_interchange", "Linear CIE-XYZ D65"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *canonical = txm_color_canonical(config, rows[i].alias);
        ck_assert_msg(canonical && strcmp(canonical, rows[i].space) == 0, "%s is %s", rows[i].alias,
                      canonical ? canonical : "unknown");
    }
}

int main(void)
{
    return run_tests_in_one_process();
}
