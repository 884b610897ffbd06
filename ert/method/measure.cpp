#include "ert/method/measure.hpp"
