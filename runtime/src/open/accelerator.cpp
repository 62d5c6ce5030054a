#include "runtime/src/open/accelerator.h"

#include <string.h>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/plugin.h"
#include "runtime/src/base/status.h"

static const weft_plugin_kind_t plugins = {"device", "W0701", "'cpu' is built in"};

/// Devices of modules are few, and opened once.
static pthread_mutex_t accelerators_lock = PTHREAD_MUTEX_INITIALIZER;

namespace {
/// "cuda:1" is the second device that libweft_cuda.so has, and "cuda" the first, as "cuda:0" is.
struct name_t {
  char kind[48];
  int32_t index;
};
} // namespace

static weft_status_t read_name(const char *name, name_t *out, weft_error_t *err) {
  size_t length = 0;
  for (; name[length] && name[length] != ':' && length < sizeof out->kind - 1; ++length)
    out->kind[length] = name[length];
  out->kind[length] = 0;
  const char *digit = name + length + (name[length] == ':');
  out->index = 0;
  for (; *digit >= '0' && *digit <= '9' && out->index < 10000; ++digit)
    out->index = 10 * out->index + (*digit - '0');
  if (!length || *digit || (name[length] && digit[-1] == ':'))
    return weft_fail(err, WEFT_INVALID, "W0701", "'%.60s' names no device: KIND or KIND:INDEX does",
                     name);
  return WEFT_OK;
}

static weft_status_t open_device(const name_t &name, weft_device_t **out_device,
                                 weft_error_t *err) {
  void *function;
  if (weft_status_t status =
          weft_find_plugin(plugins, name.kind, WEFT_DEVICE_PLUGIN, &function, err))
    return status;
  const weft_device_kind_v1 *table = ((weft_device_plugin_fn)function)();
  if (!table || table->struct_size < sizeof *table)
    return weft_refuse_plugin(plugins, name.kind, err);
  return table->open(name.index, out_device, err);
}

static weft_module_v1 variant_of(const weft_module_t *module, uint32_t index) {
  return weft_variant(module->descriptor, module->elf.file.variant_step, index);
}

/// A feature is the host's or the device's.
static bool has_feature(const weft_module_t *module, weft_device_t *device, const char *feature) {
  char property[128];
  weft_text_t text = weft_text_in(property, sizeof property);
  weft_text_add(&text, "feature.%s", feature);
  int64_t value = 0;
  if (module->device->calls->property(module->device, property, &value) || !value)
    return !device->calls->property(device, property, &value) && value;
  return true;
}

/// The first feature of the variant that is lacking; NULL: it can run.
static const char *find_lack(const weft_module_t *module, weft_device_t *device,
                             const weft_module_v1 &variant) {
  const weft_list_t &list = variant.cpu_features;
  for (uint32_t i = 0; i < list.count; ++i) {
    const char *feature =
        weft_text(module->descriptor, weft_item<weft_list_t>(module->descriptor, list, i));
    if (!has_feature(module, device, feature))
      return feature;
  }
  return nullptr;
}

/// The first variant that the device runs: the module's own alone where a target was asked for.
static weft_status_t choose_variant(const weft_module_t *module, weft_accelerator *accelerator,
                                    weft_error_t *err) {
  const char *lack = nullptr;
  for (uint32_t i = 0; i < module->elf.file.variants; ++i) {
    weft_module_v1 variant = variant_of(module, i);
    if (!variant.device_code.count || (module->has_wanted_target && i != module->variant))
      continue;
    const char *lacking = variant.host_table_size > sizeof(weft_host_v1)
                              ? "a newer runtime"
                              : find_lack(module, accelerator->device, variant);
    if (!lacking) {
      accelerator->variant = i;
      return WEFT_OK;
    }
    lack = lack ? lack : lacking;
  }
  weft_fail(err, WEFT_UNSUPPORTED, "W0702", "%.150s: has no code for device '%.60s'%s%.40s",
            module->path(), accelerator->name, lack ? ", which lacks " : "", lack ? lack : "");
  weft_set_hint(err, "compile the model for it, too: 'weft targets' lists what code is made for");
  return WEFT_UNSUPPORTED;
}

static weft_status_t load_kernels(const weft_module_t *module, weft_accelerator *accelerator,
                                  weft_error_t *err) {
  const weft_descriptor_t &descriptor = module->descriptor;
  weft_module_v1 variant = variant_of(module, accelerator->variant);
  weft_device_t *device = accelerator->device;
  weft_device_code_t code = {sizeof code,
                             variant.device_code_kind,
                             weft_text(descriptor, variant.device_code),
                             variant.device_code.count,
                             0,
                             0};
  if (weft_status_t status = device->calls->load(device, &code, &accelerator->loaded, err))
    return status;
  for (uint32_t i = 0; i < variant.kernels.count; ++i) {
    weft_kernel_v1 kernel = weft_item<weft_kernel_v1>(descriptor, variant.kernels, i);
    if (weft_status_t status =
            device->calls->find(device, accelerator->loaded, 0, weft_text(descriptor, kernel.name),
                                &accelerator->kernels[i], err))
      return status;
  }
  return WEFT_OK;
}

