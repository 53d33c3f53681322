# Scenes of Cycles in XML.
LIBS += -lexpat
