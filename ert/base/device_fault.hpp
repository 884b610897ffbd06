// The error of a device that this process can use no more.
#pragma once

#include "ert/base/error.hpp"

namespace roof {

/// A fault of a device, such as an illegal access: the row becomes `failed`, and every later use of the device by this
/// process fails, too.
class DeviceFault : public Error {
  public:
    using Error::Error;
};

}  // namespace roof
