// The table of calls, and devices that are opened with options.
#include "runtime/plugins/emulated/device/device.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "runtime/plugins/architecture.h"

struct weft_event {
  uint8_t nothing; ///< work is done when it was given
};

namespace weft_emulated {

weft_status_t fail(weft_error_t *err, weft_status_t status, const char *code,
                   const std::string &message) {
  if (!err)
    return status;
  err->status = status;
  snprintf(err->code, sizeof err->code, "%s", code);
  snprintf(err->message, sizeof err->message, "%s", message.c_str());
  err->hint[0] = 0;
  return status;
}

weft_status_t succeed(weft_error_t *err) {
  if (err)
    err->status = WEFT_OK;
  return WEFT_OK;
}

namespace {

/// Devices of the process that are open with the environment's options: whoever asks for one of them gets the same, and the same memory.
std::mutex open_lock;
std::vector<device *> open_devices;

void close_device(weft_device_t *base) {
  std::lock_guard<std::mutex> held(open_lock);
  device *d = own(base);
  if (--d->users)
    return;
  open_devices.erase(std::remove(open_devices.begin(), open_devices.end(), d), open_devices.end());
  delete d;
}

/// The one that is open already, with one user more.
device *find_open(const std::string &options, int32_t index) {
  for (device *d : open_devices)
    if (d->index == index && d->options.text == options) {
      ++d->users;
      return d;
    }
  return nullptr;
}

weft_status_t property(weft_device_t *base, const char *name, int64_t *out_value) {
  const device_options &options = own(base)->options;
  const std::string feature = "feature.";
  if (std::string(name).compare(0, feature.size(), feature) == 0) {
    *out_value = weft_gpu_runs(options.architecture, options.is_architecture_specific,
                               name + feature.size());
    return WEFT_OK;
  }
  const struct {
    const char *name;
    int64_t value;
  } all[] = {{"processors", options.run.processors},
             {"alignment", 256},
             {"sm", options.architecture},
             {"architecture_specific", options.is_architecture_specific},
             {"warp", 32},
             {"block_threads", 1024},
             {"block_bytes", options.block_bytes()},
             {"processor_bytes", options.processor_bytes()},
             {"processor_threads", 2048},
             {"processor_registers", 65536},
             {"memory_bytes", int64_t(options.memory_bytes)}};
  for (const auto &row : all)
    if (std::string(row.name) == name) {
      *out_value = row.value;
      return WEFT_OK;
    }
  return WEFT_NOT_FOUND;
}

weft_status_t finish(weft_queue_t *, weft_error_t *err) { return succeed(err); }

weft_status_t open_event(weft_device_t *, weft_event_t **out, weft_error_t *err) {
  *out = new (std::nothrow) weft_event();
  return *out ? succeed(err) : fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for an event");
}
void close_event(weft_device_t *, weft_event_t *event) { delete event; }
weft_status_t record(weft_queue_t *, weft_event_t *, weft_error_t *err) { return succeed(err); }
weft_status_t follow(weft_queue_t *, weft_event_t *, weft_error_t *err) { return succeed(err); }
int32_t is_done(weft_device_t *, weft_event_t *) { return 1; }
weft_status_t wait(weft_device_t *, weft_event_t *, weft_error_t *err) { return succeed(err); }

/// In the order in which tools show them.
weft_status_t counter(weft_device_t *, const void *found, uint32_t index, weft_counter_t *out) {
  kernel &k = *static_cast<kernel *>(const_cast<void *>(found));
  std::lock_guard<std::mutex> held(k.lock);
  const counters &c = k.count;
  static_assert(unit_count == 12, "a row for each");
  const struct {
    const char *name;
    uint64_t value;
  } all[] = {{"launches", k.launches},
             {"blocks", k.blocks},
             {"instructions", c.instructions},
             {"of integers", c.by_unit[0]},
             {"of reals", c.by_unit[1]},
             {"moves", c.by_unit[2]},
             {"of control", c.by_unit[3]},
             {"of global memory", c.by_unit[4]},
             {"of shared memory", c.by_unit[5]},
             {"of local memory", c.by_unit[6]},
             {"between lanes", c.by_unit[7]},
             {"barriers", c.by_unit[8]},
             {"atomics", c.by_unit[9]},
             {"asynchronous copies", c.by_unit[10]},
             {"of tensor cores", c.by_unit[11]},
             {"instructions of threads", c.lanes},
             {"divergent branches", c.divergent_branches},
             {"tensor products", c.tensor_products},
             {"shared turns", c.shared_wavefronts},
             {"ideal shared turns", c.shared_ideal},
             {"sectors", c.sectors},
             {"ideal sectors", c.ideal_sectors},
             {"narrow accesses", c.narrow_accesses},
             {"bytes read", c.bytes_read},
             {"bytes written", c.bytes_written}};
  if (index >= sizeof all / sizeof *all)
    return WEFT_NOT_FOUND;
  *out = {out->struct_size, 0, all[index].name, all[index].value};
  return WEFT_OK;
}

} // namespace

const weft_device_v1 calls = {sizeof(weft_device_v1),
                              0,
                              "emulated",
                              nullptr,
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
                              wait,
                              counter,
                              bytes_at,
                              nullptr};

} // namespace weft_emulated

