// The project's errors and their effects.
#pragma once

#include "ert/base/text.hpp"
#include "ert/base/units.hpp"

#include <stdexcept>
#include <string>

namespace roof {

/// A measurement failed: the row becomes `failed`, the exit status 1.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The user's input is wrong: nothing is measured, the exit status is 2. The message has place, problem, legal values.
struct InputError : Error {
    using Error::Error;
};

/// Another process writes to a folder.
struct InUse : InputError {
    using InputError::InputError;
};

/// A fault of a device, such as an illegal access: the row becomes `failed`, as does each later use by this process.
struct DeviceFault : Error {
    using Error::Error;
};

/// This machine, build or device lacks something: the row becomes `unsupported` with this reason.
struct Unsupported : Error {
    using Error::Error;
};

/// The loss of a training step became no finite number: the row becomes `diverged`.
struct Diverged : Error {
    using Error::Error;
};

/// A subject needs more memory than available: the row becomes `out_of_memory`, and the run continues.
struct OutOfMemory : Error {
    OutOfMemory(Bytes wanted_bytes, Bytes available_bytes, const std::string& what_for)
        : Error(what_for + " needs " + format_si(wanted_bytes.value, "B") + ", available are " +
                format_si(available_bytes.value, "B")),
          wanted(wanted_bytes),
          available(available_bytes)
    {
    }

    Bytes wanted;
    Bytes available;
};

}  // namespace roof
