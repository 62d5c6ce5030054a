// The transports "threads" and "shm": collectives through memory that all ranks map. They differ in how they get it, and in how they notice that a
// rank is gone.
#pragma once

#include "weft/transport.h"

extern const weft_transport_v1 weft_threads_transport, weft_shm_transport;
