#include "runtime/src/base/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/src/base/status.h"

namespace {
struct path_t {
  char text[PATH_MAX];
};
} // namespace

/// Cuts the name of a file off; false when it has no folder.
static bool cut_to_folder(path_t *path) {
  char *end = strrchr(path->text, '/');
  if (end)
    *end = 0;
  return end != nullptr;
}

static bool program_folder(path_t *out) {
  ssize_t length = readlink("/proc/self/exe", out->text, sizeof out->text - 1);
  out->text[length > 0 ? length : 0] = 0;
  return cut_to_folder(out);
}

/// Of the library that this code is in.
static bool own_folder(path_t *out) {
  Dl_info info;
  if (!dladdr((const void *)&weft_find_plugin, &info) || !info.dli_fname)
    return false;
  snprintf(out->text, sizeof out->text, "%s", info.dli_fname);
  return cut_to_folder(out);
}

/// Where the file is, or its name alone: then the system looks for it.
static void find(const char *file, path_t *out) {
  path_t folder;
  if (const char *named = secure_getenv("WEFT_PLUGIN_DIR")) {
    snprintf(out->text, sizeof out->text, "%s/%s", named, file);
    return;
  }
  static bool (*const folders[])(path_t *) = {own_folder, program_folder};
  static const char *const places[] = {"", "/../lib/weft"};
  for (auto folder_of : folders)
    for (const char *place : places)
      if (folder_of(&folder) &&
          snprintf(out->text, sizeof out->text, "%s%s/%s", folder.text, place, file) <
              (int)sizeof out->text &&
          access(out->text, R_OK) == 0)
        return;
  snprintf(out->text, sizeof out->text, "%s", file);
}

weft_status_t weft_refuse_plugin(const weft_plugin_kind_t &kind, const char *name,
                                 weft_error_t *err) {
  return weft_fail(err, WEFT_UNSUPPORTED, kind.code,
                   "%s '%.40s': libweft_%.40s.so is no plug-in for this runtime", kind.what, name,
                   name);
}

weft_status_t weft_find_plugin(const weft_plugin_kind_t &kind, const char *name, const char *symbol,
                               void **out_function, weft_error_t *err) {
  char file[64];
  path_t path;
  snprintf(file, sizeof file, "libweft_%.40s.so", name);
  if (strchr(name, '/'))
    return weft_fail(err, WEFT_INVALID, kind.code, "there is no %s '%.40s'", kind.what, name);
  find(file, &path);
  void *library = dlopen(path.text, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    bool is_missing = !strchr(path.text, '/') || access(path.text, F_OK) != 0;
    const char *reason = dlerror();
    if (!is_missing)
      return weft_fail(err, WEFT_UNSUPPORTED, kind.code, "%s '%.40s': %.300s", kind.what, name,
                       reason);
    weft_fail(err, WEFT_NOT_FOUND, kind.code, "there is no %s '%.40s': %s, and %s was not found",
              kind.what, name, kind.built_in, file);
    weft_set_hint(err, "WEFT_PLUGIN_DIR names the folder of %s", file);
    return WEFT_NOT_FOUND;
  }
  *out_function = dlsym(library, symbol);
  return *out_function ? WEFT_OK : weft_refuse_plugin(kind, name, err);
}
