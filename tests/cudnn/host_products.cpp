#include "tests/cudnn/host_values.hpp"

#include <vector>

namespace roof::cudnn {
namespace {

/// Calls round(index of the result, tap of the window, index of the source). Indices count over all images.
template <class Round>
void for_taps(const ConvolutionShape& shape, const Round& round)
{
    const model::Window& window = shape.window;
    for (int n = 0; n < shape.batch; ++n) {
        for (int y = 0; y < shape.result.height; ++y) {
            for (int x = 0; x < shape.result.width; ++x) {
                for (int tap = 0; tap < window.size * window.size; ++tap) {
                    const int row = y * window.stride - window.padding + tap / window.size;
                    const int column = x * window.stride - window.padding + tap % window.size;
                    if (row < 0 || row >= shape.source.height || column < 0 || column >= shape.source.width) continue;
                    const auto index = [n](const model::Shape& map, int i, int j) {
                        return static_cast<std::size_t>((n * map.height + i) * map.width + j);
                    };
                    round(index(shape.result, y, x), static_cast<std::size_t>(tap), index(shape.source, row, column));
                }
            }
        }
    }
}

}  // namespace

void convolve(const Convolve& op, const Memory& memory)
{
    const ConvolutionShape& shape = op.shape;
    Values source(memory, op.source);
    Values weights(memory, op.weights);
    Values result(memory, op.result);
    const Values bias(memory, op.bias);
    const auto inputs = static_cast<std::size_t>(shape.source.channels);
    const auto outputs = static_cast<std::size_t>(shape.result.channels);
    const std::size_t written = shape.pass == Pass::forward         ? op.result.elements()
                                : shape.pass == Pass::backward_data ? op.source.elements()
                                                                    : op.weights.elements();
    std::vector<double> sums(written);
    for_taps(shape, [&](std::size_t to, std::size_t tap, std::size_t from) {
        for (std::size_t o = 0; o < outputs; ++o) {
            const std::size_t row =
                (o * static_cast<std::size_t>(shape.window.size * shape.window.size) + tap) * inputs;
            for (std::size_t i = 0; i < inputs; ++i) {
                if (shape.pass == Pass::forward)
                    sums[to * outputs + o] += source[from * inputs + i] * weights[row + i];
                else if (shape.pass == Pass::backward_data)
                    sums[from * inputs + i] += result[to * outputs + o] * weights[row + i];
                else
                    sums[row + i] += result[to * outputs + o] * source[from * inputs + i];
            }
        }
    });
    Values& target = shape.pass == Pass::forward ? result : shape.pass == Pass::backward_data ? source : weights;
    for (std::size_t k = 0; k < written; ++k) {
        const float sum = static_cast<float>(sums[k]) + (shape.bias ? bias[k % outputs] : 0);
        target.put(k, shape.relu ? relu_of(sum) : sum);
    }
}

void multiply(const Multiply& op, const Memory& memory)
{
    Values source(memory, op.source);
    Values weights(memory, op.weights);
    Values result(memory, op.result);
    const Values bias(memory, op.bias);
    const auto batch = static_cast<std::size_t>(op.source.batch);
    const std::size_t inputs = op.source.elements() / batch;
    const std::size_t outputs = op.result.elements() / batch;
    std::vector<double> sums(op.pass == Pass::forward         ? batch * outputs
                             : op.pass == Pass::backward_data ? batch * inputs
                                                              : outputs * inputs);
    for (std::size_t n = 0; n < batch; ++n) {
        for (std::size_t o = 0; o < outputs; ++o) {
            for (std::size_t i = 0; i < inputs; ++i) {
                if (op.pass == Pass::forward)
                    sums[n * outputs + o] += source[n * inputs + i] * weights[o * inputs + i];
                else if (op.pass == Pass::backward_data)
                    sums[n * inputs + i] += result[n * outputs + o] * weights[o * inputs + i];
                else
                    sums[o * inputs + i] += result[n * outputs + o] * source[n * inputs + i];
            }
        }
    }
    Values& target = op.pass == Pass::forward ? result : op.pass == Pass::backward_data ? source : weights;
    for (std::size_t k = 0; k < sums.size(); ++k) {
        const float sum = static_cast<float>(sums[k]) + (bias ? bias[k % outputs] : 0);
        target.put(k, op.relu ? relu_of(sum) : sum);
    }
}

}  // namespace roof::cudnn
