# The parts of the page of `txmill view --html` as initialisers of byte arrays, so that the binary needs no other files.
# The scripts are concatenated in this order.
VIEW_SCRIPTS := $(addprefix tools/view/,blocks.js display.js model.js stage.js panel.js index.js main.js)
VIEW_GEN     := $(addprefix $(B)/gen/view/,page.html.inc view.css.inc view.js.inc)
$(B)/gen/view/view.js: $(VIEW_SCRIPTS)
	@mkdir -p $(@D)
	cat $^ > $@.tmp && mv $@.tmp $@
$(B)/gen/view/view.js.inc: $(B)/gen/view/view.js
$(B)/gen/view/page.html.inc: tools/view/page.html
$(B)/gen/view/view.css.inc: tools/view/view.css
$(VIEW_GEN):
	@mkdir -p $(@D)
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@.tmp
	mv $@.tmp $@
$(B)/tools/view/view_page.o: $(VIEW_GEN)

# Chafa draws pictures in the terminal; only the program links it, not the library.
TOOL_LIBS := $(shell $(PKG_CONFIG) --libs chafa)
$(B)/tools/view/view_terminal.o: ALL_CFLAGS += $(shell $(PKG_CONFIG) --cflags chafa)
