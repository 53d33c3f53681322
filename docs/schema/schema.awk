# SPDX-License-Identifier: Apache-2.0
# Makes a JSON schema of a table: awk -f schema.awk WORDS TABLE. With -v members=1 and several tables: the version and the
# members of each report in C, for the writers.
#
# A table begins with the name and the version of a report, its title and what is to be known of it. Then each kind of
# object has a row that begins with -, and below it, indented by two spaces more, its members:
#
#     NAME[?] KIND DESCRIPTION         ?: not every object has it
#
#     text                   a string, and NAME_encoded with its exact bytes if it is not UTF-8
#     string nonempty /REGEX/ bool integer number count (a whole number from 0 on) null any
#     integer:1..4 number:0..          with bounds, of which one may be missing
#     a|b|null 1|4 @list@|             one of these words or numbers, with ~ for a space; the words of a list
#     ="word"                          always this value
#     object closed open               with members below it; closed: no others; open: any others
#     either                           one of the kinds below it, each after -
#     [KIND] [KIND]{1..4}              an array
#     KIND?                            or null
#     error                            what all reports say of a failure
#
# WORDS is the output of `txmill --generate words`; a member called @list@ stands for one member for each word of the list.
# A row `! NAME` says that a member is not there; `% JSON` adds keywords of JSON Schema.
BEGIN { FAILURE = "The run as a whole failed: bad options, a config that cannot be used, no input" }

function fail(text) { print FILENAME ":" FNR ": " text > "/dev/stderr"; failed = 1; exit 1 }

FILENAME == ARGV[1] { split($0, of, "\t"); word[of[1], ++words[of[1]]] = of[2]; next }
FNR == 1 { finish(); n = 0; id = $1; version = $2; next }
/^title / { title = substr($0, 7); next }
/^about / { about = substr($0, 7); next }
/^ *$/ { next }
{
    match($0, /^ */)
    row($0, RLENGTH / 2)
}
END { if (!failed) finish() }

function row(line, at,    rest) {
    sub(/^ */, "", line)
    depth[++n] = at
    match(line, /^[^ ]+/)
    name[n] = substr(line, 1, RLENGTH)
    rest = substr(line, RLENGTH + 1)
    sub(/^ */, "", rest)
    if (name[n] == "!" || name[n] == "%") { kind[n] = rest; about_of[n] = ""; return }
    match(rest, /^[^ ]*/)
    kind[n] = substr(rest, 1, RLENGTH)
    about_of[n] = substr(rest, RLENGTH + 1)
    sub(/^ */, "", about_of[n])
    if (kind[n] == "") fail("a row without a kind: " line)
    if (kind[n] == "failure") {
        kind[n] = "closed"
        about_of[n] = FAILURE
        row("type =\"error\"", at + 1)
        row("error error", at + 1)
    } else if (kind[n] == "error") {
        kind[n] = "object"
        row("status string", at + 1)
        row("retryable bool", at + 1)
        row("message text", at + 1)
        row("subject? text What the message begins with, most often a path; absent if it names none", at + 1)
        row("advice? text What to do: the end of the message; absent if it does not say", at + 1)
    }
}

