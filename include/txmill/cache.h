#include "txtile/cache.h"
