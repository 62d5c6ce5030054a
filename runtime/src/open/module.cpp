// The loader. Order matters: nothing is executable before the bytes are hashed and the descriptor
// is checked, and the file that was checked is the one that is mapped.
#include "runtime/src/open/module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <initializer_list>
#include <new>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/cpu_features.h"
#include "runtime/src/cpu/env.h"
#include "runtime/src/cpu/threads.h"
#include "runtime/src/open/accelerator.h"
#include "weft/sha256.h"

static const uint64_t huge_page = 2 << 20;

static bool out_of_memory(weft_refusal_t *refusal, const char *what) {
  return weft_refuse(refusal, WEFT_OUT_OF_MEMORY, "W0509", "cannot be mapped: no room for %s",
                     what);
}

/// Maps [begin, begin + size) of the file for reading, at an address congruent to `begin` modulo 2
/// MiB when `use_huge_pages`, and followed by at least one zero byte otherwise.
static bool map_range(int fd, uint64_t begin, uint64_t size, bool use_huge_pages,
                      weft_mapping_t *out) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t head = begin % page, slack = use_huge_pages ? huge_page : page;
  uint64_t needed = (head + size + page - 1) / page * page;
  void *reserved =
      mmap(nullptr, needed + slack, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    return false;
  *out = {nullptr, begin, size, reserved, needed + slack};
  uint8_t *at = (uint8_t *)reserved;
  out->data = at;
  if (size == 0)
    return true;
  if (use_huge_pages)
    at += (begin - (uintptr_t)at) % huge_page;
  if (mmap(at, head + size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)(begin - head)) ==
      MAP_FAILED) {
    munmap(reserved, out->reserved_size);
    *out = {};
    return false;
  }
  if (use_huge_pages)
    madvise(at, head + size, MADV_HUGEPAGE);
  out->data = at + head;
  return true;
}

static void unmap_range(weft_mapping_t *mapping) {
  if (mapping->reserved)
    munmap(mapping->reserved, mapping->reserved_size);
  *mapping = {};
}

/// The first page, wherever a signal interrupts.
static bool read_first_page(int fd, uint8_t *page, size_t *out_bytes) {
  size_t have = 0;
  while (have < WEFT_HEADER_BYTES) {
    ssize_t got = pread(fd, page + have, WEFT_HEADER_BYTES - have, (off_t)have);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return false;
    if (got == 0)
      break;
    have += (size_t)got;
  }
  *out_bytes = have;
  return true;
}

/// Hashes everything but the weights, with the hash itself taken as zero.
static bool check_hash(const weft_elf_t &elf, const weft_mapping_t &head,
                       const weft_mapping_t &tail, weft_refusal_t *refusal) {
  static const uint8_t zero[32] = {0};
  uint8_t digest[32];
  uint64_t after = elf.hash_offset + sizeof zero;
  weft_sha256_t hash;
  weft_sha256_init(&hash);
  weft_sha256_update(&hash, head.data, elf.hash_offset);
  weft_sha256_update(&hash, zero, sizeof zero);
  weft_sha256_update(&hash, head.data + after, head.size - after);
  weft_sha256_update(&hash, tail.data, tail.size);
  weft_sha256_final(&hash, digest);
  if (memcmp(digest, elf.file.hash, sizeof digest) == 0)
    return true;
  return weft_refuse(refusal, WEFT_BAD_ARTIFACT, "W0506",
                     "is damaged: its SHA-256 is not the one that was written into it");
}

/// A CPU feature that a variant needs and this process cannot use, or NULL.
struct weft_lack_t {
  const char *feature;
  bool is_refused; ///< by the system, though the processor has it
};

/// What the device says of a feature, or `unknown`.
static bool device_says(const weft_module_t *module, const char *kind, const char *feature,
                        bool unknown) {
  char property[128];
  weft_text_t text = weft_text_in(property, sizeof property);
  weft_text_add(&text, "%s.%s", kind, feature);
  int64_t value;
  if (module->device->calls->property(module->device, property, &value))
    return unknown;
  return value != 0;
}

/// The first one. The system is asked for what it gives on demand only when nothing else is lacking.
static weft_lack_t find_lack(const weft_module_t *module, const weft_module_v1 &variant) {
  const weft_descriptor_t &descriptor = module->descriptor;
  const weft_list_t &list = variant.cpu_features;
  for (bool is_refused : {false, true})
    for (uint32_t i = 0; i < list.count; ++i) {
      const char *name = weft_text(descriptor, weft_item<weft_list_t>(descriptor, list, i));
      if (!device_says(module, is_refused ? "permission" : "feature", name, is_refused))
        return {name, is_refused};
    }
  return {};
}

