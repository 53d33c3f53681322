# Desktop integration of tx files: their MIME type and a thumbnailer.
MIMEDIR        ?= $(PREFIX)/share/mime
THUMBNAILERDIR ?= $(PREFIX)/share/thumbnailers

.PHONY: install-desktop uninstall-desktop
install: install-desktop
install-desktop: all
	install -d $(DESTDIR)$(MIMEDIR)/packages $(DESTDIR)$(THUMBNAILERDIR)
	install -m 644 desktop/txmill.xml $(DESTDIR)$(MIMEDIR)/packages/txmill.xml
	install -m 644 desktop/txmill.thumbnailer $(DESTDIR)$(THUMBNAILERDIR)/txmill.thumbnailer
	$(renew_mime)

uninstall: uninstall-desktop
uninstall-desktop:
	rm -f $(DESTDIR)$(MIMEDIR)/packages/txmill.xml $(DESTDIR)$(THUMBNAILERDIR)/txmill.thumbnailer
	$(renew_mime)

# In packages a trigger of shared-mime-info does this.
renew_mime = $(if $(DESTDIR),,if command -v update-mime-database >/dev/null; then update-mime-database $(MIMEDIR); fi)
