#include "ert/method/work.hpp"
