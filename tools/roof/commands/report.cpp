// `roof report`: reads result folders and makes a page, tables and a terminal picture; works on any machine.
#include "analysis/report/report.hpp"
#include "analysis/study/compared/compare.hpp"
#include "analysis/study/exports/export.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/study.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/reading/study.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace roof {

namespace {

namespace fs = std::filesystem;

/// What --anonymise leaves out of a page for others: names of nodes and folders, kernel, firmware and microcode. Gives
/// folders plain names: links in a temporary folder, which stays the working folder.
class PlainNames {
  public:
    PlainNames() { std::filesystem::current_path(scratch_.path()); }

    /// The name of a folder, from the working folder. The folders beside it have names, too.
    fs::path of(const fs::path& folder)
    {
        const fs::path real = fs::canonical(before_ / folder);
        const fs::path home = fmt::format("machine-{}", names_.size() + 1);
        link(real, home);
        for (const Neighbour& one : neighbours_in(real.parent_path())) link(one.place, home);
        return names_[real];
    }
    /// A folder with the folders of each machine under `results`.
    fs::path of_results(const fs::path& results)
    {
        const fs::path home = "results";
        for (const Neighbour& machine : neighbours_in(before_ / results))
            for (const Neighbour& one : neighbours_in(machine.place)) link(one.place, home / machine.place.filename());
        return home;
    }
    void hide_in(analysis::Study& study)
    {
        const auto plain = [&](const std::string& node) {
            return nodes_.try_emplace(node, fmt::format("node-{}", nodes_.size() + 1)).first->second;
        };
        for (Machine* machine : {&study.results.machine, &study.calibration.machine}) {
            std::vector<std::string> nodes = rank_nodes(*machine);
            for (std::string& node : nodes) node = plain(node);
            if (!nodes.empty()) set_rank_nodes(*machine, nodes);
            if (!machine->node.empty()) machine->node = plain(machine->node);
            machine->host.clear();
            for (const char* const what : {"kernel", "BIOS", "microcode"}) machine->versions.erase(what);
        }
        for (Results* results : {&study.results, &study.calibration}) {
            std::vector<std::string*> texts{&results->plan};
            for (std::vector<std::string>* list : {&results->damage, &results->remarks, &results->odd})
                for (std::string& text : *list) texts.push_back(&text);
            for (Measurement& row : results->rows)
                texts.insert(texts.end(), {&row.reason, &row.remarks, &row.description});
            for (std::string* text : texts) *text = without_nodes(*text);
        }
    }

  private:
    void link(const fs::path& place, const fs::path& home)
    {
        fs::create_directories(home);
        const fs::path name = home / fmt::format("run-{}", names_.size() + 1);
        if (names_.try_emplace(place, name).second) fs::create_directory_symlink(place, name);
    }
    std::string without_nodes(std::string text) const
    {
        const auto is_word = [&](std::size_t at) {
            return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
        };
        for (const auto& [node, name] : nodes_)
            for (std::size_t at = 0; (at = text.find(node, at)) != std::string::npos;) {
                const bool is_whole = !is_word(at - 1) && !is_word(at + node.size());
                if (is_whole) text.replace(at, node.size(), name);
                at += is_whole ? name.size() : 1;
            }
        return text;
    }

