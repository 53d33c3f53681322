# The built-in OCIO config as the initialiser of a byte array: the binary needs no file beside it.
$(B)/gen/color/builtin.inc: src/color/builtin.ocio
	@mkdir -p $(@D)
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@.tmp
	mv $@.tmp $@
$(B)/src/color/builtin.o: $(B)/gen/color/builtin.inc
