#include "ert/method/measurement.hpp"