static weft_status_t copy_weights(const weft_module_t *module, weft_accelerator *accelerator,
                                  weft_error_t *err) {
  weft_device_t *device = accelerator->device;
  size_t size = (size_t)module->weights.size;
  if (!size)
    return WEFT_OK;
  void *memory;
  if (weft_status_t status =
          device->calls->allocate(device, WEFT_MEMORY_DEVICE, size, 256, &memory, err))
    return status;
  accelerator->weights = (uint8_t *)memory;
  weft_queue_t *queue;
  if (weft_status_t status = device->calls->open_queue(device, nullptr, &queue, err))
    return status;
  weft_copy_t copy = {sizeof copy, 0, device, nullptr, memory, module->weights.data, (int64_t)size};
  weft_status_t status = device->calls->copy(queue, &copy, err);
  if (!status)
    status = device->calls->finish(queue, err);
  device->calls->close_queue(queue);
  return status;
}

static void close_accelerator(const weft_module_t *module, weft_accelerator *accelerator) {
  weft_device_t *device = accelerator->device;
  if (device) {
    device->calls->release(device, WEFT_MEMORY_DEVICE, accelerator->weights,
                           (size_t)module->weights.size);
    device->calls->unload(device, accelerator->loaded);
    device->calls->close(device);
  }
  weft_free(&module->env, accelerator, accelerator->bytes);
}

static weft_status_t open_accelerator(const weft_module_t *module, const char *text,
                                      const name_t &name, weft_accelerator **out,
                                      weft_error_t *err) {
  uint32_t most = 0; // kernels of a variant
  for (uint32_t i = 0; i < module->elf.file.variants; ++i)
    if (uint32_t count = variant_of(module, i).kernels.count; count > most)
      most = count;
  size_t bytes = sizeof(weft_accelerator) + most * sizeof(void *);
  auto *made = (weft_accelerator *)weft_allocate(&module->env, bytes, 64);
  if (!made)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a context");
  memset(made, 0, bytes);
  made->bytes = bytes;
  made->kernels = (const void **)(made + 1);
  weft_text_t as_asked = weft_text_in(made->name, sizeof made->name);
  weft_text_add(&as_asked, "%.60s", text);
  made->index = name.index;
  weft_status_t status = open_device(name, &made->device, err);
  if (!status)
    status = choose_variant(module, made, err);
  if (!status)
    status = load_kernels(module, made, err);
  if (!status)
    status = copy_weights(module, made, err);
  if (status)
    close_accelerator(module, made);
  else
    *out = made;
  return status;
}

static bool is_named(const weft_accelerator &accelerator, const name_t &name) {
  size_t length = strlen(name.kind);
  char end = strncmp(accelerator.name, name.kind, length) ? 'x' : accelerator.name[length];
  return accelerator.index == name.index && (!end || end == ':');
}

/// The one that the module has by that name, or a new one; its users are one more.
static weft_status_t find_accelerator(weft_module_t *opened, const char *text,
                                      weft_accelerator **out, weft_error_t *err) {
  name_t name;
  if (weft_status_t status = read_name(text, &name, err))
    return status;
  for (weft_accelerator *each = opened->accelerators; each; each = each->next)
    if (is_named(*each, name)) {
      ++each->users;
      *out = each;
      return WEFT_OK;
    }
  if (weft_status_t status = open_accelerator(opened, text, name, out, err))
    return status;
  (*out)->users = 1;
  (*out)->next = opened->accelerators;
  opened->accelerators = *out;
  return WEFT_OK;
}

weft_status_t weft_module_for_device(weft_module_t *module, const char *name,
                                     weft_module_t **out_module, weft_error_t *err) {
  weft_module_t *opened = module->opened ? module->opened : module;
  weft_accelerator *accelerator;
  pthread_mutex_lock(&accelerators_lock);
  weft_status_t status = find_accelerator(opened, name, &accelerator, err);
  pthread_mutex_unlock(&accelerators_lock);
  if (status)
    return status;
  status = weft_module_view(opened, accelerator->variant, out_module, err);
  if (status)
    weft_leave_accelerator(opened, accelerator);
  else
    (*out_module)->accelerator = accelerator;
  return status;
}

void weft_leave_accelerator(weft_module_t *opened, weft_accelerator *accelerator) {
  pthread_mutex_lock(&accelerators_lock);
  if (--accelerator->users == 0) {
    weft_accelerator **link = &opened->accelerators;
    while (*link != accelerator)
      link = &(*link)->next;
    *link = accelerator->next;
    close_accelerator(opened, accelerator);
  }
  pthread_mutex_unlock(&accelerators_lock);
}
