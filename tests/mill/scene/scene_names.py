# SPDX-License-Identifier: Apache-2.0
"""The names of tx files as Cycles composes them, apart from txmill: scene_names.py IMAGE COLORSPACE ALPHA.
Data spaces are "data", the alpha type is the word of Cycles."""
import hashlib
import os
import sys

XYZ = "3.241_-1.537_-0.4986_0_-0.9692_1.876_0.04155_0_0.05563_-0.204_1.057_0"
image, colorspace, alpha = sys.argv[1:]
text = f"xyz_to_scene_linear:{XYZ}colorspace:{colorspace}alpha:{alpha}format:plain"
digest = hashlib.md5(text.encode()).hexdigest().upper()
print(os.path.join(os.path.dirname(image), "blender_tx", f"{os.path.basename(image)}.0-{digest}.tx"))
