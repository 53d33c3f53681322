#include "blend/nodes.h"
#include "core/fail.h"
txm_status txm_blend_read_usd(txm_blend *blend, const char *path, txm_error *err) { (void)blend; return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: no", path); }
