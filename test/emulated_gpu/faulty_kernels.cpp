#include "test/emulated_gpu/faulty_kernels.h"

namespace weft_test {

namespace {

const char *module_head = ".shared .align 16 .b8 tile[512];\n";

/// y[block][i] = x[block][127 - i] through shared memory: 128 threads, 4 bytes each.
std::string reverse_text() {
  return kernel(R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r2, 7;
  add.u32 %r4, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.nc.f32 %f1, [%rd4];
  mov.u32 %r5, tile;
  shl.b32 %r6, %r1, 2;
  add.u32 %r7, %r5, %r6;
  st.shared.f32 [%r7], %f1;
  bar.sync 0;
  sub.u32 %r8, 508, %r6;
  add.u32 %r9, %r5, %r8;
  ld.shared.f32 %f2, [%r9];
  st.global.f32 [%rd5], %f2;
)",
                2, module_head);
}

std::string run_reverse(gpu &device, const std::string &text) {
  buffer<float> x(512), y(512);
  for (size_t i = 0; i < 512; ++i)
    x.data[i] = float(i);
  std::string told = device.run(text, {x, y}, {4, 128});
  for (size_t i = 0; i < 512 && told.empty(); ++i)
    if (y.data[i] != float(i / 128 * 128 + 127 - i % 128))
      told = "wrong";
  return told;
}

/// y[t] = sum over 4 tiles of x[tile][127 - t], by cp.async into two buffers: 128 threads.
std::string pipeline_text() {
  return kernel(R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  mov.u32 %r2, stages;
  shl.b32 %r3, %r1, 2;
  add.u32 %r4, %r2, %r3;
  sub.u32 %r5, 508, %r3;
  add.u32 %r5, %r2, %r5;
  mov.f32 %f1, 0f00000000;
  mov.u32 %r6, 0;
  cp.async.ca.shared.global [%r4], [%rd1], 4;
  cp.async.commit_group;
$L_loop:
  add.u32 %r7, %r6, 1;
  setp.ge.u32 %p1, %r7, 4;
  @%p1 bra $L_last;
  add.s64 %rd1, %rd1, 512;
  and.b32 %r8, %r7, 1;
  shl.b32 %r8, %r8, 9;
  add.u32 %r9, %r4, %r8;
  cp.async.ca.shared.global [%r9], [%rd1], 4;
$L_last:
  cp.async.commit_group;
  cp.async.wait_group 1;
  bar.sync 0;
  and.b32 %r8, %r6, 1;
  shl.b32 %r8, %r8, 9;
  add.u32 %r9, %r5, %r8;
  ld.shared.f32 %f2, [%r9];
  add.rn.f32 %f1, %f1, %f2;
  bar.sync 1;
  mov.u32 %r6, %r7;
  setp.lt.u32 %p2, %r6, 4;
  @%p2 bra $L_loop;
  cp.async.wait_all;
  st.global.f32 [%rd2], %f1;
)",
                2, ".shared .align 16 .b8 stages[1024];\n");
}

std::string run_pipeline(gpu &device, const std::string &text) {
  buffer<float> x(512), y(128);
  for (size_t i = 0; i < 512; ++i)
    x.data[i] = float(i);
  std::string told = device.run(text, {x, y}, {1, 128});
  for (size_t i = 0; i < 128 && told.empty(); ++i)
    if (y.data[i] != float(4 * (127 - i) + 6 * 128))
      told = "wrong";
  return told;
}

/// The block that ends last adds what all have written: 64 blocks of 32 threads.
std::string last_block_text() {
  return kernel(R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  @%p1 bra $L_end;
  st.global.u32 [%rd4], %r2;
  membar.gl;
  atom.global.add.u32 %r3, [%rd2], 1;
  setp.ne.u32 %p2, %r3, 63;
  @%p2 bra $L_end;
  fence.acq_rel.gpu;
  mov.u32 %r4, 0;
  mov.u32 %r5, 0;
$L_loop:
  ld.global.u32 %r6, [%rd1];
  add.u32 %r4, %r4, %r6;
  add.s64 %rd1, %rd1, 4;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p3, %r5, 64;
  @%p3 bra $L_loop;
  st.global.u32 [%rd2+4], %r4;
$L_end:
)",
                2);
}

std::string run_last_block(gpu &device, const std::string &text) {
  buffer<uint32_t> parts(64), out(2);
  std::string told = device.run(text, {parts, out}, {64, 32});
  return told.empty() && out.data[1] != 2016 ? "wrong" : told;
}

