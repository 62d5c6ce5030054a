// Queues, whose work is done when the call returns, and launches.
#include "runtime/plugins/emulated/device/device.h"

using namespace weft_emulated;

struct weft_queue {
  device *on;
  const uint32_t *stop;
};

namespace weft_emulated {

device *device_of(weft_queue_t *queue) { return queue->on; }

weft_status_t open_queue(weft_device_t *base, const weft_queue_options_t *given, weft_queue_t **out,
                         weft_error_t *err) {
  *out = nullptr;
  weft_queue_options_t options = {};
  if (given && !read_sized(given, &options))
    return fail(err, WEFT_INVALID, "W0401", "queue.struct_size is wrong");
  if (options.workers < 0)
    return fail(err, WEFT_INVALID, "W0401", "queue.workers is " + std::to_string(options.workers));
  *out = new (std::nothrow) weft_queue{own(base), options.stop};
  if (!*out)
    return fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a queue");
  return succeed(err);
}

void close_queue(weft_queue_t *queue) { delete queue; }

/// Whether the numbers of a launch are such that the device can launch it.
static weft_status_t check_launch(const device &d, const weft_launch_t &l, weft_error_t *err) {
  const kernel *k = static_cast<const kernel *>(l.kernel);
  if (!k || l.grain != 1)
    return fail(err, WEFT_INVALID, "W0425",
                k ? "a launch of blocks has a grain of 1" : "a launch without a kernel");
  const program &code = k->code;
  std::string name = "kernel '" + code.name + "': ";
  if (l.units > INT32_MAX)
    return fail(err, WEFT_INVALID, "W0425", name + std::to_string(l.units) + " blocks");
  if (l.block_threads < 1 || l.block_threads > 1024)
    return fail(err, WEFT_INVALID, "W0425",
                name + std::to_string(l.block_threads) +
                    " threads in a block, which has 1 to 1024");
  if (l.word_count != code.parameters.size())
    return fail(err, WEFT_INVALID, "W0425",
                name + std::to_string(l.word_count) + " words for " +
                    std::to_string(code.parameters.size()) + " parameters");
  for (const kernel_parameter &each : code.parameters)
    if (each.bytes > 8)
      return fail(err, WEFT_INVALID, "W0425", name + "a parameter of more than 8 bytes");
  uint64_t bytes = uint64_t(code.dynamic_base - shared_base) + l.block_bytes;
  if (bytes > uint64_t(d.options.block_bytes()))
    return fail(err, WEFT_INVALID, "W0425",
                name + std::to_string(bytes) + " bytes of shared memory, of which a block has " +
                    std::to_string(d.options.block_bytes()));
  if (l.units > 0 && l.units % code.cluster)
    return fail(err, WEFT_INVALID, "W0425",
                name + std::to_string(l.units) + " blocks are no whole clusters of " +
                    std::to_string(code.cluster));
  return WEFT_OK;
}

static void run_launch(device &d, const weft_launch_t &l) {
  kernel &k = *static_cast<kernel *>(const_cast<void *>(l.kernel));
  launch_request request;
  request.code = &k.code;
  request.words.assign(l.words, l.words + l.word_count);
  request.blocks = uint32_t(l.units);
  request.threads = l.block_threads;
  request.dynamic_bytes = l.block_bytes;
  request.processor_bytes = uint32_t(d.options.processor_bytes());
  request.device = d.index;
  counters count = run_grid(request, memory_of(d), d.options.run);
  std::lock_guard<std::mutex> held(k.lock);
  k.count.add(count);
  ++k.launches;
  k.blocks += request.blocks;
}

weft_status_t launch(weft_queue_t *queue, const weft_launch_t *given, weft_error_t *err) {
  weft_launch_t l;
  if (!read_sized(given, &l))
    return fail(err, WEFT_INVALID, "W0401", "launch.struct_size is wrong");
  if (queue->stop && (__atomic_load_n(queue->stop, __ATOMIC_RELAXED) & 1))
    return fail(err, WEFT_CANCELLED, "W0432", "the call was cancelled");
  if (weft_status_t status = check_launch(*queue->on, l, err))
    return status;
  if (l.units <= 0)
    return succeed(err);
  try {
    run_launch(*queue->on, l);
  } catch (const finding &found) {
    return fail(err, WEFT_DEVICE, "W0426", found.what());
  } catch (const std::bad_alloc &) {
    return fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory to run a kernel");
  }
  return succeed(err);
}

} // namespace weft_emulated
