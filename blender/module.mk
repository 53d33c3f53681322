# SPDX-License-Identifier: GPL-3.0-or-later
# The extension for Blender, with the wheel in it: make blender-extension.
EXTENSION := $(B)/txmill-blender-$(VERSION).zip

.PHONY: blender-extension
blender-extension: wheel
	blender/package.py $(EXTENSION) $(B)/wheel/dist/*.whl
	@echo "$(EXTENSION): Blender, Preferences > Get Extensions > Install from Disk"
