/* A process of Linux as the board, without any library: for trying a firmware on x86-64 and
 * aarch64, also emulated. */
#include "board.h"

#if defined(__x86_64__)
__asm__(
    ".globl _start\n_start:\n  xor %ebp, %ebp\n  and $-16, %rsp\n  call firmware_main\n  hlt\n");
enum { WRITE = 1, EXIT = 60 };
static long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n  mov x29, #0\n  bl firmware_main\n  brk #0\n");
enum { WRITE = 64, EXIT = 93 };
static long system_call(long number, long a, long b, long c) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
                   x2 __asm__("x2") = c;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}
#else
#error "this board is x86-64 or aarch64"
#endif

void board_write(const char *text, size_t bytes) {
  while (bytes > 0) {
    long done = system_call(WRITE, 1, (long)text, (long)bytes);
    if (done <= 0)
      return;
    text += done;
    bytes -= (size_t)done;
  }
}

void board_stop(int code) {
  for (;;)
    system_call(EXIT, code, 0, 0);
}
