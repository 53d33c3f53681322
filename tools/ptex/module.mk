# Style and script of the page that `txmill view --html` writes of Ptex files, as initialisers of byte arrays.
PTEX_GEN := $(addprefix $(B)/gen/ptex/,ptex.css.inc ptex.js.inc)
$(PTEX_GEN): $(B)/gen/ptex/%.inc: tools/ptex/%
	@mkdir -p $(@D)
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@.tmp
	mv $@.tmp $@
$(B)/tools/ptex/ptex_page.o: $(PTEX_GEN)
