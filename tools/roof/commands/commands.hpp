// The list of subcommands. Each has a file of its name in this folder, and its help in tools/roof/help/<name>.md.
#pragma once

#include "tools/roof/console/context.hpp"
#include "tools/roof/console/options.hpp"

#include <array>
#include <functional>
#include <string_view>

namespace roof {

/// Runs the command with its parsed options and returns the exit status. Throws InputError and Error.
using Action = std::function<int(Context&)>;

/// Each function declares its options and returns the action to run after they are parsed.
Action doctor(OptionParser& parser);
Action calibrate(OptionParser& parser);
Action run(OptionParser& parser);
Action sweep(OptionParser& parser);
Action estimate(OptionParser& parser);
Action place(OptionParser& parser);
Action report(OptionParser& parser);
Action check(OptionParser& parser);
Action compare(OptionParser& parser);
Action fleet(OptionParser& parser);
Action health(OptionParser& parser);
Action atlas(OptionParser& parser);
Action whatif(OptionParser& parser);
Action trace(OptionParser& parser);
Action profile(OptionParser& parser);
Action import(OptionParser& parser);
Action export_results(OptionParser& parser);
Action list(OptionParser& parser);
Action completion(OptionParser& parser);

struct Command {
    std::string_view name;
    Action (*declare)(OptionParser& parser);
    std::string_view summary;
    bool measures = false;  ///< under mpirun and srun its ranks work together
};

inline constexpr std::array commands{
    Command{"doctor", doctor, "what this machine is, and what can be measured here"},
    Command{"calibrate", calibrate, "measure this machine's ceilings", true},
    Command{"run", run, "train one model for a few steps under the ceilings", true},
    Command{"sweep", sweep, "measure every item of a plan", true},
    Command{"estimate", estimate, "FLOPs and bytes of a model's training step, without running it"},
    Command{"place", place, "points of your own under this machine's roofs"},
    Command{"report", report, "make a report of result folders"},
    Command{"check", check, "tell what is wrong with the files of a result folder"},
    Command{"compare", compare, "tell whether two result folders differ"},
    Command{"fleet", fleet, "tell which of many equal nodes are slow, and write scripts that measure them"},
    Command{"health", health, "tell in seconds whether this node is like its fleet"},
    Command{"atlas", atlas, "machines of many kinds beside each other"},
    Command{"whatif", whatif, "predict steps under other roofs, or at another batch"},
    Command{"profile", profile, "record what any program's GPUs do"},
    Command{"trace", trace, "write one step as a trace for Perfetto"},
    Command{"import", import, "make a result folder of another tool's files"},
    Command{"export", export_results, "ceilings and points in the forms of other tools"},
    Command{"list", list, "models, benches, plans and devices"},
    Command{"completion", completion, "a script that completes command lines in a shell"},
};

}  // namespace roof
