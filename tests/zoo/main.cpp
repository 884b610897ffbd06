// `roof-zoo`: calibrates simulated machines by the whole command and holds the results against the truth.
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/zoo/report.hpp"
#include "tests/zoo/run.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

using namespace roof;

namespace {

constexpr const char* usage =
    "roof-zoo [--kinds design|judging|all|NAME] [--calibrations N] [--looks L] [--seed S] [--threads N] [--json] "
    "[--all]\n"
    "         [--command-every N] [--plan calibrate/cpu-quick]\n"
    "    N calibrations of each kind, L of each machine at different times (2); judges what is said after the last of "
    "them;\n"
    "    exit status 1 if a figure fails; with --looks 0 one calibration judges alone, as in folders without looks\n"
    "    each tenth (N-th) runs the whole command, the others the same functions\n"
    "roof-zoo --kinds NAME --show SEED\n"
    "    prints one machine and its calibration\n"
    "roof-zoo --kinds NAME --calibrations N --list\n"
    "    prints a line for each machine, with the seed for --show\n"
    "roof-zoo --join FILE FILE ...\n"
    "    judges the machines of several runs with --json, each with a seed of its own, as one\n"
    "roof-zoo --names\n";

struct Options {
    std::string kinds = "design";
    std::size_t calibrations = 40;
    int looks = 2;
    std::uint64_t seed = 1;
    int threads = 2;
    std::size_t command_every = 10;
    std::optional<std::uint64_t> show;
    bool json = false;
    bool all = false;
    bool list = false;
    bool names = false;
    std::vector<std::string> join;
    std::string plan = "calibrate/cpu";
};

std::optional<Options> parsed(const std::vector<std::string>& words)
{
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--json")
            options.json = true;
        else if (word == "--all")
            options.all = true;
        else if (word == "--list")
            options.list = true;
        else if (word == "--names")
            options.names = true;
        else if (i + 1 == words.size())
            return {};
        else if (word == "--join")
            while (++i < words.size()) options.join.push_back(words[i]);
        else if (word == "--kinds")
            options.kinds = words[++i];
        else if (word == "--plan")
            options.plan = words[++i];
        else {
            const auto number = parse_number<std::uint64_t>(words[++i]);
            if (!number) return {};
            if (word == "--calibrations")
                options.calibrations = *number;
            else if (word == "--looks")
                options.looks = static_cast<int>(*number);
            else if (word == "--seed")
                options.seed = *number;
            else if (word == "--command-every")
                options.command_every = std::max<std::size_t>(1, *number);
            else if (word == "--threads")
                options.threads = static_cast<int>(*number);
            else if (word == "--show")
                options.show = *number;
            else
                return {};
        }
    }
    return options;
}

std::vector<const zoo::Kind*> kinds_named(const std::string& text)
{
    std::vector<const zoo::Kind*> kinds;
    for (const zoo::Kind& kind : zoo::all_kinds())
        if (text == "all" || text == name(kind.half) || text == kind.name) kinds.push_back(&kind);
    return kinds;
}

void print_line(const zoo::Kind& kind, std::uint64_t seed, const zoo::Calibration& calibration,
                const zoo::Verdict& verdict)
{
    std::size_t steady = 0;
    std::size_t missed = 0;
    std::string worst;
    double lowest = 1;
    for (const zoo::JudgedCeiling& ceiling : verdict.ceilings) {
        steady += ceiling.is_steady() ? 1 : 0;
        missed += ceiling.is_steady() && !ceiling.holds ? 1 : 0;
        if (!ceiling.is_steady() || ceiling.over_truth() >= lowest) continue;
        lowest = ceiling.over_truth();
        worst = ceiling.name;
    }
    fmt::print("{:<44} seed {:<16} status {} levels {}{} steady {:>3} of {:>3}, missed {:>3}, lowest {:.3f} {}\n",
               kind.name, seed, calibration.status ? std::to_string(*calibration.status) : "-",
               verdict.has_right_levels ? "right" : "WRONG", verdict.has_false_level ? " (false)" : "", steady,
               verdict.ceilings.size(), missed, lowest, worst);
    std::fflush(stdout);
}

int run_zoo(const Options& options)
{
    if (options.names) {
        for (const zoo::Kind& kind : zoo::all_kinds()) fmt::print("{:<8}{}\n", name(kind.half), kind.name);
        for (const zoo::Moved& moved : zoo::moved_kinds())
            fmt::print("moved to design: {}, replaced by {}: {}\n", moved.kind, moved.replaced_by, moved.reason);
        return 0;
    }
    const std::vector<const zoo::Kind*> kinds = kinds_named(options.kinds);
    if (kinds.empty()) {
        fmt::print(stderr, "no kind is named '{}'; --names lists them\n", options.kinds);
        return 2;
    }
    if (options.show) {
        const fakes::TemporaryFolder scratch(zoo::fast_folder());
        const zoo::Calibration calibration =
            zoo::calibrate(*kinds.front(), *options.show, scratch / "run", std::max(1, options.looks));
        std::cout << zoo::show_text(calibration, zoo::judge(calibration));
        return 0;
    }
    const auto looks = static_cast<std::size_t>(std::max(1, options.looks));
    const std::size_t machines = (options.calibrations + looks - 1) / looks;
    zoo::Run run{kinds, machines,     options.seed, options.threads, options.command_every,
                 {},    options.plan, options.looks};
    if (options.list) run.each = print_line;
    std::vector<nlohmann::json> reports;
    for (const std::string& file : options.join) reports.push_back(nlohmann::json::parse(read_file(file)));
    const std::vector<zoo::Tally> tallies = reports.empty() ? zoo::run(run) : zoo::joined(reports);
    if (options.json)
        std::cout << zoo::report_json(tallies).dump(2) << '\n';
    else
        std::cout << zoo::report_text(tallies, options.all);
    std::vector<std::string> unjudged;
    for (const zoo::Finding& finding : zoo::findings_of(tallies, unjudged))
        if (!finding.passes()) return 1;
    return 0;
}

}  // namespace

int main(int count, char** words)
{
    const std::optional<Options> options = parsed({words + 1, words + count});
    if (!options) {
        std::cerr << usage;
        return 2;
    }
    try {
        return run_zoo(*options);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
}