/// Variant `index` of a module whose descriptor was checked.
static weft_module_v1 variant_of(const weft_module_t *module, uint32_t index) {
  return weft_variant(module->descriptor, module->elf.file.variant_step, index);
}

/// "'x86:v4' (needs 'avx512f'), 'x86:v3' (needs 'avx2')" of all variants, or without what they lack.
static void list_variants(const weft_module_t *module, bool with_needs, weft_text_t *out) {
  for (uint32_t i = 0; i < module->elf.file.variants; ++i) {
    weft_module_v1 variant = variant_of(module, i);
    weft_text_add(out, "%s'%.40s'", i ? ", " : "", weft_text(module->descriptor, variant.target));
    if (!with_needs)
      continue;
    weft_lack_t lack = find_lack(module, variant);
    weft_text_add(out, " (%s '%.40s')", lack.is_refused ? "is refused" : "needs",
                  lack.feature ? lack.feature : "");
  }
}

/// No variant is the wanted one, or this process can run none.
static bool refuse_all(const weft_module_t *module, weft_refusal_t *refusal) {
  const char *wanted = module->env.target;
  char names[256];
  weft_text_t list = weft_text_in(names, sizeof names);
  list_variants(module, !wanted, &list);
  if (wanted)
    return weft_refuse(refusal, WEFT_INVALID, "W0511", "is not compiled for '%.40s', but for %s",
                       wanted, names);
  return weft_refuse(refusal, WEFT_UNSUPPORTED, "W0502",
                     "is compiled for %s; this process can use none of these features", names);
}

static bool refuse_lack(const weft_module_t *module, weft_lack_t lack, weft_refusal_t *refusal) {
  const char *target = weft_text(module->descriptor, module->descriptor.root.target);
  if (lack.is_refused)
    return weft_refuse(refusal, WEFT_UNSUPPORTED, "W0512",
                       "is compiled for '%.64s' and needs the CPU feature '%.64s', which the "
                       "system does not let this process use",
                       target, lack.feature);
  return weft_refuse(refusal, WEFT_UNSUPPORTED, "W0502",
                     "is compiled for '%.64s' and needs the CPU feature '%.64s', which this "
                     "machine does not have",
                     target, lack.feature);
}

/// The variant with the chosen one's target for so many ranks, or that.
static uint32_t find_ranks(const weft_module_t *module, uint32_t ranks) {
  const char *target = weft_text(module->descriptor, module->descriptor.root.target);
  for (uint32_t i = 0; i < module->elf.file.variants; ++i) {
    weft_module_v1 variant = variant_of(module, i);
    if (weft_variant_ranks(module->descriptor, variant) == ranks &&
        strcmp(weft_text(module->descriptor, variant.target), target) == 0)
      return i;
  }
  return module->variant;
}

/// The first whose kernels run on a device, or their number: what those need, contexts ask.
static uint32_t find_for_device(const weft_module_t *module) {
  uint32_t count = module->elf.file.variants, i = 0;
  while (i < count && !variant_of(module, i).device_code.count)
    ++i;
  return i;
}

/// Chooses the wanted variant, or else the first that this process can run, or one for a device, or to be described the first.
static bool choose_variant(weft_module_t *module, weft_refusal_t *refusal) {
  weft_descriptor_t &descriptor = module->descriptor;
  const char *wanted = module->env.target;
  uint32_t count = module->elf.file.variants, i = 0;
  weft_lack_t lack = {};
  for (; i < count; ++i) {
    descriptor.root = variant_of(module, i);
    if (wanted && strcmp(weft_text(descriptor, descriptor.root.target), wanted) != 0)
      continue;
    bool for_device = descriptor.root.device_code.count;
    lack = for_device ? weft_lack_t() : find_lack(module, descriptor.root);
    if (for_device ? wanted != nullptr : !lack.feature || wanted || count == 1)
      break;
  }
  if (i == count && !wanted && (i = find_for_device(module)) < count)
    descriptor.root = variant_of(module, i);
  if (i == count && module->env.describe && !wanted) {
    i = 0;
    descriptor.root = variant_of(module, i);
  }
  module->variant = i;
  if (i == count)
    return refuse_all(module, refusal);
  if (lack.feature && !module->env.describe)
    return refuse_lack(module, lack, refusal);
  if (module->env.ranks) {
    module->variant = find_ranks(module, module->env.ranks);
    descriptor.root = variant_of(module, module->variant);
  }
  uint64_t needed = descriptor.root.host_table_size;
  if (needed > sizeof(weft_host_v1))
    return weft_refuse(refusal, WEFT_UNSUPPORTED, "W0505",
                       "needs %llu bytes of host table, but this runtime has %zu",
                       (unsigned long long)needed, sizeof(weft_host_v1));
  return true;
}

