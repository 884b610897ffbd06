// cuDNN's kernels of attention, compiled by NVRTC for GPUs that are not there, behind a driver that only answers. In a
// process of its own, since the driver stays loaded: test_cudnn "[.compiled]".
#include "tests/cudnn/device_json.hpp"
#include "tests/skip.hpp"
#include "workloads/cudnn/library/pass_graphs.hpp"

#include <dlfcn.h>
#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

using namespace roof;
using namespace roof::cudnn;

TEST_CASE("cuDNN compiles attention's kernels for three chips, and finishes their plans", "[.compiled]")
{
    if (dlopen("libnvrtc.so.13", RTLD_NOW) == nullptr) return skip("there is no NVRTC here");
    REQUIRE(dlopen(ROOF_EMPTY_DRIVER, RTLD_NOW | RTLD_GLOBAL) != nullptr);
    for (const std::string where : {"a100", "h200", "b200"}) {
        std::ifstream file(std::string(ROOF_TEST_DATA) + "/data/" + where + ".json");
        std::stringstream text_of_device;
        text_of_device << file.rdbuf();
        const Descriptor device = device_from_json(text_of_device.str());
        // What the chips' support surfaces say of gradients with more than 128 channels (NVIDIA's page on attention).
        const std::map<int, bool> gradients{{64, true}, {256, where == "h200"}};
        for (const auto& [backward, ordered, channels] : {std::tuple{false, false, 64},
                                                          {true, false, 64},
                                                          {true, true, 64},
                                                          {false, false, 256},
                                                          {true, false, 256}}) {
            const ir::AttentionPass pass{.backward = backward,
                                         .batch = 4,
                                         .positions = 1024,
                                         .heads = 12,
                                         .kv_heads = 12,
                                         .channels = channels,
                                         .causal = true,
                                         .precision = Precision::bf16,
                                         .ordered = ordered};
            INFO(where << (backward ? " backward " : " forward ") << text(pass));
            const std::vector<Engine> engines = engines_for(graph_of(pass), device);
            REQUIRE(engines.empty() == (backward && !gradients.at(channels)));
            if (engines.empty()) continue;
            const Plan plan = plan_of(engines.front(), device);
            std::printf("plan %s %s %d%s: %s, %ld bytes\n", where.c_str(), backward ? "backward" : "forward", channels,
                        ordered ? " in order" : "", engines.front().name.c_str(), static_cast<long>(plan.workspace));
            CHECK(engines.front().notes.compiled_at_run_time);
            // In order: 16 bits for each pair of positions.
            constexpr std::int64_t pairs = std::int64_t{4} * 12 * 1024 * 1024;
            CHECK((plan.workspace >= 2 * pairs) == ordered);
        }
    }
}
