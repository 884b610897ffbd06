#include "tools/roof/programs/simulate.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/plan/measure.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/console/shell.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/programs/simulation.hpp"
#include "tools/roof/programs/simulator.hpp"
#include "tools/roof/session/explain.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace roof {
namespace {

/// A temporary folder for the simulator's files; the destructor removes it.
class Scratch {
  public:
    Scratch()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "roof-simulate-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw InputError("no temporary folder can be made: " + pattern);
        path_ = pattern;
    }
    ~Scratch()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

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

struct Caches {
    SimulatedCache first, last;
};

/// The machine's first and last cache; common sizes if it reports none.
Caches caches_of(const Machine& machine)
{
    Bytes first{32768}, last{1048576};
    for (const MemoryLevel& level : machine.device("cpu").levels) {
        if (level.capacity.value <= 0 || level.name == "DRAM") continue;
        if (level.name == "L1") first = level.capacity;
        last = std::max(last, level.capacity);
    }
    return {simulated_cache(first), simulated_cache(last)};
}

std::vector<std::string> command_of(const TrainOptions& options, const Caches& caches,
                                    const std::filesystem::path& scratch)
{
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    // clang-format off
    std::vector<std::string> command{
        "env", "ONEDNN_MAX_CPU_ISA=AVX2", "OMP_NUM_THREADS=1",
        "valgrind", "--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes",
        "--D1=" + caches.first.option(), "--LL=" + caches.last.option(),
        "--callgrind-out-file=" + (scratch / "counts").string(), "--log-file=" + (scratch / "log").string(),
        self.string(), "run", options.model, "--batch", options.batch, "--threads", "1", "--simulate"};
    // clang-format on
    for (const char* axis : {"precision", "parameters", "data", "algorithm"})
        if (const std::string& value = *options.axes.at(axis); !value.empty())
            command.insert(command.end(), {option_of(axis), value});
    return command;
}

std::vector<Dump> read_dumps(const std::filesystem::path& scratch)
{
    std::vector<Dump> dumps;
    for (const auto& entry : std::filesystem::directory_iterator(scratch))
        if (entry.path().filename().string().starts_with("counts."))
            dumps.push_back(parse_dump(read_file(entry.path())));
    return dumps;
}

std::string last_line(const std::filesystem::path& file)
{
    if (!std::filesystem::exists(file)) return {};
    const std::string text(trim(read_file(file)));
    return printable(text.substr(text.rfind('\n') + 1));
}

}  // namespace

int simulate(const std::vector<Item>& items, const TrainOptions& options, bool json, Context& context)
{
    if (items.size() != 1) throw InputError("--simulate takes one batch of one model");
    if (const std::string reason = missing_simulator(); !reason.empty()) throw InputError("--simulate: " + reason);
    if (under_simulator()) return launch(items.front(), context);
    if (!is_installed("valgrind"))
        throw InputError("--simulate: valgrind is not installed (Debian's package valgrind)");
    const Scratch scratch;
    const Caches caches = caches_of(context.registry.machine());
    const std::filesystem::path parts = scratch.path() / "parts.json", errors = scratch.path() / "errors";
    context.err << "running two steps under valgrind; this takes about a hundred times as long as without\n";
    const int status = std::system((shell_line(command_of(options, caches, scratch.path())) + " > " +
                                    shell_word(parts.string()) + " 2> " + shell_word(errors.string()))
                                       .c_str());
    if (WIFSIGNALED(status) || !WIFEXITED(status)) throw Interrupted();
    if (WEXITSTATUS(status) != 0) {
        const std::string why = last_line(errors), log = last_line(scratch.path() / "log");
        throw Error("--simulate: " + (why.empty() ? log : why));
    }
    const std::vector<SimulatedPart> simulated =
        simulated_parts(nlohmann::json::parse(read_file(parts)).at("parts"), read_dumps(scratch.path()));
    if (json)
        print_json(context.out, simulation_json(simulated, caches.first, caches.last));
    else
        context.out << simulation_text(simulated, caches.first, caches.last);
    return 0;
}

}  // namespace roof
