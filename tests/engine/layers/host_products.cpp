#include "ert/base/error.hpp"
#include "tests/engine/layers/host_values.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace roof::ir {
namespace {

/// Calls round(index of the result, tap of the window, index of the source). Indices count over all images.
template <class Round>
void for_taps(const ConvolutionPass& shape, const Round& round)
{
    const model::Window &window = shape.window, across = window.across();
    for (int n = 0; n < shape.batch; ++n) {
        for (int y = 0; y < shape.result.height; ++y) {
            for (int x = 0; x < shape.result.width; ++x) {
                for (int tap = 0; tap < window.taps(); ++tap) {
                    const int row = y * window.stride - window.padding + tap / across.size * window.dilation;
                    const int column = x * across.stride - across.padding + tap % across.size * window.dilation;
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

/// x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2 and its slope.
std::array<double, 2> gelu_by_tanh(double x)
{
    const double factor = std::sqrt(2 / std::numbers::pi);
    const double t = std::tanh(factor * (x + 0.044715 * x * x * x));
    return {x * (1 + t) / 2, (1 + t) / 2 + x * (1 - t * t) / 2 * factor * (1 + 3 * 0.044715 * x * x)};
}

void require(bool holds, const std::string& what)
{
    if (!holds) throw Error("CUDNN_STATUS_BAD_PARAM: " + what);
}

/// A library reads and writes what the plan's descriptors say, wherever the addresses point to.
void require_tensor(const Tensor& tensor, const Memory& memory, std::size_t elements, Precision precision,
                    std::size_t alignment, const std::string& name)
{
    require(static_cast<bool>(tensor), name + " has no address");
    require(tensor.elements() == elements,
            name + " has " + std::to_string(tensor.elements()) + " values, not " + std::to_string(elements));
    require(tensor.precision == precision, name + " is of another type");
    require(reinterpret_cast<std::uintptr_t>(memory.at(tensor)) % alignment == 0,
            name + " is not aligned to " + std::to_string(alignment) + " bytes");
}

/// The alignment that the graphs of convolutions state, and that cuBLASLt's suggestions assume in the engine's blocks.
constexpr std::size_t alignment_of_maps = 16;
constexpr std::size_t alignment_of_matrices = 256;

void require_operands(const Convolve& op, const Memory& memory)
{
    const ConvolutionPass& shape = op.shape;
    const Precision precision = shape.precision == Precision::tf32 ? Precision::fp32 : shape.precision;
    const auto batch = static_cast<std::size_t>(shape.batch);
    const auto inputs = static_cast<std::size_t>(shape.source.channels);
    const auto outputs = static_cast<std::size_t>(shape.result.channels);
    const auto window = static_cast<std::size_t>(shape.window.taps());
    const auto maps = [&](const model::Shape& map) { return batch * static_cast<std::size_t>(map.elements()); };
    const auto check = [&](const Tensor& tensor, std::size_t elements, Precision type, const char* name) {
        require_tensor(tensor, memory, elements, type, alignment_of_maps, name);
    };
    check(op.source, maps(shape.source), precision, "the source");
    check(op.result, maps(shape.result), precision, "the result");
    check(op.weights, outputs * inputs / static_cast<std::size_t>(shape.groups) * window, precision, "the weights");
    const bool has_bias = shape.bias && shape.pass != Pass::backward_data;  // backward, what a CPU's layer has
    require(has_bias == static_cast<bool>(op.bias), "a bias is given exactly if the graph has one");
    require(shape.prologue == (op.scale && op.shift), "scale and shift are given exactly if the graph has them");
    require(shape.statistics == (op.sum && op.squares), "sums are given exactly if the graph has them");
    require(!shape.statistics || shape.pass == Pass::forward, "only the forward pass has something behind it");
    require(!shape.prologue || shape.pass != Pass::backward_data, "the gradient of the data has nothing before it");
    if (has_bias) check(op.bias, outputs, precision, "the bias");
    for (const Tensor& one : {op.scale, op.shift})
        if (one) check(one, inputs, Precision::fp32, "scale or shift");
    for (const Tensor& one : {op.sum, op.squares})
        if (one) check(one, outputs, Precision::fp32, "a sum");
}

/// The gradient of a bias.
void sum_columns(const Floats& rows, std::size_t columns, Values to)
{
    for (std::size_t o = 0; o < columns; ++o) {
        double sum = 0;
        for (std::size_t k = o; k < rows.size(); k += columns) sum += rows[k];
        to.put(o, static_cast<float>(sum));
    }
}

void require_operands(const Multiply& op, const Memory& memory)
{
    const auto batch = static_cast<std::size_t>(op.source.batch);
    const std::size_t inputs = op.source.elements() / batch;
    const std::size_t outputs = op.result.elements() / batch;
    const auto check = [&](const Tensor& tensor, std::size_t elements, const char* name) {
        require_tensor(tensor, memory, elements, tensor.precision, alignment_of_matrices, name);
    };
    check(op.source, batch * inputs, "the source");
    check(op.result, batch * outputs, "the result");
    check(op.weights, outputs * inputs, "the weights");
    require(op.pass != Pass::backward_data || !op.bias, "the gradient of the data has no bias");
    require(op.pass == Pass::forward || !op.relu, "only the forward pass has a ReLU");
    require(!op.before_gelu || (op.pass != Pass::backward_weights && !op.relu), "no GELU there");
    if (op.before_gelu) check(op.before_gelu, op.written().elements(), "what is before GELU");
    if (op.bias) check(op.bias, outputs, "the bias");
}

}  // namespace

void convolve(const Convolve& op, const Memory& memory)
{
    require_operands(op, memory);
    const ConvolutionPass& shape = op.shape;
    const Floats given(memory, op.source, shape.pass != Pass::backward_data);
    const Floats weights(memory, op.weights, shape.pass != Pass::backward_weights);
    const Floats result(memory, op.result, shape.pass != Pass::forward);
    const Values bias(memory, op.bias);
    const Values scale(memory, op.scale);
    const Values shift(memory, op.shift);
    const auto inputs = static_cast<std::size_t>(shape.source.channels);
    std::vector<float> source(given.size());
    for (std::size_t k = 0; k < source.size(); ++k) {
        const float value = scale ? relu_of(scaled(given[k], scale[k % inputs], shift[k % inputs])) : given[k];
        source[k] = scale ? stored(value, shape.precision) : value;
    }
    const auto outputs = static_cast<std::size_t>(shape.result.channels);
    const auto taps = static_cast<std::size_t>(shape.window.taps());
    const Tensor& written = shape.pass == Pass::forward         ? op.result
                            : shape.pass == Pass::backward_data ? op.source
                                                                : op.weights;
    const auto groups = static_cast<std::size_t>(shape.groups);
    const std::size_t read = inputs / groups;  // by an output
    std::vector<float> across;                 // weights as [tap][input of a group][output]
    if (shape.pass == Pass::forward) {
        across.resize(weights.size());
        for (std::size_t k = 0; k < across.size(); ++k)
            across[(k / read % taps * read + k % read) * outputs + k / read / taps] = weights[k];
    }
    std::vector<double> sums(written.elements());
    for_taps(shape, [&](std::size_t to, std::size_t tap, std::size_t from) {
        if (shape.pass == Pass::forward) {
            const std::size_t written_each = outputs / groups;
            for (std::size_t i = 0; i < inputs; ++i) {
                const std::size_t first = i / read * written_each;
                add(&sums[to * outputs + first], source[from * inputs + i],
                    &across[(tap * read + i % read) * outputs + first], written_each);
            }
            return;
        }
        for (std::size_t o = 0; o < outputs; ++o) {
            const std::size_t row = (o * taps + tap) * read;
            const std::size_t first = from * inputs + o / (outputs / groups) * read;
            if (shape.pass == Pass::backward_data)
                add(&sums[first], result[to * outputs + o], &weights[row], read);
            else
                add(&sums[row], result[to * outputs + o], &source[first], read);
        }
    });
    Values target(memory, written);
    const bool is_forward = shape.pass == Pass::forward;
    for (std::size_t k = 0; k < sums.size(); ++k) {
        const float sum = static_cast<float>(sums[k]) + (is_forward && shape.bias ? bias[k % outputs] : 0);
        target.put(k, is_forward && shape.relu ? relu_of(sum) : sum);
    }
    if (shape.pass == Pass::backward_weights && op.bias) sum_columns(result, outputs, Values(memory, op.bias));
    if (!shape.statistics) return;
    for (std::size_t o = 0; o < outputs; ++o) {
        double first = 0;
        double second = 0;
        for (std::size_t k = o; k < written.elements(); k += outputs) {
            first += target[k];
            second += static_cast<double>(target[k]) * target[k];
        }
        Values(memory, op.sum).put(o, static_cast<float>(first));
        Values(memory, op.squares).put(o, static_cast<float>(second));
    }
}

void multiply(const Multiply& op, const Memory& memory)
{
    require_operands(op, memory);
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
    Values before_gelu(memory, op.before_gelu);
    for (std::size_t k = 0; k < sums.size(); ++k) {
        const float before = op.adds ? target[k] : 0;
        const float sum =
            static_cast<float>(sums[k] + before) + (bias && op.pass == Pass::forward ? bias[k % outputs] : 0);
        if (!op.before_gelu) {
            target.put(k, op.relu ? relu_of(sum) : sum);
        } else if (op.pass == Pass::forward) {
            before_gelu.put(k, sum);
            target.put(k, static_cast<float>(gelu_by_tanh(sum)[0]));
        } else {
            target.put(k, static_cast<float>(sum * gelu_by_tanh(before_gelu[k])[1]));
        }
    }
    if (op.pass == Pass::backward_weights && op.bias) sum_columns(result, outputs, Values(memory, op.bias));
}

}  // namespace roof::ir
