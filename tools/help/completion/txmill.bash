# Completion of txmill for bash. The program says what completes: txmill [COMMAND] --generate options prints lines
# NAME|ARGUMENT|VALUES|HELP, see tools/help/generate_shell.c.

_txmill_ask()
{
    "${COMP_WORDS[0]}" "$@" --generate options 2>/dev/null
}

# What an argument may be: words, <space>, <dir>, <file> or <file EXTENSION...>. Folders always complete, because files
# may be in them.
_txmill_values()
{
    local f extensions=${1#<file }
    extensions=${extensions%>}
    case $1 in
    '<space>')
        # Anybody may have written the config that names them, so they are quoted in full.
        compopt -o noquote 2>/dev/null
        while IFS= read -r f; do
            [[ ${f,,} == "${cur,,}"* ]] && printf -v f %q "$f" && COMPREPLY+=("$f")
        done < <("${COMP_WORDS[0]}" colorspaces --names 2>/dev/null) ;;
    '<file>') mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    '<'*)
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        [[ $1 == '<dir>' ]] || while IFS= read -r f; do
            [[ ${f,,} =~ \.(${extensions// /|})$ && ! -d $f ]] && COMPREPLY+=("$f")
        done < <(compgen -f -- "$cur") ;;
    *) COMPREPLY=($(compgen -W "$1" -- "$cur")) ;;
    esac
}

_txmill()
{
    local cur prev cmd= name arg values help operand='<file>' options= words=
    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    # bash splits --name=value into three words
    if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
    # as it is typed, with a quote in front or with backslashes
    cur=${cur#[\'\"]} cur=${cur//\\/}
    COMPREPLY=()
    ((COMP_CWORD > 1)) && cmd=${COMP_WORDS[1]}
    if [[ $cmd == [a-z]* && " ${COMP_WORDS[*]:1:COMP_CWORD-1} " =~ " "(-h|--help|help" "[a-z]+)" " ]]; then
        COMPREPLY=($(compgen -W --all -- "$cur"))
        return
    fi
    [[ $cmd == help ]] && cmd=
    while IFS='|' read -r name arg values help; do
        if [[ $arg && $name == "$prev" ]]; then
            _txmill_values "$values"
            return
        fi
        case $name in
        '*') operand=$values ;;
        -*) options+=" $name" ;;
        *) words+=" $name" ;;
        esac
    done < <(_txmill_ask $cmd)
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    elif [[ $words ]] && ((COMP_CWORD <= 2)); then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    else
        _txmill_values "$operand"
    fi
}
complete -o filenames -F _txmill txmill
