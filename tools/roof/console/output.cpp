#include "tools/roof/console/output.hpp"

#include "analysis/table/table.hpp"

namespace roof {

void print_json(std::ostream& out, const nlohmann::json& document)
{
    out << analysis::json_document(document, 2) << '\n';
}

}  // namespace roof
