/* Spots a keyword without a heap, threads, files or libraries: all memory is static, and its sizes
 * are those of keywords.h. Prints the bits of every score and the number of the likeliest word. */
#include "board.h"
#include "keywords.h"

static float mfcc[KEYWORDS_MAIN_MFCC_ELEMENTS], scores[KEYWORDS_MAIN_SCORES_ELEMENTS];
static unsigned char arena[KEYWORDS_MAIN_ARENA_BYTES] __attribute__((aligned(WEFT_EMBEDDED_ALIGN)));

/* A microphone would be read here. A ramp that begins again every 37 values does. */
static void listen(void) {
  for (int i = 0; i < KEYWORDS_MAIN_MFCC_ELEMENTS; ++i)
    mfcc[i] = (float)(i % 37) / 16.0f - 1.0f;
}

static void print_bits(float value) {
  union {
    float value;
    uint32_t bits;
  } word = {value};
  char text[9];
  for (int i = 0; i < 8; ++i)
    text[i] = "0123456789abcdef"[word.bits >> (28 - 4 * i) & 15];
  text[8] = '\n';
  board_write(text, sizeof text);
}

static void stop_with(const char *text) {
  size_t length = 0;
  while (text[length])
    ++length;
  board_write(text, length);
  board_stop(1);
}

void firmware_main(void) {
  listen();
  int32_t answer = keywords_main(mfcc, scores, arena, sizeof arena);
  if (answer != WEFT_EMBEDDED_OK)
    stop_with(keywords_main_error(answer));
  int best = 0;
  for (int i = 0; i < KEYWORDS_MAIN_SCORES_ELEMENTS; ++i) {
    print_bits(scores[i]);
    best = scores[i] > scores[best] ? i : best;
  }
  char word[] = "word 00\n";
  word[5] = (char)('0' + best / 10);
  word[6] = (char)('0' + best % 10);
  board_write(word, sizeof word - 1);
  board_stop(0);
}