/// The only executable segment as distances from the descriptor.
static bool find_code(const weft_elf_t &elf, weft_descriptor_limits_t *limits,
                      weft_refusal_t *refusal) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < elf.segment_count; ++i) {
    const weft_segment_t &segment = elf.segments[i];
    if (!segment.executable)
      continue;
    ++found;
    limits->code_begin = (int64_t)segment.address - (int64_t)elf.file.descriptor;
    limits->code_end = limits->code_begin + (int64_t)segment.size;
  }
  if (found == 1)
    return true;
  return weft_refuse(refusal, WEFT_BAD_ARTIFACT, "W0504", "has %u executable segments instead of 1",
                     found);
}

static bool check_contents(weft_module_t *module, const weft_mapping_t &head,
                           weft_refusal_t *refusal) {
  weft_elf_t &elf = module->elf;
  if (!check_hash(elf, head, module->tail, refusal) ||
      !weft_elf_check_dynamic(&elf, head.data, refusal))
    return false;
  weft_descriptor_limits_t limits;
  if (!find_code(elf, &limits, refusal))
    return false;
  limits.weights_size = elf.file.weights_size;
  limits.variants = elf.file.variants;
  limits.variant_step = elf.file.variant_step;
  module->descriptor.base = module->image.base + elf.file.descriptor;
  module->descriptor.size = elf.file.descriptor_size;
  char reason[256];
  if (!weft_descriptor_check(module->descriptor, limits, reason, sizeof reason))
    return weft_refuse(refusal, WEFT_BAD_ARTIFACT, "W0507", "has a damaged descriptor: %s", reason);
  return choose_variant(module, refusal);
}

/// Gives the image, all of which was checked, to the device: from here on its code can run.
static bool load_code(weft_module_t *module, weft_refusal_t *refusal) {
  weft_device_code_t code = {
      sizeof code, WEFT_CODE_HOST, module->image.base, module->image.span, 0, 0};
  for (uint32_t i = 0; i < module->elf.segment_count; ++i) {
    const weft_segment_t &segment = module->elf.segments[i];
    if (segment.executable) {
      code.code_begin = segment.address;
      code.code_size = segment.size;
    }
  }
  weft_device_t *device = module->device;
  weft_error_t err = WEFT_ERROR_INIT;
  const void *first;
  weft_status_t status = device->calls->load(device, &code, &module->loaded, &err);
  if (!status)
    status = device->calls->find(device, module->loaded, code.code_begin, nullptr, &first, &err);
  if (status)
    return weft_refuse(refusal, status, err.code, "%.300s", err.message);
  module->code = (const uint8_t *)first - code.code_begin + module->elf.file.descriptor;
  return true;
}

/// Maps what the header names and checks it. What was mapped on failure belongs to the module.
static bool load(weft_module_t *module, int fd, uint64_t file_size, weft_refusal_t *refusal) {
  uint8_t page[WEFT_HEADER_BYTES];
  size_t page_bytes;
  if (!read_first_page(fd, page, &page_bytes))
    return weft_refuse(refusal, WEFT_IO, "W0508", "cannot be read: %s", strerror(errno));
  weft_elf_t &elf = module->elf;
  if (!weft_elf_parse(page, page_bytes, file_size, &elf, refusal))
    return false;
  if (!module->env.describe && !weft_elf_check_machine(&elf, refusal))
    return false;
  const weft_file_v1 &file = elf.file;
  uint64_t head_size = file.weights_size ? file.weights_begin : file.image_size;
  uint64_t tail_begin = head_size + file.weights_size;
  if (!weft_elf_map(&elf, fd, &module->image))
    return out_of_memory(refusal, "its code");
  if (!map_range(fd, tail_begin, file_size - tail_begin, false, &module->tail))
    return out_of_memory(refusal, "its last part");
  if (file.weights_size &&
      !map_range(fd, file.weights_begin, file.weights_size, true, &module->weights))
    return out_of_memory(refusal, "its weights");
  weft_mapping_t head;
  if (!map_range(fd, 0, head_size, false, &head))
    return out_of_memory(refusal, "its first part");
  bool good = check_contents(module, head, refusal);
  unmap_range(&head);
  return good && (module->env.describe || load_code(module, refusal));
}

