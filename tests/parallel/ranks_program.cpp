// roof with small networks under the names of two models, for fast tests of processes (test_ranks.py).
#include "ert/base/error.hpp"
#include "ert/method/bench/bench_registry.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/console/process.hpp"
#include "workloads/onednn/train_bench.hpp"

#include <iostream>

namespace roof {

void add_cpu(BenchRegistry& registry);
void add_parallel(BenchRegistry& registry);

namespace {

/// No layer mixes images: the ranks of a divided batch have the losses of one rank with the whole batch.
model::Graph plain()
{
    model::Graph net("alexnet", {3, 12, 12});
    int last = net.relu("relu", net.convolution("first", 0, 16, {.size = 3, .stride = 1, .padding = 1}, true));
    last = net.flatten("flat", net.max_pool("pool", last, {.size = 2, .stride = 2, .padding = 0}));
    last = net.relu("relu2", net.linear("hidden", last, 64));
    net.linear("last", last, 10);
    return net;
}

/// With batch norm, whose statistics are over a rank's images or over all.
model::Graph normalised()
{
    model::Graph net("resnet18", {3, 12, 12});
    int last = net.convolution("first", 0, 16, {.size = 3, .stride = 1, .padding = 1}, false);
    const int left = last = net.relu("relu1", net.batch_norm("norm1", last));
    last = net.convolution("second", last, 16, {.size = 3, .stride = 1, .padding = 1}, false);
    last = net.relu("relu2", net.add("add", net.batch_norm("norm2", last), left));
    net.linear("last", net.flatten("flat", net.average_pool("pool", last, 1)), 10);
    return net;
}

model::Graph small(const std::string& name)
{
    if (name == "alexnet") return plain();
    if (name == "resnet18") return normalised();
    throw InputError("this program has no small network for " + name);
}

BenchRegistry assemble()
{
    BenchRegistry registry;
    add_cpu(registry);
    add_parallel(registry);
    registry.add(std::make_unique<onednn::TrainBench>(std::filesystem::path{}, small));
    return registry;
}

}  // namespace
}  // namespace roof

int main(int count, char** words)
{
    const roof::ExitGuard exit_guard;
    roof::prepare_signals();
    return roof::run_command_line({words + 1, words + count}, {.out = std::cout,
                                                               .err = std::cerr,
                                                               .assemble = roof::assemble,
                                                               .clock = roof::steady_clock(),
                                                               .terminal = {},
                                                               .interrupted = roof::InterruptGuard::raised,
                                                               .results = "results"});
}
