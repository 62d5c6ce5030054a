// Two devices of a process exchange a tile through memory that they share, with flags.
#include <catch2/catch.hpp>

#include <thread>

#include "test/emulated_gpu/gpu.h"

using namespace weft_test;

namespace {

/// tile[block][t] = 1000 * block + t, then a flag for each block.
std::string writer() {
  return kernel(R"(
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mul.lo.u32 %r3, %r2, 256;
  shl.b32 %r4, %r1, 2;
  add.u32 %r5, %r3, %r4;
  cvt.u64.u32 %rd2, %r5;
  add.s64 %rd3, %rd1, %rd2;
  mad.lo.u32 %r6, %r2, 1000, %r1;
  st.global.u32 [%rd3], %r6;
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $L_end;
  mov.u32 %r7, 1;
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd4, %rd1, %rd4;
  st.release.sys.global.u32 [%rd4+1024], %r7;
$L_end:
)",
                1);
}

/// out[block][t] = tile[block][t] + 1, once its flag is there.
std::string reader() {
  return kernel(R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd5, [p1];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mul.lo.u32 %r3, %r2, 256;
  shl.b32 %r4, %r1, 2;
  add.u32 %r5, %r3, %r4;
  cvt.u64.u32 %rd2, %r5;
  add.s64 %rd3, %rd1, %rd2;
  add.s64 %rd5, %rd5, %rd2;
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd4, %rd1, %rd4;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $L_join;
$L_spin:
  ld.acquire.sys.global.u32 %r7, [%rd4+1024];
  setp.eq.u32 %p2, %r7, 0;
  @%p2 bra $L_spin;
$L_join:
  bar.sync 0;
  ld.global.u32 %r8, [%rd3];
  add.u32 %r8, %r8, 1;
  st.global.u32 [%rd5], %r8;
)",
                2);
}

struct told {
  std::string by_writer, by_reader;
  bool is_right = true;
};

/// Runs both at the same time, each on its device.
told exchange(const std::string &options, const std::string &write, const std::string &read) {
  gpu first("devices=2," + options, 0), second("devices=2," + options, 1);
  weft_error_t err = WEFT_ERROR_INIT;
  REQUIRE(second.calls->reach(second.device, first.device, &err) == WEFT_OK);
  void *tile;
  REQUIRE(first.calls->allocate(first.device, WEFT_MEMORY_SHARED, 1044, 256, &tile, &err) ==
          WEFT_OK);
  std::memset(tile, 0, 1044);
  buffer<uint32_t> out(256);
  told result;
  std::thread beside([&] { result.by_reader = second.run(read, {int64_t(tile), out}, {4, 64}); });
  result.by_writer = first.run(write, {int64_t(tile)}, {4, 64});
  beside.join();
  for (uint32_t i = 0; i < 256; ++i)
    result.is_right &= out.data[i] == i / 64 * 1000 + i % 64 + 1;
  first.calls->release(first.device, WEFT_MEMORY_SHARED, tile, 1044);
  return result;
}

} // namespace

TEST_CASE("a tile that a peer releases is right when it was acquired, under every schedule") {
  for (int seed = 0; seed < 40; ++seed) {
    told result = exchange("seed=" + std::to_string(seed), writer(), reader());
    INFO(seed << ": " << result.by_writer << " / " << result.by_reader);
    REQUIRE(result.by_writer == "");
    REQUIRE(result.by_reader == "");
    REQUIRE(result.is_right);
  }
}

TEST_CASE("what is not released, or not acquired, for another device is found while both run") {
  // The writer waits for the reader, so that both run at the same time: else one launch is behind the other.
  const std::string wait =
      "$L_both: ld.relaxed.sys.global.u32 %r20, [%rd1+1040]; "
      "setp.eq.u32 %p9, %r20, 0; @%p9 bra $L_both;\nst.global.u32 [%rd3], %r6;";
  const std::string here = "mov.u32 %r21, 1; st.relaxed.sys.global.u32 [%rd1+1040], %r21;\n"
                           "setp.ne.u32 %p1, %r1, 0;";
  std::string write = replaced(writer(), "st.global.u32 [%rd3], %r6;", wait);
  std::string read = replaced(reader(), "setp.ne.u32 %p1, %r1, 0;", here);
  struct {
    const char *from, *to;
    bool is_writer;
  } all[] = {{"st.release.sys", "st.relaxed.sys", true},
             {"st.release.sys", "st.release.gpu", true},
             {"ld.acquire.sys", "ld.relaxed.sys", false},
             {"ld.acquire.sys", "ld.acquire.gpu", false}};
  for (const auto &each : all) {
    std::string w = write, r = read;
    (each.is_writer ? w : r) = replaced(each.is_writer ? w : r, each.from, each.to);
    told result = exchange("", w, r);
    INFO(each.to << ": " << result.by_writer << " / " << result.by_reader);
    CHECK((result.by_reader + result.by_writer).find("a race") != std::string::npos);
  }
}
