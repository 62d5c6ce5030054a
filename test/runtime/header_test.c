/* The public headers are C99: this file is compiled with -std=c99 -pedantic -Werror and calls
 * through them. */
#include "weft/artifact.h"
#include "weft/device.h"
#include "weft/dlpack.h"
#include "weft/group.h"
#include "weft/npy.h"
#include "weft/runtime.h"
#include "weft/sha256.h"

#include <stdio.h>

/* The layouts that bindings in other languages and compiled code rely on. */
typedef char tensor_has_160_bytes[sizeof(weft_tensor_t) == 160 ? 1 : -1];
typedef char dim_lies_at_32[offsetof(weft_tensor_t, dim) == 32 ? 1 : -1];
typedef char error_has_760_bytes[sizeof(weft_error_t) == 760 ? 1 : -1];
typedef char list_has_12_bytes[sizeof(weft_list_t) == 12 ? 1 : -1];
typedef char file_has_136_bytes[sizeof(weft_file_v1) == 136 ? 1 : -1];
typedef char file_had_128_bytes[offsetof(weft_file_v1, variants) == 128 ? 1 : -1]; /* format 1.0 */
typedef char env_had_56_bytes[offsetof(weft_env_t, target) == 56 ? 1 : -1];
typedef char env_had_64_bytes[offsetof(weft_env_t, device) == 64 ? 1 : -1];
typedef char env_had_72_bytes[offsetof(weft_env_t, ranks) == 72 ? 1 : -1];
/* What compiled code knows of a frame. */
typedef char frame_had_64_bytes[offsetof(weft_frame_v1, queue) == 64 ? 1 : -1];
typedef char parallel_lies_at_8[offsetof(weft_host_v1, parallel) == 8 ? 1 : -1];

static int fail(const char *reason) {
  printf("%s\n", reason);
  return 1;
}

int main(void) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_module_t *module = NULL;
  weft_device_t *device = NULL;
  weft_group_t *group = NULL;
  weft_group_options_t group_options = {sizeof group_options, 0, 1, 0, "threads", NULL, NULL, 0, 0};
  weft_collective_t sum = {sizeof sum, WEFT_ALL_REDUCE, WEFT_F32, WEFT_SUM};
  int64_t dim[2] = {2, 3};
  float data[6] = {0};
  weft_tensor_t tensor = weft_tensor_of(data, WEFT_F32, 2, dim), empty = WEFT_TENSOR_EMPTY;
  char header[WEFT_NPY_HEADER_MAX];
  weft_npy_t npy;
  uint8_t digest[32];
  if (tensor.dim[1] != 3 || tensor.device != -1 || empty.data != NULL)
    return fail("a tensor is not what was asked for");
  if (weft_module_open(NULL, "no-such-file.weft", &module, &err) != WEFT_NOT_FOUND || module)
    return fail("a missing file was opened");
  if (err.status != WEFT_NOT_FOUND || !err.message[0])
    return fail("an error has no text");
  if (weft_cpu_open(NULL, &device, &err) != WEFT_OK || !device->calls->host)
    return fail("the CPU is no device");
  device->calls->close(device);
  group_options.rendezvous = "header-test";
  if (weft_group_open(NULL, &group_options, &group, &err) != WEFT_OK)
    return fail(err.message);
  sum.send = sum.receive = data;
  sum.outer = sum.inner = 1;
  sum.first = 6;
  if (weft_group_collective(group, &sum, &err) != WEFT_OK || weft_group_world(group) != 1)
    return fail(err.message);
  weft_group_release(group);
  if (weft_npy_header(header, sizeof header, WEFT_F32, 2, dim) == 0)
    return fail("a header was not written");
  if (weft_npy_parse(header, sizeof header, &npy, &err) != WEFT_OK)
    return fail(err.message);
  weft_sha256("abc", 3, digest);
  if (digest[0] != 0xba)
    return fail("a hash is wrong");
  return weft_version()[0] ? 0 : fail("no version");
}
