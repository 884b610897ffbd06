#include "ert/base/precision.hpp"

#include "ert/base/names.hpp"

namespace roof {

Precision parse_precision(std::string_view name)
{
    return row_in(precision_table, "precision", name).precision;
}

}  // namespace roof
