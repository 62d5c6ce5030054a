// Whether a process has ended.
#pragma once

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Begun while the process is known to be there: numbers are given again. With all bits 0 it sees nothing.
struct weft_watch_t {
  int32_t process; ///< 0: none
  int32_t file;    ///< a pidfd; -1: none

  void begin(int32_t seen) {
    process = seen;
    file = (int32_t)syscall(SYS_pidfd_open, seen, 0);
  }

  /// A system without pidfds is asked by number, which sees a process until its parent has looked after it.
  bool has_ended() const {
    if (!process)
      return false;
    pollfd watch = {file, POLLIN, 0};
    return file >= 0 ? poll(&watch, 1, 0) == 1 : kill(process, 0) != 0 && errno == ESRCH;
  }

  void end() {
    if (process && file >= 0)
      close(file);
    process = 0;
  }
};
