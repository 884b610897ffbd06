#include "tools/roof/commands/dry_run.hpp"

#include "ert/base/text.hpp"
#include "tools/roof/console/shell.hpp"

#include <fmt/format.h>

namespace roof {

std::string reproducing_command(const Item& item, const std::vector<std::string>& sweep)
{
    std::vector<std::string> words{"roof"};
    words.insert(words.end(), sweep.begin(), sweep.end());
    words.insert(words.end(), {"--only", item.id()});
    return shell_line(words);
}

std::string dry_run_text(const std::vector<Item>& items, const std::vector<std::string>& sweep, const PlanTime& time)
{
    std::string text;
    for (const Item& item : items) {
        text += printable(reproducing_command(item, sweep));
        if (!item.missing.empty()) text += "   # unsupported: " + printable(item.missing);
        text += '\n';
    }
    std::vector<std::string> from;
    if (time.remembered > 0) from.push_back(fmt::format("{} from earlier rows", time.remembered));
    if (time.predicted > 0) from.push_back(fmt::format("{} predicted from the ceilings", time.predicted));
    if (time.budgeted > 0) from.push_back(fmt::format("{} from their time budgets alone", time.budgeted));
    return text + fmt::format("{} items, about {}{}{}\n", items.size(), format_duration(time.total.value),
                              from.empty() ? "" : ": ", join(from, ", "));
}

nlohmann::json dry_run_json(const std::vector<Item>& items, const std::vector<std::string>& sweep, const PlanTime& time)
{
    nlohmann::json list = nlohmann::json::array();
    for (const Item& item : items) {
        const nlohmann::json missing = item.missing.empty() ? nlohmann::json() : nlohmann::json(item.missing);
        list.push_back({{"id", item.id()}, {"command", reproducing_command(item, sweep)}, {"missing", missing}});
    }
    return {{"items", list},
            {"estimated_seconds", time.total.value},
            {"remembered", time.remembered},
            {"predicted", time.predicted},
            {"budgeted", time.budgeted}};
}

}  // namespace roof
