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

/// The values of a tensor that is read; without any where it is written.
class Floats {
  public:
    Floats(const Memory& memory, const Tensor& tensor, bool is_read) : all_(is_read ? tensor.elements() : 0)
    {
        const Values values(memory, tensor);
        for (std::size_t k = 0; k < all_.size(); ++k) all_[k] = values[k];
    }
    std::size_t size() const { return all_.size(); }
    const float& operator[](std::size_t k) const { return all_[k]; }

  private:
    std::vector<float> all_;
};

void add(double* sums, float factor, const float* values, std::size_t count)
{
    for (std::size_t k = 0; k < count; ++k) sums[k] += factor * values[k];
}

double product(const float* a, const float* b, std::size_t count)
{
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += a[k] * b[k];
    return sum;
}

}  // namespace

void convolve(const Convolve& op, const Memory& memory)
{
    const ConvolutionShape& shape = op.shape;
    const Floats source(memory, op.source, shape.pass != Pass::backward_data);
    const Floats weights(memory, op.weights, shape.pass != Pass::backward_weights);
    const Floats result(memory, op.result, shape.pass != Pass::forward);
    const Values bias(memory, op.bias);
    const auto inputs = static_cast<std::size_t>(shape.source.channels);
    const auto outputs = static_cast<std::size_t>(shape.result.channels);
    const auto taps = static_cast<std::size_t>(shape.window.size * shape.window.size);
    const Tensor& written = shape.pass == Pass::forward         ? op.result
                            : shape.pass == Pass::backward_data ? op.source
                                                                : op.weights;
    std::vector<float> across;  // weights as [tap][input][output]
    if (shape.pass == Pass::forward) {
        across.resize(weights.size());
        for (std::size_t k = 0; k < across.size(); ++k)
            across[(k / inputs % taps * inputs + k % inputs) * outputs + k / inputs / taps] = weights[k];
    }
    std::vector<double> sums(written.elements());
    for_taps(shape, [&](std::size_t to, std::size_t tap, std::size_t from) {
        if (shape.pass == Pass::forward) {
            for (std::size_t i = 0; i < inputs; ++i)
                add(&sums[to * outputs], source[from * inputs + i], &across[(tap * inputs + i) * outputs], outputs);
            return;
        }
        for (std::size_t o = 0; o < outputs; ++o) {
            const std::size_t row = (o * taps + tap) * inputs;
            if (shape.pass == Pass::backward_data)
                add(&sums[from * inputs], result[to * outputs + o], &weights[row], inputs);
            else
                add(&sums[row], result[to * outputs + o], &source[from * inputs], inputs);
        }
    });
    Values target(memory, written);
    for (std::size_t k = 0; k < sums.size(); ++k) {
        const float sum = static_cast<float>(sums[k]) + (shape.bias ? bias[k % outputs] : 0);
        target.put(k, shape.relu ? relu_of(sum) : sum);
    }
}

void multiply(const Multiply& op, const Memory& memory)
{
    const Floats source(memory, op.source, op.pass != Pass::backward_data);
    const Floats weights(memory, op.weights, op.pass != Pass::backward_weights);
    const Floats result(memory, op.result, op.pass != Pass::forward);
    const Values bias(memory, op.bias);
    const auto batch = static_cast<std::size_t>(op.source.batch);
    const std::size_t inputs = op.source.elements() / batch;
    const std::size_t outputs = op.result.elements() / batch;
    std::vector<double> sums(op.pass == Pass::forward         ? batch * outputs
                             : op.pass == Pass::backward_data ? batch * inputs
                                                              : outputs * inputs);
    for (std::size_t n = 0; n < batch; ++n) {
        for (std::size_t o = 0; o < outputs; ++o) {
            if (op.pass == Pass::forward)
                sums[n * outputs + o] = product(&source[n * inputs], &weights[o * inputs], inputs);
            else if (op.pass == Pass::backward_data)
                add(&sums[n * inputs], result[n * outputs + o], &weights[o * inputs], inputs);
            else
                add(&sums[o * inputs], result[n * outputs + o], &source[n * inputs], inputs);
        }
    }
    Values target(memory, op.pass == Pass::forward         ? op.result
                          : op.pass == Pass::backward_data ? op.source
                                                           : op.weights);
    for (std::size_t k = 0; k < sums.size(); ++k) {
        const float sum = static_cast<float>(sums[k]) + (bias ? bias[k % outputs] : 0);
        target.put(k, op.relu ? relu_of(sum) : sum);
    }
}

}  // namespace roof::cudnn
