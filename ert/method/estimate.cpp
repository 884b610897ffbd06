#include "ert/method/estimate.hpp"
