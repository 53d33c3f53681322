# SPDX-License-Identifier: Apache-2.0
"""What differs between Blender and txmill and stays so: documented.toml, which says how to write a row."""
import os
import re
import tomllib

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "documented.toml"), "rb") as f:
    ROWS = tomllib.load(f)["difference"]
for row in ROWS:
    for key in ("what", "source"):
        row[key] = re.compile(row.get(key, ""), re.S)


def find(part, what, release="", source=""):
    """Returns the row for a difference, or None. `what`: its text; `release`: such as "5.3", empty if unknown."""
    for row in ROWS:
        if row["part"] == part and row["what"].fullmatch(what) and \
                (not release or release in row.get("releases", [release])) and row["source"].search(source):
            return row
    return None
