// Transports that are not built in: libraries that are opened when a group asks for them.
#pragma once

#include "weft/transport.h"

/// Opens libweft_NAME.so, which stays open, and asks it for its table. It lies in the folder that WEFT_PLUGIN_DIR names, if that is set; else beside the
/// runtime or the program, in ../lib/weft of one of them, or where the system looks for libraries. Fails with NOT_FOUND when there is none, and
/// with UNSUPPORTED when it cannot be used.
weft_status_t weft_open_plugin(const char *name, const weft_transport_v1 **out_table,
                               weft_error_t *err);
