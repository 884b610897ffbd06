// Runs a step of a small network as often as its argument says, for a tool that measures a whole process. The cost of
// one step is the difference between two runs. Prints the bytes that its parts report, an interval.
#include "workloads/model/graph.hpp"
#include "workloads/onednn/step.hpp"

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace roof;
using namespace roof::onednn;

namespace {

/// Feature maps of 150 KB and each kind of layer that moves them.
model::Graph network(const std::string& shape)
{
    model::Graph net(shape, {16, 28, 28});
    int last = net.convolution("body", 0, 48,
                               {.size = shape == "1x1" ? 1 : 3, .stride = 1, .padding = shape == "1x1" ? 0 : 1}, false);
    const int shortcut = net.relu("relu", net.batch_norm("norm", last));
    last = net.convolution("second", shortcut, 48,
                           {.size = shape == "1x1" ? 1 : 3, .stride = 1, .padding = shape == "1x1" ? 0 : 1}, false);
    last = net.relu("clip", net.add("sum", net.batch_norm("normal", last), shortcut));
    last = net.average_pool("pool", last, 1);
    net.linear("last", net.flatten("flat", last), 10);
    return net;
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 3) {
        std::cerr << "usage: step_program 1x1|3x3 STEPS\n";
        return 2;
    }
    const model::Graph graph = network(argv[1]);
    Network trained(graph, {.batch = 1, .threads = 1});
    const Clock clock = [] { return Seconds{}; };
    Trace trace(clock, trained.parts().size());
    const std::vector<float> image(static_cast<std::size_t>(graph.layer(0).output.elements()), 0.5F);
    const int label = 0;
    for (int step = 0; step < std::atoi(argv[2]); ++step) {
        trained.forward(image.data(), &label, trace);
        trained.backward(trace);
        trained.update(trace);
    }
    Bytes compulsory{};
    Bytes no_reuse{};
    for (const TimedPart& part : trained.parts()) {
        compulsory += part.work.compulsory;
        no_reuse += part.work.no_reuse;
    }
    std::cout << compulsory.value << ' ' << no_reuse.value << '\n';
    return 0;
}
