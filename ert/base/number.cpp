#include "ert/base/number.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

namespace roof {

double number_in_cell(const std::string& cell, const std::string& where)
{
    const std::optional<double> value = parse_number<double>(cell);
    if (!value) throw InputError(where + ": '" + printable(cell) + "' is not a number");
    return *value;
}

}  // namespace roof
