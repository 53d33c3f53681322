# The page that view, report and txmill-stream fill with their data: the shell with one style and one script in it. The
# programs have it as an initialiser of an array of bytes, and need no other files. It is installed, as is the script that
# reads tables of reports, so that txmill-stream can be built beside an installed txmill.
PAGE_SCRIPTS := $(patsubst %,page/%.js,base blocks display model stage panel index viewer ptex report stream main)
$(B)/gen/page/page.js: $(PAGE_SCRIPTS)
	@mkdir -p $(@D)
	cat $^ > $@.tmp && mv $@.tmp $@
$(B)/gen/page/page.html: page/shell.html page/page.css $(B)/gen/page/page.js page/assemble.sh
	page/assemble.sh page/shell.html page/page.css $(B)/gen/page/page.js > $@.tmp && mv $@.tmp $@
$(B)/gen/page/page.html.inc: $(B)/gen/page/page.html
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@.tmp && mv $@.tmp $@
$(B)/tools/page/page.o: $(B)/gen/page/page.html.inc
.PHONY: install-page
install: install-page
install-page: $(B)/gen/page/page.html docs/schema/schema.awk
	install -d $(DESTDIR)$(DATADIR)
	install -m 644 $^ $(DESTDIR)$(DATADIR)/
