# Style and script of the page of `txmill report` as initialisers of byte arrays, so that the binary needs no other files.
REPORT_GEN := $(addprefix $(B)/gen/report/,report.css.inc report.js.inc)
$(REPORT_GEN): $(B)/gen/report/%.inc: tools/report/%
	@mkdir -p $(@D)
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@.tmp
	mv $@.tmp $@
$(B)/tools/report/report_page.o: $(REPORT_GEN)
