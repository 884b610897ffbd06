// What the C++ of a translated kernel includes.
#pragma once

#include "tests/emulated_gpu/device/thread.hpp"
