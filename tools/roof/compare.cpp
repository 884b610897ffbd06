// `roof compare`: row by row, whether two result folders show a difference that their intervals support.
#include "analysis/compare.hpp"

#include "tools/roof/calibration.hpp"
#include "tools/roof/commands.hpp"
#include "tools/roof/output.hpp"

#include <memory>

namespace roof {
namespace {

struct Options {
    std::string first;
    std::string second;
    bool json = false;
};

int compare_folders(const Options& options, Context& context)
{
    const analysis::Study first = open_with_calibration(options.first, {}, context);
    const analysis::Study second = open_with_calibration(options.second, {}, context);
    const auto comparison = analysis::compare(first, second);
    if (options.json)
        print_json(context.out, analysis::to_json(comparison));
    else
        context.out << analysis::to_text(comparison);
    return 0;
}

}  // namespace

Action compare(Grammar& grammar)
{
    const auto options = std::make_shared<Options>();
    grammar.word("A", options->first);
    grammar.word("B", options->second);
    grammar.flag("--json", options->json);
    return [options](Context& context) { return compare_folders(*options, context); };
}

}  // namespace roof
