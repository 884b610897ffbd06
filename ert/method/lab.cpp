#include "ert/method/lab.hpp"
