/* A device: memory, code, and queues of work on it, as a table of functions that its implementation fills.
 *
 *   weft_device_t *device = NULL;
 *   if (weft_cpu_open(NULL, &device, &err)) return fail(err.message);
 *   const weft_device_v1 *calls = device->calls;
 *   if (calls->allocate(device, WEFT_MEMORY_DEVICE, bytes, 64, &memory, &err)) …
 *   if (calls->open_queue(device, NULL, &queue, &err)) …
 *   … calls->copy(queue, &copy, &err); calls->launch(queue, &launch, &err); calls->finish(queue, &err); …
 *   calls->close_queue(queue); calls->release(device, WEFT_MEMORY_DEVICE, memory, bytes); calls->close(device);
 *
 * The runtime allocates memory of calls, loads code and computes through this table alone; the CPU is one implementation. What a
 * device does is tested by one suite (test/runtime/device_conformance.h) that every implementation passes.
 *
 * Threads: functions of a device may be called by any number of threads at once, functions of a queue by one thread at a time, those of
 * an event by any thread once it is recorded.
 * Order: work on a queue is done in the order of the calls that gave it, and copies and launches may return before it is done. Work on
 * different queues has no order but the one that events make. A device without work in the background does everything within the call.
 * Errors: functions that can fail return a status and fill `err` unless it is NULL, as those of runtime.h do; the text names what failed.
 * A failure while work is given is returned at once, and that work is not done. One that comes later is told by the next of `finish` and
 * `wait` on what it concerns; the queue's later work is undefined from there on, and `finish` ends that state where the device can go on.
 * WEFT_DEVICE is the status of what the device itself did wrong.
 * The table only grows, at its end; struct_size says how far it goes.
 */
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#include "weft/artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_device_v1 weft_device_v1;

/* What an implementation's device starts with. */
typedef struct weft_device {
  const weft_device_v1 *calls;
} weft_device_t;

/* Code that was loaded, and a mark in the work of a queue: an implementation's own. */
typedef struct weft_loaded weft_loaded_t;
typedef struct weft_event weft_event_t;

typedef enum {
  WEFT_MEMORY_DEVICE = 1, /* the device's own */
  WEFT_MEMORY_PINNED =
      2, /* the host's, which copies of this device reach without waiting for pages */
  WEFT_MEMORY_SHARED = 3 /* the device's own, which devices that `reach` it may use, too */
} weft_memory_t;

typedef enum {
  WEFT_CODE_HOST =
      1, /* an ELF image of compiled host code in this process, mapped for reading at `bytes` */
  WEFT_CODE_PTX = 2, /* NVIDIA's PTX: text, and a 0 behind it at bytes[size]. Kernels have names. */
  WEFT_CODE_CUBIN =
      3 /* machine code for NVIDIA GPUs of one architecture, as the assembler of PTX writes it */
} weft_device_code_kind_t;

/* Code to load. It stays mapped and unchanged until it is unloaded. */
typedef struct {
  uint32_t struct_size, kind; /* weft_device_code_kind_t */
  const void *bytes;
  uint64_t size;
  uint64_t code_begin, code_size; /* of WEFT_CODE_HOST: the part of `bytes` that is executed */
} weft_device_code_t;

typedef struct {
  uint32_t struct_size;
  int32_t
      workers; /* of a device that runs host code: threads that compute, with the caller; 0: as many as it has processors */
  int32_t
      spin_us; /* how long they wait for the next launch of a call before they sleep; -1: as the device likes */
  uint32_t reserved;
  /* Launches fail with CANCELLED while bit 0 of the word is set. Read without order, as often as something is launched; NULL: never. */
  const uint32_t *stop;
  /* The caller's stream, of the device's own kind (a CUstream), which the queue is then: it stays the caller's. NULL: a queue of its own. A device
   * that does everything within the call has no use for it. */
  void *stream;
} weft_queue_options_t;

/* `bytes` from `from` to `to`; a device of NULL means memory of the host. One of the devices is the queue's. Host memory is in use until the
 * copy is done, and pinned memory alone lets the call return before. The two do not overlap. */
typedef struct {
  uint32_t struct_size, reserved;
  weft_device_t *to_device, *from_device;
  void *to;
  const void *from;
  int64_t bytes;
} weft_copy_t;

/* Units [0, units) of a kernel, in pieces that are multiples of `grain` >= 1 except the last; units <= 0 is nothing to do. The words are
 * copied before the call returns. Members below `words` are for devices that compute in blocks, and 0 for others: there a unit is a block
 * of a grid in one dimension, `grain` is 1, and each word is a parameter of the kernel, 8 bytes wide, in this order. */
