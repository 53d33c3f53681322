# What is made of the libraries for people and packagers: reference, ABI check, Debian packages.
.PHONY: docs check-abi abi-reference deb check-deb wheel check-wheel
# The reference of the public headers, in $(B)/docs/html. A declaration without a comment fails, and so do a comment that
# names what is not there and anything that Doxygen warns of.
HEADERS := include/txtile include/txmill
docs:
	@command -v doxygen >/dev/null || { echo "make docs: doxygen is missing (apt-get install doxygen)" >&2; exit 1; }
	scripts/check_comments.py $(shell grep -l '^\#define TX' $(HEADERS:%=%/*.h))
	@mkdir -p $(B)/docs
	{ cat docs/Doxyfile && echo 'INPUT = $(HEADERS) docs/mainpage.dox' && echo 'OUTPUT_DIRECTORY = $(B)/docs' && \
	  echo 'PROJECT_NUMBER = $(VERSION)'; } | doxygen -
	@echo '$(B)/docs/html/index.html'

# What programs that are compiled already rely on. The references are renewed on purpose only, with `make abi-reference`
# and a look at the difference.
check-abi: $(B)/libtxtile.so $(B)/libtxmill.so
	scripts/abi.sh check $(B)
abi-reference: $(B)/libtxtile.so $(B)/libtxmill.so
	scripts/abi.sh renew $(B)

# Packages for the Debian that this is, in $(B)/deb; installed, used and removed in clean chroots (root, network).
deb: all
	scripts/deb.sh $(B)
check-deb:
	tests/deb/check.sh

# A Python wheel, in $(B)/wheel/dist (network the first time); installed and used in clean chroots (root, network).
wheel:
	scripts/wheel.sh $(B)/wheel
check-wheel: wheel
	tests/wheel/check.sh $(B)/wheel/dist

# What linking the libraries costs: start-up, padded tiles a second. `make bench` measures it with the rest. OLD=BUILD, of
# another version, is measured in the same run.
.PHONY: bench-library
bench-library: all
	bench/library.sh $(B) bench-images $(OLD)
