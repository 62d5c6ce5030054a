// An open artifact: mapped, checked, immutable; shared by any number of threads.
#pragma once

#include <atomic>

#include "runtime/src/cpu/threads.h"
#include "runtime/src/open/descriptor.h"
#include "runtime/src/open/elf_image.h"
#include "weft/device.h"

/// A range of the file that stays mapped for reading. `begin` is the file offset of `data`.
struct weft_mapping_t {
  const uint8_t *data;
  uint64_t begin, size;
  void *reserved; ///< what munmap gets
  size_t reserved_size;
};

struct weft_accelerator;

struct weft_module {
  std::atomic<uint32_t> references;
  weft_module_t *
      opened; ///< of another variant of it: the module that has all but the descriptor's root; else NULL
  weft_env_t env;
  weft_device_t *device; ///< env.device, or the CPU that the module has opened itself
  weft_loaded_t *loaded; ///< the code of the image, on the device
  const uint8_t *code;   ///< where it runs, counted as code is in the descriptor
  size_t bytes;          ///< of this allocation; the file's name follows the struct
  weft_elf_t elf;
  weft_image_t image;
  weft_descriptor_t descriptor;
  uint32_t variant;               ///< whose root the descriptor has
  bool has_wanted_target;         ///< that is the variant of env.target
  weft_accelerator *accelerator;  ///< of a view whose kernels run on one; NULL: on `device`
  weft_accelerator *accelerators; ///< of an opened module: all that are in use
  weft_mapping_t weights, tail;

  const char *path() const { return (const char *)((opened ? opened : this) + 1); }
};

/// Function `index` of a module, or false.
inline bool weft_module_function(const weft_module_t *module, int32_t index,
                                 weft_function_v1 *out_function) {
  const weft_list_t &list = module->descriptor.root.functions;
  if (index < 0 || (uint32_t)index >= list.count)
    return false;
  weft_copy_item(module->descriptor, list, (uint32_t)index, out_function, sizeof *out_function);
  return true;
}

/// bind and run of a function.
WEFT_CALLS_IMAGE inline int32_t weft_call_bind(const weft_module_t *module,
                                               const weft_function_v1 &function,
                                               const weft_tensor_t *in, int64_t *values) {
  return ((weft_bind_fn)(uintptr_t)(module->code + function.bind))(in, values);
}
WEFT_CALLS_IMAGE inline int32_t
weft_call_run(const weft_module_t *module, const weft_function_v1 &function, weft_frame_v1 *frame) {
  return ((weft_run_fn)(uintptr_t)(module->code + function.run))(frame);
}

/// What a kernel's formulas say of a call with these words; -1 where they say nothing.
void weft_kernel_work(const weft_module_t *module, uint32_t index, const uint64_t *words,
                      int64_t *out_flops, int64_t *out_bytes);

/// One more owner, who ends with weft_module_release, of the opened module as its variant `index`.
weft_status_t weft_module_view(weft_module_t *module, uint32_t index, weft_module_t **out_module,
                               weft_error_t *err);

/// One more owner, who ends with weft_module_release, of the module, or of its variant for so many ranks when that is another one. A module
/// for one number of ranks is all there is.
weft_status_t weft_module_for_ranks(weft_module_t *module, uint32_t ranks,
                                    weft_module_t **out_module, weft_error_t *err);
