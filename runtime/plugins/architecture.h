// Which GPU runs code for which architecture: what all plug-ins for NVIDIA's PTX answer alike.
#ifndef WEFT_PLUGINS_ARCHITECTURE_H
#define WEFT_PLUGINS_ARCHITECTURE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// Whether a GPU of this architecture, 90 for sm_90, runs code for `feature`. "sm_80" runs on newer GPUs, too, as its PTX is compiled for them;
/// "sm_90a" on its own alone, where that `has_own` instructions.
inline bool weft_gpu_runs(int64_t architecture, bool has_own, const char *feature) {
  if (strncmp(feature, "sm_", 3) != 0)
    return false;
  char *end;
  long wanted = strtol(feature + 3, &end, 10);
  if (strcmp(end, "a") == 0)
    return has_own && wanted == architecture;
  return !*end && wanted > 0 && wanted <= architecture;
}

#endif