/// The weight that byte `offset` of the weights belongs to, or "".
static const char *weight_at(const weft_module_t *module, uint64_t offset, uint64_t end) {
  const weft_list_t &list = module->descriptor.root.weights;
  for (uint32_t i = 0; i < list.count; ++i) {
    weft_weight_v1 weight = weft_item<weft_weight_v1>(module->descriptor, list, i);
    if (weight.offset < end && weight.offset + weight.bytes > offset)
      return weft_text(module->descriptor, weight.name);
  }
  return "";
}

static bool check_weights(const weft_module_t *module, weft_refusal_t *refusal) {
  const weft_file_v1 &file = module->elf.file;
  const uint64_t leaf = 1ull << WEFT_LEAF_LOG2;
  for (uint64_t i = 0; i < file.leaf_count; ++i) {
    uint64_t begin = i * leaf, left = file.weights_size - begin, size = left < leaf ? left : leaf;
    uint8_t digest[32];
    weft_sha256(module->weights.data + begin, size, digest);
    const uint8_t *expected = module->tail.data + (file.leaves_begin - module->tail.begin) + i * 32;
    if (memcmp(digest, expected, sizeof digest) != 0)
      return weft_refuse(refusal, WEFT_BAD_ARTIFACT, "W0510",
                         "has damaged weights: piece %llu of %llu (around '%.100s') has another "
                         "SHA-256 than was written into it",
                         (unsigned long long)i + 1, (unsigned long long)file.leaf_count,
                         weight_at(module, begin, begin + size));
  }
  return true;
}

static weft_status_t report(const weft_refusal_t &refusal, const char *path, weft_error_t *err) {
  weft_fail(err, refusal.status, refusal.code, "%.150s: %s", path, refusal.text);
  if (refusal.status == WEFT_BAD_ARTIFACT && strcmp(refusal.code, "W0501") != 0)
    weft_set_hint(err, "copy the file again or compile the model again");
  if (strcmp(refusal.code, "W0502") == 0)
    weft_set_hint(err, "compile the model for this machine: weft compile … --target %s",
                  weft_cpu_target());
  if (strcmp(refusal.code, "W0512") == 0)
    weft_set_hint(err, "compile the model without it: weft compile … --target %s",
                  weft_cpu_target_without_asking());
  if (strcmp(refusal.code, "W0505") == 0)
    weft_set_hint(err, "use the runtime of the weft that compiled it, or compile the model again");
  return refusal.status;
}

static weft_status_t open_checked(const weft_env_t &env, int fd, const char *path,
                                  weft_module_t **out_module, weft_error_t *err) {
  struct stat info;
  weft_refusal_t refusal;
  if (fstat(fd, &info) != 0) {
    weft_refuse(&refusal, WEFT_IO, "W0508", "cannot be examined: %s", strerror(errno));
    return report(refusal, path, err);
  }
  if (!S_ISREG(info.st_mode)) {
    weft_refuse(&refusal, WEFT_BAD_ARTIFACT, "W0501", "is not a regular file");
    return report(refusal, path, err);
  }
  size_t bytes = sizeof(weft_module_t) + strlen(path) + 1;
  void *memory = weft_allocate(&env, bytes, 64);
  if (!memory)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a module");
  memset(memory, 0, bytes);
  weft_module_t *module = new (memory) weft_module;
  module->references.store(1, std::memory_order_relaxed);
  module->env = env;
  module->bytes = bytes;
  memcpy((char *)memory + sizeof(weft_module_t), path, strlen(path) + 1);
  module->device = env.device;
  if (!env.device)
    if (weft_status_t status = weft_cpu_open(&env, &module->device, err)) {
      weft_module_release(module);
      return status;
    }
  if (!load(module, fd, (uint64_t)info.st_size, &refusal) ||
      (env.verify && !check_weights(module, &refusal))) {
    report(refusal, path, err);
    weft_module_release(module);
    return refusal.status;
  }
  module->has_wanted_target = module->env.target != nullptr;
  module->env.target = nullptr; // the caller's
  *out_module = module;
  return weft_succeed(err);
}

