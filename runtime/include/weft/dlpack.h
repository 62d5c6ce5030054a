/* Tensors from and to DLPack, without copies: what NumPy, PyTorch, JAX and others hand each other.
 *
 *   weft_tensor_t in, out = WEFT_TENSOR_EMPTY;
 *   if (weft_from_dlpack(context, &given->dl_tensor, &in, &err)) return fail(err.message);
 *   out.device = in.device;
 *   if (weft_call(context, NULL, &in, 1, &out, 1, &err)) return fail(err.message);
 *   DLManagedTensor *made = NULL;
 *   if (weft_to_dlpack(context, &out, &made, &err)) return fail(err.message);
 *
 * The types are those of DLPack's own header, dlpack/dlpack.h of version 0.8 or newer, which is used when it was included before; else they are
 * declared here. All functions are in this header, so the library knows nothing of DLPack.
 * Streams: what comes in must be computed before a call, or on the stream of the context's options. What goes out of a call is computed, for every
 * stream; what was submitted is there for that one.
 * C99, and C++.
 */
#ifndef WEFT_DLPACK_H
#define WEFT_DLPACK_H

#include <stdio.h>
#include <stdlib.h>

#include "weft/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DLPACK_DLPACK_H_
typedef enum {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLExtDev = 12,
  kDLCUDAManaged = 13
} DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides; /* strides NULL: row-major */
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  /* Ends what the tensor is given as. */
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
#endif

/* What weft_to_dlpack makes. */
typedef struct {
  DLManagedTensor managed; /* first: a DLManagedTensor is this */
  weft_context_t *context;
  weft_tensor_t tensor;
  int64_t stride[WEFT_MAX_RANK];
} weft_dlpack_t;

static inline weft_status_t weft_dlpack_refuse(weft_error_t *err, const char *reason) {
  if (err) {
    err->status = WEFT_INVALID;
    err->hint[0] = 0;
    snprintf(err->code, sizeof err->code, "W0408");
    snprintf(err->message, sizeof err->message, "DLPack: %s", reason);
  }
  return WEFT_INVALID;
}

/* The type of weft_element_t `element`; bits 0 of one that DLPack has not, or packs. */
static inline DLDataType weft_dlpack_type(uint32_t element) {
  /* DLPack's numbers of kinds of types, in the order of weft_element_t from WEFT_BOOL on. */
  static const uint8_t codes[] = {6,  255, 255, 0, 1, 0,  1,  0,   1,   0,   1, 10,
                                  12, 2,   4,   2, 2, 11, 13, 255, 255, 255, 14};
  DLDataType type = {255, 0, 1};
  if (element >= WEFT_BOOL && element - WEFT_BOOL < sizeof codes &&
      codes[element - WEFT_BOOL] != 255) {
    type.code = codes[element - WEFT_BOOL];
    type.bits = (uint8_t)weft_element_bits(element);
  }
  return type;
}

/* Of a device, -1: the host's, or -2: none that calls of the context can use. Memory that both can use is taken for the host's. */
static inline int32_t weft_dlpack_place(const weft_context_t *context, DLDevice device) {
  const char *name = weft_context_device(context);
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost ||
      device.device_type == kDLCUDAManaged)
    return -1;
  if (device.device_type == kDLCUDA ? strncmp(name, "cuda", 4) == 0
                                    : device.device_type == kDLExtDev &&
                                          strncmp(name, "cuda", 4) != 0 && strcmp(name, "cpu") != 0)
    return device.device_id;
  return -2;
}

/* A tensor over the memory of `given`, which stays its owner and must live as long. kDLCUDA is what a context on "cuda" computes on, kDLExtDev
 * another device. Fails with INVALID for types of other lanes or packed bits, for one element that strides
 * of 0 repeat, and for devices that the context does not use. */
