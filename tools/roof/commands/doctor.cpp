// `roof doctor`: what this machine says of itself, what is doubtful about it, and what can be measured here or not, each
// with its reason and remedy.
#include "tools/roof/commands/doctor_text.hpp"

#include "analysis/study/json.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"

#include <memory>

namespace roof {
namespace {

nlohmann::json doctor_json(const BenchRegistry& registry)
{
    nlohmann::json benches = nlohmann::json::array();
    for (const auto& bench : registry.benches()) {
        benches.push_back(
            {{"name", bench->name()}, {"device_kind", bench->device_kind()}, {"description", bench->description()}});
    }
    nlohmann::json absent = nlohmann::json::array();
    for (const AbsentPart& part : registry.absent()) {
        absent.push_back({{"name", part.name}, {"reason", part.reason}, {"remedy", part.remedy}});
    }
    return {{"machine", analysis::machine_json(registry.machine())}, {"benches", benches}, {"absent", absent}};
}

int examine(bool json, Context& context)
{
    context.registry.open_all();
    if (json)
        print_json(context.out, doctor_json(context.registry));
    else
        context.out << doctor_text(context.registry);
    return 0;
}

}  // namespace

Action doctor(OptionParser& parser)
{
    const auto json = std::make_shared<bool>(false);
    parser.flag("--json", *json);
    return [json](Context& context) { return examine(*json, context); };
}

}  // namespace roof
