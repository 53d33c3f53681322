#!/bin/sh
# Fills a man page source: expand.sh TXMILL SOURCE. The lines @OPTIONS@, @EXITS@, @COMMANDS@ and @FINDINGS@ are
# replaced by what the program's own tables say, @VERSION@ by its version.
set -eu
txmill=$1 source=$2
name=$(basename "$source" .in)
command=${name#txmill-} command=${command%.*}
version=$("$txmill" --version)
while IFS= read -r line; do
    case $line in
        @OPTIONS@) "$txmill" --generate man-options "$command" ;;
        @EXITS@) "$txmill" --generate man-exits "$command" ;;
        @FINDINGS@) "$txmill" --generate man-findings ;;
        @COMMANDS@) "$txmill" --generate man-commands ;;
        *@VERSION@*) printf '%s\n' "${line%%@VERSION@*}${version#txmill }${line#*@VERSION@}" ;;
        *) printf '%s\n' "$line" ;;
    esac
done <"$source"
