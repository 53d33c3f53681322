/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes the words of use_table.h, of lint and of scene formats on to what is not written in C: JSON schemas, the
 * manual, the Python package and with it the extension for Blender.
 */
#include <ctype.h>
#include <string.h>

#include "tile/terms/use_table.h"
#include "tools/help/generate.h"
#include "txmill/batch.h"
#include "txmill/scene.h"

typedef struct word {
    const char *list, *text, *meaning; /* the meaning is NULL for names of JSON members */
    bool ready;                        /* of a state: a render needs nothing more */
} word;

#define USE(name, id, state, standing, word, shows, meaning) {"use", id, meaning, false},
#define STATE(name, id, check_id, key, ready, word, meaning) {"state", id, meaning, ready},
#define CHECK(name, id, check_id, key, ready, word, meaning) {"check", check_id, meaning, ready},
#define COUNT(name, id, check_id, key, ready, word, meaning) {"check-count", key, NULL, false},
#define MADE(name, id, key, title, meaning) {"made", id, meaning, false},
#define MADE_COUNT(name, id, key, title, meaning) {"made-count", key, NULL, false},
#define SOURCE(name, id, remark, meaning) {"source", id, meaning, false},
static const word words[] = {TXM_USES(USE) TXM_STATES(STATE) TXM_STATES(CHECK) TXM_CHECKS(CHECK) TXM_STATES(COUNT)
                                 TXM_CHECKS(COUNT) TXM_MADE(MADE) TXM_MADE(MADE_COUNT) TXM_SOURCES(SOURCE)};
enum { WORDS = sizeof words / sizeof *words };

/* Calls `put` for each word, those of lint last. */
static void each_word(FILE *out, void (*put)(FILE *out, const word *before, const word *w))
{
    const word *before = NULL;
    word lint[2] = {{.list = "lint"}, {.list = "lint"}};
    for (size_t i = 0; i < WORDS; before = &words[i++])
        put(out, before, &words[i]);
    for (unsigned bit = 1, at = 0; bit < TXM_LINT_END; bit <<= 1, at = !at) {
        lint[at].text = txm_lint_name((txm_lint)bit);
        put(out, before, &lint[at]);
        before = &lint[at];
    }
}

static void put_line(FILE *out, const word *before, const word *w)
{
    (void)before;
    fprintf(out, "%s\t%s\n", w->list, w->text);
}

/* Formats of scenes are words of the schemas alone. */
void txm_generate_words(FILE *out)
{
    each_word(out, put_line);
    for (size_t i = 0; txm_scene_format_at(i); i++)
        fprintf(out, "scene-format\t%s\n", txm_scene_format_at(i)->id);
}

/* NO_IMAGE = "no-image", in a class for each list. */
static void put_constant(FILE *out, const word *before, const word *w)
{
    if (!w->meaning && strcmp(w->list, "lint"))
        return;
    if (!before || strcmp(before->list, w->list))
        fprintf(out, "\n\nclass %c%s:\n", toupper((unsigned char)w->list[0]), w->list + 1);
    fputs("    ", out);
    for (const char *c = w->text; *c; c++)
        fputc(isalnum((unsigned char)*c) ? toupper((unsigned char)*c) : '_', out);
    fprintf(out, " = \"%s\"\n", w->text);
}

void txm_generate_python(FILE *out)
{
    const char *separator = "";
    fputs("# SPDX-License-Identifier: Apache-2.0\n"
          "\"\"\"The words of the program's JSON, made by `txmill --generate python`: do not edit.\"\"\"\n",
          out);
    each_word(out, put_constant);
    fputs("\n\nSTATES = (", out);
    for (size_t i = 0; i < WORDS; i++)
        if (!strcmp(words[i].list, "state")) {
            fprintf(out, "%s\"%s\"", separator, words[i].text);
            separator = ", ";
        }
    fputs(")\nREADY = (", out);
    separator = "";
    for (size_t i = 0; i < WORDS; i++)
        if (!strcmp(words[i].list, "state") && words[i].ready) {
            fprintf(out, "%s\"%s\"", separator, words[i].text);
            separator = ", ";
        }
    fputs(")  # a render needs nothing more\n", out);
}

/* Each sentence begins a line, as mandoc wants it. */
bool txm_generate_man_words(FILE *out, const char *list)
{
    bool found = false;
    for (size_t i = 0; i < WORDS; i++) {
        if ((list && strcmp(words[i].list, list)) || !words[i].meaning)
            continue;
        fputs(found ? "" : ".Bl -tag -width Ds\n", out);
        found = true;
        fprintf(out, ".It Ql %s\n", words[i].text);
        txm_generate_man_text(out, words[i].meaning);
    }
    fputs(found ? ".El\n" : "", out);
    return found;
}
