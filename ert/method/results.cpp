#include "ert/method/results.hpp"
