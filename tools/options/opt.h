/* SPDX-License-Identifier: Apache-2.0
 *
 * Options. Each command has one table, by which its options are parsed into a struct and printed by --help, and from
 * which the OPTIONS section of its manual page is generated and the completion of shells is answered.
 *
 * To add a command, write tools/cmd_NAME.c that defines `const txm_command txm_cmd_NAME`, add its name to the list in
 * tools/commands.def, and write man/txmill-NAME.1.in. Tests check that the three agree.
 *
 * The room tools/options has everything between argv and a command's struct: parsing by tables (opt.c), groups of
 * options that commands share (args.c, rule_args.c, shard_args.c), and the settings of a project (project.c).
 */
#ifndef TXM_TOOLS_OPT_H
#define TXM_TOOLS_OPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/output/values.h"
#include "txtile/status.h"

/* The type of an option decides how it sets its field. */
typedef enum txm_opt_type {
    TXM_OPT_FLAG,   /* bool: set to true; takes no argument; with `parse`, that is called instead */
    TXM_OPT_CLEAR,  /* bool: set to false; takes no argument */
    TXM_OPT_YESNO,  /* bool: from the words yes and no */
    TXM_OPT_STRING, /* const char *: points into argv */
    TXM_OPT_LIST,   /* txm_opt_list: repeatable; items point into argv; `parse`, if any, only checks */
    TXM_OPT_UINT,   /* uint32_t: from `min` to `max` */
    TXM_OPT_NUMBER, /* double: from `least` to `most`; NaN is refused */
    TXM_OPT_PIXELS, /* txm_pixel_size: width and height, such as 1920x1080 */
    TXM_OPT_SIZE,   /* uint64_t: bytes, with K, M, G or T for powers of 1024 */
    TXM_OPT_CHOICE, /* int: index of the word in `values` */
    TXM_OPT_WORD,   /* int: 1 without an argument; with --name=WORD 2 + index of the word in `values` */
    TXM_OPT_CUSTOM  /* `parse` sets the field */
} txm_opt_type;

/* Arguments of a repeated option. `items` ends with NULL, and is NULL itself if there are none. */
typedef struct txm_opt_list {
    const char **items;
    size_t count;
} txm_opt_list;

typedef struct txm_pixel_size {
    uint32_t w, h;
} txm_pixel_size;

/* Parses an argument into `field`. The message says what is valid ("must be ..."); the caller puts the option's name
 * and the argument in front. With `field` NULL it only checks. */
typedef txm_status (*txm_opt_parse_fn)(const char *text, void *field, txm_error *err);

typedef struct txm_option {
    const char *name; /* long form without dashes; NULL ends a table */
    char letter;      /* short form, 0 if there is none */
    txm_opt_type type;
    size_t offset;                 /* place of the field in the struct of the option's group */
    const char *arg;               /* name of the argument in the help ("DIR"); NULL for flags */
    const char *values;            /* words, separated by spaces, or TXM_VALUES_*; NULL: any text */
    const char *help;              /* one line, no full stop: for --help, completion and the man page */
    const char *more;              /* sentences for the man page only; may be NULL */
    uint32_t min, max;             /* bounds of TXM_OPT_UINT */
    double least, most;            /* bounds of TXM_OPT_NUMBER */
    txm_opt_parse_fn parse;        /* parser of TXM_OPT_CUSTOM, TXM_OPT_LIST and TXM_OPT_FLAG */
    bool rare;                     /* only --help --all prints it */
    void (*defaults)(void *group); /* of the row that ends a table: sets the defaults of the group's struct */
} txm_option;

/* An option in a table: its kind without TXM_OPT_, its name, then fields. */
#define TXM_OPTION(kind, long_name, ...)                                                                               \
    {                                                                                                                  \
        .name = long_name, .type = TXM_OPT_##kind, __VA_ARGS__                                                         \
    }

typedef struct txm_option_group {
    const char *title; /* such as "Settings"; NULL ends the list of groups */
    const txm_option *options;
    size_t offset; /* place of the group's struct in the command's struct */
} txm_option_group;

