# SPDX-License-Identifier: Apache-2.0
# Textures of a project under make: include this, or call it: make -f textures.mk TEXTURES=textures textures
#
# What is up to date is txmill's to know: it looks at times and names itself, so the target is made each time, and takes
# milliseconds when there is nothing to do. A render depends on it:
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

# What is no longer needed; DELETE=--delete removes it.
textures-clean:
	$(TXMILL) gc $(SCENES:%=--keep-for %) $(DELETE) $(TEXTURES)
