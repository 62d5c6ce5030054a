// Structs of the API that grow: a program passes them in the size that it was compiled with, which struct_size says.
//
//   weft_env_t known = {};                                       // the defaults of what it lacks
//   if (weft_status_t status = weft_read_sized(env, "env", &known, err)) return status;
//
//   return weft_give_sized(out_info, info);                      // what it has room for; its struct_size stays
//
// A struct that grows gets a row of weft_sizes with every size that it ever had. weft_tensor_t has none: compiled code reads
// arrays of it, so it never grows.
#pragma once

#include <stddef.h>

#include "weft/device.h"

/// All sizes that a struct ever had, the first one first. One that has not grown needs no row.
template <class T> struct weft_sizes {
  static constexpr size_t all[] = {sizeof(T)};
};
template <> struct weft_sizes<weft_env_t> {
  static constexpr size_t all[] = {offsetof(weft_env_t, target), offsetof(weft_env_t, device),
                                   offsetof(weft_env_t, ranks), sizeof(weft_env_t)};
};

template <> struct weft_sizes<weft_function_info_t> {
  static constexpr size_t all[] = {offsetof(weft_function_info_t, weights_read),
                                   sizeof(weft_function_info_t)};
};

template <> struct weft_sizes<weft_context_options_t> {
  static constexpr size_t all[] = {
      offsetof(weft_context_options_t, group), offsetof(weft_context_options_t, device),
      offsetof(weft_context_options_t, exchanges_apart), offsetof(weft_context_options_t, stream),
      sizeof(weft_context_options_t)};
};

template <> struct weft_sizes<weft_queue_options_t> {
  static constexpr size_t all[] = {offsetof(weft_queue_options_t, stream),
                                   sizeof(weft_queue_options_t)};
};

template <> struct weft_sizes<weft_variant_info_t> {
  static constexpr size_t all[] = {offsetof(weft_variant_info_t, is_refused),
                                   sizeof(weft_variant_info_t)};
};

/// The largest of `sizes`, which ascend, that a struct of `given` bytes has all members of; 0 when it is shorter than the first.
size_t weft_known_size(const size_t *sizes, size_t count, uint32_t given);

/// Copies what the caller's struct has over the defaults in `known`. A longer one comes from a program for a newer library, which must
/// have left zero what is not known here: anything else asks for something that would not be done. Fails with INVALID; `name` is "env".
weft_status_t weft_copy_sized(const void *given, const char *name, const size_t *sizes,
                              size_t count, void *known, weft_error_t *err);

template <class T>
weft_status_t weft_read_sized(const T *given, const char *name, T *known, weft_error_t *err) {
  constexpr size_t count = sizeof weft_sizes<T>::all / sizeof(size_t);
  return weft_copy_sized(given, name, weft_sizes<T>::all, count, known, err);
}

/// Whether the caller's struct, which a query fills, has at least the members of the first version.
template <class T> bool weft_has_room(const T *out) {
  return out && out->struct_size >= weft_sizes<T>::all[0];
}

/// Fills the members that the caller's struct has, for which weft_has_room holds. What it has beyond is left as it was.
void weft_fill_sized(void *out, const void *value, const size_t *sizes, size_t count);

template <class T> weft_status_t weft_give_sized(T *out, const T &value) {
  constexpr size_t count = sizeof weft_sizes<T>::all / sizeof(size_t);
  weft_fill_sized(out, &value, weft_sizes<T>::all, count);
  return WEFT_OK;
}
