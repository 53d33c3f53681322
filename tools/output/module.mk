# What the tables of the reports say, for the writers.
$(B)/gen/schema/reports.inc: $(wildcard docs/schema/*.table) docs/schema/schema.awk
	@mkdir -p $(@D)
	LC_ALL=C awk -v members=1 -f docs/schema/schema.awk /dev/null $(filter %.table,$^) > $@.tmp && mv $@.tmp $@
$(B)/tools/output/json.o: $(B)/gen/schema/reports.inc
