/* What old_program.c computes, for the test that runs it. */
#ifndef WEFT_TEST_OLD_PROGRAM_H
#define WEFT_TEST_OLD_PROGRAM_H

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the sample artifact at `fd` with an env of version `env_version` (0 or 1), asks and calls as programs of that time do. Returns
 * "", or what went wrong. */
const char *weft_old_program(int fd, int env_version);

#ifdef __cplusplus
}
#endif
#endif
