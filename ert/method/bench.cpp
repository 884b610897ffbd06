#include "ert/method/bench.hpp"
