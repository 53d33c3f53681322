#include "txtile/reader.h"