/// Block 0 waits for a flag of block 1, then doubles what that wrote.
std::string flag_text() {
  return kernel(R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  setp.ne.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra $L_wait;
  add.u32 %r3, %r2, 100;
  st.global.u32 [%rd1], %r3;
  bar.sync 0;
  @%p1 bra $L_end;
  mov.u32 %r4, 1;
  st.release.gpu.global.u32 [%rd2], %r4;
  bra $L_end;
$L_wait:
  @%p1 bra $L_join;
$L_spin:
  ld.acquire.gpu.global.u32 %r5, [%rd2];
  setp.eq.u32 %p3, %r5, 0;
  @%p3 bra $L_spin;
$L_join:
  bar.sync 0;
  ld.global.u32 %r6, [%rd1];
  add.u32 %r6, %r6, %r6;
  st.global.u32 [%rd1+256], %r6;
$L_end:
)",
                2);
}

std::string run_flag(gpu &device, const std::string &text) {
  buffer<uint32_t> data(128), flag(1);
  std::string told = device.run(text, {data, flag}, {2, 64});
  for (uint32_t i = 0; i < 64 && told.empty(); ++i)
    if (data.data[64 + i] != 2 * (100 + i))
      told = "wrong";
  return told;
}

/// D = A B for 16x16 and 16x8 of f16 through ldmatrix: rows of 48 bytes, so that no bank is asked twice.
std::string product_text() {
  return kernel(R"(
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u64 %rd3, [p2];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, a_tile;
  mov.u32 %r3, b_tile;
  shr.u32 %r4, %r1, 1;
  and.b32 %r5, %r1, 1;
  shl.b32 %r6, %r5, 4;
  mad.lo.u32 %r7, %r4, 48, %r6;
  add.u32 %r8, %r2, %r7;
  mul.wide.u32 %rd4, %r1, 16;
  add.s64 %rd1, %rd1, %rd4;
  cp.async.cg.shared.global [%r8], [%rd1], 16;
  setp.lt.u32 %p1, %r1, 16;
  add.u32 %r9, %r3, %r7;
  add.s64 %rd2, %rd2, %rd4;
  @%p1 cp.async.cg.shared.global [%r9], [%rd2], 16;
  cp.async.commit_group;
  cp.async.wait_group 0;
  bar.sync 0;
  and.b32 %r10, %r1, 15;
  shr.u32 %r11, %r1, 4;
  shl.b32 %r11, %r11, 4;
  mad.lo.u32 %r12, %r10, 48, %r11;
  add.u32 %r12, %r12, %r2;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r12];
  and.b32 %r13, %r1, 7;
  shr.u32 %r14, %r1, 3;
  and.b32 %r14, %r14, 1;
  shl.b32 %r14, %r14, 4;
  mad.lo.u32 %r15, %r13, 48, %r14;
  add.u32 %r15, %r15, %r3;
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r24, %r25}, [%r15];
  mov.f32 %f1, 0f00000000;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r20, %r21, %r22, %r23}, {%r24, %r25}, {%f1, %f1, %f1, %f1};
  shr.u32 %r16, %r1, 2;
  and.b32 %r17, %r1, 3;
  shl.b32 %r17, %r17, 3;
  mad.lo.u32 %r18, %r16, 32, %r17;
  cvt.u64.u32 %rd5, %r18;
  add.s64 %rd3, %rd3, %rd5;
  st.global.v2.f32 [%rd3], {%f2, %f3};
  st.global.v2.f32 [%rd3+256], {%f4, %f5};
)",
                3, ".shared .align 16 .b8 a_tile[768];\n.shared .align 16 .b8 b_tile[384];\n");
}

std::string run_product(gpu &device, const std::string &text) {
  buffer<_Float16> a(256), b(128);
  buffer<float> d(128);
  for (size_t i = 0; i < 256; ++i)
    a.data[i] = _Float16(float(i * 7 % 13) - 6);
  for (size_t i = 0; i < 128; ++i)
    b.data[i] = _Float16(float(i * 5 % 11) - 5);
  std::string told = device.run(text, {a, b, d}, {1, 32});
  for (size_t i = 0; i < 128 && told.empty(); ++i) {
    float sum = 0;
    for (size_t k = 0; k < 16; ++k)
      sum += float(a.data[i / 8 * 16 + k]) * float(b.data[i % 8 * 16 + k]);
    if (d.data[i] != sum)
      told = "wrong";
  }
  return told;
}

} // namespace

const std::vector<sound_kernel> &sound_kernels() {
  static const std::vector<sound_kernel> all = {{"reverse", reverse_text(), run_reverse},
                                                {"pipeline", pipeline_text(), run_pipeline},
                                                {"last block", last_block_text(), run_last_block},
                                                {"flag", flag_text(), run_flag},
                                                {"product", product_text(), run_product}};
  return all;
}

