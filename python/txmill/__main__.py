# SPDX-License-Identifier: Apache-2.0
"""`python -m txmill`: the program of this installation, in this process's place."""
import os
import sys

from ._program import ProgramMissing, find_program

try:
    program = find_program()
    os.execv(program, [program, *sys.argv[1:]])
except (ProgramMissing, OSError) as problem:
    sys.exit(f"txmill: error: {problem}")
