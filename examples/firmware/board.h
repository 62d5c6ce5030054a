/* What a firmware's board gives: a beginning, which calls firmware_main, an output, and an end. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>

void board_write(const char *text, size_t bytes);
void board_stop(int code);
void firmware_main(void);

#endif
