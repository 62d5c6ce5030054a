#include <catch2/catch.hpp>

#include "test/runtime/device_conformance.h"
#include "test/runtime/failing_device.h"
#include "test/runtime/fixture.h"

using namespace weft_test;

namespace {
/// The CPU with memory that counts.
struct counted_cpu {
  counting_memory memory;
  weft_device_t *device = nullptr;

  counted_cpu() {
    weft_env_t env = memory.env();
    REQUIRE(weft_cpu_open(&env, &device, nullptr) == WEFT_OK);
  }
  ~counted_cpu() { device->calls->close(device); }
};
} // namespace

TEST_CASE("the CPU does what every device must do, and loses nothing") {
  counted_cpu cpu;
  host_code code;
  int live = cpu.memory.live;
  for (const device_step &step : device_steps()) {
    INFO(step.what);
    REQUIRE(run_step(step, code.kit_for(cpu.device)) == "");
    REQUIRE(cpu.memory.live == live);
  }
}

TEST_CASE("a device in front of another passes, too, while nothing fails") {
  counted_cpu cpu;
  host_code code;
  failing_device failing(cpu.device);
  for (const device_step &step : device_steps()) {
    INFO(step.what);
    REQUIRE(run_step(step, code.kit_for(&failing.base)) == "");
    REQUIRE(failing.live == 0);
  }
  REQUIRE(failing.names == std::set<std::string>{"reach", "allocate", "load", "find", "open_queue",
                                                 "copy", "launch", "finish", "open_event", "record",
                                                 "follow", "wait", "parallel", "together"});
}

TEST_CASE("every call of the suite may fail, at once or later, and is told without a leak") {
  counted_cpu cpu;
  host_code code;
  int live = cpu.memory.live;
  for (bool is_late : {false, true})
    for (const device_step &step : device_steps())
      for (int at = 0;; ++at) {
        failing_device failing(cpu.device);
        failing.fail_at = at;
        failing.is_late = is_late;
        INFO(step.what << ", call " << at << (is_late ? ", late" : ""));
        std::string told = run_step(step, code.kit_for(&failing.base));
        REQUIRE(failing.live == 0);
        REQUIRE(cpu.memory.live == live);
        std::string expected = "W0425 call " + std::to_string(at) + " failed, as it was told to";
        REQUIRE(told == (failing.has_failed ? expected : ""));
        REQUIRE((failing.has_failed || is_late || failing.calls <= at));
        if (failing.calls <= at)
          break;
      }
}

TEST_CASE("calls of a module compute on the device of its env, and tell what fails there") {
  counted_cpu cpu;
  int live = cpu.memory.live;
  bytes file = make_sample().seal();
  std::set<std::string> names;
  for (int at = 0;; ++at) {
    failing_device failing(cpu.device);
    failing.fail_at = at;
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.device = &failing.base;
    std::string told;
    {
      opened o(file, &env);
      told = o.status ? text_of(o.err) : "";
      if (!o.status) {
        running r(o, 2);
        main_call call(20, 5);
        call.out[0] = WEFT_TENSOR_EMPTY;
        if (!r.context || call.call(r))
          told = text_of(r.err);
        else
          REQUIRE(call.is_right());
        if (r.context)
          weft_tensor_release(r.context, &call.out[0]);
      }
    }
    INFO("call " << at << ": " << told);
    REQUIRE(failing.live == 0);
    REQUIRE(cpu.memory.live == live);
    names.insert(failing.names.begin(), failing.names.end());
    if (failing.calls <= at) {
      REQUIRE(told == "");
      break;
    }
    REQUIRE(told.find("call " + std::to_string(at) + " failed, as it was told to") !=
            std::string::npos);
  }
  REQUIRE(names == std::set<std::string>{"load", "find", "open_queue", "allocate", "parallel"});
}

TEST_CASE("memory that a device does not have is told in the words of a call") {
  counted_cpu cpu;
  failing_device failing(cpu.device);
  failing.status = WEFT_OUT_OF_MEMORY;
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.device = &failing.base;
  opened o(make_sample().seal(), &env);
  running r(o, 1);
  main_call call(3, 5);
  failing.fail_at = failing.calls;
  REQUIRE(call.call(r) == WEFT_OUT_OF_MEMORY);
  REQUIRE(text_of(r.err) == "W0424 no memory for the 128 bytes that this call needs");
  REQUIRE(call.call(r) == WEFT_OK);
}

TEST_CASE("a device that cannot run host code is no place for a module") {
  counted_cpu cpu;
  weft_device_v1 calls = *cpu.device->calls;
  calls.host = nullptr;
  calls.kind = "blocks";
  weft_device_t other = {&calls};
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.device = &other;
  opened o(make_sample().seal(), &env);
  REQUIRE(text_of(o.err) == "W0401 env.device is of kind 'blocks', which cannot run compiled host "
                            "code");
  weft_copy_t copy = {sizeof copy, 0, cpu.device, &other, nullptr, nullptr, 8};
  weft_error_t err = WEFT_ERROR_INIT;
  REQUIRE(cpu.device->calls->copy(nullptr, &copy, &err) == WEFT_UNSUPPORTED);
  REQUIRE(text_of(err) == "W0425 the CPU cannot use memory of a 'blocks' device");
}
