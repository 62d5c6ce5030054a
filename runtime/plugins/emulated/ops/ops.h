// What decodes each family of instructions.
#ifndef WEFT_EMULATED_OPS_OPS_H
#define WEFT_EMULATED_OPS_OPS_H

#include "runtime/plugins/emulated/code/decoder.h"
#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

// Integers and reals.
void decode_add(decoder &);
void decode_sub(decoder &);
void decode_mul(decoder &);
void decode_mad(decoder &);
void decode_fma(decoder &);
void decode_div(decoder &);
void decode_rem(decoder &);
void decode_min(decoder &);
void decode_max(decoder &);
void decode_neg(decoder &);
void decode_abs(decoder &);
void decode_sad(decoder &);
void decode_dot(decoder &);
void decode_carry(decoder &);
// Functions of one real.
void decode_ex2(decoder &);
void decode_lg2(decoder &);
void decode_rcp(decoder &);
void decode_sqrt(decoder &);
void decode_rsqrt(decoder &);
void decode_sin(decoder &);
void decode_cos(decoder &);
void decode_tanh(decoder &);
void decode_copysign(decoder &);
void decode_testp(decoder &);
// Bits.
void decode_and(decoder &);
void decode_or(decoder &);
void decode_xor(decoder &);
void decode_not(decoder &);
void decode_cnot(decoder &);
void decode_shl(decoder &);
void decode_shr(decoder &);
void decode_shf(decoder &);
void decode_bfe(decoder &);
void decode_bfi(decoder &);
void decode_bfind(decoder &);
void decode_bmsk(decoder &);
void decode_lop3(decoder &);
void decode_prmt(decoder &);
void decode_popc(decoder &);
void decode_clz(decoder &);
void decode_brev(decoder &);
// Moves, conversions, comparisons.
void decode_mov(decoder &);
void decode_cvta(decoder &);
void decode_isspacep(decoder &);
void decode_cvt(decoder &);
void decode_setp(decoder &);
void decode_set(decoder &);
void decode_selp(decoder &);
void decode_slct(decoder &);
// Control.
void decode_bra(decoder &);
void decode_brx(decoder &);
void decode_call(decoder &);
void decode_ret(decoder &);
void decode_exit(decoder &);
void decode_trap(decoder &);
void decode_implicit(decoder &);
void decode_nothing(decoder &);
// Memory.
void decode_ld(decoder &);
void decode_st(decoder &);
void decode_atom(decoder &);
void decode_red(decoder &);
void decode_prefetch(decoder &);
// Lanes of a warp.
void decode_shfl(decoder &);
void decode_vote(decoder &);
void decode_match(decoder &);
void decode_redux(decoder &);
void decode_activemask(decoder &);
void decode_elect(decoder &);
// Asynchronous copies and tensor cores.
void decode_cp(decoder &);
void decode_ldmatrix(decoder &);
void decode_stmatrix(decoder &);
void decode_mma(decoder &);
// Order.
void decode_bar(decoder &);
void decode_fence(decoder &);
void decode_membar(decoder &);
void decode_mbarrier(decoder &);
void decode_wgmma(decoder &);
void decode_setmaxnreg(decoder &);

} // namespace weft_emulated

#endif
