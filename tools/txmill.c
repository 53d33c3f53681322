/* SPDX-License-Identifier: Apache-2.0
 *
 * The program: finds the command, parses its options, runs it.
 *
 * In: argv. Out: the exit code of the command. `help`, `--version` and the hidden --generate are handled here; the
 * message about an unknown command suggests a similar one.
 *
 * This file also does what must happen before a command runs: it installs handlers for signals and abort, so that a
 * killed run leaves no temporary files, and finds out whether errors are printed as JSON, which must work even if the
 * options are wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/shell.h"
#include "tools/commands.h"
#include "tools/help/generate.h"
#include "tools/output/exits.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/format.h"
#include "txmill/scene.h"

/* No input was processed, so the total in the last line is 0. */
static int usage_error(const txm_error *err)
{
    return txm_finish_failed(err, 0);
}

static int done(void)
{
    return txm_finish(&(txm_tally){0});
}

static bool has_option(const txm_command *command, const char *name)
{
    bool has = false;
    for (txm_option_walk w = {0}; !has && txm_option_next(command, &w);)
        has = !strcmp(w.option->name, name);
    return has;
}

/* Options are parsed into a zeroed block of the command's own struct, after its defaults are set; so members that
 * nothing sets are 0. */
static int run_command(const txm_command *command, int argc, char **argv)
{
    txm_error err = {0};
    int code = TXM_EXIT_INTERNAL;
    txm_operands operands = {.items = txm_calloc((size_t)argc + 1, sizeof(char *))};
    void *args = txm_calloc(1, command->args_bytes);
    txm_parse_outcome outcome = TXM_PARSE_FAILED;
    char schema[64];
    snprintf(schema, sizeof schema, "txmill.%s", command->name);
    /* Whether --json was given, even among options that cannot be parsed, so that their failure is an object as well.
     */
    bool json = false;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        json |= !strcmp(argv[i], "--json");
    if (json && has_option(command, "json"))
        txm_finish_in_json(schema);
    else
        txm_lines_install();
    if (!operands.items || !args)
        txm_no_memory(&err, NULL);
    else
        outcome = txm_parse(command, argc, argv, args, &operands, &err);
    txm_advise_for(command->operand_values);
    /* Advice must not name an option that the command does not have. */
    if (has_option(command, "max-memory"))
        txm_advise_memory("free memory, use fewer threads with -j, or raise --max-memory; then run the same again");
    else if (has_option(command, "jobs"))
        txm_advise_memory("free memory, or use fewer threads with -j; then run the same again");
    switch (outcome) {
    case TXM_PARSED:
        if (operands.count && command->no_operands)
            txm_fail(&err, TXM_STATUS_USAGE, "unexpected argument '%s'; %s", operands.items[0], command->no_operands);
        code = err.status ? usage_error(&err)
               : command->operand_values && txm_operands_expand(&operands, &err) != TXM_OK
                   ? usage_error(&err)
                   : command->run(args, &operands);
        break;
    case TXM_PARSED_HELP:
        txm_help_print(stdout, command, &operands, txm_terminal_columns(STDOUT_FILENO));
        code = done();
        break;
    case TXM_PARSE_FAILED:
        code = usage_error(&err);
        break;
    }
    if (args)
        txm_args_free(command, args);
    free(args);
    txm_operands_free(&operands);
    return code;
}

/* ---- what was meant --------------------------------------------------------------------------------------------- */

static void add_word(char *out, size_t bytes, const char *word)
{
    char *quoted = txm_shell_word(word);
    size_t n = strlen(out);
    snprintf(out + n, bytes - n, " %s", quoted ? quoted : word);
    free(quoted);
}

/* The command that was probably meant if a file was given instead; NULL if it is not a file. */
static const char *command_for_file(const char *path)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (txm_path_has_ext(path, "tx"))
        return "info";
    if (there || txm_is_image_name(path) || txm_scene_format_of(path) || strpbrk(path, "/*@"))
        return "make";
    return NULL;
}

static bool is_make(const char *name)
{
    static const char *const words[] = {"convert", "maketx", "mktx", "mk", "build", "create", "generate", "bake"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(name, words[i]))
            return true;
    return false;
}

/* Writes the complete command line that would have worked; returns false if none is known. */
static bool meant(const char *name, int argc, char **argv, char *line, size_t bytes)
{
    const char *command = is_make(name) ? "make" : command_for_file(name);
    if (!command || name[0] == '-')
        return false;
    snprintf(line, bytes, "txmill %s", command);
    if (!is_make(name))
        add_word(line, bytes, name);
    if (is_make(name) && argc == 0)
        add_word(line, bytes, "textures");
    for (int i = 0; i < argc; i++)
        add_word(line, bytes, argv[i]);
    return true;
}

static int unknown_command(const char *name, int argc, char **argv)
{
    txm_error err = {0};
    const txm_command *near = txm_command_near(name), *command = NULL;
    const char *what = name[0] == '-' ? "option" : "command";
    char line[TXM_MESSAGE_BYTES / 2];
    for (int i = 0; name[0] == '-' && !command && i < argc; i++)
        command = txm_command_find(argv[i]);
    if (command)
        txm_fail(&err, TXM_STATUS_USAGE, "%s: options come after the command, as in txmill %s %s", name, command->name,
                 name);
    else if (meant(name, argc, argv, line, sizeof line))
        txm_fail(&err, TXM_STATUS_USAGE, "%s is not a command; did you mean: %s", name, line);
    else if (near)
        txm_fail(&err, TXM_STATUS_USAGE, "unknown %s %s; did you mean '%s'? 'txmill --help' lists the commands", what,
                 name, near->name);
    else
        txm_fail(&err, TXM_STATUS_USAGE, "unknown %s %s; 'txmill --help' lists the commands", what, name);
    return usage_error(&err);
}

static int generate(int argc, char **argv)
{
    txm_error err = {0};
    if (argc > 0 && txm_generate(stdout, argv[0], argc > 1 ? argv[1] : ""))
        return done();
    txm_fail(&err, TXM_STATUS_USAGE, "--generate: unknown kind or command");
    return usage_error(&err);
}

/* The first word is the command; before it only the options of the program itself are allowed. */
int main(int argc, char **argv)
{
    txm_error err = {0};
    txm_signals_install();
    txm_aborts_install();
    txm_say_started(argc, argv);
    if (argc < 2) {
        txm_lines_install();
        txm_commands_help(stdout);
        txm_fail(&err, TXM_STATUS_USAGE, "no command given");
        return usage_error(&err);
    }
    const char *word = argv[1];
    if (!strcmp(word, "--generate"))
        return generate(argc - 2, argv + 2);
    if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version")) {
        printf("txmill %s\n", TXM_VERSION);
        return done();
    }
    bool help = !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
    if (help && (argc < 3 || !strcmp(argv[2], "--all"))) {
        txm_lines_install();
        txm_commands_help(stdout);
        return done();
    }
    const txm_command *command = txm_command_find(help ? argv[2] : word);
    if (!command)
        return unknown_command(help ? argv[2] : word, argc - 2, argv + 2);
    if (!command->program && argc == 4 && !strcmp(argv[2], "--generate") && !strcmp(argv[3], "options")) {
        txm_generate_options(stdout, command);
        return done();
    }
    static char ask_help[] = "--help";
    if (help)
        argv[2] = ask_help;
    return command->program ? txm_program_start(command, argc - 2, argv + 2) : run_command(command, argc - 2, argv + 2);
}
