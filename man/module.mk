# Man pages and shell completion. Pages are man/NAME.SECTION.in with the options filled in from the program's tables, or
# man/NAME.SECTION as they are.
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d
DOCDIR      ?= $(PREFIX)/share/doc/txmill

MAN_IN    := $(wildcard man/*.in)
MAN_PLAIN := $(wildcard man/*.1 man/*.3 man/*.5)
MAN_PAGES := $(MAN_IN:%.in=$(B)/%) $(MAN_PLAIN:%=$(B)/%) $(STREAM_PAGES)
COMPLETION := $(B)/completion/txmill.bash $(B)/completion/_txmill $(B)/completion/txmill.fish

# Schemas of the reports, made of docs/schema/NAME.table and words of the program's tables.
SCHEMAS := $(patsubst docs/schema/%.table,$(B)/schema/%.schema.json,$(wildcard docs/schema/*.table)) $(STREAM_SCHEMAS)

all: $(MAN_PAGES) $(COMPLETION) $(SCHEMAS)

# What schemas and pages take from the program's tables. The program changes often, but its tables seldom do, so the file
# is only replaced if it differs.
$(B)/gen/help.asked: $(B)/txmill
	@mkdir -p $(@D)
	$(B)/txmill --generate everything > $(B)/gen/help.tmp
	cmp -s $(B)/gen/help.tmp $(B)/gen/help || mv $(B)/gen/help.tmp $(B)/gen/help
	@touch $@
$(B)/gen/help: $(B)/gen/help.asked ;

$(B)/gen/words: $(B)/gen/help
	$(B)/txmill --generate words > $@.new && mv $@.new $@
$(B)/schema/%.schema.json: docs/schema/%.table docs/schema/schema.awk $(B)/gen/words
	@mkdir -p $(@D)
	LC_ALL=C awk -f docs/schema/schema.awk $(B)/gen/words $< > $@.new && mv $@.new $@

# A failed generator must not leave a page that looks up to date.
$(B)/man/%: man/%.in man/expand.sh man/fill.awk $(B)/gen/help
	@mkdir -p $(@D)
	man/expand.sh $(B)/txmill $< > $@.new && LC_ALL=C awk -f man/fill.awk $@.new > $@.filled && rm $@.new && mv $@.filled $@
$(MAN_PLAIN:%=$(B)/%): $(B)/%: % man/fill.awk
	@mkdir -p $(@D)
	LC_ALL=C awk -f man/fill.awk $< > $@.new && mv $@.new $@
$(COMPLETION): $(B)/completion/%: tools/help/completion/%
	@mkdir -p $(@D)
	cp $< $@

# The manual for a browser, which `make docs` writes; installed if it is there.
html-man: $(B)/docs/man/txmill.1.html
$(B)/docs/man/txmill.1.html: $(MAN_PAGES) man/html.sh man/mandoc.css
	man/html.sh $(@D) $(MAN_PAGES)

# The guide, from docs/*.md, beside them; examples are where it will find them when it is installed.
MANUAL := $(wildcard docs/*.md)
html-manual: $(B)/docs/manual/index.html
$(B)/docs/manual/index.html: $(MANUAL) docs/to_html.py $(wildcard docs/images/* examples/*)
	$(PYTHON) docs/to_html.py $(@D) $(MANUAL)
	rm -rf $(B)/docs/examples && cp -r examples $(B)/docs/examples

.PHONY: html-man html-manual install-docs uninstall-docs
install: install-docs
install-docs: all
	install -d $(foreach s,1 3 5,$(DESTDIR)$(MANDIR)/man$(s)) $(DESTDIR)$(BASHCOMPDIR) $(DESTDIR)$(ZSHCOMPDIR) \
	  $(DESTDIR)$(FISHCOMPDIR) $(DESTDIR)$(DOCDIR)/examples
	$(foreach s,1 3 5,install -m 644 $(filter %.$(s),$(MAN_PAGES)) $(DESTDIR)$(MANDIR)/man$(s)/ &&) true
	if [ -e $(B)/docs/man/txmill.1.html ]; then install -d $(DESTDIR)$(DOCDIR)/man && \
	  install -m 644 $(B)/docs/man/*.html $(B)/docs/man/mandoc.css $(DESTDIR)$(DOCDIR)/man/; fi
	if [ -e $(B)/docs/manual/index.html ]; then install -d $(DESTDIR)$(DOCDIR)/manual/images && \
	  install -m 644 $(B)/docs/manual/*.html $(DESTDIR)$(DOCDIR)/manual/ && \
	  install -m 644 $(B)/docs/manual/images/* $(DESTDIR)$(DOCDIR)/manual/images/; fi
	install -m 644 $(SCHEMAS) $(DESTDIR)$(DOCDIR)/
	sed 's|](\.\./examples/|](examples/|' docs/texture-cache.md >$(DESTDIR)$(DOCDIR)/texture-cache.md
	install -m 644 examples/*.c examples/*.cpp examples/*.cu examples/*.h examples/*.py $(DESTDIR)$(DOCDIR)/examples/
	install -m 644 $(B)/completion/txmill.bash $(DESTDIR)$(BASHCOMPDIR)/txmill
	install -m 644 $(B)/completion/_txmill $(DESTDIR)$(ZSHCOMPDIR)/_txmill
	install -m 644 $(B)/completion/txmill.fish $(DESTDIR)$(FISHCOMPDIR)/txmill.fish

uninstall: uninstall-docs
uninstall-docs:
	rm -f $(foreach s,1 3 5,$(addprefix $(DESTDIR)$(MANDIR)/man$(s)/,$(notdir $(filter %.$(s),$(MAN_PAGES))))) \
	  $(DESTDIR)$(BASHCOMPDIR)/txmill $(DESTDIR)$(ZSHCOMPDIR)/_txmill $(DESTDIR)$(FISHCOMPDIR)/txmill.fish
	rm -rf $(DESTDIR)$(DOCDIR)
