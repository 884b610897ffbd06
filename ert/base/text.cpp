#include "ert/base/text.hpp"
