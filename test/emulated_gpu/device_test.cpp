// The emulated GPU as a device: what every device does, its options, and several of them.
#include <catch2/catch.hpp>

#include <dlfcn.h>

#include "test/emulated_gpu/gpu.h"
#include "test/runtime/device_conformance.h"

using namespace weft_test;

namespace {

/// out[i] = a[i] + b[i] for 8-byte numbers, one a block.
std::string add_numbers() {
  return replaced(kernel(R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u64 %rd3, [p2];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd4, %r1, 8;
  add.s64 %rd1, %rd1, %rd4;
  add.s64 %rd2, %rd2, %rd4;
  add.s64 %rd3, %rd3, %rd4;
  ld.global.u64 %rd5, [%rd2];
  ld.global.u64 %rd6, [%rd3];
  add.s64 %rd5, %rd5, %rd6;
  st.global.u64 [%rd1], %rd5;
)",
                         3),
                  "entry k(", "entry add_numbers(");
}

std::string opening(const char *options, int32_t index = 0) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_device_t *device = nullptr;
  weft_status_t status = weft_emulated_open(options, index, &device, &err);
  if (!status)
    device->calls->close(device);
  return status ? err.message : "";
}

} // namespace

TEST_CASE("the emulated GPU does what every device must do") {
  const std::string text = add_numbers();
  for (const char *options : {"", "seed=3,blocks=random,eager", "threads=2", "checks=off"}) {
    gpu device(options);
    device_kit kit = {device.device,
                      {sizeof(weft_device_code_t), WEFT_CODE_PTX, text.c_str(), text.size(), 0, 0},
                      0,
                      "add_numbers",
                      1};
    for (const device_step &step : device_steps()) {
      INFO(step.what << " with '" << options << "'");
      REQUIRE(run_step(step, kit) == "");
    }
  }
}

TEST_CASE("the plug-in says what kind of devices it has, and opens them") {
  void *library = dlopen(WEFT_EMULATED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  weft_device_plugin_fn plugin;
  void *symbol = dlsym(library, WEFT_DEVICE_PLUGIN);
  REQUIRE(symbol != nullptr);
  std::memcpy(&plugin, &symbol, sizeof plugin);
  const weft_device_kind_v1 *kind = plugin();
  REQUIRE(std::string(kind->kind) == "emulated");
  weft_error_t err = WEFT_ERROR_INIT;
  int32_t count = 0;
  setenv("WEFT_EMULATED", "devices=3,sm=90a", 1);
  REQUIRE(kind->count(&count, &err) == WEFT_OK);
  REQUIRE(count == 3);
  weft_device_t *device;
  REQUIRE(kind->open(2, &device, &err) == WEFT_OK);
  int64_t value = 0;
  REQUIRE(device->calls->property(device, "sm", &value) == WEFT_OK);
  REQUIRE(value == 90);
  REQUIRE(device->calls->property(device, "block_bytes", &value) == WEFT_OK);
  REQUIRE(value == 232448);
  device->calls->close(device);
  REQUIRE(kind->open(3, &device, &err) == WEFT_NOT_FOUND);
  setenv("WEFT_EMULATED", "sede=7", 1);
  REQUIRE(kind->count(&count, &err) == WEFT_INVALID);
  unsetenv("WEFT_EMULATED");
  dlclose(library);
}

TEST_CASE("options that are not known are refused in one line") {
  REQUIRE(opening("seed=7,lazy,blocks=random,sm=90a,devices=4", 3) == "");
  REQUIRE(opening("sede=7").find("option 'sede=7' is not known: seed=N") != std::string::npos);
  REQUIRE(opening("sm=70").find("option 'sm=70'") != std::string::npos);
  REQUIRE(opening("seed=x").find("a number from 0") != std::string::npos);
  REQUIRE(opening("devices=2", 2) == "there is no emulated GPU 2: there are 2");
}

TEST_CASE("launches that the device cannot run are refused before they begin") {
  gpu device;
  REQUIRE(device.run(kernel("", 0), {}, {1, 2000}) ==
          "kernel 'k': 2000 threads in a block, which has 1 to 1024");
  REQUIRE(device.run(kernel("", 0), {}, {1, 32, 200000}) ==
          "kernel 'k': 200000 bytes of shared memory, of which a block has 166912");
  REQUIRE(device.run(kernel("", 1), {}) == "kernel 'k': 0 words for 1 parameters");
}

TEST_CASE("memory that was given back is no buffer any more") {
  gpu device;
  void *memory;
  weft_error_t err = WEFT_ERROR_INIT;
  REQUIRE(device.calls->allocate(device.device, WEFT_MEMORY_DEVICE, 64, 256, &memory, &err) ==
          WEFT_OK);
  device.calls->release(device.device, WEFT_MEMORY_DEVICE, memory, 64);
  std::string told = device.run(kernel("ld.param.u64 %rd1, [p0]; ld.global.u32 %r1, [%rd1];", 1),
                                {int64_t(memory)});
  REQUIRE(told.find("reads 4 bytes out of bounds") != told.npos);
}

TEST_CASE("a device uses what a peer shares when it reaches it, and nothing else") {
  gpu first("devices=2", 0), second("devices=2", 1);
  weft_error_t err = WEFT_ERROR_INIT;
  const std::string store = kernel("ld.param.u64 %rd1, [p0]; mov.u32 %r1, 7; "
                                   "st.global.u32 [%rd1], %r1;",
                                   1);
  for (uint32_t space : {WEFT_MEMORY_DEVICE, WEFT_MEMORY_SHARED}) {
    void *memory;
    REQUIRE(second.calls->allocate(second.device, space, 64, 256, &memory, &err) == WEFT_OK);
    bool is_shared = space == WEFT_MEMORY_SHARED;
    if (!is_shared)
      REQUIRE(first.calls->reach(first.device, second.device, &err) == WEFT_OK);
    std::string told = first.run(store, {int64_t(memory)}, {1, 1});
    INFO(told);
    REQUIRE((told.empty() ? is_shared : told.find("out of bounds") != told.npos));
    REQUIRE(told.empty() == is_shared);
    second.calls->release(second.device, space, memory, 64);
  }
}
