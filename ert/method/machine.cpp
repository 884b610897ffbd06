#include "ert/method/machine.hpp"