using namespace weft_emulated;

weft_status_t weft_emulated_open(const char *text, int32_t index, weft_device_t **out_device,
                                 weft_error_t *err) {
  *out_device = nullptr;
  bool is_shared = !text;
  if (!text)
    text = std::getenv(WEFT_EMULATED_OPTIONS);
  std::lock_guard<std::mutex> held(open_lock);
  try {
    device_options options = parse_options(text ? text : "");
    device *found = is_shared ? find_open(options.text, index) : nullptr;
    if (found) {
      *out_device = &found->base;
      return succeed(err);
    }
    if (index < 0 || index >= options.devices)
      return fail(err, WEFT_NOT_FOUND, "W0425",
                  "there is no emulated GPU " + std::to_string(index) + ": there are " +
                      std::to_string(options.devices));
    auto made = std::make_unique<device>();
    made->base.calls = &calls;
    made->options = options;
    made->index = index;
    if (is_shared)
      open_devices.push_back(made.get());
    *out_device = &made.release()->base;
    return succeed(err);
  } catch (const std::invalid_argument &wrong) {
    return fail(err, WEFT_INVALID, "W0401", std::string("the emulated GPU: ") + wrong.what());
  } catch (const std::bad_alloc &) {
    return fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a device");
  }
}

weft_status_t weft_emulated_counters(const void *found, weft_emulated_counters_t *out) {
  if (!found || !out || out->struct_size < 8)
    return WEFT_INVALID;
  kernel &k = *static_cast<kernel *>(const_cast<void *>(found));
  std::lock_guard<std::mutex> held(k.lock);
  const counters &c = k.count;
  weft_emulated_counters_t all = {};
  all.struct_size = out->struct_size;
  all.launches = k.launches, all.blocks = k.blocks;
  all.instructions = c.instructions, all.lanes = c.lanes;
  static_assert(WEFT_EMULATED_UNITS == unit_count, "the units of both");
  std::memcpy(all.by_unit, c.by_unit, sizeof all.by_unit);
  all.divergent_branches = c.divergent_branches, all.tensor_products = c.tensor_products;
  all.shared_wavefronts = c.shared_wavefronts, all.shared_ideal = c.shared_ideal;
  all.sectors = c.sectors, all.ideal_sectors = c.ideal_sectors;
  all.bytes_read = c.bytes_read, all.bytes_written = c.bytes_written;
  all.narrow_accesses = c.narrow_accesses;
  std::memcpy(out, &all, std::min<size_t>(out->struct_size, sizeof all));
  return WEFT_OK;
}
