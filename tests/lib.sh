# shellcheck shell=bash
# For the scripts cli_*.sh: a scratch folder, running txmill, and checks that print "ok NAME" or "not ok NAME".
set -u
TXMILL=${TXMILL:-$PWD/build/txmill}
TXM_TESTDATA=${TXM_TESTDATA:-$PWD/testdata}
# shellcheck disable=SC2034
golden=$TXM_TESTDATA/golden
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
# Other users than the one who runs the tests must be able to read a test's files.
chmod 755 "$work"
failures=0
clean_up() { chmod -R u+rwx "$work" 2>/dev/null; rm -rf "$work"; }
trap clean_up EXIT
cd "$work" || exit 1
# The user's config or cache must not influence the tests.
unset OCIO BLENDER_OCIO TXMILL_FSYNC TXMILL_READER TXMILL_SETTINGS
export LC_ALL=C.UTF-8 TXMILL_CHECK_JSON=yes

ok() { echo "ok $1"; }
not_ok() {
    failures=$((failures + 1))
    echo "not ok $1"
    [ $# -lt 2 ] || printf '    %s\n' "${@:2}"
}
skip() { echo "skip $1 ($2)"; }

# Runs a command; leaves its exit code in $rc and its output in the files out and err of the scratch folder.
run() { "$@" >"$work/out" 2>"$work/err"; rc=$?; }
txm() { run "$TXMILL" "$@"; }
# The same on a terminal: on_terminal [--screen] COLUMNSxROWS COMMAND... (tests/util/terminal.py).
on_terminal() { run python3 "$repo/tests/util/terminal.py" "$@"; }
# This is not possible in a chroot without /dev/pts.
has_terminal() { python3 "$repo/tests/util/terminal.py" 80x24 true 2>/dev/null || [ $? -ne 125 ]; }

# As thorough() and some_of() in tests/util/util_check.h: every case, or some of many cases of one kind.
thorough() { [ -n "${TXM_THOROUGH:-}" ]; }
some_of() {
    local part=4
    [ -z "${SANITIZED:-}" ] || part=16
    ! thorough || part=1
    echo $((($1 + part - 1) / part))
}

# A copy of the program with what it is linked with, for users who cannot enter the folder of the build.
copy_program() { # FOLDER
    mkdir "$1" && cp "$TXMILL" "${TXMILL%/*}"/libtx*.so.0 "$1/" || return
    [ ! -e "${TXMILL%/*}/libOpenColorIO.so" ] || cp "${TXMILL%/*}"/libOpenColorIO.so "${TXMILL%/*}"/libOpenImageIO*.so.* "$1/"
}

# check NAME COMMAND...: ok if the command succeeds; otherwise the last output is shown.
check() {
    local name=$1
    shift
    if "$@"; then
        ok "$name"
    else
        not_ok "$name" "failed: $*" "rc=${rc:-}" "$(head -c 1500 "$work/out" 2>/dev/null)" \
            "$(head -c 1500 "$work/err" 2>/dev/null)"
    fi
}
rc_is() { [ "$rc" -eq "$1" ]; }
says() { grep -qF -e "$1" "$work/err"; }
prints() { grep -qF -e "$1" "$work/out"; }
reports() { json out "$1"; }
last_line_is() { [ "$(tail -n 1 "$work/err")" = "$1" ]; }
# gives NAME CODE [says|prints|last_line_is|reports TEXT]... -- ARGUMENT...: txmill with these arguments ends with this exit
# code, and says these texts; reports: what it printed are objects for which this expression is true.
gives() {
    local name=$1 code=$2 wrong=() texts=()
    shift 2
    while [ "$1" != -- ]; do
        texts+=("$1" "$2")
        shift 2
    done
    shift
    txm "$@"
    rc_is "$code" || wrong+=("the exit code is $rc instead of $code")
    set -- "txmill $*" "${texts[@]}"
    while [ $# -gt 1 ]; do
        "$2" "$3" || wrong+=("not true: $2 $3")
        set -- "$1" "${@:4}"
    done
    if [ ${#wrong[@]} -eq 0 ]; then
        ok "$name"
    else
        not_ok "$name" "$1" "${wrong[@]}" "$(head -c 1500 "$work/out")" "$(head -c 1500 "$work/err")"
    fi
}
# Neither temporary files nor tx files are below a folder.
nothing_in() { [ -z "$(find "$1" -name '*.tx*' 2>/dev/null)" ]; }
no_temporaries() { [ -z "$(find "$work" -name '*.txm-tmp' 2>/dev/null)" ]; }
finish() { exit $((failures != 0)); }

# Every object of a file of JSON lines matches a schema.
valid_json() {
    python3 - "${TXM_BUILD:-$repo/build}/schema/$1.schema.json" "$2" <<'EOF'
import json, sys
import jsonschema
validator = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))
lines = open(sys.argv[2], encoding="utf-8").read().splitlines()
assert lines, "no JSON at all"
for line in lines:
    def refuse(word):
        raise ValueError("not JSON: " + word)
    validator.validate(json.loads(line, parse_constant=refuse))
EOF
}
# json FILE EXPRESSION ARGUMENT...: the expression is true; `o` is the list of the file's objects, and sys.argv[3] the
# first argument.
json() {
    # Without the site's packages, whose search takes longer than the rest.
    python3 -SEc 'import json, sys
o = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
sys.exit(0 if eval(sys.argv[2]) else 1)' "$@"
}
has_jsonschema() { [ "${jsonschema:=$(python3 -c 'import jsonschema' 2>/dev/null && echo yes || echo no)}" = yes ]; }
