#include "runtime/src/cpu/env.h"

#include <string.h>

#include "runtime/src/base/sized.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/threads.h"
#include "weft/device.h"

weft_status_t weft_read_env(const weft_env_t *env, weft_env_t *out_env, weft_error_t *err) {
  memset(out_env, 0, sizeof *out_env);
  out_env->struct_size = sizeof *out_env;
  if (!env)
    return WEFT_OK;
  if (weft_status_t status = weft_read_sized(env, "env", out_env, err))
    return status;
  out_env->struct_size = sizeof *out_env;
  if (!env->allocate != !env->release)
    return weft_fail(err, WEFT_INVALID, "W0401",
                     "env.allocate and env.release must be given together");
  if (env->parallel && (env->workers < 1 || env->workers > WEFT_MAX_WORKERS))
    return weft_fail(err, WEFT_INVALID, "W0401", "env.workers is %d, but 1 to %d are possible",
                     env->workers, WEFT_MAX_WORKERS);
  if (out_env->device && env->parallel)
    return weft_fail(err, WEFT_INVALID, "W0401",
                     "env.parallel and env.device are both given, but a device has its threads");
  if (out_env->device && !out_env->device->calls->host)
    return weft_fail(err, WEFT_INVALID, "W0401",
                     "env.device is of kind '%.40s', which cannot run compiled host code",
                     out_env->device->calls->kind);
  if (env->verify > 1)
    return weft_fail(err, WEFT_INVALID, "W0401", "env.verify is %u, but 0 and 1 are possible",
                     env->verify);
  if (out_env->describe > 1)
    return weft_fail(err, WEFT_INVALID, "W0401", "env.describe is %u, but 0 and 1 are possible",
                     out_env->describe);
  return WEFT_OK;
}
