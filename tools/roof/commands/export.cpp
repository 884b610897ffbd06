// `roof export`: ceilings and points in the forms of other tools.
#include "analysis/study/exports/export.hpp"
#include "analysis/fleet/digest.hpp"
#include "ert/base/files.hpp"
#include "ert/method/results/results.hpp"
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

/// Of the folder alone. A damaged or unfinished one is named, and the exit status is 1. Empty without ceilings and
/// links.
std::string digest_of(const std::string& folder, analysis::Twins twins, Context& context)
{
    const Results results = read_results(folder);
    report_damage(results, context);
    if (!results.odd.empty()) context.status = 1;
    analysis::Digest digest = make_digest(results, twins);
    if (twins == analysis::Twins::each) {  // for the atlas, which names no node
        digest.node = "unknown";
        digest.links.clear();
    }
    return digest.ceilings.empty() && digest.links.empty() ? "" : to_csv(digest);
}

std::string text_of(const ExportOptions& options, Context& context)
{
    if (options.format == "digest") return digest_of(options.folder, analysis::Twins::as_mean, context);
    if (options.format == "atlas") return digest_of(options.folder, analysis::Twins::each, context);
    return analysis::exported(open_with_calibration(options.folder, {}, context), options.format, options.device);
}

}  // namespace

Action export_results(OptionParser& parser)
{
    return [options = ExportOptions{parser}](Context& context) {
        const std::string text = text_of(options, context);
        if (options.out.empty())
            context.out << text;
        else
            write_chosen_file(options.out, text);
        return 0;
    };
}

}  // namespace roof
