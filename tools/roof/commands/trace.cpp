// `roof trace`: writes one training step of a results folder as a trace for Perfetto.
#include "analysis/study/exports/export.hpp"

#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/reading/study.hpp"

#include <fmt/format.h>

namespace roof {
namespace {

struct TraceOptions {
    OptionParser& parser;
    std::string& folder = parser.required("DIR");
    std::string& row = parser.value("--row", "1");
    std::string& out = parser.value("--out");
};

int write_trace(const TraceOptions& options, Context& context)
{
    const analysis::Study study = open_with_calibration(options.folder, {}, context);
    const std::vector<const Measurement*> steps = analysis::measured_steps(study.results.rows);
    if (steps.empty()) throw InputError("no training step was measured in '" + options.folder + "'");
    const int number = whole_number("--row", options.row, 1, static_cast<int>(steps.size()));
    const Measurement& row = *steps[static_cast<std::size_t>(number - 1)];
    const bool is_chosen = !options.out.empty();
    const std::string file = is_chosen ? options.out : "trace.json";
    (is_chosen ? write_chosen_file : write_file)(file,
                                                 analysis::json_document(analysis::trace_of(study, row), 1) + "\n");
    context.out << in_window(fmt::format("{}: step {} of {}, {}\n", file, number, steps.size(), printable(row.id())),
                             context.terminal);
    return 0;
}

}  // namespace

Action trace(OptionParser& parser)
{
    return [options = TraceOptions{parser}](Context& context) { return write_trace(options, context); };
}

}  // namespace roof