typedef struct {
  uint32_t struct_size;
  uint32_t word_count;
  const void *kernel; /* of `find` */
  int64_t units, grain;
  const uint64_t *words;  /* pointers into memory that the device can reach, then integers */
  uint32_t block_threads; /* of each block */
  uint32_t block_bytes;   /* that a block's threads share, beside what the code itself declares */
} weft_launch_t;

/* What was launched by `parallel` or `together` and when it ran, by CLOCK_MONOTONIC. Parts that ran at the same time divide it. */
typedef void (*weft_launched_fn)(void *user, const weft_part_v1 *part, uint64_t begin_ns,
                                 uint64_t end_ns);

/* Of a device whose queues run compiled host code: what the runtime needs to run one call on a queue. */
typedef struct {
  uint32_t struct_size, reserved;
  /* The workers of the queue, *out_count of them; they live as long as it does. The caller sets their scratch between launches. */
  weft_worker_t *(*workers)(weft_queue_t *queue, int32_t *out_count);
  /* Begins a call on the calling thread: its floating-point mode is compiled code's, and launches will follow each other closely. */
  void (*begin)(weft_queue_t *queue);
  /* Ends it, also one that was left early: the thread's mode is as before and the workers sleep. */
  void (*end)(weft_queue_t *queue);
  /* From the next launch on, `launched` is called behind each of `parallel` and each part of `together`, on the thread that launched;
   * NULL ends that. Without it nothing is measured. */
  void (*trace)(weft_queue_t *queue, weft_launched_fn launched, void *user);
  /* weft_host_v1.parallel: a launch on frame->queue that has ended when it returns. Compiled code calls it through the frame's host
   * table, so that a launch is one indirect call. When it fails, frame->leave is called and it does not return. */
  void (*parallel)(weft_frame_v1 *frame, weft_kernel_fn kernel, const uint64_t *words,
                   int64_t units, int64_t grain, int32_t kernel_id);
  /* weft_host_v1.together, in the same way. */
  void (*together)(weft_frame_v1 *frame, const weft_part_v1 *parts, int64_t count);
} weft_host_queue_v1;

struct weft_device_v1 {
  uint32_t struct_size, reserved;
  const char *kind; /* "cpu" */
  /* NULL for a device that cannot run host code. */
  const weft_host_queue_v1 *host;

  /* Ends the device. Everything that was opened, loaded or allocated on it has been ended before. */
  void (*close)(weft_device_t *device);
  /* A number that launches and memory depend on. Every device has "processors" (of the CPU: threads that the process may run at once)
   * and "alignment" (bytes, of what `allocate` gives at least); the CPU has "feature.avx2" and the like, 1 or 0, and "permission.amx-tile" and
   * the like: 0 when the system, which this asks, does not let the process use a feature that the processor has. Formulas of a program may
   * name properties as they name symbols. NOT_FOUND, without a text, for a name that the device does not have. */
  weft_status_t (*property)(weft_device_t *device, const char *name, int64_t *out_value);
  /* Lets launches and copies on this device use memory of `peer`: all of a CPU's, WEFT_MEMORY_SHARED of another. UNSUPPORTED when
   * there is no way. */
  weft_status_t (*reach)(weft_device_t *device, weft_device_t *peer, weft_error_t *err);

  /* Gives `bytes` > 0 of a space (weft_memory_t) at a multiple of `alignment`, a power of two. The contents are undefined. The caller owns
   * it until `release`. On failure *out_memory is NULL. OUT_OF_MEMORY, INVALID for an unknown space. */
  weft_status_t (*allocate)(weft_device_t *device, uint32_t space, size_t bytes, size_t alignment,
                            void **out_memory, weft_error_t *err);
  /* Takes back what `allocate` gave, with the same space and bytes. No work may still use it. NULL is allowed. */
  void (*release)(weft_device_t *device, uint32_t space, void *memory, size_t bytes);

  /* Makes code ready to run. UNSUPPORTED for a kind or code that the device cannot run, OUT_OF_MEMORY. */
  weft_status_t (*load)(weft_device_t *device, const weft_device_code_t *code,
                        weft_loaded_t **out_loaded, weft_error_t *err);
  /* Ends what `load` gave. No work may still use it. NULL is allowed. */
  void (*unload)(weft_device_t *device, weft_loaded_t *loaded);
  /* The address of what begins at byte `position` of host code, whose addresses differ as positions do; or the kernel called `name` of
   * code with names. Of the two the other is not looked at. Valid until the code is unloaded. NOT_FOUND. */
  weft_status_t (*find)(weft_device_t *device, weft_loaded_t *loaded, uint64_t position,
                        const char *name, const void **out_kernel, weft_error_t *err);

