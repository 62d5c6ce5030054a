// Which features this processor and the operating system offer, by the names an artifact uses.
#pragma once

/// True when the machine can execute `name` ("avx2", "avx512vnni", …), including that the operating
/// system saves the registers. A name that is not known counts as missing.
bool weft_cpu_has(const char *name);