function quote(text) { gsub(/[\\"]/, "\\\\&", text); return "\"" text "\"" }
function add(list, item, pad) { return (list == "" ? "" : list ",\n") pad item }
function block(list, pad) { return "{\n" list "\n" pad "}" }
function type(name, null) { return "\"type\": " (null ? "[\"" name "\", \"null\"]" : "\"" name "\"") }
function last(i,    k) { for (k = i; k < n && depth[k + 1] > depth[i]; k++); return k }

function bounds(list, range, low, high, pad,    at) {
    at = index(range, "..")
    if (at > 1) list = add(list, "\"" low "\": " substr(range, 1, at - 1), pad)
    if (length(range) > at + 1) list = add(list, "\"" high "\": " substr(range, at + 2), pad)
    return list
}

function choice(list, item,    i, list_name) {
    if (item ~ /^@.*@$/) {
        list_name = substr(item, 2, length(item) - 2)
        if (!words[list_name]) fail("there is no list of words " list_name)
        for (i = 1; i <= words[list_name]; i++) list = choice(list, word[list_name, i])
        return list
    }
    gsub(/~/, " ", item)
    if (item !~ /^(null|-?[0-9.]+)$/) item = quote(item)
    return list (list == "" ? "" : ", ") item
}

# The value that row i describes; `k` is its kind, or that of the items of its array.
function value(k, i, about_it, pad,    p, s, null, inner, list, parts, count, j) {
    p = pad "  "
    s = about_it == "" ? "" : add("", "\"description\": " quote(about_it), p)
    if (k ~ /.\?$/) { null = 1; k = substr(k, 1, length(k) - 1) }
    if (k ~ /^\[/) {
        match(k, /\](\{[0-9]*\.\.[0-9]*\})?$/)
        inner = substr(k, 2, RSTART - 2)
        s = add(s, type("array", null), p)
        if (RLENGTH > 1) s = bounds(s, substr(k, RSTART + 2, RLENGTH - 3), "minItems", "maxItems", p)
        return block(add(s, "\"items\": " value(inner, i, "", p), p), pad)
    }
    if (k ~ /^(object|closed|open)$/) return block(members_of(i, k, null, s, p), pad)
    if (k == "either") {
        list = ""
        for (j = i + 1; j <= last(i); j = last(j) + 1) list = add(list, value(kind[j], j, about_of[j], p "  "), p "  ")
        return block(add(s, "\"oneOf\": [\n" list "\n" p "]", p), pad)
    }
    if (k == "raw") return block(raws(i, s, p), pad)
    if (k == "any") return s == "" ? "{}" : block(s, pad)
    if (k ~ /^=/) { gsub(/~/, " ", k); return block(add(s, "\"const\": " substr(k, 2), p), pad) }
    if (k ~ /^\//) return block(add(add(s, type("string", null), p), "\"pattern\": " quote(substr(k, 2, length(k) - 2)), p), pad)
    if (k ~ /\|/) {
        count = split(k, parts, "|")
        list = ""
        for (j = 1; j <= count; j++) if (parts[j] != "") list = choice(list, parts[j])
        return block(add(s, "\"enum\": [" list "]", p), pad)
    }
    if (k == "count") k = "integer:0.."
    if (k ~ /^(integer|number)(:|$)/) {
        s = add(s, type(k ~ /^i/ ? "integer" : "number", null), p)
        return block(k ~ /:/ ? bounds(s, substr(k, index(k, ":") + 1), "minimum", "maximum", p) : s, pad)
    }
    if (k == "text" || k == "string" || k == "nonempty") {
        s = add(s, type("string", null), p)
        return block(k == "nonempty" ? add(s, "\"minLength\": 1", p) : s, pad)
    }
    if (k == "bool") return block(add(s, type("boolean", null), p), pad)
    if (k == "null") return block(add(s, type("null"), p), pad)
    fail(id ": unknown kind " k)
}

function raws(i, s, p,    j) {
    for (j = i + 1; j <= last(i); j++)
        if (name[j] == "%" && depth[j] == depth[i] + 1) s = add(s, substr(kind[j], 2, length(kind[j]) - 2), p)
    return s
}

# A member under each name that it stands for.
function names_of(i, out,    plain, list, k) {
    plain = name[i]
    sub(/\?$/, "", plain)
    if (plain !~ /^@/) { out[1] = plain; return 1 }
    if (members) { out[1] = "*"; return 1 }
    list = substr(plain, 2, length(plain) - 2)
    if (!words[list]) fail("there is no list of words " list)
    for (k = 1; k <= words[list]; k++) out[k] = word[list, k]
    return words[list]
}

function members_of(i, k, null, s, p,    j, m, count, all, list, required, absent) {
    s = add(s, type("object", null), p)
    if (depth[i] == 0) {
        list = add("", "\"schema\": " block(p "    \"const\": \"" id "\"", p "  "), p "  ")
        list = add(list, "\"version\": " block(p "    \"const\": " version, p "  "), p "  ")
        required = "\"schema\", \"version\""
    }
    for (j = i + 1; j <= last(i); j = last(j) + 1) {
        if (name[j] == "!") absent = absent (absent == "" ? "" : ", ") quote(kind[j])
        if (name[j] ~ /^[!%]$/) continue
        count = names_of(j, all)
        for (m = 1; m <= count; m++) {
            list = add(list, quote(all[m]) ": " value(kind[j], j, about_of[j], p "  "), p "  ")
            if (kind[j] ~ /^text\??$/) list = add(list, quote(all[m] "_encoded") ": " block(p "    " type("string"), p "  "), p "  ")
            if (name[j] !~ /\?$/) required = required (required == "" ? "" : ", ") quote(all[m])
            count = names_of(j, all)
        }
    }
    if (list != "") s = add(s, "\"properties\": " block(list, p), p)
    if (required != "") s = add(s, "\"required\": [" required "]", p)
    if (k != "object") s = add(s, "\"additionalProperties\": " (k == "open" ? "true" : "false"), p)
    if (absent != "") s = add(s, "\"not\": " block(p "  \"required\": [" absent "]", p), p)
    return raws(i, s, p)
}

# A * stands for any name in its place, ** for anything from there on.
function paths(i, prefix,    j, m, count, all, k, path) {
    for (j = i + 1; j <= last(i); j = last(j) + 1) {
        if (name[j] ~ /^[!%]$/) continue
        if (name[j] == "-") { paths(j, prefix); continue }
        count = names_of(j, all)
        for (m = 1; m <= count; m++) {
            path = prefix all[m]
            k = kind[j]
            gsub(/[][?]|\{[0-9.]*\}/, "", k)
            put(path)
            if (k == "text") put(path "_encoded")
            if (k ~ /^(any|open|raw)$/) put(path "/**")
            paths(j, path "/")
            count = names_of(j, all)
        }
    }
}

function put(path) { if (!((id, path) in seen)) print "MEMBER(\"" id "\", \"" path "\")"; seen[id, path] = 1 }

function finish(    i, s, variants, p) {
    if (id == "") return
    if (members) {
        print "REPORT(\"" id "\", " version ")"
        put("schema")
        put("version")
        for (i = 1; i <= n; i = last(i) + 1) paths(i, "")
        return
    }
    s = add(add(add("", "\"$schema\": \"http://json-schema.org/draft-07/schema#\"", "  "), "\"title\": " quote(title), "  "),
            "\"description\": " quote(about), "  ")
    if (last(1) == n) {
        print block(members_of(1, kind[1], 0, s, "  "), "")
        return
    }
    for (i = 1; i <= n; i = last(i) + 1) variants = add(variants, value(kind[i], i, about_of[i], "    "), "    ")
    print block(add(s, "\"oneOf\": [\n" variants "\n  ]", "  "), "")
}
