/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises kinds of maps by their file names. The name is split into words, and the last one that is not a number,
 * resolution or variant is looked up in a table, alone and together with the one before it. The preset of rules and
 * lint use the kind.
 */
#include "mill/rules/kind.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/path.h"

enum { WORD_BYTES = 32, MAX_WORDS = 64 };

/* The words that texture libraries and painting programs use. Two words of a name are also compared as one:
 * "base_color" as "basecolor". */
static const struct {
    const char *word;
    txm_map_kind kind;
} words[] = {
    {"albedo", TXM_MAP_COLOR},
    {"basecolor", TXM_MAP_COLOR},
    {"basecolour", TXM_MAP_COLOR},
    {"color", TXM_MAP_COLOR},
    {"colour", TXM_MAP_COLOR},
    {"col", TXM_MAP_COLOR},
    {"diff", TXM_MAP_COLOR},
    {"diffuse", TXM_MAP_COLOR},
    {"emission", TXM_MAP_COLOR},
    {"emissive", TXM_MAP_COLOR},
    {"normal", TXM_MAP_NORMAL},
    {"normals", TXM_MAP_NORMAL},
    {"normalgl", TXM_MAP_NORMAL},
    {"normaldx", TXM_MAP_NORMAL},
    {"nrm", TXM_MAP_NORMAL},
    {"nor", TXM_MAP_NORMAL},
    {"norm", TXM_MAP_NORMAL},
    {"nml", TXM_MAP_NORMAL},
    {"bump", TXM_MAP_NORMAL},
    {"rough", TXM_MAP_ROUGHNESS},
    {"roughness", TXM_MAP_ROUGHNESS},
    {"rgh", TXM_MAP_ROUGHNESS},
    {"gloss", TXM_MAP_ROUGHNESS},
    {"glossiness", TXM_MAP_ROUGHNESS},
    {"metal", TXM_MAP_DATA},
    {"metallic", TXM_MAP_DATA},
    {"metalness", TXM_MAP_DATA},
    {"metallness", TXM_MAP_DATA},
    {"mtl", TXM_MAP_DATA},
    {"ao", TXM_MAP_DATA},
    {"occlusion", TXM_MAP_DATA},
    {"ambientocclusion", TXM_MAP_DATA},
    {"disp", TXM_MAP_DATA},
    {"displacement", TXM_MAP_DATA},
    {"vdisp", TXM_MAP_DATA},
    {"height", TXM_MAP_DATA},
    {"mask", TXM_MAP_DATA},
    {"opacity", TXM_MAP_DATA},
    {"cavity", TXM_MAP_DATA},
    {"curvature", TXM_MAP_DATA},
    {"thickness", TXM_MAP_DATA},
    {"specularlevel", TXM_MAP_DATA},
    {"smoothness", TXM_MAP_ROUGHNESS},
    {"metallicsmoothness", TXM_MAP_DATA},
    {"metallicgloss", TXM_MAP_DATA},
    {"anisotropy", TXM_MAP_DATA},
};

/* Maps that share one image, a channel each, by the letters of their names: ambient occlusion (AO, A or O), roughness,
 * smoothness, metalness, height, displacement (D, Dp), cavity, emission, transparency. Poly Haven calls them ARM,
 * Unreal ORM and MRAO, Quixel ORDp and DpRA, Substance AORM, Unity MADS and MaskMap. */
static const char *const packed[] = {"orm",  "rma",  "arm",  "mra",  "amr",  "mro",  "omr",   "rmo",  "moh",  "mrao",
                                     "aorm", "rmao", "maor", "raom", "aomr", "ormh", "armh",  "ormd", "armd", "ord",
                                     "ordp", "dpra", "rdao", "aord", "rmah", "rmad", "mrah",  "orme", "mads", "mods",
                                     "maos", "mrs",  "srmh", "ormt", "orms", "ormc", "mraoh", "orh",  "ard",  "arh"};