  /* Opens a queue; `options` NULL means defaults. The caller owns it. OUT_OF_MEMORY, INVALID. */
  weft_status_t (*open_queue)(weft_device_t *device, const weft_queue_options_t *options,
                              weft_queue_t **out_queue, weft_error_t *err);
  /* Waits for the queue's work and ends it. NULL is allowed. */
  void (*close_queue)(weft_queue_t *queue);
  /* Gives a copy to the queue. UNSUPPORTED when the devices do not reach each other. */
  weft_status_t (*copy)(weft_queue_t *queue, const weft_copy_t *copy, weft_error_t *err);
  /* Gives a launch to the queue. CANCELLED when `stop` says so; INVALID for numbers that the device cannot launch. */
  weft_status_t (*launch)(weft_queue_t *queue, const weft_launch_t *launch, weft_error_t *err);
  /* Returns when all work that was given to the queue is done. Tells what failed late. */
  weft_status_t (*finish)(weft_queue_t *queue, weft_error_t *err);

  /* Makes an event, which is done until it is recorded. The caller owns it. OUT_OF_MEMORY. */
  weft_status_t (*open_event)(weft_device_t *device, weft_event_t **out_event, weft_error_t *err);
  /* Ends an event that nobody waits for. NULL is allowed. */
  void (*close_event)(weft_device_t *device, weft_event_t *event);
  /* From now on the event is done when the work that was given to the queue so far is. */
  weft_status_t (*record)(weft_queue_t *queue, weft_event_t *event, weft_error_t *err);
  /* What is given to the queue from now on begins when the event, of this device or one that it reaches, is done. Does not wait. */
  weft_status_t (*follow)(weft_queue_t *queue, weft_event_t *event, weft_error_t *err);
  /* 1 when the event is done, also by a failure; 0 when not. Does not wait. */
  int32_t (*is_done)(weft_device_t *device, weft_event_t *event);
  /* Returns when the event is done. Tells what failed late in the work it stands for. */
  weft_status_t (*wait)(weft_device_t *device, weft_event_t *event, weft_error_t *err);

  /* NULL of a device that counts nothing. Else what all launches of a kernel, one of `find`, did so far: counter number `index` from 0 on.
   * NOT_FOUND behind the last. */
  weft_status_t (*counter)(weft_device_t *device, const void *kernel, uint32_t index,
                           weft_counter_t *out_counter);
  /* How many bytes from `memory` to the end of an allocation lie in the device's own memory, whoever allocated it there; 0: none, it is the
   * host's, or that of another device, or both can use it. NULL of a device whose memory is the host's. */
  uint64_t (*bytes_at)(weft_device_t *device, const void *memory);
  /* NULL of a device that has no clock of its own. Else how long one queue worked between two events that are done, by the device's clock. */
  weft_status_t (*elapsed)(weft_device_t *device, weft_event_t *begin, weft_event_t *end,
                           uint64_t *out_ns, weft_error_t *err);
};

/* Opens the CPU that this process runs on. `env` (NULL: defaults; copied) gives its memory and, when it has `parallel`, its threads;
 * `verify`, `target` and `device` are for modules. The caller ends it with calls->close. Fails with INVALID, OUT_OF_MEMORY. */
WEFT_API weft_status_t weft_cpu_open(const weft_env_t *env, weft_device_t **out_device,
                                     weft_error_t *err);

/* Devices of one kind. The table and what it names live as long as the process. */
typedef struct {
  uint32_t struct_size, reserved;
  const char *kind; /* "cuda" */
  /* How many there are here, which may be 0. Fails with DEVICE when that cannot be learned: no driver, say. */
  weft_status_t (*count)(int32_t *out_count, weft_error_t *err);
  /* Opens the device with this index, counted from 0. The caller ends it with calls->close. NOT_FOUND when there is none; DEVICE,
   * OUT_OF_MEMORY. */
  weft_status_t (*open)(int32_t index, weft_device_t **out_device, weft_error_t *err);
} weft_device_kind_v1;

/* A plug-in libweft_NAME.so is a kind of devices that the runtime opens when "NAME", or "NAME:1" with an index, is asked for. It exports one
 * function of this name and type. */
#define WEFT_DEVICE_PLUGIN "weft_device_plugin"
typedef const weft_device_kind_v1 *(*weft_device_plugin_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
