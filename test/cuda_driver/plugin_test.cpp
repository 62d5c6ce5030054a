// NVIDIA's plug-in over the stand-in for the driver: what every device does, and what it says of each call that fails.
#include <catch2/catch.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "runtime/plugins/cuda/driver.h"
#include "test/runtime/device_conformance.h"

using namespace weft_test;

namespace {

/// out[i] = a[i] + b[i] for 8-byte numbers, one a block; and a kernel that shares memory.
const char *const kText = R"(.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry add_numbers(.param .u64 p0, .param .u64 p1, .param .u64 p2) {
  .reg .b32 %r<2>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [p0];
  ld.param.u64 %d2, [p1];
  ld.param.u64 %d3, [p2];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %d4, %r1, 8;
  add.s64 %d1, %d1, %d4;
  add.s64 %d2, %d2, %d4;
  add.s64 %d3, %d3, %d4;
  ld.global.u64 %d5, [%d2];
  ld.global.u64 %d6, [%d3];
  add.s64 %d5, %d5, %d6;
  st.global.u64 [%d1], %d5;
  ret;
}
.visible .entry shares() {
  .reg .b32 %r<3>;
  mov.u32 %r1, room;
  st.shared.u32 [%r1+59996], %r1;
  ret;
}
)";

template <class F> F function(const char *library, const char *name) {
  void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(opened != nullptr);
  void *symbol = dlsym(opened, name);
  REQUIRE(symbol != nullptr);
  F found;
  std::memcpy(&found, &symbol, sizeof found);
  return found;
}

const weft_device_kind_v1 *plugin() {
  return function<weft_device_plugin_fn>(WEFT_CUDA_LIBRARY, WEFT_DEVICE_PLUGIN)();
}

/// From now on this is what fails.
void plan(const std::string &text) {
  setenv("WEFT_STAND_IN", text.c_str(), 1);
  function<void (*)()>("libcuda.so.1", "weft_stand_in_restart")();
}

struct Gpu {
  weft_device_t *device = nullptr;
  weft_error_t err = WEFT_ERROR_INIT;
  explicit Gpu(int index = 0) { plugin()->open(index, &device, &err); }
  ~Gpu() {
    if (device)
      device->calls->close(device);
  }
  Gpu(const Gpu &) = delete;
  device_kit kit(const char *text = kText) const {
    return {device,
            {sizeof(weft_device_code_t), WEFT_CODE_PTX, text, std::strlen(text), 0, 0},
            0,
            "add_numbers",
            1};
  }
};

/// The first thing that fails in all that a device does; nothing when nothing does.
std::string run_all() {
  Gpu gpu;
  if (!gpu.device)
    return std::string(gpu.err.code) + " " + gpu.err.message;
  for (const device_step &step : device_steps()) {
    INFO(step.what);
    if (std::string told = run_step(step, gpu.kit()); !told.empty())
      return told;
  }
  return "";
}

/// Of the functions that the plug-in calls, those whose failure nobody can be told, or that are called once in a process. Where a context cannot be
/// entered (cuCtxPushCurrent_v2) nothing can be given back.
const std::set<std::string> kSilent = {"cuInit",
                                       "cuDriverGetVersion",
                                       "cuGetErrorString",
                                       "cuDeviceGetAttribute",
                                       "cuDevicePrimaryCtxRelease_v2",
                                       "cuCtxPushCurrent_v2",
                                       "cuCtxPopCurrent_v2",
                                       "cuMemFree_v2",
                                       "cuMemFreeHost",
                                       "cuModuleUnload",
                                       "cuStreamDestroy_v2",
                                       "cuEventDestroy_v2",
                                       "cuEventQuery",
                                       "cuPointerGetAttribute",
                                       "cuMemGetAddressRange_v2",
                                       "cuDeviceCanAccessPeer",
                                       "cuCtxEnablePeerAccess"};

std::vector<std::string> called_functions() {
  std::vector<std::string> names;
#define F(member, name, parameters) names.push_back(name);
  CUDA_FUNCTIONS(F)
#undef F
  return names;
}

} // namespace

TEST_CASE("NVIDIA's plug-in does what every device must do") {
  plan("");
  REQUIRE(run_all() == "");
}

TEST_CASE("each call of the driver that fails is told with its number, and nothing is left") {
  const std::set<std::string> never_called = {"cuMemcpyPeerAsync", "cuFuncSetAttribute"};
  for (const std::string &name : called_functions()) {
    if (kSilent.count(name))
      continue;
    std::string told;
    int call = 0;
    do {
      plan(name + ":" + std::to_string(++call) + ":999");
      told = run_all();
      INFO(name << ", call " << call << ": " << told);
      REQUIRE((told.empty() || told.find("CUDA error") != told.npos ||
               told.find("no kernel") != told.npos));
    } while (!told.empty() && call < 100);
    INFO(name);
    CHECK((call > 1 || never_called.count(name)));
  }
  plan("");
}

