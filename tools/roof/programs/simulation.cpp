#include "tools/roof/programs/simulation.hpp"

#include "analysis/table/fitted_text.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/plan/measure.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/session/plans.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

namespace fs = std::filesystem;

constexpr double line = SimulatedCache::line;

/// The rest of the first line that starts with `begin`; empty without one.
std::string_view after(std::string_view text, const std::string& begin)
{
    const std::size_t found = text.starts_with(begin) ? 0 : text.find("\n" + begin);
    if (found == text.npos) return {};
    const std::string_view rest = text.substr(text.find(begin, found) + begin.size());
    return rest.substr(0, rest.find('\n'));
}

std::vector<std::string> words_of(std::string_view text)
{
    std::vector<std::string> words;
    for (const std::string& word : split(trim(text), ' '))
        if (!word.empty()) words.push_back(word);
    return words;
}

template <class Number>
Number number_in(std::string_view text, const char* what)
{
    if (const auto value = parse_number<Number>(text)) return *value;
    throw Error(fmt::format("valgrind: its {} '{}' is not a number", what, printable(text)));
}

SimulatedPart sum_of(const std::vector<SimulatedPart>& parts)
{
    SimulatedPart sum{"all", "", "", {}, {}, {}, {}};
    for (const SimulatedPart& part : parts)
        for (const auto bytes :
             {&SimulatedPart::compulsory, &SimulatedPart::no_reuse, &SimulatedPart::first, &SimulatedPart::last})
            sum.*bytes += part.*bytes;
    return sum;
}

using P = const SimulatedPart&;

analysis::DataTable table_of_parts(const std::vector<SimulatedPart>& parts)
{
    using analysis::amount, analysis::word;
    static const std::vector<analysis::ColumnOf<SimulatedPart>> columns{
        {"layer", "layer", [](P p) { return word(p.layer); }},
        {"kind", "kind", [](P p) { return word(p.kind); }},
        {"phase", "phase", [](P p) { return word(p.phase); }},
        {"compulsory", "compulsory_bytes", [](P p) { return amount(p.compulsory.value, "B"); }},
        {"no reuse", "no_reuse_bytes", [](P p) { return amount(p.no_reuse.value, "B"); }},
        {"into L1", "simulated_first_level_bytes", [](P p) { return amount(p.first.value, "B"); }},
        {"interval", "", [](P p) { return word(place_of(p.first, p)); }},
        {"from memory", "simulated_memory_bytes", [](P p) { return amount(p.last.value, "B"); }},
        {"interval", "", [](P p) { return word(place_of(p.last, p)); }},
    };
    return analysis::table_of(columns, parts);
}

/// Runs the launches inside the simulator and prints the parts.
int launch(const Item& item, Context& context)
{
    const Explanation explanation = explain(item, context.registry);
    if (!explanation.reason.empty()) throw InputError(explanation.reason);
    const std::unique_ptr<Subject> subject =
        item.bench->make(item.point, context.registry.machine(), context.registry.machine().device(item.device));
    launch_for_simulator(*subject, explanation.parts.size());
    print_json(context.out, explanation_json(explanation));
    return 0;
}

std::vector<std::string> command_of(const TrainOptions& options, const SimulatedCaches& caches, const fs::path& scratch)
{
    const fs::path self = program_path();
    // clang-format off
    std::vector<std::string> command{
        installed("valgrind"), "--tool=callgrind", "--instr-atstart=no",
        "--callgrind-out-file=" + (scratch / "counts").string(), "--log-file=" + (scratch / "log").string(),
        self.string(), "run", options.model, "--batch", options.batch, "--threads", "1", "--simulate"};
    // clang-format on
    const std::vector<std::string> simulated = caches.options();
    command.insert(std::ranges::find(command, self.string()), simulated.begin(), simulated.end());
    for (const char* axis : {"precision", "parameters", "data", "algorithm"})
        if (const std::string& value = *options.axes.at(axis); !value.empty())
            command.insert(command.end(), {option_of(axis), value});
    return command;
}

std::string last_line(const fs::path& file)
{
    if (!fs::exists(file)) return {};
    const std::string text(trim(read_file(file)));
    return printable(text.substr(text.rfind('\n') + 1));
}

}  // namespace

