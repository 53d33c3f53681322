/* SPDX-License-Identifier: Apache-2.0
 *
 * Options. A command has one table, by which its options are parsed into a struct, and from which --help, the OPTIONS
 * section of its manual page and completion follow. Words and messages are those of txmill, which starts the program.
 */
#ifndef STREAM_OPTIONS_H
#define STREAM_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "txtile/status.h"

/* The type of an option decides how it sets its field. */
typedef enum stm_opt_type {
    STM_OPT_FLAG,    /* bool */
    STM_OPT_STRING,  /* const char *: points into argv */
    STM_OPT_LIST,    /* stm_opt_list: repeatable */
    STM_OPT_UINT,    /* uint32_t: from `min` to `max` */
    STM_OPT_NUMBER,  /* double: from `least` to `most` */
    STM_OPT_PERCENT, /* double: the share, of a percentage from `least` to `most` */
    STM_OPT_PIXELS,  /* stm_pixel_size: width and height, such as 1920x1080 */
    STM_OPT_SIZE,    /* uint64_t: bytes, with K, M, G or T for powers of 1024 */
    STM_OPT_CHOICE,  /* int: index of the word in `values` */
    STM_OPT_CUSTOM   /* `parse` sets the field */
} stm_opt_type;

/* Arguments of a repeated option. `items` ends with NULL, and is NULL itself if there are none. */
typedef struct stm_opt_list {
    const char **items;
    size_t count;
} stm_opt_list;

typedef struct stm_pixel_size {
    uint32_t w, h;
} stm_pixel_size;

/* What completes an argument or operands, as `values`. */
#define STM_VALUES_FILE "<file>"
#define STM_VALUES_DIR "<dir>"

typedef struct stm_option {
    const char *name; /* long form without dashes; NULL ends a table */
    char letter;      /* short form, 0 if there is none */
    stm_opt_type type;
    size_t offset;      /* place of the field in the struct of the option's group */
    const char *arg;    /* name of the argument in the help; NULL for flags */
    const char *values; /* words, separated by spaces, or STM_VALUES_*; NULL: any text */
    const char *help;   /* one line, no full stop */
    const char *more;   /* sentences for the manual page; may be NULL */
    uint32_t min, max;
    double least, most;
    /* Sets *field. The message says what is valid ("must be ..."). */
    txm_status (*parse)(const char *text, void *field, txm_error *err);
    bool rare;      /* only --help --all prints it */
    unsigned verbs; /* 1 << place in the list of verbs, of those that use it; 0: all */
} stm_option;

/* An option in a table: its kind without STM_OPT_, its name, then fields. */
#define STM_OPTION(kind, long_name, ...)                                                                               \
    {                                                                                                                  \
        .name = long_name, .type = STM_OPT_##kind, __VA_ARGS__                                                         \
    }
#define STM_OPTION_JOBS(field)                                                                                         \
    STM_OPTION(UINT, "jobs", .letter = 'j', field, .arg = "N", .min = 1, .max = 1024,                                  \
               .help = "Number of threads (default: all the process may use)")
#define STM_OPTION_OVERWRITE(field)                                                                                    \
    STM_OPTION(FLAG, "overwrite", .rare = true, field, .help = "Replace the output even if txmill did not write it",   \
               .more = "Without it only files that txmill wrote, and that were not changed since, are replaced. Even " \
                       "with it, images that txmill did not write, images that have a tx file, scenes, tx files, "     \
                       "logs and inputs of the command are never overwritten.")

typedef struct stm_option_group {
    const char *title; /* NULL ends the list of groups */
    const stm_option *options;
    size_t offset; /* place of the group's struct in the command's struct */
} stm_option_group;

/* A word that a command takes first, and that has help of its own. */
typedef struct stm_verb {
    const char *word, *purpose, *example; /* NULL ends a list */
} stm_verb;

/* The arguments that are not options, in order. */
typedef struct stm_operands {
    char **items;
    size_t count;
    bool help_all; /* --help --all was given */
} stm_operands;

typedef struct stm_command {
    const char *name, *purpose;
    const char *synopsis;    /* the text after the name */
    const char *examples[2]; /* command lines without "txmill" */
    const stm_verb *verbs;   /* NULL: none */
    const stm_option_group *groups;
    bool patterns; /* operands may be patterns of files */
    size_t args_bytes;
    void (*defaults)(void *args);
    int (*run)(void *args, const stm_operands *operands); /* returns the exit code */
} stm_command;

/* --help, which comes first; --color and --no-settings. */
extern const stm_option stm_help_options[];
bool stm_settings_ignored(void); /* --no-settings was given */

typedef enum stm_parse_outcome { STM_PARSED, STM_PARSED_HELP, STM_PARSE_FAILED } stm_parse_outcome;

/* Parses argv[0 .. argc-1] into `args`, after filling in the defaults. Options and operands may be mixed; `--` ends the
 * options. operands->items has room for argc pointers. */
stm_parse_outcome stm_parse(const stm_command *command, int argc, char **argv, void *args, stm_operands *operands,
                            txm_error *err);
/* Replaces patterns by the files that they match, for quoted patterns and programs that run no shell. NO_MEMORY. */
txm_status stm_operands_expand(stm_operands *operands, txm_error *err);
/* Frees the lists inside `args`. */
void stm_args_free(const stm_command *command, void *args);

/* "64M", "1.5G"; *field is a uint64_t. */
txm_status stm_parse_size(const char *text, void *field, txm_error *err);

bool stm_opt_takes_argument(const stm_option *option);
/* Steps through the options of a command, --help, --color and --no-settings last. Zero-initialise. false at the end. */
typedef struct stm_option_walk {
    const stm_option_group *group;
    const stm_option *option;
} stm_option_walk;
bool stm_option_next(const stm_command *command, stm_option_walk *walk);

/* Prints the output of --help, `columns` wide. */
void stm_help_print(FILE *out, const stm_command *command, const stm_operands *operands, unsigned columns);
/* What the build and shells ask for: "man-options", "man-exits", and "options": a line NAME|ARGUMENT|VALUES|HELP for
 * each verb and option. false for another kind. */
bool stm_generate(FILE *out, const stm_command *command, const char *kind);
#endif
