# The extension for Blender: make blender-extension.
EXTENSION := $(B)/txmill-blender-$(VERSION).zip

.PHONY: blender-extension
blender-extension: $(EXTENSION)
	@echo "$(EXTENSION): Blender, Preferences > Get Extensions > Install from Disk"
$(EXTENSION): blender/package.py LICENSE $(wildcard blender/txmill/* python/txmill/*)
	@mkdir -p $(@D)
	blender/package.py $@
