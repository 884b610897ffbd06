// `roof whatif`: the measured steps under other roofs, and at another batch.
#include "analysis/study/whatif.hpp"

#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/arguments.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/reading/calibration.hpp"

#include <memory>

namespace roof {
namespace {

struct Options {
    std::string folder;
    std::string set;
    bool json = false;
};

int answer(const Options& options, Context& context)
{
    const analysis::Study study = open_with_calibration(options.folder, {}, context);
    const analysis::WhatIf change = analysis::parse_what_if(comma_list("--set", options.set), study);
    const std::vector<analysis::Predicted> answers = analysis::what_if(study, change);
    if (options.json)
        print_json(context.out, analysis::to_json(answers));
    else
        context.out << analysis::to_text(answers, context.terminal.width);
    return 0;
}

}  // namespace

Action whatif(Grammar& grammar)
{
    const auto options = std::make_shared<Options>();
    grammar.word("DIR", options->folder);
    grammar.required("--set", options->set);
    grammar.flag("--json", options->json);
    return [options](Context& context) { return answer(*options, context); };
}

}  // namespace roof
