/* SPDX-License-Identifier: Apache-2.0
 *
 * Options: every command has one table, which is parsed into a struct, printed by --help, and turned into the OPTIONS
 * section of its man page and the completion of three shells. Nothing about an option is said in a second place.
 *
 * Adding a command: write tools/cmd_NAME.c that defines `const txm_command txm_cmd_NAME`, add its name to the list in
 * tools/commands.def, and write man/txmill-NAME.1.in. Tests check that the three agree.
 *
 * The room tools/options is everything between argv and a command's struct: parsing by tables (opt.c), groups of
 * options that commands share (args.c, rule_args.c, shard_args.c), and what is said once for a project (project.c).
 */
#ifndef TXM_TOOLS_OPT_H
#define TXM_TOOLS_OPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/output/values.h"
#include "txtile/status.h"

/* What an option does to its field. */
typedef enum txm_opt_type {
    TXM_OPT_FLAG,   /* bool: set to true; takes no argument */
    TXM_OPT_CLEAR,  /* bool: set to false; takes no argument */
    TXM_OPT_YESNO,  /* bool: from the words yes and no */
    TXM_OPT_STRING, /* const char *: points into argv */
    TXM_OPT_LIST,   /* txm_opt_list: repeatable; items point into argv; `parse`, if any, only checks */
    TXM_OPT_UINT,   /* uint32_t: from `min` to `max` */
    TXM_OPT_SIZE,   /* uint64_t: bytes, with K, M, G or T for powers of 1024 */
    TXM_OPT_CHOICE, /* int: index of the word in `values` */
    TXM_OPT_WORD,   /* int: 1 without an argument; with --name=WORD 2 + index of the word in `values` */
    TXM_OPT_CUSTOM  /* whatever `parse` makes of it */
} txm_opt_type;

/* Repeated arguments. `items` ends with NULL and is NULL itself while there are none. */
typedef struct txm_opt_list {
    const char **items;
    size_t count;
} txm_opt_list;

/* Parses an argument into `field`; the message says what would be right ("must be ..."): the option's name and the
 * argument are put in front by the caller. With `field` NULL it only checks. */
typedef txm_status (*txm_opt_parse_fn)(const char *text, void *field, txm_error *err);

typedef struct txm_option {
    const char *name; /* long form without dashes; NULL ends a table */
    char letter;      /* short form, 0 if there is none */
    txm_opt_type type;
    size_t offset;          /* of the field in the struct of the option's group */
    const char *arg;        /* what help calls the argument ("DIR"); NULL for flags */
    const char *values;     /* words, separated by spaces, or TXM_VALUES_*; NULL: anything */
    const char *help;       /* one line, no full stop: for --help, completion and the man page */
    const char *more;       /* sentences for the man page alone; may be NULL */
    uint32_t min, max;      /* of TXM_OPT_UINT */
    txm_opt_parse_fn parse; /* of TXM_OPT_CUSTOM and TXM_OPT_LIST */
} txm_option;

/* An option in a table: its kind without TXM_OPT_, its name, then fields. */
#define TXM_OPTION(kind, long_name, ...)                                                                               \
    {                                                                                                                  \
        .name = long_name, .type = TXM_OPT_##kind, __VA_ARGS__                                                         \
    }

typedef struct txm_option_group {
    const char *title; /* "Settings"; NULL ends the list of groups */
    const txm_option *options;
    size_t offset; /* of the group's struct in the command's */
} txm_option_group;

/* What is left of the command line: the arguments that are no options, in order. */
typedef struct txm_operands {
    char **items;
    size_t count;
    const struct txm_option *given[64]; /* options that were named, each once */
    size_t given_count;
    char **matches; /* of patterns, owned: txm_operands_free */
    size_t match_count;
} txm_operands;

/* Puts the files that a pattern matches (*, ? and [...]) in its place, for those that were quoted, or come from a
 * program that asks no shell. What is there under that very name, and what matches nothing, stays as it is. NO_MEMORY.
 */
txm_status txm_operands_expand(txm_operands *operands, txm_error *err);
void txm_operands_free(txm_operands *operands); /* zeroes */

/* Whether the option of this long name was named on the command line. */
bool txm_opt_given(const txm_operands *operands, const char *name);

/* Exit codes that a command can return; 0, 1 and 2 go without saying. */
enum { TXM_EXITS_FAIL = 1, TXM_EXITS_RETRY = 2, TXM_EXITS_FINDINGS = 4, TXM_EXITS_SIGNAL = 8 };

typedef struct txm_command {
    const char *name;                                     /* "make" */
    const char *purpose;                                  /* one line, no full stop */
    const char *synopsis;                                 /* after the name: "[OPTION...] IMAGE..." */
    const txm_option_group *groups;                       /* ends with a NULL title */
    const char *operand_values;                           /* TXM_VALUES_*, NULL: none */
    unsigned exits;                                       /* TXM_EXITS_* */
    size_t args_bytes;                                    /* size of the struct that the options are parsed into */
    void (*defaults)(void *args);                         /* fills the zeroed struct; NULL: all zero */
    int (*run)(void *args, const txm_operands *operands); /* returns the exit code */
} txm_command;

/* The command NAME, whose options are `groups`, are parsed into args_type, and make run_NAME do it; then fields. */
#define TXM_COMMAND(command, args_type, ...)                                                                           \
    const txm_command txm_cmd_##command = {                                                                            \
        .name = #command, .groups = groups, .args_bytes = sizeof(args_type), .run = run_##command, __VA_ARGS__}

/* The group that every command has without naming it: --help, which comes first, and --color. */
extern const txm_option txm_help_options[];

typedef enum txm_parse_outcome { TXM_PARSED, TXM_PARSED_HELP, TXM_PARSE_FAILED } txm_parse_outcome;

/* Parses argv[0 .. argc-1] (without program and command name) into `args`, after filling in the defaults. Options and
 * operands may be mixed; `--` ends the options; `-` alone is an operand. operands->items needs room for argc pointers.
 * TXM_PARSED_HELP as soon as --help is met. On failure the message names the option and says what would be right. */
txm_parse_outcome txm_parse(const txm_command *command, int argc, char **argv, void *args, txm_operands *operands,
                            txm_error *err);
/* Frees what parsing allocated inside `args`. */
void txm_args_free(const txm_command *command, void *args);

/* "64M" and "1.5G" to bytes; the field is a uint64_t. Also for other parsers. */
txm_status txm_parse_size(const char *text, void *field, txm_error *err);

/* Calls `fn` for every option of a command, --help and --color last. */
typedef void (*txm_option_fn)(void *user, const txm_option_group *group, const txm_option *option);
void txm_each_option(const txm_command *command, txm_option_fn fn, void *user);

/* Whether an option of this type takes an argument. */
bool txm_opt_takes_argument(const txm_option *option);

/* What --help prints, `columns` wide. */
void txm_help_print(FILE *out, const txm_command *command, unsigned columns);

#endif
