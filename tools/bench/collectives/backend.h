/* What main.c asks of the library that moves bytes between ranks; each is one file beside it.
 * Functions return 0, or say why not and return 1. */
#ifndef WEFT_BENCH_COLLECTIVES_BACKEND_H
#define WEFT_BENCH_COLLECTIVES_BACKEND_H

#include <stddef.h>

enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER };

/* Meets the other ranks. What the program was told behind its own arguments says who this one is,
 * where the library has no other way. */
int backend_open(int argc, char **argv, int *rank, int *world);
/* Memory to send from, and to receive in, that lives to the end. */
float *backend_memory(size_t bytes);
/* Of `count` floats of the whole tensor: every rank's part is count / world. */
int backend_call(int kind, const float *send, float *receive, size_t count);
void backend_close(void);

#endif
