#include "tools/roof/session/dry_run.hpp"

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

Seconds rough_time(const std::vector<Item>& items)
{
    Seconds total;
    for (const Item& item : items) {
        if (item.bench != nullptr) total += item.stopping.budget;
    }
    return total;
}

std::string dry_run_text(const std::vector<Item>& items, const std::vector<std::string>& sweep)
{
    std::string text;
    for (const Item& item : items) {
        text += printable(reproducing_command(item, sweep));
        if (!item.missing.empty()) text += "   # unsupported: " + printable(item.missing);
        text += '\n';
    }
    return text + fmt::format(
                      "{} items, roughly {}: the sum of their time budgets; making each subject, and launches slower "
                      "than their budget, come on top\n",
                      items.size(), format_duration(rough_time(items).value));
}

nlohmann::json dry_run_json(const std::vector<Item>& items, const std::vector<std::string>& sweep)
{
    nlohmann::json list = nlohmann::json::array();
    for (const Item& item : items) {
        const nlohmann::json missing = item.missing.empty() ? nlohmann::json() : nlohmann::json(item.missing);
        list.push_back({{"id", item.id()}, {"command", reproducing_command(item, sweep)}, {"missing", missing}});
    }
    return {{"items", list}, {"rough_seconds", rough_time(items).value}};
}

}  // namespace roof