/* Unreal Engine ends names that begin with T_ by letters, which elsewhere may be anything: T_Rock_N. */
static const struct {
    const char *word;
    txm_map_kind kind;
} unreal[] = {{"d", TXM_MAP_COLOR},  {"bc", TXM_MAP_COLOR},    {"e", TXM_MAP_COLOR},
              {"n", TXM_MAP_NORMAL}, {"r", TXM_MAP_ROUGHNESS}, {"m", TXM_MAP_DATA},
              {"mt", TXM_MAP_DATA},  {"o", TXM_MAP_DATA},      {"h", TXM_MAP_DATA}};

/* Words that may follow the one that names the kind: conventions of normal maps, and the word "map" itself. */
static const char *const variants[] = {"gl", "dx", "opengl", "directx", "ogl", "map", "tex", "texture"};

typedef struct name_words {
    char word[MAX_WORDS][WORD_BYTES]; /* lower case; longer words are cut, since none in the table is as long */
    size_t count;
} name_words;

/* "2", the "k" of "2k", the "u" and "v" of "u1_v1", and variants. */
static bool is_ignored_word(const char *word)
{
    if (isdigit((unsigned char)word[0]) || !strcmp(word, "k") || !strcmp(word, "u") || !strcmp(word, "v") ||
        !strcmp(word, "udim"))
        return true;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (!strcmp(word, variants[i]))
            return true;
    return false;
}

static txm_map_kind map_kind_of_word(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0)
            return words[i].kind;
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (strlen(packed[i]) == length && memcmp(packed[i], word, length) == 0)
            return TXM_MAP_DATA;
    return TXM_MAP_UNKNOWN;
}

/* Looks up one word, also with "map" appended: "normalmap". */
static txm_map_kind kind_of_word(const char *word)
{
    size_t n = strlen(word);
    txm_map_kind kind = map_kind_of_word(word, n);
    if (!kind && n > 3 && strcmp(word + n - 3, "map") == 0)
        kind = map_kind_of_word(word, n - 3);
    return kind;
}

/* The pair of words is looked up first: "base_color" is in the table, whereas of "base_normal" only the last word is.
 */
txm_map_kind txm_map_kind_of(const char *path)
{
    name_words w;
    /* Splits a file name without its extension into words: at characters that are not letters or digits, at changes
     * from lower to upper case, and between letters and digits. Only the last MAX_WORDS matter, so a longer name starts
     * again.
     */
    const char *name = txm_path_base(path), *end = txm_path_ext(name);
    size_t n = 0;
    unsigned char last = 0;
    w.count = 0;
    for (const char *p = name; p <= end; p++) {
        unsigned char c = p < end ? (unsigned char)*p : 0;
        bool turn = (isupper(c) && islower(last)) || (isdigit(c) && isalpha(last)) || (isalpha(c) && isdigit(last));
        if (n && (!isalnum(c) || turn)) {
            w.word[w.count++][n] = 0;
            n = 0;
            if (w.count == MAX_WORDS)
                w.count = 0;
        }
        if (isalnum(c) && n < WORD_BYTES - 1)
            w.word[w.count][n++] = (char)tolower(c);
        last = c;
    }
    while (w.count && is_ignored_word(w.word[w.count - 1]))
        w.count--;
    if (!w.count)
        return TXM_MAP_UNKNOWN;
    if (w.count > 1) {
        char pair[2 * WORD_BYTES];
        size_t first = strlen(w.word[w.count - 2]);
        memcpy(pair, w.word[w.count - 2], first);
        strcpy(pair + first, w.word[w.count - 1]);
        txm_map_kind kind = kind_of_word(pair);
        if (kind)
            return kind;
    }
    const txm_map_kind kind = kind_of_word(w.word[w.count - 1]);
    for (size_t i = 0; !kind && w.count > 2 && !strcmp(w.word[0], "t") && i < sizeof unreal / sizeof *unreal; i++)
        if (!strcmp(unreal[i].word, w.word[w.count - 1]))
            return unreal[i].kind;
    return kind;
}
