#!/bin/sh
# Writes manual pages for a browser: html.sh FOLDER PAGE... Links lead to other pages of txmill; names of pages of other
# programs are plain text.
set -eu
out=$1
shift
mkdir -p "$out.new"
for page; do
    name=$(basename "$page")
    mandoc -Thtml -O man=%N.%S.html,style=mandoc.css "$page" >"$out.new/$name.all"
    sed -E '/href="tx(mill|tile)/!s|<a class="Xr"[^>]*>([^<]*)</a>|\1|g' "$out.new/$name.all" >"$out.new/$name.html"
    rm "$out.new/$name.all"
done
cp "$(dirname "$0")/mandoc.css" "$out.new/"
rm -rf "$out"
mv "$out.new" "$out"