const std::vector<fault> &faults() {
  static const std::vector<fault> all = {
      {"reverse", "no barrier", "bar.sync 0;", "", 1, "a race|nobody has written"},
      {"reverse", "a barrier of the warp alone", "bar.sync 0;", "bar.warp.sync -1;", 1,
       "a race|nobody has written"},
      {"reverse", "a barrier of half a warp", "bar.sync 0;",
       "setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0;", 1, "must execute together|nobody has written"},
      {"reverse", "a barrier of two warps", "bar.sync 0;", "bar.sync 0, 64;", 1,
       "a race|nobody has written|more threads arrive"},
      {"reverse", "a barrier that waits for more warps", "bar.sync 0;", "bar.sync 0, 256;", 1,
       "a deadlock"},
      {"reverse", "a barrier that some warps leave out", "bar.sync 0;",
       "setp.lt.u32 %p1, %r1, 64; @%p1 bra $L_on; bar.sync 0; $L_on:", 1,
       "a race|nobody has written|a deadlock"},
      {"reverse", "barriers with two numbers", "bar.sync 0;",
       "shr.u32 %r10, %r1, 6; bar.sync %r10;", 1, "a deadlock"},
      {"reverse", "no such barrier", "bar.sync 0;", "bar.sync 16;", 1, "there is no barrier 16"},
      {"reverse", "a tile that is too small", "tile[512]", "tile[508]", 1,
       "shared memory out of bounds"},
      {"reverse", "an index that is one too large", "sub.u32 %r8, 508, %r6;",
       "sub.u32 %r8, 512, %r6;", 1, "out of bounds|nobody has written"},
      {"reverse", "an address that is off by one byte", "add.u32 %r9, %r5, %r8;",
       "add.u32 %r9, %r5, %r8; add.u32 %r9, %r9, 1;", 1, "misaligned|out of bounds"},
      {"reverse", "a vector access of an array aligned to 4", "ld.shared.f32 %f2, [%r9];",
       "mov.u32 %r11, tile; ld.shared.v4.f32 {%f2, %f3, %f4, %f5}, [%r11+4];", 1, "misaligned"},
      {"reverse", "blocks that write the same", "shl.b32 %r3, %r2, 7;", "shl.b32 %r3, %r2, 6;", 1,
       "a race: writes what block"},
      {"reverse", "a buffer read behind its end", "ld.global.nc.f32 %f1, [%rd4];",
       "ld.global.nc.f32 %f1, [%rd4+4];", 1, "reads 4 bytes out of bounds, 0 bytes behind"},
      {"reverse", "a buffer written in front of it", "st.global.f32 [%rd5], %f2;",
       "st.global.f32 [%rd5+-4], %f2;", 1, "writes 4 bytes out of bounds, 4 bytes in front"},
      {"reverse", "a global address that is misaligned", "ld.global.nc.f32 %f1, [%rd4];",
       "ld.global.nc.f32 %f1, [%rd4+2];", 1, "misaligned"},
      {"reverse", "wide loads at an address aligned to 4", "ld.global.nc.f32 %f1, [%rd4];",
       "ld.global.nc.v2.f32 {%f1, %f3}, [%rd4];", 1, "misaligned"},
      {"reverse", "a register that is read before it is written", "sub.u32 %r8, 508, %r6;",
       "sub.u32 %r8, 508, %r16;", 1, "never written"},
      {"reverse", "a register that only some lanes wrote", "sub.u32 %r8, 508, %r6;",
       "setp.lt.u32 %p1, %r1, 64; @%p1 sub.u32 %r8, 508, %r6;", 1, "never written"},
      {"reverse", "two threads write a word", "add.u32 %r7, %r5, %r6;",
       "and.b32 %r12, %r6, 252; add.u32 %r7, %r5, %r12;", 1, "a race|nobody has written"},
      {"reverse", "lanes of a warp write a word", "add.u32 %r7, %r5, %r6;",
       "and.b32 %r12, %r6, 504; add.u32 %r7, %r5, %r12;", 1, "two lanes of a warp"},
      {"reverse", "constant loads of what the block wrote", "st.global.f32 [%rd5], %f2;",
       "st.global.f32 [%rd5], %f2; ld.global.nc.f32 %f3, [%rd5];", 1, "as a constant"},
      {"reverse", "it gives up", "bar.sync 0;", "trap;", 1, "gives up"},
      {"pipeline", "a wait that is too weak", "wait_group 1", "wait_group 2", 1, "has not waited"},
      {"pipeline", "no wait", "cp.async.wait_group 1;", "", 1, "has not waited"},
      {"pipeline", "no barrier behind the wait", "bar.sync 0;", "", 1,
       "a race|has not waited|nobody has written"},
      {"pipeline", "no barrier in front of the next copy", "bar.sync 1;", "", 1,
       "a race|has not waited"},
      {"pipeline", "the same buffer twice", "add.u32 %r9, %r4, %r8;", "mov.u32 %r9, %r4;", 1,
       "asynchronous copy|nobody has written"},
      {"pipeline", "no commit", "cp.async.commit_group;", "", 2, "has not waited"},
      {"pipeline", "copies on their way at the end", "cp.async.wait_all;",
       "cp.async.ca.shared.global [%r4], [%rd1], 4;", 1, "never waited"},
      {"pipeline", "a copy that is one tile too many", "setp.ge.u32 %p1, %r7, 4;",
       "setp.ge.u32 %p1, %r7, 5;", 1, "out of bounds"},
      {"pipeline", "a copy to a misaligned place", "[%r4], [%rd1], 4;", "[%r4+2], [%rd1], 4;", 1,
       "misaligned"},
      {"pipeline", "a copy from a misaligned place", "[%r4], [%rd1], 4;", "[%r4], [%rd1+2], 4;", 1,
       "misaligned"},
      {"pipeline", "a buffer that is too small", "stages[1024]", "stages[1020]", 1,
       "out of bounds"},
      {"last block", "no fence in front of the counter", "membar.gl;", "", 1, "a race: reads"},
      {"last block", "a fence for the block alone", "membar.gl;", "membar.cta;", 1,
       "a race: reads"},
      {"last block", "no fence behind the counter", "fence.acq_rel.gpu;", "", 1, "a race: reads"},
      {"last block", "a counter that is no atomic", "atom.global.add.u32 %r3, [%rd2], 1;",
       "ld.global.u32 %r3, [%rd2]; add.u32 %r7, %r3, 1; st.global.u32 [%rd2], %r7;", 1, "a race"},
      {"last block", "one block too few is waited for", "%r3, 63;", "%r3, 62;", 1, "a race"},
      {"flag", "a store that releases nothing", "st.release.gpu", "st.relaxed.gpu", 1,
       "a race: reads"},
      {"flag", "a flag that is a plain store", "st.release.gpu.global", "st.global", 1, "a race"},
      {"flag", "a load that acquires nothing", "ld.acquire.gpu", "ld.relaxed.gpu", 1,
       "a race: reads"},
      {"flag", "a flag that is a plain load", "ld.acquire.gpu.global", "ld.global", 1, "a race"},
      {"flag", "a release by one warp for all, without a barrier", "bar.sync 0;", "", 1, "a race"},
      {"flag", "an acquire by one warp for all, without a barrier", "bar.sync 0;", "", 2, "a race"},
      {"flag", "a scope that is too narrow", "st.release.gpu", "st.release.cta", 1, "a race"},
      {"flag", "a flag that nobody sets", "st.release.gpu.global.u32 [%rd2], %r4;", "", 1,
       "a deadlock"},
      {"product", "rows that are 8 bytes off", "mad.lo.u32 %r12, %r10, 48, %r11;",
       "mad.lo.u32 %r12, %r10, 40, %r11;", 1, "misaligned"},
      {"product", "rows that nobody wrote", "mad.lo.u32 %r12, %r10, 48, %r11;",
       "mad.lo.u32 %r12, %r10, 48, %r11; add.u32 %r12, %r12, 16;", 1, "nobody has written"},
      {"product", "a wait for nothing", "wait_group 0", "wait_group 1", 1, "has not waited"},
      {"product", "fragments in the wrong order", "{%r20, %r21, %r22, %r23}, {%r24",
       "{%r20, %r22, %r21, %r23}, {%r24", 1, "wrong"},
      {"product", "a fragment that is one lane off", "shr.u32 %r16, %r1, 2;",
       "add.u32 %r16, %r1, 4; and.b32 %r16, %r16, 31; shr.u32 %r16, %r16, 2;", 1, "wrong"},
      {"product", "half a warp multiplies", "mma.sync", "setp.lt.u32 %p2, %r1, 16; @%p2 mma.sync",
       1, "must execute together"},
      {"product", "some lanes shuffle", "mov.f32 %f1, 0f00000000;",
       "mov.f32 %f1, 0f00000000; setp.lt.u32 %p2, %r1, 16; "
       "@%p2 shfl.sync.bfly.b32 %r30, %r1, 1, 31, -1;",
       1, "is named by its mask"},
      {"product", "a shuffle from a lane that is elsewhere", "mov.f32 %f1, 0f00000000;",
       "mov.f32 %f1, 0f00000000; setp.lt.u32 %p2, %r1, 16; "
       "@%p2 shfl.sync.bfly.b32 %r30, %r1, 16, 31, 65535;",
       1, "does not execute this"},
      {"product", "tiles aligned to 2", ".shared .align 16 .b8 a_tile",
       ".shared .align 2 .b8 a_tile", 1, "misaligned"},
  };
  return all;
}

} // namespace weft_test