static inline weft_status_t weft_from_dlpack(const weft_context_t *context, const DLTensor *given,
                                             weft_tensor_t *out_tensor, weft_error_t *err) {
  weft_tensor_t tensor = WEFT_TENSOR_EMPTY;
  if (!context || !given || !out_tensor)
    return weft_dlpack_refuse(err, "the context or a tensor is NULL");
  if (given->ndim < 0 || given->ndim > WEFT_MAX_RANK)
    return weft_dlpack_refuse(err, "a tensor has 8 dimensions at most");
  for (uint32_t element = WEFT_BOOL; !tensor.element && weft_element_bits(element); ++element) {
    DLDataType type = weft_dlpack_type(element);
    if (type.bits && type.code == given->dtype.code && type.bits == given->dtype.bits &&
        given->dtype.lanes == 1)
      tensor.element = (uint16_t)element;
  }
  if (!tensor.element)
    return weft_dlpack_refuse(err, "there are no elements of this type");
  tensor.device = weft_dlpack_place(context, given->device);
  if (tensor.device == -2)
    return weft_dlpack_refuse(err, "the tensor is on a device that the context does not use");
  tensor.rank = (uint16_t)given->ndim;
  tensor.data = given->data ? (char *)given->data + given->byte_offset : NULL;
  /* Strides that are all 0 repeat one element, but say "without gaps" of a weft_tensor_t. */
  int repeats = given->strides != NULL, is_several = 0, is_empty = 0;
  for (int32_t d = 0; d < given->ndim; ++d) {
    tensor.dim[d] = given->shape[d];
    tensor.stride[d] = given->strides ? given->strides[d] : 0;
    repeats = repeats && tensor.stride[d] == 0;
    is_several |= tensor.dim[d] > 1;
    is_empty |= tensor.dim[d] == 0;
  }
  if (repeats && is_several && !is_empty)
    return weft_dlpack_refuse(err, "the tensor repeats one element: copy it first");
  *out_tensor = tensor;
  return WEFT_OK;
}

static inline void weft_dlpack_delete(DLManagedTensor *self) {
  weft_dlpack_t *own = (weft_dlpack_t *)self;
  if (own)
    weft_tensor_release(own->context, &own->tensor);
  free(own);
}

/* Gives the tensor to `*out_managed`, whose deleter ends it, on any thread but before the context is released: memory that the library allocated
 * is its now, and `tensor` is left without data; other memory stays the caller's. Fails with INVALID, and with OUT_OF_MEMORY. */
static inline weft_status_t weft_to_dlpack(weft_context_t *context, weft_tensor_t *tensor,
                                           DLManagedTensor **out_managed, weft_error_t *err) {
  DLDataType type = weft_dlpack_type(tensor ? tensor->element : 0);
  int64_t stride = 1;
  if (!context || !tensor || !out_managed)
    return weft_dlpack_refuse(err, "the context or a tensor is NULL");
  *out_managed = NULL;
  if (!type.bits || tensor->rank > WEFT_MAX_RANK)
    return weft_dlpack_refuse(err, "there is no type for these elements");
  weft_dlpack_t *made = (weft_dlpack_t *)calloc(1, sizeof *made);
  if (!made) {
    weft_dlpack_refuse(err, "no memory for a tensor");
    return WEFT_OUT_OF_MEMORY;
  }
  made->context = context;
  made->tensor = *tensor;
  for (uint32_t d = tensor->rank; d-- > 0; stride *= tensor->dim[d])
    made->stride[d] =
        tensor->stride[0] || tensor->stride[tensor->rank - 1] ? tensor->stride[d] : stride;
  DLTensor *to = &made->managed.dl_tensor;
  to->data = tensor->data;
  to->device.device_type = tensor->device < 0                                      ? kDLCPU
                           : strncmp(weft_context_device(context), "cuda", 4) == 0 ? kDLCUDA
                                                                                   : kDLExtDev;
  to->device.device_id = tensor->device < 0 ? 0 : tensor->device;
  to->ndim = tensor->rank;
  to->dtype = type;
  to->shape = made->tensor.dim;
  to->strides = made->stride;
  made->managed.manager_ctx = made;
  made->managed.deleter = weft_dlpack_delete;
  if (tensor->flags) { /* the library's memory has one owner */
    tensor->data = NULL;
    tensor->capacity = 0;
    tensor->flags = 0;
  }
  *out_managed = &made->managed;
  return WEFT_OK;
}

#ifdef __cplusplus
}
#endif
#endif