Dump parse_dump(std::string_view text)
{
    const std::vector<std::string> events = words_of(after(text, "events:"));
    std::string_view totals = after(text, "summary:");
    if (totals.empty()) totals = after(text, "totals:");
    const std::vector<std::string> counts = words_of(totals);
    if (events.empty() || totals.empty()) throw Error("valgrind: the file has no events, or no sum of them");
    Dump dump;
    constexpr const char* trigger = "desc: Trigger: Client Request: part ";
    if (const std::string_view part = after(text, trigger); !part.empty())
        dump.part = number_in<int>(trim(part), "part");
    // Sums omit trailing events that never happened.
    for (std::size_t i = 0; i < std::min(events.size(), counts.size()); ++i) {
        const auto count = number_in<double>(counts[i], "count");
        if (events[i] == "D1mr" || events[i] == "D1mw") dump.first += count;
        if (events[i] == "DLmr" || events[i] == "DLmw") dump.last += count;
    }
    return dump;
}

std::vector<SimulatedPart> simulated_parts(const nlohmann::json& parts, const std::vector<Dump>& dumps)
{
    std::vector<SimulatedPart> simulated = mapped(parts, [](const nlohmann::json& part) {
        return SimulatedPart{part.at("layer").get<std::string>(),
                             part.at("kind").get<std::string>(),
                             part.at("phase").get<std::string>(),
                             {part.at("compulsory_bytes").get<double>()},
                             {part.at("no_reuse_bytes").get<double>()},
                             {},
                             {}};
    });
    for (const Dump& dump : dumps) {
        if (dump.part < 0) continue;
        if (static_cast<std::size_t>(dump.part) >= simulated.size())
            throw Error(fmt::format("valgrind: a dump of part {}, of {} parts", dump.part, simulated.size()));
        SimulatedPart& part = simulated[static_cast<std::size_t>(dump.part)];
        part.first += Bytes{dump.first * line};
        part.last += Bytes{dump.last * line};
    }
    return simulated;
}

std::string_view place_of(Bytes moved, const SimulatedPart& part)
{
    constexpr double leeway = 0.05;
    if (moved < (1 - leeway) * part.compulsory) return "below";
    return moved > (1 + leeway) * part.no_reuse ? "above" : "in";
}

std::string simulation_text(const std::vector<SimulatedPart>& parts, const SimulatedCaches& caches)
{
    analysis::DataTable table = table_of_parts(parts);
    append(table, table_of_parts({sum_of(parts)}));
    return to_text(table) +
           fmt::format(
               "\nInto L1 and from memory: lines of 64 bytes that simulated caches missed, of {}, in the second of two "
               "steps, with AVX2 on one thread (simulated). Compulsory and no reuse: the interval of the analysis "
               "(analytic); a twentieth on either side is in it. Below it: the caches held operands from the layer "
               "before, or a line was fetched once and written back, which the analysis counts as two.\n",
               caches.text());
}

nlohmann::json simulation_json(const std::vector<SimulatedPart>& parts, const SimulatedCaches& caches)
{
    return {{"known", "simulated"},
            {"first_level_bytes", caches.first.bytes},
            {"last_level_bytes", caches.last.bytes},
            {"parts", to_json(table_of_parts(parts))}};
}

int simulate(const std::vector<Item>& items, const TrainOptions& options, bool json, Context& context)
{
    if (items.size() != 1) throw InputError("--simulate takes one batch of one model");
    if (const std::string reason = missing_simulator(); !reason.empty()) throw InputError("--simulate: " + reason);
    if (under_simulator()) return launch(items.front(), context);
    if (installed("valgrind").empty())
        throw InputError("--simulate: valgrind is not installed (Debian's package valgrind)");
    const Scratch scratch;
    const SimulatedCaches caches = simulated_caches(context.registry.machine());
    const fs::path parts = scratch.path() / "parts.json", errors = scratch.path() / "errors";
    context.err << "running two steps under valgrind; this takes about a hundred times as long as without\n";
    std::string why;
    const int status = run_again(command_of(options, caches, scratch.path()),
                                 {{"ONEDNN_MAX_CPU_ISA", "AVX2"}, {"OMP_NUM_THREADS", "1"}}, why, {}, parts, errors);
    constexpr int by_signal = 128;
    if (status > by_signal) throw Interrupted();
    if (status != 0) {
        for (const fs::path& file : {errors, scratch.path() / "log"})
            if (why.empty()) why = last_line(file);
        throw Error("--simulate: " + why);
    }
    const std::vector<Dump> dumps =
        mapped(entries_of(scratch.path(), "counts."), [](const fs::path& file) { return parse_dump(read_file(file)); });
    const std::vector<SimulatedPart> simulated =
        simulated_parts(nlohmann::json::parse(read_file(parts)).at("parts"), dumps);
    if (json)
        print_json(context.out, simulation_json(simulated, caches));
    else
        context.out << simulation_text(simulated, caches);
    return 0;
}

}  // namespace roof
