// Runs small PTX programs on a device, and compares what they give with what another device gave.
//
//   run_ptx DEVICE FOLDER compare           a line for each program of FOLDER/list.txt: "NAME right", or "NAME wrong: …"
//   run_ptx DEVICE FOLDER write             writes what the programs give
//
// A line of the list is "NAME BLOCKS BYTES ULP": NAME.ptx has a kernel k of two parameters, the addresses of NAME.in and of BYTES of results,
// which NAME.out holds; numbers may differ by so many units in the last place of an f32, and by nothing for 0.
// The plug-in of "KIND" or "KIND:N" lies beside this program. Exit codes: 0 right, 1 something is wrong, 2 usage, 4 there is no such device.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "weft/device.h"

namespace {

using Bytes = std::vector<char>;

weft_error_t error = WEFT_ERROR_INIT;

struct Program {
  std::string name;
  uint32_t blocks = 1;
  size_t bytes = 0;
  uint32_t ulp = 0;
};

Bytes readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The device's own library, beside this program.
weft_device_t *openDevice(const std::string &name) {
  size_t colon = name.find(':');
  char self[PATH_MAX] = "";
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
    return nullptr;
  std::string folder = self;
  folder.erase(folder.rfind('/') + 1);
  void *library =
      dlopen((folder + "libweft_" + name.substr(0, colon) + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  void *entry = library ? dlsym(library, WEFT_DEVICE_PLUGIN) : nullptr;
  if (!entry) {
    snprintf(error.message, sizeof error.message, "there is no device '%s': %s", name.c_str(),
             dlerror());
    return nullptr;
  }
  weft_device_t *device = nullptr;
  int32_t index = colon == std::string::npos ? 0 : atoi(name.c_str() + colon + 1);
  reinterpret_cast<weft_device_plugin_fn>(entry)()->open(index, &device, &error);
  return device;
}

/// Memory of the device for as long as this lives.
struct Memory {
  weft_device_t *device;
  size_t bytes;
  void *data = nullptr;
  Memory(weft_device_t *device, size_t bytes) : device(device), bytes(bytes) {
    device->calls->allocate(device, WEFT_MEMORY_DEVICE, bytes, 256, &data, &error);
  }
  Memory(const Memory &) = delete;
  ~Memory() { device->calls->release(device, WEFT_MEMORY_DEVICE, data, bytes); }
};

/// Copies, launches, and copies back; false with `error` set.
bool launch(weft_device_t *device, const void *kernel, const Program &program, const Bytes &in,
            Bytes &out) {
  const weft_device_v1 *calls = device->calls;
  Memory given(device, in.size()), made(device, out.size());
  weft_queue_t *queue = nullptr;
  if (!given.data || !made.data || calls->open_queue(device, nullptr, &queue, &error))
    return false;
  uint64_t words[] = {reinterpret_cast<uintptr_t>(given.data),
                      reinterpret_cast<uintptr_t>(made.data)};
  weft_copy_t there = {sizeof there, 0, device, nullptr, given.data, in.data(), int64_t(in.size())};
  weft_copy_t back = {sizeof back, 0, nullptr, device, out.data(), made.data, int64_t(out.size())};
  weft_launch_t work = {sizeof work, 2, kernel, program.blocks, 1, words, 32, 0};
  bool good = !calls->copy(queue, &there, &error) && !calls->launch(queue, &work, &error) &&
              !calls->copy(queue, &back, &error) && !calls->finish(queue, &error);
  calls->close_queue(queue);
  return good;
}

bool run(weft_device_t *device, const std::string &path, const Program &program, Bytes &out) {
  const weft_device_v1 *calls = device->calls;
  Bytes text = readFile(path + ".ptx"), in = readFile(path + ".in");
  if (text.empty() || in.empty()) {
    snprintf(error.message, sizeof error.message, "%s.ptx or .in cannot be read", path.c_str());
    return false;
  }
  text.push_back(0);
  weft_device_code_t code = {sizeof code, WEFT_CODE_PTX, text.data(), text.size() - 1, 0, 0};
  weft_loaded_t *loaded = nullptr;
  const void *kernel = nullptr;
  if (calls->load(device, &code, &loaded, &error))
    return false;
  out.assign(program.bytes, 0);
  bool good = !calls->find(device, loaded, 0, "k", &kernel, &error) &&
              launch(device, kernel, program, in, out);
  calls->unload(device, loaded);
  return good;
}

/// Steps between two f32; many where one alone is nan.
uint32_t distance(uint32_t a, uint32_t b) {
  auto is_nan = [](uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; };
  if (is_nan(a) || is_nan(b))
    return is_nan(a) == is_nan(b) ? 0 : UINT32_MAX;
  auto place = [](uint32_t bits) {
    return bits >> 31 ? -int64_t(bits & 0x7fffffff) : int64_t(bits);
  };
  return uint32_t(std::min<int64_t>(std::abs(place(a) - place(b)), UINT32_MAX));
}

/// The first word that differs by more than it may, in words; nothing when none does.
std::string compared(const Program &program, const Bytes &have, const Bytes &want) {
  if (want.size() != have.size())
    return std::to_string(want.size()) + " bytes are expected";
  uint32_t wrong = 0, worst = 0;
  char first[96] = "";
  for (size_t at = 0; at + 4 <= have.size(); at += 4) {
    uint32_t a, b;
    memcpy(&a, &have[at], 4);
    memcpy(&b, &want[at], 4);
    uint32_t apart = program.ulp ? distance(a, b) : a != b;
    worst = std::max(worst, apart);
    if (apart > program.ulp && ++wrong == 1)
      snprintf(first, sizeof first, "word %zu is %#x, not %#x", at / 4, a, b);
  }
  if (!wrong)
    return "";
  return std::string(first) + ", " + std::to_string(wrong) + " differ, by " +
         std::to_string(worst) + (program.ulp ? " ulp at most" : " or more");
}

/// Whether the program gives what is there, or was written.
bool handle(weft_device_t *device, const std::string &folder, const Program &program, bool writes) {
  std::string path = folder + "/" + program.name, reason;
  Bytes out;
  if (!run(device, path, program, out))
    reason = error.message;
  else if (writes)
    std::ofstream(path + ".out", std::ios::binary).write(out.data(), std::streamsize(out.size()));
  else
    reason = compared(program, out, readFile(path + ".out"));
  printf("%s %s%s\n", program.name.c_str(), reason.empty() ? "right" : "wrong: ", reason.c_str());
  return reason.empty();
}

} // namespace

int main(int argc, char **argv) {
  std::string what = argc == 4 ? argv[3] : "";
  if (what != "compare" && what != "write") {
    fprintf(stderr, "error: usage: run_ptx DEVICE FOLDER compare|write\n");
    return 2;
  }
  weft_device_t *device = openDevice(argv[1]);
  if (!device) {
    fprintf(stderr, "error: %s\n", error.message);
    return 4;
  }
  std::ifstream list(std::string(argv[2]) + "/list.txt");
  bool good = list.good();
  for (Program each; list >> each.name >> each.blocks >> each.bytes >> each.ulp;)
    good &= handle(device, argv[2], each, what == "write");
  device->calls->close(device);
  return good ? 0 : 1;
}
