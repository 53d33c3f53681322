# Expat parses Cycles scenes in XML.
LIBS += -lexpat

# USD scenes are read by a script that runs in the user's Python.
program: $(B)/txmill-usd.py
$(B)/txmill-usd.py: usd/txmill-usd.py
	@mkdir -p $(@D)
	install -m 644 $< $@
$(TESTS): | $(B)/txmill-usd.py
.PHONY: install-usd
install: install-usd
install-usd: all
	install -d $(DESTDIR)$(MODULEDIR)
	install -m 644 $(B)/txmill-usd.py $(DESTDIR)$(MODULEDIR)/
