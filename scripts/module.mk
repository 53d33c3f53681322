# Targets for users and packagers of the libraries: reference, ABI check, Debian packages, Python wheel.
.PHONY: docs reference check-abi deb check-deb wheel check-wheel check-pins
# The manual for the browser, in $(B)/docs/manual, the manual pages, in $(B)/docs/man, and the reference of the public headers, in
# $(B)/docs/html. It fails for any warning of Doxygen.
HEADERS := include/txtile include/txmill
docs: html-man reference
	@echo '$(B)/docs/manual/index.html $(B)/docs/man/txmill.1.html $(B)/docs/html/index.html'
reference:
	@command -v doxygen >/dev/null || { echo "make docs: doxygen is missing (apt-get install doxygen)" >&2; exit 1; }
	@mkdir -p $(B)/docs
	{ cat docs/Doxyfile && echo 'INPUT = $(HEADERS) docs/mainpage.dox' && echo 'OUTPUT_DIRECTORY = $(B)/docs' && \
	  echo 'PROJECT_NUMBER = $(VERSION)'; } | doxygen -

# The binary interface on which compiled programs rely, compared with that of the last tag or of BASE=COMMIT. Both are built
# with what a debugger knows of types.
check-abi:
	$(MAKE) B=$(B)/abi-now OPT="-O2 -g" $(B)/abi-now/libtxtile.so $(B)/abi-now/libtxmill.so
	scripts/abi.sh $(B)/abi-now $(BASE)

# Packages for this version of Debian, in $(B)/deb; installed, used and removed in clean chroots (root, network).
deb:
	$(MAKE) DEPS=system all
	scripts/deb.sh $(B)
check-deb:
	tests/deb/check.sh

# A Python wheel, in $(B)/wheel/dist (network the first time); installed and used in clean chroots (root, network).
wheel: check-pins
	scripts/wheel.sh $(B)/wheel
check-wheel: wheel
	tests/wheel/check.sh $(B)/wheel/dist
# Whether what the build takes from PyPI has published holes, according to scripts/advisories.tsv, which is reviewed at each
# release.
check-pins:
	@scripts/check_pins.py

# The cost of linking the libraries: start-up, padded tiles per second. `make bench` includes it. OLD=BUILD, the build of
# another version, is measured in the same run.
.PHONY: bench-library
bench-library: all
	bench/library.sh $(B) bench-images $(OLD)
