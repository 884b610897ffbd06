// `roof whatif`: predicts the measured steps under other roofs or at another batch.
#include "analysis/study/steps/whatif.hpp"

#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/reading/study.hpp"

#include <nlohmann/json.hpp>

namespace roof {
namespace {

struct WhatifOptions {
    OptionParser& parser;
    std::string& folder = parser.required("DIR");
    std::string& set = parser.required("--set");
    bool& json = parser.flag("--json");
};

}  // namespace

Action whatif(OptionParser& parser)
{
    return [options = WhatifOptions{parser}](Context& context) {
        const analysis::Study study = open_with_calibration(options.folder, {}, context);
        const analysis::WhatIf change = analysis::parse_what_if(comma_list("--set", options.set), study);
        const std::vector<analysis::Predicted> answers = analysis::what_if(study, change);
        if (options.json)
            print_json(context.out, {{"rows", analysis::to_json(analysis::what_if_table(answers))}});
        else
            context.out << analysis::to_text(answers, context.terminal.width);
        return 0;
    };
}

}  // namespace roof
