#include "ert/base/precision.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <vector>

namespace roof {

Precision parse_precision(std::string_view name)
{
    std::vector<std::string> legal;
    for (const PrecisionTraits& row : precision_table) {
        if (row.name == name) return row.precision;
        legal.emplace_back(row.name);
    }
    throw InputError(unknown_word("precision", name, legal));
}

}  // namespace roof
