// Runs a pass of one of our kernels as often as its argument says, for a tool that counts cache misses. Prints the
// bytes that its blocking moves into caches of the sizes that are given, compulsory ones included.
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/linear/products.hpp"

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace roof;
using namespace roof::kernels;

namespace {

/// Numbers at a cache line.
float* numbers(std::size_t count)
{
    static std::vector<std::vector<float>> all;
    std::vector<float>& one = all.emplace_back(count + 16, 0.5F);
    return one.data() + (16 - reinterpret_cast<std::size_t>(one.data()) / sizeof(float) % 16) % 16;
}

void print(Work work, const std::vector<std::string>& sizes)
{
    for (const std::string& size : sizes)
        std::cout << work.compulsory.value + work.refetched_beyond(Bytes{std::stod(size)}).value << ' ';
    std::cout << '\n';
}

Work run_convolution(const std::string& kernel, Pass pass, int times)
{
    const model::Shape map{64, 28, 28};
    const ConvolutionPass shape{{.batch = 2, .source = map, .result = map, .window = {3, 1, 1}}, pass};
    const std::size_t values = 2UL * 64 * 28 * 28, weights = 64UL * 64 * 9;
    for (const ConvolutionPlan& plan : convolution_plans(shape, 1)) {
        if (plan.name.find(kernel) == std::string::npos) continue;
        const ConvolutionOperands of{.source = {numbers(values), Precision::fp32},
                                     .weights = numbers(weights),
                                     .result = {numbers(values), Precision::fp32},
                                     .workspace = numbers(plan.workspace)};
        for (int i = 0; i < times; ++i) plan.run(of);
        return {.flops = {},
                .compulsory = Bytes{4.0 * (2 * values + weights)},
                .no_reuse = {},
                .refetched = plan.refetched};
    }
    std::exit(77);
}

Work run_linear(Pass pass, int times)
{
    const LinearShape shape{.batch = 24, .inputs = 512, .outputs = 256};
    const std::size_t weights = 256UL * static_cast<std::size_t>(shape.row);
    float *const w = numbers(weights), *const x = numbers(24UL * 512), *const y = numbers(24UL * 256);
    const auto map = [](float* at) { return Elements{at, Precision::fp32}; };
    for (int i = 0; i < times; ++i) {
        if (pass == Pass::forward) linear_forward(shape, map(w), nullptr, map(x), y, false);
        if (pass == Pass::backward_data) linear_backward_data(shape, map(w), map(y), x);
        if (pass == Pass::backward_weights) linear_backward_weights(shape, map(x), map(y), w);
    }
    return {.flops = {},
            .compulsory = Bytes{4.0 * static_cast<double>(weights + 24UL * 768)},
            .no_reuse = {},
            .refetched = linear_refetched(shape, pass, Precision::fp32, 1)};
}

}  // namespace

/// direct|wino|linear PASS TIMES SIZE...
int main(int argc, char** argv)
{
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto pass = parse_enum<Pass>(words.at(1));
    const int times = std::stoi(words.at(2));
    print(words[0] == "linear" ? run_linear(pass, times) : run_convolution(words[0], pass, times),
          {words.begin() + 3, words.end()});
}
