#include "tools/roof/console/output.hpp"

#include "analysis/table/fitted_text.hpp"
#include "analysis/table/table.hpp"

namespace roof {

void print_json(std::ostream& out, const nlohmann::json& document)
{
    out << analysis::json_document(document, 2) << '\n';
}

std::string in_window(std::string_view text, const Terminal& terminal)
{
    return terminal.width > 0 ? analysis::fitted_lines(text, terminal.width) : std::string(text);
}

}  // namespace roof
