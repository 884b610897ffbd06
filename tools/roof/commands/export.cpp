// `roof export`: ceilings and points in the forms of other tools.
#include "analysis/study/export.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/reading/study.hpp"

#include <memory>

namespace roof {
namespace {

struct Options {
    std::string folder;
    std::string format = "csv";
    std::string device = "cpu";
    std::string out;
};

int write_export(const Options& options, Context& context)
{
    const analysis::Study study = open_with_calibration(options.folder, {}, context);
    const std::string text = analysis::exported(study, options.format, options.device);
    if (options.out.empty())
        context.out << text;
    else
        write_file(options.out, text);
    return 0;
}

}  // namespace

Action export_results(OptionParser& parser)
{
    const auto options = std::make_shared<Options>();
    parser.required("DIR", options->folder);
    parser.value("--format", options->format);
    parser.value("--device", options->device);
    parser.value("--out", options->out);
    return [options](Context& context) { return write_export(*options, context); };
}

}  // namespace roof
