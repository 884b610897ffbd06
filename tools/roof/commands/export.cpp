// `roof export`: ceilings and points in the forms of other tools.
#include "analysis/study/exports/export.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/reading/study.hpp"

namespace roof {
namespace {

struct ExportOptions {
    OptionParser& parser;
    std::string& folder = parser.required("DIR");
    std::string& format = parser.value("--format", "csv");
    std::string& device = parser.value("--device", "cpu");
    std::string& out = parser.value("--out");
};

int write_export(const ExportOptions& options, Context& context)
{
    const analysis::Study study = open_with_calibration(options.folder, {}, context);
    const std::string text = analysis::exported(study, options.format, options.device);
    if (options.out.empty())
        context.out << text;
    else
        write_chosen_file(options.out, text);
    return 0;
}

}  // namespace

Action export_results(OptionParser& parser)
{
    return [options = ExportOptions{parser}](Context& context) { return write_export(options, context); };
}

}  // namespace roof
