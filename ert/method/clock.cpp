#include "ert/method/clock.hpp"