TEST_CASE("a thread's own context stays its own, also when the GPU's cannot be entered") {
  plan("");
  auto retain = function<int (*)(void **, int)>("libcuda.so.1", "cuDevicePrimaryCtxRetain");
  auto push = function<int (*)(void *)>("libcuda.so.1", "cuCtxPushCurrent_v2");
  auto pop = function<int (*)(void **)>("libcuda.so.1", "cuCtxPopCurrent_v2");
  auto give_back = function<int (*)(int)>("libcuda.so.1", "cuDevicePrimaryCtxRelease_v2");
  setenv("WEFT_EMULATED", "devices=2", 1);
  {
    Gpu gpu;
    REQUIRE(gpu.device != nullptr);
    void *own, *found = nullptr, *memory = nullptr;
    REQUIRE(retain(&own, 1) == 0);
    REQUIRE(push(own) == 0);
    plan("cuCtxPushCurrent_v2:1:999");
    gpu.device->calls->allocate(gpu.device, WEFT_MEMORY_DEVICE, 64, 64, &memory, &gpu.err);
    REQUIRE(pop(&found) == 0);
    CHECK(found == own);
    plan("");
    if (memory) { // it lies on the thread's GPU
      push(own);
      function<int (*)(uint64_t)>("libcuda.so.1", "cuMemFree_v2")(uint64_t(memory));
      pop(&found);
    }
    give_back(1);
  }
  unsetenv("WEFT_EMULATED");
}

TEST_CASE(
    "launches that a GPU cannot do are refused with their numbers, and large blocks of shared "
    "memory are asked for") {
  plan("");
  Gpu gpu;
  const weft_device_v1 *calls = gpu.device->calls;
  device_kit kit = gpu.kit();
  weft_loaded_t *loaded;
  weft_queue_t *queue;
  const void *kernel;
  REQUIRE(calls->load(gpu.device, &kit.code, &loaded, &gpu.err) == WEFT_OK);
  REQUIRE(calls->find(gpu.device, loaded, 0, "shares", &kernel, &gpu.err) == WEFT_OK);
  REQUIRE(calls->open_queue(gpu.device, nullptr, &queue, &gpu.err) == WEFT_OK);
  auto launched = [&](uint32_t threads, uint32_t bytes) {
    uint64_t word = 0;
    weft_launch_t launch = {sizeof launch, 0, kernel, 1, 1, &word, threads, bytes};
    weft_status_t status = calls->launch(queue, &launch, &gpu.err);
    status = status ? status : calls->finish(queue, &gpu.err);
    return status ? std::string(gpu.err.message) : std::string();
  };
  CHECK(launched(1, 60000) == "");
  CHECK(launched(2000, 60000) ==
        "1 blocks of 2000 threads with 60000 bytes that they share cannot be launched");
  CHECK(launched(1, 200000) ==
        "1 blocks of 1 threads with 200000 bytes that they share cannot be launched");
  calls->close_queue(queue);
  calls->unload(gpu.device, loaded);
}

TEST_CASE("code that the driver does not take is refused with what it says") {
  plan("");
  Gpu gpu;
  std::string text = kText;
  text.replace(text.find("add.s64"), 7, "odd.s64");
  device_kit kit = gpu.kit(text.c_str());
  weft_loaded_t *loaded;
  REQUIRE(gpu.device->calls->load(gpu.device, &kit.code, &loaded, &gpu.err) == WEFT_UNSUPPORTED);
  CHECK(gpu.err.status == WEFT_UNSUPPORTED);
  std::string told = gpu.err.message;
  INFO(told);
  CHECK(told.find("the GPU's code cannot be loaded: ptxas application ptx input; error") == 0);
  CHECK(told.find("odd") != told.npos);
  CHECK(told.find("(CUDA error 218)") != told.npos);
}

TEST_CASE("every thread can use a GPU that another opened") {
  plan("");
  Gpu gpu;
  std::vector<std::string> told(4);
  std::vector<std::thread> threads;
  for (std::string &each : told)
    threads.emplace_back([&] {
      for (size_t i = 1; i < device_steps().size() && each.empty(); ++i) {
        void *memory = nullptr;
        weft_error_t err = WEFT_ERROR_INIT;
        if (gpu.device->calls->allocate(gpu.device, WEFT_MEMORY_DEVICE, 100, 64, &memory, &err))
          each = err.message;
        gpu.device->calls->release(gpu.device, WEFT_MEMORY_DEVICE, memory, 100);
      }
    });
  for (std::thread &each : threads)
    each.join();
  for (const std::string &each : told)
    CHECK(each == "");
}
