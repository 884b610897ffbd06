#include "ert/method/point.hpp"
