# Chafa draws pictures in the terminal; only the program links it, not the library.
TOOL_LIBS := $(shell $(PKG_CONFIG) --libs chafa)
$(B)/tools/view/view_terminal.o: ALL_CFLAGS += $(shell $(PKG_CONFIG) --cflags chafa)
