# SPDX-License-Identifier: Apache-2.0
# Converts the textures of a project that is built with make. Include this file, or run: make -f textures.mk
# TEXTURES=textures textures
#
# The target is always made, because txmill itself checks which files are up to date; this takes milliseconds if all are. A
# render depends on it:
#
#     render: textures
#             blender --background shot.blend --render-anim
#
# TEXTURES and SCENES are names separated by blanks. Each is quoted for the shell, and on a command line or in the
# environment a $ in them has no meaning to make. For names with blanks, write all names into a file, one a line, and its
# name as TEXTURES=@FILE.
TXMILL       ?= txmill
TEXTURES     ?= textures
SCENES       ?=
TXMILL_FLAGS ?= --preset pbr
TXMILL_LOG   ?= textures.jsonl

# $(call txmill_words,VARIABLE): its names for the shell. What did not come from a makefile is not expanded.
txmill_value = $(if $(filter command environment%,$(origin $1)),$(value $1),$($1))
txmill_words = $(foreach word,$(call txmill_value,$1),'$(subst ','\'',$(word))')

.PHONY: textures textures-verify textures-clean
textures:
	$(TXMILL) make $(TXMILL_FLAGS) --log $(call txmill_words,TXMILL_LOG) -- \
		$(call txmill_words,SCENES) $(call txmill_words,TEXTURES)

textures-verify: textures
	$(TXMILL) verify --quiet --run $(call txmill_words,TXMILL_LOG)

# Lists tx files that are no longer needed; DELETE=--delete removes them.
textures-clean:
	$(TXMILL) gc $(addprefix --keep-for=,$(call txmill_words,SCENES)) $(DELETE) -- $(call txmill_words,TEXTURES)
