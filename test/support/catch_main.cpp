// The one translation unit that contains Catch2's main; it takes seconds to compile, so it stands alone.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
