#include "ert/method/trace.hpp"
