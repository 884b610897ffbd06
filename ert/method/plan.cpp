#include "ert/method/plan.hpp"
