//===- Sentences.h - What sentence_search looks through when it is given nothing --------------===//
#pragma once

namespace sentence_search {

inline const char *const builtInSentences[] = {
    "Knead the dough for ten minutes and let it rise overnight.",
    "A pinch of salt brings out the sweetness of ripe tomatoes.",
    "The soup simmered for hours until the beans were soft.",
    "The telescope discovered a planet that orbits two suns.",
    "Light from the nearest star takes more than four years to reach us.",
    "The rover drilled into the red soil and found traces of water.",
    "Heavy rain is expected along the coast until Friday.",
    "A sudden frost destroyed most of the apple blossoms.",
    "Our train was cancelled, so we took the night bus to Kraków.",
    "You can cycle along the river all the way to the old harbour.",
    "The museum is closed on Mondays but free on the first Sunday of the month.",
    "The striker scored twice in the last five minutes of the match.",
    "She runs ten kilometres before breakfast every day.",
    "The central bank raised interest rates to slow inflation.",
    "Start-ups find it harder to borrow money this year.",
    "A compiler translates a program before it runs.",
    "Forgetting to free memory makes a long-running server slow down.",
    "The patch fixes a race between two threads that write to one file.",
    "The doctor advised her to rest and drink plenty of water.",
    "A good night's sleep helps children remember what they learned.",
    "The orchestra rehearsed the symphony one last time.",
    "He tuned the old guitar and played until the candles went out.",
};

inline const char *const builtInQueries[] = {
    "How do I bake bread?",
    "news about space exploration",
    "My software crashes when it uses more than one thread",
};

} // namespace sentence_search
