#include "ert/base/error.hpp"

#include "ert/base/text.hpp"

namespace roof {

OutOfMemory::OutOfMemory(Bytes wanted_bytes, Bytes available_bytes, const std::string& what_for)
    : Error(what_for + " needs " + format_si(wanted_bytes.value, "B") + ", available are " +
            format_si(available_bytes.value, "B")),
      wanted(wanted_bytes),
      available(available_bytes)
{
}

}  // namespace roof
