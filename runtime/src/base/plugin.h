// What is not built in: transports and kinds of devices, libraries that are opened when somebody asks for them.
//
//   void *function;
//   if (weft_status_t status = weft_find_plugin({"transport", "W0601", "'threads' and 'shm' are built in"}, name, symbol, &function, err)) …
#pragma once

#include "weft/runtime.h"

/// How errors speak of a kind of plug-ins.
struct weft_plugin_kind_t {
  const char *what, *code, *built_in;
};

/// Opens libweft_NAME.so, which stays open, and finds a function of it. It lies in the folder that WEFT_PLUGIN_DIR names, if that is set; else
/// beside the runtime or the program, in ../lib/weft of one of them, or where the system looks for libraries. Fails with NOT_FOUND when there is none,
/// and with UNSUPPORTED when it cannot be used.
weft_status_t weft_find_plugin(const weft_plugin_kind_t &kind, const char *name, const char *symbol,
                               void **out_function, weft_error_t *err);
/// What was found is for another runtime.
weft_status_t weft_refuse_plugin(const weft_plugin_kind_t &kind, const char *name,
                                 weft_error_t *err);
