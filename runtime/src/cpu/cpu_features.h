// Which features this processor and the operating system offer, by the names an artifact uses.
//
//   weft_cpu_has("amx-tile") && weft_cpu_permits("amx-tile")
#pragma once

/// True when the machine can execute `name` ("avx2", "avx512vnni", …), including that the operating
/// system saves the registers. A name that is not known counts as missing.
bool weft_cpu_has(const char *name);

/// False when the kernel refuses this process the registers of `name`, which the machine has. It gives those of tiles to a process that
/// asks only, which this does: from then on all its threads have them, and need more room for signals.
bool weft_cpu_permits(const char *name);

/// A target that this machine runs, near its best: for hints.
const char *weft_cpu_target();

/// A target that machines with such registers run without asking.
const char *weft_cpu_target_without_asking();
