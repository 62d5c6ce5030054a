// Modules of PTX, and the kernels that are found in them.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "runtime/plugins/emulated/code/builder.h"
#include "runtime/plugins/emulated/device/device.h"

using namespace weft_emulated;

/// A module that was loaded: its variables have memory, its kernels are decoded when somebody asks for them.
struct weft_loaded {
  device *on = nullptr;
  module_text text;
  variable_addresses addresses;
  std::vector<void *> blocks;
  uint64_t placed_bytes = 0;
  std::mutex lock;
  std::map<std::string, std::unique_ptr<kernel>> kernels;
  std::vector<std::unique_ptr<weft_loaded>> replacements; ///< whose kernels stand in `kernels`

  ~weft_loaded() {
    for (void *each : blocks) {
      remove_allocation(*on, uint64_t(each));
      std::free(each);
    }
  }

  void place(const variable &each) {
    size_t alignment = std::max<size_t>(each.alignment, 256);
    size_t size = (each.bytes + 256 + alignment - 1) / alignment * alignment;
    placed_bytes += size;
    bool has_room = placed_bytes <= on->options.memory_bytes;
    void *memory = has_room ? std::aligned_alloc(alignment, size) : nullptr;
    if (!memory)
      throw std::bad_alloc();
    blocks.push_back(memory);
    std::memset(memory, 0, size);
    if (!each.initial.empty())
      std::memcpy(memory, each.initial.data(), std::min<size_t>(each.initial.size(), each.bytes));
    addresses[each.name] = uint64_t(memory);
    add_allocation(*on,
                   std::make_shared<allocation>(uint64_t(memory), each.bytes,
                                                each.where == space::global, each.name),
                   false);
  }
};

namespace weft_emulated {

/// Code for an architecture runs on those behind it, unless it is for one alone.
static void check_target(const module_text &text, const device_options &options) {
  bool is_right = text.is_architecture_specific ? options.is_architecture_specific &&
                                                      text.architecture == options.architecture
                                                : text.architecture <= options.architecture;
  if (is_right)
    return;
  auto name = [](int32_t number, bool is_specific) {
    return "sm_" + std::to_string(number) + (is_specific ? "a" : "");
  };
  throw text_error(1, "it is for " + name(text.architecture, text.is_architecture_specific) +
                          ", and this device is " +
                          name(options.architecture, options.is_architecture_specific));
}

/// Throws text_error.
static std::unique_ptr<weft_loaded> load_text(device &on, std::string_view bytes) {
  auto loaded = std::make_unique<weft_loaded>();
  loaded->on = &on;
  loaded->text = parse_module(bytes);
  check_target(loaded->text, on.options);
  for (const auto &[name, each] : loaded->text.variables)
    if (each.where == space::global || each.where == space::constant)
      loaded->place(each);
  return loaded;
}

/// The module that has the kernel's code: that of a file in the options' folder, or `loaded`.
static weft_loaded &module_of(weft_loaded &loaded, const std::string &name) {
  const std::string &folder = loaded.on->options.code;
  std::ifstream file;
  if (!folder.empty())
    file.open(folder + "/" + name + ".ptx");
  if (!file.is_open())
    return loaded;
  std::stringstream bytes;
  bytes << file.rdbuf();
  std::string text = bytes.str();
  loaded.replacements.push_back(load_text(*loaded.on, text));
  return *loaded.replacements.back();
}

weft_status_t load(weft_device_t *base, const weft_device_code_t *given, weft_loaded_t **out,
                   weft_error_t *err) {
  *out = nullptr;
  weft_device_code_t code;
  if (!read_sized(given, &code))
    return fail(err, WEFT_INVALID, "W0401", "code.struct_size is wrong");
  if (code.kind != WEFT_CODE_PTX || !code.bytes)
    return fail(err, WEFT_UNSUPPORTED, "W0425",
                "the emulated GPU loads PTX, not code of kind " + std::to_string(code.kind));
  try {
    *out =
        load_text(*own(base), {static_cast<const char *>(code.bytes), size_t(code.size)}).release();
  } catch (const text_error &wrong) {
    return fail(err, WEFT_UNSUPPORTED, "W0425", std::string("PTX: ") + wrong.what());
  } catch (const std::bad_alloc &) {
    return fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for loaded code");
  }
  return succeed(err);
}

void unload(weft_device_t *, weft_loaded_t *loaded) { delete loaded; }

weft_status_t find(weft_device_t *, weft_loaded_t *loaded, uint64_t, const char *name,
                   const void **out_kernel, weft_error_t *err) {
  *out_kernel = nullptr;
  name = name ? name : "";
  std::lock_guard<std::mutex> held(loaded->lock);
  try {
    auto known = loaded->kernels.find(name);
    if (known == loaded->kernels.end()) {
      weft_loaded &from = module_of(*loaded, name);
      auto found = from.text.functions.find(name);
      if (found == from.text.functions.end() || !found->second.is_entry || !found->second.has_body)
        return fail(err, WEFT_NOT_FOUND, "W0425", std::string("there is no kernel '") + name + "'");
      auto made = std::make_unique<kernel>();
      made->code = build_program(from.text, found->second, from.addresses);
      known = loaded->kernels.emplace(name, std::move(made)).first;
    }
    *out_kernel = known->second.get();
  } catch (const text_error &wrong) {
    return fail(err, WEFT_UNSUPPORTED, "W0425",
                std::string("PTX: kernel '") + name + "': " + wrong.what());
  } catch (const std::bad_alloc &) {
    return fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a kernel");
  }
  return succeed(err);
}

} // namespace weft_emulated