/* The arguments that are not options, in order. */
typedef struct txm_operands {
    char **items;
    size_t count;
    const struct txm_option *given[64]; /* options that were given, each once */
    size_t given_count;
    bool help_all;  /* --help --all was given */
    char **matches; /* files that patterns matched, owned: txm_operands_free */
    size_t match_count;
} txm_operands;

/* Replaces patterns (*, ? and [...]) by the files that they match, for programs that do not run a shell, and for
 * quoted patterns. A pattern that is also the name of a file, or that matches nothing, is kept. NO_MEMORY. */
txm_status txm_operands_expand(txm_operands *operands, txm_error *err);
void txm_operands_free(txm_operands *operands); /* zeroes */

/* Whether the option with this long name was given on the command line. */
bool txm_opt_given(const txm_operands *operands, const char *name);

/* Exit codes that a command can return, in addition to 0, 1 and 2. */
enum { TXM_EXITS_FAIL = 1, TXM_EXITS_RETRY = 2, TXM_EXITS_FINDINGS = 4, TXM_EXITS_SIGNAL = 8 };

typedef struct txm_command {
    const char *name;                                     /* "make" */
    const char *purpose;                                  /* one line, no full stop */
    const char *synopsis;                                 /* the text after the name: "[OPTION...] IMAGE..." */
    const txm_option_group *groups;                       /* ends with a NULL title */
    const char *operand_values;                           /* TXM_VALUES_*, NULL: none */
    const char *no_operands;                              /* it takes none: the rest of the message that says so */
    unsigned exits;                                       /* TXM_EXITS_* */
    const char *program;                                  /* another program, which carries it out; NULL: this one */
    size_t args_bytes;                                    /* size of the struct that the options are parsed into */
    void (*defaults)(void *args);                         /* fills the zeroed struct; NULL: all zero */
    int (*run)(void *args, const txm_operands *operands); /* returns the exit code */
} txm_command;

/* The command NAME with the options `groups`, which are parsed into args_type and run by run_NAME; then fields. */
#define TXM_COMMAND(command, args_type, ...)                                                                           \
    const txm_command txm_cmd_##command = {                                                                            \
        .name = #command, .groups = groups, .args_bytes = sizeof(args_type), .run = run_##command, __VA_ARGS__}

/* The group of every command, which need not list it: --help, which comes first, --color, --no-settings. */
extern const txm_option txm_help_options[];
bool txm_settings_ignored(void); /* --no-settings was given: no .txmill applies */

typedef enum txm_parse_outcome { TXM_PARSED, TXM_PARSED_HELP, TXM_PARSE_FAILED } txm_parse_outcome;

/* Parses argv[0 .. argc-1] (without program and command name) into `args`, after filling in the defaults. Options
 * and operands may be mixed; `--` ends the options; `-` alone is an operand. operands->items needs room for argc
 * pointers. Returns TXM_PARSED_HELP as soon as --help is found; of the words after it only --all and operands count. On
 * failure the message names the option and says what is valid. */
txm_parse_outcome txm_parse(const txm_command *command, int argc, char **argv, void *args, txm_operands *operands,
                            txm_error *err);
/* Frees what parsing allocated inside `args`. */
void txm_args_free(const txm_command *command, void *args);

/* Converts a number, with digits and a point, and one letter of `letters` right after it, which multiplies it by the
 * factor at the same place; `may_lack`: the letter may be left out. Returns false if the text is anything else. */
bool txm_parse_units(const char *text, const char *letters, const double *factors, bool may_lack, double *out);
/* Converts "64M" and "1.5G" to bytes; the field is a uint64_t. Also for other parsers. */
txm_status txm_parse_size(const char *text, void *field, txm_error *err);

/* Steps through the options of a command, --help, --color and --no-settings last. Zero-initialise. false at the end. */
typedef struct txm_option_walk {
    const txm_option_group *group;
    const txm_option *option;
} txm_option_walk;
bool txm_option_next(const txm_command *command, txm_option_walk *walk);

/* Whether an option of this type takes an argument. */
bool txm_opt_takes_argument(const txm_option *option);

/* Prints the output of --help, `columns` wide: the usual options, or all of them. */
void txm_help_print(FILE *out, const txm_command *command, const txm_operands *operands, unsigned columns);

#endif