    std::filesystem::path before_ = std::filesystem::current_path();
    Scratch scratch_{"roof-report-"};
    std::map<std::filesystem::path, std::filesystem::path> names_;
    std::map<std::string, std::string> nodes_;
};

struct ReportOptions {
    OptionParser& parser;
    std::vector<std::string>& folders = parser.repeated("DIR");
    std::string& out = parser.value("--out");
    std::string& calibration = parser.value("--calibration");
    std::string& baseline = parser.value("--baseline");
    std::string& pictures = parser.value("--pictures");
    std::string& data = parser.value("--data");
    std::string& kernels = parser.value("--kernels");
    bool& anonymise = parser.flag("--anonymise");
    bool& brief = parser.flag("--brief");
    bool& plain = parser.flag("--plain");
    bool& json = parser.flag("--json");
};

/// Of a folder for the page's data and the table of every panel; a file has the page's data alone.
bool is_folder(const std::filesystem::path& data)
{
    return !data.empty() && data.extension() != ".json";
}

/// Makes a PNG file with twice the pixels and a PDF file beside each SVG file. Returns an empty string, or the reason
/// of a failure. Leaves no partial file.
std::string convert(const std::vector<std::filesystem::path>& pictures)
{
    std::string converter = installed("rsvg-convert"), scale = "--zoom";
    if (converter.empty()) std::tie(converter, scale) = std::pair{installed("cairosvg"), std::string("--scale")};
    if (converter.empty())
        return "rsvg-convert is not installed (Debian package librsvg2-bin, or pip install "
               "\"measured-roof[pictures]\")";
    for (const std::filesystem::path& picture : pictures)
        for (const auto& [format, times] : {std::pair{"png", "2"}, {"pdf", "1"}}) {
            const std::filesystem::path made = std::filesystem::absolute(picture).replace_extension(format);
            std::filesystem::remove(made);  // not through a link
            try {
                run_program({converter, "--format", format, scale, times, "--output", made,
                             std::filesystem::absolute(picture)});
            } catch (const Error&) {
                std::filesystem::remove(made);
                return converter + " failed on " + picture.string();
            }
        }
    return {};
}

void write_extras(const ReportOptions& options, const std::vector<analysis::Study>& studies, Context& context)
{
    if (const fs::path where = options.data; !where.empty()) {
        const std::string text = analysis::json_document(analysis::page_json(studies), 1) + "\n";
        is_folder(where) ? write_file(where / "page.json", text) : write_chosen_file(where, text);
    }
    if (options.pictures.empty()) return;
    const std::vector<std::filesystem::path> pictures = analysis::write_pictures(studies, options.pictures);
    const std::string reason = convert(pictures);
    if (options.json) return;
    context.out << pictures.size() << " pictures in " << options.pictures
                << (reason.empty() ? ", as SVG, PNG and PDF\n" : ", as SVG; no PNG or PDF: " + reason + "\n");
}

/// Whether none of its rows is ok, or it has none. A run that cannot be read has one: it is named when it is read.
bool has_measured_nothing(const Neighbour& run)
try {
    return !run.has_rows ||
           std::ranges::none_of(read_rows(run.place), [](const Measurement& row) { return row.status == Status::ok; });
} catch (const Error&) {
    return false;
}

/// The newest run of all that measured something. Throws InputError without one.
std::string newest_run(Context& context)
{
    const std::filesystem::path here = std::filesystem::absolute(context.results).lexically_normal();
    std::vector<std::string> unread;
    std::vector<Neighbour> runs = runs_below(here, &unread);
    for (; !runs.empty() && has_measured_nothing(runs.front()); runs.erase(runs.begin())) {
        const std::filesystem::path& place = runs.front().place;
        if (const std::string lost = lost_rows(place); lost.empty()) {
            unread.push_back("'" + place.string() + "' measured nothing");
        } else {
            tell_once(fmt::format("damaged: {}; '{}' was passed over", lost, place.filename().string()), context);
            context.status = 1;
        }
    }
    for (const std::string& one : unread) tell_once(one + "; it was passed over", context);
    if (runs.empty())
        throw InputError("there is no run in '" + printable(context.results.string()) +
                         "'; `roof run` and `roof sweep` make one, `roof help report` says more");
    if (!runs.front().odd.empty()) tell_once(runs.front().odd, context);
    return (context.results / runs.front().place.lexically_relative(here)).string();
}

/// Gives the folders plain names. Files to write keep theirs.
void hide_names(ReportOptions& options, std::optional<PlainNames>& names, Context& context)
{
    for (std::string* file : {&options.out, &options.pictures, &options.data, &options.kernels})
        if (!file->empty()) *file = std::filesystem::absolute(*file).string();
    names.emplace();
    for (std::string* folder : {&options.calibration, &options.baseline})
        if (!folder->empty()) *folder = names->of(*folder).string();
    for (std::string& folder : options.folders) folder = names->of(folder).string();
    context.results = names->of_results(context.results);
}

int make_report(ReportOptions options, Context& context)
{
    if (is_folder(options.data) && is_there(std::filesystem::path(options.data) / "machine.yaml"))
        throw InputError("--data: " + options.data +
                         " holds results, which the tables would replace: name another folder");
    if (options.folders.empty()) options.folders = {newest_run(context)};
    const bool is_chosen = !options.out.empty();
    if (!is_chosen) options.out = (std::filesystem::path(options.folders.front()) / "report.html").string();
    std::optional<PlainNames> names;
    if (options.anonymise) hide_names(options, names, context);
    const std::filesystem::path page = options.out;
    const auto open = [&](const std::string& folder, const analysis::ReportInput& input) {
        analysis::Study study = open_with_calibration(folder, options.calibration, context, input);
        if (names) names->hide_in(study);
        return study;
    };
    std::vector<analysis::Study> studies;
    std::optional<const analysis::Study> baseline;
    analysis::ReportInput input{.sheets = built_in_sheets(), .together = &studies};
    if (!options.kernels.empty())
        input.kernel_rules = analysis::parse_kernel_rules(read_file(options.kernels), options.kernels);
    if (!options.baseline.empty()) input.baseline = &baseline.emplace(open(options.baseline, {}));
    for (const std::string& folder : options.folders) studies.push_back(open(folder, input));
    nlohmann::json list = nlohmann::json::array();
    if (options.json)
        for (const analysis::Study& study : studies) {
            list.push_back(analysis::study_json(study));
            list.back()["folder"] = study.results.folder.string();
        }
    if (is_folder(options.data)) analysis::write_tables(studies, options.data);
    analysis::thin_steps(studies);
    write_extras(options, studies, context);
    analysis::thin_layers(studies);
    try {
        (is_chosen ? write_chosen_file : write_file)(page, analysis::report_html(studies));
    } catch (const Error& error) {
        throw InputError(std::string(error.what()) + "; --out FILE writes the page to another place");
    }
    if (options.json) {
        print_json(context.out, {{"studies", list}, {"page", (names ? page.filename() : page).string()}});
        return 0;
    }
    Terminal terminal = context.terminal;
    terminal.plain = terminal.plain || options.plain;
    for (const analysis::Study& study : studies) {
        if (&study == &studies.front() || study.calibration.folder != studies.front().calibration.folder)
            print_calibration_line(study, context.terminal.width, context.out);
        if (!study.left_out.empty())
            context.out << analysis::fitted_lines(study.left_out + "\n", context.terminal.width);
    }
    context.out << analysis::fitted_lines(join(analysis::summary(studies), "\n"), context.terminal.columns) << '\n';
    if (const analysis::DataTable winners = analysis::winners_table(studies); !winners.empty())
        context.out << analysis::to_text(winners, context.terminal.width)
                    << (winners.note.empty() ? ""
                                             : analysis::fitted_lines(winners.note + "\n", context.terminal.columns))
                    << '\n';
    for (const analysis::Study& study : studies) {
        if (studies.size() > 1) context.out << "Run " << printable(study.results.folder.filename().string()) << "\n\n";
        print_study(study, terminal, options.brief, context.out);
    }
    for (const analysis::Study& study : studies)
        if (analysis::DataTable changes = analysis::baseline_table(study); !changes.empty()) {
            std::erase_if(changes.rows,
                          [&](const auto& row) { return row.cells[changes.column("what")].text == "layer"; });
            changes.title = "Since " + printable(options.baseline) + "; the page has the layers";
            context.out << analysis::to_text(changes, context.terminal.width) << '\n';
        }
    context.out << page.string() << '\n';
    return 0;
}

}  // namespace

Action report(OptionParser& parser)
{
    return [options = ReportOptions{parser}](Context& context) { return make_report(options, context); };
}

}  // namespace roof
