#include "ert/method/ceiling.hpp"
