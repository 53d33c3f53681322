# SPDX-License-Identifier: Apache-2.0
# Converts the textures of a project that is built with make. Include this file, or run: make -f textures.mk
# TEXTURES=textures textures
#
# The target is always made, because txmill itself checks which files are up to date; this takes milliseconds if all are. A
# render depends on it:
#
#     render: textures
#             blender --background shot.blend --render-anim
TXMILL       ?= txmill
TEXTURES     ?= textures
SCENES       ?=
TXMILL_FLAGS ?= --preset pbr
TXMILL_LOG   ?= textures.jsonl

.PHONY: textures textures-verify textures-clean
textures:
	$(TXMILL) make $(TXMILL_FLAGS) --log $(TXMILL_LOG) $(SCENES) $(TEXTURES)

textures-verify: textures
	$(TXMILL) verify --quiet --run $(TXMILL_LOG)

# Lists tx files that are no longer needed; DELETE=--delete removes them.
textures-clean:
	$(TXMILL) gc $(SCENES:%=--keep-for %) $(DELETE) $(TEXTURES)
