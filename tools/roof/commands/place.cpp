// `roof place`: points of one's own under this machine's roofs.
#include "analysis/report/report.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/exports/export.hpp"
#include "analysis/study/points.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/reading/study.hpp"

namespace roof {
namespace {

struct PlaceOptions {
    OptionParser& parser;
    std::string& file = parser.value("FILE");
    std::string& flops = parser.value("--flops");
    std::string& bytes = parser.value("--bytes");
    std::string& seconds = parser.value("--seconds");
    std::string& name = parser.value("--name", "point");
    std::string& precision = parser.value("--precision", "fp32");
    std::string& device = parser.value("--device");
    std::string& threads = parser.value("--threads");
    std::string& on = parser.value("--on", "here");
    std::string& out = parser.value("--out");
    bool& json = parser.flag("--json");
};

std::vector<analysis::GivenPoint> points_in(const PlaceOptions& options)
{
    analysis::GivenPoint point{
        .name = options.name, .precision = options.precision, .device = options.device, .threads = options.threads};
    if (!options.file.empty()) {
        if (!(options.flops + options.bytes + options.seconds).empty())
            throw InputError(
                "place: a file of points has its own FLOPs, bytes and seconds; leave out --flops, --bytes "
                "and --seconds");
        return analysis::parse_points(read_file(options.file), options.file, point);
    }
    if (options.flops.empty() || options.seconds.empty())
        throw InputError(
            "place: a point needs --flops and --seconds, or a CSV file of points; 'roof help place' shows how");
    point.flops = {analysis::positive_number(options.flops, "--flops", "FLOP")};
    point.seconds = {analysis::positive_number(options.seconds, "--seconds", "s")};
    if (!options.bytes.empty()) point.bytes = {analysis::positive_number(options.bytes, "--bytes", "B")};
    return {point};
}

/// The newest calibration of this machine, or in a folder.
Results calibration_of(const std::string& on, Context& context)
{
    const bool is_here = on == "here" && !std::filesystem::is_directory(on);
    const std::filesystem::path place =
        is_here ? context.results / context.registry.machine().name : std::filesystem::path(on);
    const Machine* const machine = is_here ? &context.registry.machine() : nullptr;
    if (std::optional<Results> found = calibration_in(place, context, machine)) return std::move(*found);
    throw InputError(is_here ? "place: this machine has no calibration yet; `roof calibrate` makes one, or --on names "
                               "a folder with one or a data sheet, such as a100"
                             : "place: there is no calibration in '" + on + "'");
}

analysis::Study placed(const PlaceOptions& options, Context& context)
{
    const std::vector<analysis::GivenPoint> points = points_in(options);
    if (options.on == "here" || std::filesystem::is_directory(options.on))
        return analysis::place_points(points, calibration_of(options.on, context));
    return analysis::place_points(points, find_targets(options.on, context).front());
}

int place_them(const PlaceOptions& options, Context& context)
{
    const analysis::Study study = placed(options, context);
    if (!options.out.empty()) write_chosen_file(options.out, analysis::points_page(study));
    const analysis::DataTable table = analysis::points_table(study);
    const bool is_spec = study.ceilings.known() == Known::spec;
    if (options.json) {
        print_json(context.out,
                   {{"machine", study.calibration.machine.name},
                    {"calibration", study.calibration.folder.string()},
                    {"roofs_known", name(study.ceilings.known())},
                    {"quality",
                     is_spec ? "" : analysis::calibration_quality(study.ceilings, analysis::calibration_rows(study))},
                    {"roofs", analysis::roofs_json(study.ceilings, study.calibration.machine)},
                    {"points", analysis::to_json(table)}});
        return 0;
    }
    const int width = context.terminal.width;
    print_calibration_line(study, width, context.out);
    if (const std::string warning = is_spec ? "" : analysis::calibration_warning(study); !warning.empty())
        context.out << analysis::fitted_lines(warning + "\n", width);
    context.out << analysis::to_text(table, width) << '\n'
                << analysis::terminal_roofline(study, context.terminal.columns, context.terminal.plain) << '\n'
                << (is_spec ? "Roofs, spec:\n" : "Roofs, measured, with their 95% intervals:\n")
                << analysis::fitted_lines(analysis::roofs_over_points(study), width);
    if (!options.out.empty()) context.out << options.out << '\n';
    return 0;
}

}  // namespace

Action place(OptionParser& parser)
{
    return [options = PlaceOptions{parser}](Context& context) { return place_them(options, context); };
}

}  // namespace roof
