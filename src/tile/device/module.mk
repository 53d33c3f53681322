# The processor as a device, for tests: the kernels of look-ups compiled as C.
$(B)/tests/tile/device/txmill-cpu.so: tests/tile/device/device_runtime.c $(B)/flags/c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MF $@.d -shared $(ALL_LDFLAGS) $< -o $@
$(B)/tests/tile/device/test_device: | $(B)/tests/tile/device/txmill-cpu.so
-include $(B)/tests/tile/device/txmill-cpu.so.d
