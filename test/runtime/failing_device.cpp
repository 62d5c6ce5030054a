#include "test/runtime/failing_device.h"

#include "runtime/src/base/status.h"

namespace weft_test {

namespace {

struct failing_queue {
  failing_device *device;
  weft_queue_t *inner;
  bool is_broken; ///< work of it failed, and nobody has been told
};

struct failing_event {
  weft_event_t *inner;
  bool is_broken;
};

failing_device *self(weft_device_t *device) { return (failing_device *)device; }
failing_queue *self(weft_queue_t *queue) { return (failing_queue *)queue; }
failing_event *self(weft_event_t *event) { return (failing_event *)event; }

/// Where a call goes when it does not fail here.
const weft_device_v1 *inner(const failing_device *device) { return device->inner->calls; }
const weft_device_v1 *inner(weft_queue_t *queue) { return inner(self(queue)->device); }

/// What was begun is counted until it is ended.
weft_status_t begun(failing_device *device, weft_status_t status) {
  device->live += status == WEFT_OK;
  return status;
}

void close_device(weft_device_t *device) { inner(self(device))->close(self(device)->inner); }

weft_status_t property(weft_device_t *device, const char *name, int64_t *out_value) {
  return inner(self(device))->property(self(device)->inner, name, out_value);
}

weft_device_t *unwrap(failing_device *device, weft_device_t *other) {
  return other == &device->base ? device->inner : other;
}

weft_status_t reach(weft_device_t *device, weft_device_t *peer, weft_error_t *err) {
  failing_device *d = self(device);
  return d->fails("reach") ? d->fail(err) : inner(d)->reach(d->inner, unwrap(d, peer), err);
}

weft_status_t allocate(weft_device_t *device, uint32_t space, size_t bytes, size_t alignment,
                       void **out_memory, weft_error_t *err) {
  failing_device *d = self(device);
  *out_memory = nullptr;
  if (d->fails("allocate"))
    return d->fail(err);
  return begun(d, inner(d)->allocate(d->inner, space, bytes, alignment, out_memory, err));
}

void release(weft_device_t *device, uint32_t space, void *memory, size_t bytes) {
  self(device)->live -= memory != nullptr;
  inner(self(device))->release(self(device)->inner, space, memory, bytes);
}

weft_status_t load(weft_device_t *device, const weft_device_code_t *code,
                   weft_loaded_t **out_loaded, weft_error_t *err) {
  failing_device *d = self(device);
  *out_loaded = nullptr;
  return d->fails("load") ? d->fail(err)
                          : begun(d, inner(d)->load(d->inner, code, out_loaded, err));
}

void unload(weft_device_t *device, weft_loaded_t *loaded) {
  self(device)->live -= loaded != nullptr;
  inner(self(device))->unload(self(device)->inner, loaded);
}

weft_status_t find(weft_device_t *device, weft_loaded_t *loaded, uint64_t position,
                   const char *name, const void **out_kernel, weft_error_t *err) {
  failing_device *d = self(device);
  *out_kernel = nullptr;
  return d->fails("find") ? d->fail(err)
                          : inner(d)->find(d->inner, loaded, position, name, out_kernel, err);
}

weft_status_t open_queue(weft_device_t *device, const weft_queue_options_t *options,
                         weft_queue_t **out_queue, weft_error_t *err) {
  failing_device *d = self(device);
  *out_queue = nullptr;
  if (d->fails("open_queue"))
    return d->fail(err);
  weft_queue_t *queue;
  weft_status_t status = begun(d, inner(d)->open_queue(d->inner, options, &queue, err));
  if (!status)
    *out_queue = (weft_queue_t *)new failing_queue{d, queue, false};
  return status;
}

void close_queue(weft_queue_t *queue) {
  if (!queue)
    return;
  --self(queue)->device->live;
  inner(queue)->close_queue(self(queue)->inner);
  delete self(queue);
}

/// Work on the queue that the inner device may take. When it is to fail later, it is taken first.
template <class Work>
weft_status_t give(weft_queue_t *queue, const char *name, weft_error_t *err, Work work) {
  failing_device *device = self(queue)->device;
  bool is_failing = device->fails(name);
  if (is_failing && !device->is_late)
    return device->fail(err);
  weft_status_t status = work();
  if (is_failing && !status)
    self(queue)->is_broken = device->has_failed = true;
  return status;
}

weft_status_t copy(weft_queue_t *queue, const weft_copy_t *given, weft_error_t *err) {
  failing_device *device = self(queue)->device;
  weft_copy_t copy = *given;
  copy.to_device = unwrap(device, copy.to_device);
  copy.from_device = unwrap(device, copy.from_device);
  return give(queue, "copy", err,
              [&] { return inner(queue)->copy(self(queue)->inner, &copy, err); });
}

weft_status_t launch(weft_queue_t *queue, const weft_launch_t *launch, weft_error_t *err) {
  return give(queue, "launch", err,
              [&] { return inner(queue)->launch(self(queue)->inner, launch, err); });
}

weft_status_t finish(weft_queue_t *queue, weft_error_t *err) {
  failing_queue *q = self(queue);
  bool is_broken = q->is_broken;
  q->is_broken = false;
  if (q->device->fails("finish") || is_broken)
    return q->device->fail(err);
  return inner(queue)->finish(q->inner, err);
}

weft_status_t open_event(weft_device_t *device, weft_event_t **out_event, weft_error_t *err) {
  failing_device *d = self(device);
  *out_event = nullptr;
  if (d->fails("open_event"))
    return d->fail(err);
  weft_event_t *event;
  weft_status_t status = begun(d, inner(d)->open_event(d->inner, &event, err));
  if (!status)
    *out_event = (weft_event_t *)new failing_event{event, false};
  return status;
}

void close_event(weft_device_t *device, weft_event_t *event) {
  if (!event)
    return;
  --self(device)->live;
  inner(self(device))->close_event(self(device)->inner, self(event)->inner);
  delete self(event);
}

weft_status_t record(weft_queue_t *queue, weft_event_t *event, weft_error_t *err) {
  if (self(queue)->device->fails("record"))
    return self(queue)->device->fail(err);
  self(event)->is_broken = self(queue)->is_broken;
  return inner(queue)->record(self(queue)->inner, self(event)->inner, err);
}

weft_status_t follow(weft_queue_t *queue, weft_event_t *event, weft_error_t *err) {
  if (self(queue)->device->fails("follow"))
    return self(queue)->device->fail(err);
  self(queue)->is_broken |= self(event)->is_broken;
  return inner(queue)->follow(self(queue)->inner, self(event)->inner, err);
}

int32_t is_done(weft_device_t *device, weft_event_t *event) {
  return inner(self(device))->is_done(self(device)->inner, self(event)->inner);
}

weft_status_t wait(weft_device_t *device, weft_event_t *event, weft_error_t *err) {
  failing_device *d = self(device);
  if (d->fails("wait") || self(event)->is_broken)
    return d->fail(err);
  return inner(d)->wait(d->inner, self(event)->inner, err);
}

//===----------------------------------------------------------------------===//
// Calls of compiled host code
//===----------------------------------------------------------------------===//

const weft_host_queue_v1 *host_of(weft_queue_t *queue) { return inner(queue)->host; }

weft_worker_t *workers(weft_queue_t *queue, int32_t *out_count) {
  return host_of(queue)->workers(self(queue)->inner, out_count);
}

void begin(weft_queue_t *queue) { host_of(queue)->begin(self(queue)->inner); }
void end(weft_queue_t *queue) { host_of(queue)->end(self(queue)->inner); }

void trace(weft_queue_t *queue, weft_launched_fn launched, void *user) {
  host_of(queue)->trace(self(queue)->inner, launched, user);
}

void leave_if_fails(weft_frame_v1 *frame, const char *name) {
  failing_device *device = self(frame->queue)->device;
  weft_error_t err = WEFT_ERROR_INIT;
  if (device->fails(name))
    frame->leave(frame, device->fail(&err), err.code, err.message);
}

void parallel(weft_frame_v1 *frame, weft_kernel_fn kernel, const uint64_t *words, int64_t units,
              int64_t grain, int32_t kernel_id) {
  leave_if_fails(frame, "parallel");
  weft_queue_t *queue = frame->queue;
  weft_frame_v1 inside = *frame;
  inside.queue = self(queue)->inner;
  host_of(queue)->parallel(&inside, kernel, words, units, grain, kernel_id);
}

void together(weft_frame_v1 *frame, const weft_part_v1 *parts, int64_t count) {
  leave_if_fails(frame, "together");
  weft_queue_t *queue = frame->queue;
  weft_frame_v1 inside = *frame;
  inside.queue = self(queue)->inner;
  host_of(queue)->together(&inside, parts, count);
}

const weft_host_queue_v1 host_calls = {
    sizeof(weft_host_queue_v1), 0, workers, begin, end, trace, parallel, together};

const weft_device_v1 device_calls = {sizeof(weft_device_v1),
                                     0,
                                     "failing",
                                     &host_calls,
                                     close_device,
                                     property,
                                     reach,
                                     allocate,
                                     release,
                                     load,
                                     unload,
                                     find,
                                     open_queue,
                                     close_queue,
                                     copy,
                                     launch,
                                     finish,
                                     open_event,
                                     close_event,
                                     record,
                                     follow,
                                     is_done,
                                     wait};

} // namespace

failing_device::failing_device(weft_device_t *inner) : base{&device_calls}, inner(inner) {}

bool failing_device::fails(const char *name) {
  names.insert(name);
  return calls++ == fail_at;
}

weft_status_t failing_device::fail(weft_error_t *err) {
  has_failed = true;
  return weft_fail(err, status, "W0425", "call %d failed, as it was told to", fail_at);
}

} // namespace weft_test
