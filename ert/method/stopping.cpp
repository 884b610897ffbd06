#include "ert/method/stopping.hpp"
