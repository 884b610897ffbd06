// Networks train by the layers' program, run by plain loops, as PyTorch trains them in double precision.
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/parity_cases.hpp"

using namespace roof;

TEST_CASE("Networks train by plain loops as in PyTorch")
{
    for (const engine::ParityCase& one : engine::parity_cases(std::string(ROOF_TEST_DATA) + "/..")) {
        if (one.is_large) continue;
        DYNAMIC_SECTION(one.name)
        {
            const model::Graph graph = one.graph();
            ir::HostTraining training(graph, {.batch = 2,
                                              .parameters = engine::Parameters::hashed,
                                              .learning_rate = one.learning_rate(),
                                              .optimizer = one.optimizer});
            engine::compare_with_pytorch(one, graph, training, 2, 2e-5);
        }
    }
}
