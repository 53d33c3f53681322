/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a scene's text: values within their bounds, and names that are defined before they are used. Functions
 * take the next word or words of the line; `what` is for messages, such as "the radius".
 */
#ifndef STM_STREAM_SCENE_WORDS_H
#define STM_STREAM_SCENE_WORDS_H
#include "render/scene.h"

/* A line that is being parsed. Zero-initialise it, then set file, line, at, end and err. */
typedef struct stm_words {
    const char *file;     /* for messages */
    const char *at, *end; /* the rest of the line */
    size_t line;
    txm_error *err; /* the first failure */
    bool failed;    /* after a failure functions take nothing, and return harmless values */
    void *names;    /* a tsearch tree */
} stm_words;

/* Frees the names. */
void stm_words_free(stm_words *p);

/* Records a failure with its line; the first one is kept. */
void stm_words_fail(stm_words *p, txm_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A failure of a called function, with the line before it. */
void stm_words_fail_as(stm_words *p, const txm_error *cause);
void stm_words_no_memory(stm_words *p);

/* Whether there is another word. */
bool stm_words_more(stm_words *p);
/* The next word, not terminated, and its length; 0: there is none. */
size_t stm_take_word(stm_words *p, const char **word);
bool stm_is_word(const char *word, size_t n, const char *expected);
/* Takes the next word if it is this one. */
bool stm_take_if(stm_words *p, const char *expected);
/* Reports a failure unless the next word is this one. */
void stm_take_keyword(stm_words *p, const char *expected);

/* Finite numbers; positive ones; whole ones from `low` to `high`. */
float stm_take_number(stm_words *p, const char *what);
void stm_take_numbers(stm_words *p, const char *what, float *out, size_t count);
float stm_take_positive(stm_words *p, const char *what);
uint32_t stm_take_count(stm_words *p, const char *what, uint32_t low, uint32_t high);
txm_vec3 stm_take_vector(stm_words *p, const char *what);
txm_vec3 stm_take_direction(stm_words *p, const char *what); /* normalised */
stm_matrix stm_take_matrix(stm_words *p);

/* A JSON string, owned by the caller; NULL after a failure. */
char *stm_take_text(stm_words *p, const char *what);
/* The index of the next word in `words`, which ends with NULL; 0 after a failure. */
int stm_take_choice(stm_words *p, const char *what, const char *const *words);

/* Defines a name of a kind ('i'mage, 'm'aterial, me's'h) for `index` and returns a copy of it, NULL after a failure. */
char *stm_define_name(stm_words *p, char kind, uint32_t index);
/* The index of a name that was defined before; 0 after a failure. */
uint32_t stm_refer_to_name(stm_words *p, char kind, const char *what);
#endif
