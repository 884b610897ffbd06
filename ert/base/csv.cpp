#include "ert/base/csv.hpp"
