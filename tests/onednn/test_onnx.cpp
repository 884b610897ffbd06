// The table of networks that PyTorch trained, by oneDNN.
#include "tests/engine/parity_cases.hpp"
#include "tests/onednn/hashed_training.hpp"
#include "tests/onednn/network_values.hpp"
#include "tests/skip.hpp"
#include "workloads/kernels/convolution.hpp"

using namespace roof;
using namespace roof::onednn;

TEST_CASE("Networks train as in PyTorch")
{
    for (const engine::ParityCase& one : engine::parity_cases(std::string(ROOF_TEST_DATA) + "/..")) {
        DYNAMIC_SECTION(one.name)
        {
            const model::Graph graph = one.graph();
            HashedTraining training(graph, {.optimizer = one.optimizer});
            engine::compare_with_pytorch(one, graph, training, one.losses);
        }
    }
}

TEST_CASE("The gradients of depthwise weights by this project's kernel are oneDNN's")
{
    if (kernels::convolution_lanes() == 0) return skip("there are no convolution kernels for this processor");
    struct Case {
        int channels, window, stride, padding;
        bool bias;
    };
    for (const auto& [channels, window, stride, padding, bias] :
         {Case{20, 5, 1, 2, true}, Case{32, 5, 2, 2, false}, Case{16, 3, 2, 1, true}, Case{17, 7, 1, 0, false}}) {
        INFO(channels << " channels, window " << window << ", stride " << stride);
        model::Graph graph("deep", {3, 15, 13});
        const int stem = graph.convolution("stem", 0, channels, {.size = 1}, true);
        const model::Window of{.size = window, .stride = stride, .padding = padding};
        const int deep = graph.convolution("deep", stem, channels, of, bias, channels);
        graph.linear("end", graph.flatten("flat", graph.relu("relu", deep)), 5);
        const auto gradients = [&](Algorithm algorithm) {
            Network network(graph,
                            {.batch = 3, .threads = 2, .parameters = Parameters::hashed, .algorithm = algorithm});
            const Clock stopped = [] { return Seconds{}; };
            Trace trace(stopped, network.parts().size());
            const std::vector<float> images(std::size_t{3 * 3 * 15 * 13}, 0.5F);
            const std::vector<int> labels{0, 2, 4};
            network.forward(images.data(), labels.data(), trace);
            network.backward(trace);
            std::vector<std::vector<float>> all;
            for (std::size_t k = 2; k < network.parameters().size() - 2; ++k) all.push_back(gradient_of(network, k));
            bool is_ours = false;
            for (const TimedPart& part : network.parts())
                is_ours = is_ours || part.implementation.find("roof:depthwise") != std::string::npos;
            CHECK(is_ours == (algorithm == Algorithm::direct));
            return all;
        };
        const auto ours = gradients(Algorithm::direct);
        const auto theirs = gradients(Algorithm::gemm);
        REQUIRE(ours.size() == (bias ? 2U : 1U));
        for (std::size_t k = 0; k < ours.size(); ++k) {
            for (std::size_t i = 0; i < ours[k].size(); ++i) CHECK(ours[k][i] == Approx(theirs[k][i]).margin(2e-6));
        }
    }
}
