/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a scene's text: values within their bounds, and names that are defined before they are used. Functions
 * take the next word or words of the line; `what` is for messages, such as "the radius".
 */
#ifndef TXM_STREAM_SCENE_WORDS_H
#define TXM_STREAM_SCENE_WORDS_H
#include "render/scene.h"

/* A line that is being parsed. Zero-initialise it, then set file, line, at, end and err. */
typedef struct txm_words {
    const char *file;     /* for messages */
    const char *at, *end; /* the rest of the line */
    size_t line;
    txm_error *err; /* the first failure */
    bool failed;    /* after a failure functions take nothing, and return harmless values */
    void *names;    /* a tsearch tree */
} txm_words;

/* Frees the names. */
void txm_words_free(txm_words *p);

/* Records a failure with its line; the first one is kept. */
void txm_words_fail(txm_words *p, txm_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void txm_words_no_memory(txm_words *p);

/* Whether there is another word. */
bool txm_words_more(txm_words *p);
/* The next word, not terminated, and its length; 0: there is none. */
size_t txm_take_word(txm_words *p, const char **word);
bool txm_is_word(const char *word, size_t n, const char *expected);
/* Takes the next word if it is this one. */
bool txm_take_if(txm_words *p, const char *expected);
/* Reports a failure unless the next word is this one. */
void txm_take_keyword(txm_words *p, const char *expected);

/* Finite numbers; positive ones; whole ones from `low` to `high`. */
float txm_take_number(txm_words *p, const char *what);
void txm_take_numbers(txm_words *p, const char *what, float *out, size_t count);
float txm_take_positive(txm_words *p, const char *what);
uint32_t txm_take_count(txm_words *p, const char *what, uint32_t low, uint32_t high);
txm_vec3 txm_take_vector(txm_words *p, const char *what);
txm_vec3 txm_take_direction(txm_words *p, const char *what); /* normalised */
txm_matrix txm_take_matrix(txm_words *p);

/* A JSON string, owned by the caller; NULL after a failure. */
char *txm_take_text(txm_words *p, const char *what);
/* The index of the next word in `words`, which ends with NULL; 0 after a failure. */
int txm_take_choice(txm_words *p, const char *what, const char *const *words);

/* Defines a name of a kind ('i'mage, 'm'aterial, me's'h) for `index` and returns a copy of it, NULL after a failure. */
char *txm_define_name(txm_words *p, char kind, uint32_t index);
/* The index of a name that was defined before; 0 after a failure. */
uint32_t txm_refer_to_name(txm_words *p, char kind, const char *what);
#endif