weft_status_t weft_module_open_fd(const weft_env_t *env, int fd, weft_module_t **out_module,
                                  weft_error_t *err) {
  if (!out_module)
    return weft_fail(err, WEFT_INVALID, "W0401", "out_module is NULL");
  *out_module = nullptr;
  weft_env_t checked;
  weft_status_t status = weft_read_env(env, &checked, err);
  return status ? status : open_checked(checked, fd, "artifact", out_module, err);
}

weft_status_t weft_module_open(const weft_env_t *env, const char *path, weft_module_t **out_module,
                               weft_error_t *err) {
  if (!out_module || !path)
    return weft_fail(err, WEFT_INVALID, "W0401", "path or out_module is NULL");
  *out_module = nullptr;
  weft_env_t checked;
  weft_status_t status = weft_read_env(env, &checked, err);
  if (status)
    return status;
  int fd;
  do // a pipe must not make open wait for its other end
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    bool is_missing = errno == ENOENT || errno == ENOTDIR;
    return weft_fail(err, is_missing ? WEFT_NOT_FOUND : WEFT_IO, "W0508",
                     "%.300s: cannot be opened: %s", path, strerror(errno));
  }
  status = open_checked(checked, fd, path, out_module, err);
  close(fd);
  return status;
}

weft_status_t weft_module_verify(const weft_module_t *module, weft_error_t *err) {
  if (!module)
    return weft_fail(err, WEFT_INVALID, "W0401", "module is NULL");
  weft_refusal_t refusal;
  return check_weights(module, &refusal) ? weft_succeed(err) : report(refusal, module->path(), err);
}

uint32_t weft_variant_count(const weft_module_t *module) {
  return module ? module->elf.file.variants : 0;
}

weft_status_t weft_variant_info(const weft_module_t *module, uint32_t index,
                                weft_variant_info_t *out_info) {
  if (!weft_has_room(out_info) || index >= weft_variant_count(module))
    return WEFT_INVALID;
  weft_module_v1 variant = variant_of(module, index);
  // What kernels on a device lack, is known when there is one.
  weft_lack_t lack = variant.device_code.count ? weft_lack_t() : find_lack(module, variant);
  return weft_give_sized<weft_variant_info_t>(
      out_info, {0, variant.cpu_features.count, index == module->variant,
                 weft_text(module->descriptor, variant.target), lack.feature, lack.is_refused,
                 weft_variant_ranks(module->descriptor, variant)});
}

const char *weft_variant_feature(const weft_module_t *module, uint32_t index, uint32_t feature) {
  if (index >= weft_variant_count(module))
    return nullptr;
  weft_list_t list = variant_of(module, index).cpu_features;
  if (feature >= list.count)
    return nullptr;
  return weft_text(module->descriptor, weft_item<weft_list_t>(module->descriptor, list, feature));
}

weft_status_t weft_module_view(weft_module_t *module, uint32_t index, weft_module_t **out_module,
                               weft_error_t *err) {
  auto *view = (weft_module_t *)weft_allocate(&module->env, sizeof(weft_module_t), 64);
  if (!view)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a context");
  memcpy((void *)view, (const void *)module, sizeof *view);
  view->references.store(1, std::memory_order_relaxed);
  view->opened = module;
  view->variant = index;
  view->descriptor.root = variant_of(module, index);
  module->references.fetch_add(1, std::memory_order_relaxed);
  *out_module = view;
  return WEFT_OK;
}

weft_status_t weft_module_for_ranks(weft_module_t *module, uint32_t ranks,
                                    weft_module_t **out_module, weft_error_t *err) {
  uint32_t index = find_ranks(module, ranks);
  if (index != module->variant)
    return weft_module_view(module, index, out_module, err);
  module->references.fetch_add(1, std::memory_order_relaxed);
  *out_module = module;
  return WEFT_OK;
}

void weft_module_release(weft_module_t *module) {
  if (!module || module->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  weft_device_t *device = module->device;
  if (weft_module_t *opened = module->opened) {
    if (module->accelerator)
      weft_leave_accelerator(opened, module->accelerator);
    weft_free(&opened->env, module, sizeof *module);
    return weft_module_release(opened);
  }
  if (device)
    device->calls->unload(device, module->loaded);
  weft_elf_unmap(&module->image);
  unmap_range(&module->weights);
  unmap_range(&module->tail);
  weft_env_t env = module->env;
  if (device && !env.device)
    device->calls->close(device);
  weft_free(&env, module, module->bytes);
}
