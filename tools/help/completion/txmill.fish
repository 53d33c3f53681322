# Completion of txmill for fish. The program says what completes: txmill [COMMAND] --generate options prints lines
# NAME|ARGUMENT|VALUES|HELP, see tools/help/generate_shell.c.

# What an argument may be: words, <space>, <dir>, <file> or <file EXTENSION...>. Folders always complete, because files
# may be in them.
function __txmill_values -a values word before
    set -l pattern .
    switch $values
        case '<space>'
            txmill colorspaces --names 2>/dev/null
            return
        case '<dir>'
            set pattern '/$'
        case '<file>'
        case '<*'
            set pattern '(/|\.('(string replace -a ' ' '|' -- (string sub -s 7 -e -1 -- $values))'))$'
        case '*'
            string split -n ' ' -- $values | string replace -r '^' "$before"
            return
    end
    for f in (complete -C "'' $word")
        string match -qir -- $pattern (string split -f1 \t -- $f)
        and echo $before$f
    end
end

function __txmill
    set -l typed (commandline -opc)
    set -l word (commandline -ct)
    set -l command $typed[2]
    set -l last $typed[-1]
    set -l operand '<file>'
    set -l before
    set -l options
    set -l words
    if test (count $typed) -gt 2; and begin; test $command = help; or contains -- -h $typed[3..]; or contains -- --help $typed[3..]; end
        echo --all
        return
    end
    test "$command" = help; and set command
    if string match -qr -- '^--[^=]+=' $word
        set last (string split -m 1 = -- $word)[1]
        set before $last=
        set word (string split -m 1 = -- $word)[2]
    end
    for line in (txmill $command --generate options 2>/dev/null)
        set -l f (string split -m 3 '|' -- $line)
        if test -n "$f[2]"; and test "x$f[1]" = "x$last"
            __txmill_values "$f[3]" "$word" "$before"
            return
        end
        switch $f[1]
            case '\*'
                set operand $f[3]
            case '-*'
                set -a options $f[1]\t"$f[4]"
            case '*'
                set -a words $f[1]\t"$f[4]"
        end
    end
    if string match -q -- '-*' $word
        printf '%s\n' $options
    else if test -n "$words"; and test (count $typed) -le 2
        printf '%s\n' $words
    else
        __txmill_values "$operand" "$word" ''
    end
end
complete -c txmill -f -a '(__txmill)'
