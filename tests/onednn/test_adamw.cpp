// AdamW's update of a network's parameters, from its gradients, against its definition in double precision.
#include "tests/onednn/hashed_training.hpp"
#include "tests/onednn/network_values.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;
using namespace roof::onednn;

TEST_CASE("AdamW updates every parameter as its definition says, over four steps")
{
    constexpr double rate = 0.001F, decay = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    HashedTraining training(
        "{name: small, image: [3, 224, 224], layers: [{convolution: {channels: 20, window: 16, stride: 16}}, "
        "batch_norm, relu, average_pool, flatten, {linear: {features: 30}}, relu, {linear: {features: 10}}]}",
        {.optimizer = model::Optimizer::adamw});
    const Network& network = training.network();
    const std::size_t parameters = network.parameters().size();
    std::vector<std::vector<double>> mean(parameters), square(parameters);
    for (int t = 1; t <= 4; ++t) {
        training.differentiate();
        std::vector<std::vector<float>> before, gradients;
        for (std::size_t k = 0; k < parameters; ++k) {
            before.push_back(value_of(network, k));
            gradients.push_back(gradient_of(network, k));
        }
        training.update();
        for (std::size_t k = 0; k < parameters; ++k) {
            INFO("update " << t << " of " << network.parameters()[k].name);
            const std::vector<float> after = value_of(network, k);
            mean[k].resize(after.size());
            square[k].resize(after.size());
            double apart = 0;
            for (std::size_t i = 0; i < after.size(); ++i) {
                const double g = gradients[k][i];
                double& m = mean[k][i];
                double& v = square[k][i];
                m = beta1 * m + (1 - beta1) * g;
                v = beta2 * v + (1 - beta2) * g * g;
                const double root = std::sqrt(v / (1 - std::pow(beta2, t))) + epsilon;
                const double due =
                    before[k][i] - rate * decay * before[k][i] - rate * m / (1 - std::pow(beta1, t)) / root;
                apart = std::max(apart, std::abs(after[i] - due) / (std::abs(due) + rate));
            }
            CHECK(apart < 1e-6);  // less than a tenth of the decay, which is 1e-5 of a value
        }
    }
}
