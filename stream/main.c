/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill-stream: the commands `txmill stream` and `txmill replay`. txmill starts it with the words that it was given;
 * started by hand, the first word is the command, as in `txmill-stream replay render.trace`.
 *
 * It uses the public headers of txtile and txmill alone, as any other program does.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/options.h"
#include "cli/say.h"
#include "commands.h"

static const stm_command *const commands[] = {&stm_cmd_stream, &stm_cmd_replay};
enum { COMMANDS = sizeof commands / sizeof *commands };

static int usage_error(const txm_error *err)
{
    return stm_finish_failed(err, 0);
}

/* Whether --json was given, even among options that cannot be parsed, so that their failure is an object as well. */
static bool wants_json(const stm_command *command, int argc, char **argv)
{
    bool has = false, wants = false;
    for (stm_option_walk w = {0}; stm_option_next(command, &w);)
        has |= !strcmp(w.option->name, "json");
    for (int i = 0; has && i < argc && strcmp(argv[i], "--") != 0; i++)
        wants |= !strcmp(argv[i], "--json");
    return wants;
}

static int run(const stm_command *command, int argc, char **argv)
{
    txm_error err = {0};
    int code;
    stm_operands operands = {.items = stm_calloc((size_t)argc + 1, sizeof(char *))};
    void *args = stm_calloc(1, command->args_bytes);
    char schema[64];
    snprintf(schema, sizeof schema, "txmill.%s", command->name);
    if (wants_json(command, argc, argv))
        stm_finish_in_json(schema);
    else
        stm_lines_install();
    stm_parse_outcome outcome = STM_PARSE_FAILED;
    if (!operands.items || !args)
        stm_no_memory(&err, NULL);
    else
        outcome = stm_parse(command, argc, argv, args, &operands, &err);
    if (outcome == STM_PARSED_HELP) {
        stm_help_print(stdout, command, &operands, stm_terminal_columns(STDOUT_FILENO, 80));
        code = stm_finish(TXM_OK);
    } else if (outcome == STM_PARSED && (!command->patterns || stm_operands_expand(&operands, &err) == TXM_OK))
        code = command->run(args, &operands);
    else
        code = usage_error(&err);
    if (args)
        stm_args_free(command, args);
    free(args);
    free(operands.items);
    return code;
}

int main(int argc, char **argv)
{
    txm_error err = {0};
    const stm_command *command = NULL;
    stm_signals_install();
    for (int i = 0; argc > 1 && i < COMMANDS; i++)
        command = strcmp(commands[i]->name, argv[1]) == 0 ? commands[i] : command;
    if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
        printf("txmill-stream %s\n", txm_version());
        return stm_finish(TXM_OK);
    }
    if (!command) {
        stm_fail(&err, TXM_STATUS_USAGE, "%s: is not a command; there are stream and replay",
                 argc > 1 ? argv[1] : "nothing to do");
        return usage_error(&err);
    }
    /* For the build and for completion. */
    if (argc == 4 && !strcmp(argv[2], "--generate")) {
        if (stm_generate(stdout, command, argv[3]))
            return stm_finish(TXM_OK);
        stm_fail(&err, TXM_STATUS_USAGE, "--generate: unknown kind");
        return usage_error(&err);
    }
    return run(command, argc - 2, argv + 2);
}
