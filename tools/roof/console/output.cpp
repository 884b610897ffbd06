#include "tools/roof/console/output.hpp"

namespace roof {

void print_json(std::ostream& out, const nlohmann::json& document)
{
    out << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace roof
