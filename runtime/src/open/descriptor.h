// The descriptor of an artifact: checked completely once, then read without further doubt.
//
//   if (!weft_descriptor_check(descriptor, limits, reason, sizeof reason)) refuse;
//   descriptor.root = weft_variant(descriptor, limits.variant_step, 0);
//   weft_function_v1 f = weft_item<weft_function_v1>(descriptor, descriptor.root.functions, 0);
//   const char *name = weft_text(descriptor, f.name);
//
// Elements are copied out, because a list may start at any address and an element may be longer
// than this runtime knows.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "weft/artifact.h"

/// A mapped descriptor.
struct weft_descriptor_t {
  const uint8_t *base;
  uint64_t size;
  weft_module_v1 root; ///< of the variant in use; set after weft_descriptor_check
};

/// What the descriptor refers to outside itself. Code positions count from the descriptor's first
/// byte.
struct weft_descriptor_limits_t {
  int64_t code_begin, code_end;
  uint64_t weights_size;
  uint32_t variants, variant_step; ///< as in weft_file_v1
};

/// Of what every version of the format has.
static const uint32_t WEFT_VARIANT_BYTES = offsetof(weft_module_v1, device_code),
                      WEFT_KERNEL_BYTES = offsetof(weft_kernel_v1, block_threads);

/// Bounds of a module that nobody reaches, so that sums of sizes cannot overflow.
enum {
  WEFT_MAX_FUNCTIONS = 1024,
  WEFT_MAX_ARGUMENTS = 4096,
  WEFT_MAX_SYMBOLS = 1024,
  WEFT_MAX_LATE_BLOCKS = 1024,
  WEFT_MAX_AXES = 32, ///< of a mesh
  WEFT_MAX_GROUPS = 256,
  WEFT_MAX_RANKS = 1 << 16,
  WEFT_MAX_THREADS = 1024,   ///< of a block
  WEFT_MAX_SHARED = 1 << 20, ///< bytes of a block
  WEFT_MAX_ROWS = 1 << 20,   ///< facts, checks, kernels, weights, features
};

/// The index of an input or dimension that is not there.
static const uint32_t WEFT_NO_INDEX = UINT32_MAX;

/// Checks every list, text, number, index and formula of all variants, also of those that are not
/// used. False leaves the reason in `reason`. Takes time linear in the size of the descriptor,
/// whatever it contains.
bool weft_descriptor_check(const weft_descriptor_t &descriptor,
                           const weft_descriptor_limits_t &limits, char *reason,
                           size_t reason_size);

/// Copies element `index` of a checked list, of which the caller knows `size` bytes. What an older writer did not know is 0.
void weft_copy_item(const weft_descriptor_t &descriptor, const weft_list_t &list, uint32_t index,
                    void *item, size_t size);

template <class T>
T weft_item(const weft_descriptor_t &descriptor, const weft_list_t &list, uint32_t index) {
  T item;
  weft_copy_item(descriptor, list, index, &item, sizeof item);
  return item;
}

/// The same, read where it is asked for: for what every call of a function reads.
template <class T>
T weft_read_item(const weft_descriptor_t &descriptor, const weft_list_t &list, uint32_t index) {
  if (list.step < sizeof(T))
    return weft_item<T>(descriptor, list, index);
  T item;
  memcpy(&item, descriptor.base + list.offset + (uint64_t)index * list.step, sizeof item);
  return item;
}

/// The root of variant `index`, of which each has `step` bytes.
inline weft_module_v1 weft_variant(const weft_descriptor_t &descriptor, uint32_t step,
                                   uint32_t index) {
  return weft_item<weft_module_v1>(descriptor, {0, index + 1, step}, index);
}

/// A checked text; "" when it is absent. Lives as long as the descriptor is mapped.
inline const char *weft_text(const weft_descriptor_t &descriptor, const weft_list_t &list) {
  return list.count ? (const char *)descriptor.base + list.offset : "";
}

/// Evaluates a checked formula; an absent one is 0. False when a step overflows.
bool weft_formula_run(const weft_descriptor_t &descriptor, const weft_formula_v1 &formula,
                      const int64_t *symbols, int64_t *out_value);

/// The only symbol a checked formula consists of, or -1.
int64_t weft_formula_symbol(const weft_descriptor_t &descriptor, const weft_formula_v1 &formula);

/// The checked argument `index` of a function: its inputs first, then its outputs.
weft_argument_v1 weft_argument(const weft_descriptor_t &descriptor,
                               const weft_function_v1 &function, uint32_t index);

/// How many ranks run the functions of a checked variant together.
uint32_t weft_variant_ranks(const weft_descriptor_t &descriptor, const weft_module_v1 &root);

/// Length of the values[] that bind fills: symbols, bytes of the arena, dimensions of all outputs.
uint32_t weft_values_count(const weft_descriptor_t &descriptor, const weft_function_v1 &function);
