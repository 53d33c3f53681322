# SPDX-License-Identifier: Apache-2.0
"""`python -m txmill` runs the program of this installation."""
import os
import sys

from ._program import ProgramMissing, _environment, find_program

try:
    program = find_program()
    os.execve(program, [program, *sys.argv[1:]], _environment())
except (ProgramMissing, OSError) as problem:
    sys.exit(f"txmill: error: {problem}")
