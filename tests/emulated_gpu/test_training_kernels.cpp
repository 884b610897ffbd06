// The training engine's kernels on the emulated device: each operation of a step, against the host's loops from the
// same memory. What an operation does not write may not change.
#include "tests/cudnn/host_training.hpp"
#include "tests/cudnn/host_values.hpp"
#include "tests/cudnn/small_networks.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"

#include <cmath>
#include <set>

using namespace roof;
using namespace roof::cudnn;
using emulated::Array;

namespace {

/// What an operation writes, and the scratch memory whose content means nothing after it.
struct Results {
    std::vector<Tensor> values, bytes, scratch;
};

Results results_of(const ImportImages& op)
{
    return {{op.to}, {op.labels}, {}};
}
Results results_of(const ClearUnused& op)
{
    return {{op.gradient}, {}, {}};
}
Results results_of(const AddBias& op)
{
    return {{op.values}, {}, {}};
}
Results results_of(const Statistics& op)
{
    return {{op.channels.mean, op.channels.inverse_deviation, op.channels.scale, op.channels.shift, op.running_mean,
             op.running_variance},
            {},
            {op.partial}};
}
Results results_of(const ReduceGradient& op)
{
    return {
        {op.result, op.sum, op.sum_of_products, op.other_norm.sum, op.other_norm.sum_of_products}, {}, {op.partial}};
}
Results results_of(const NormGradient& op)
{
    return {{op.result, op.other_norm.result}, {}, {}};
}
Results results_of(const MaxPool& op)
{
    return {{op.result}, {op.winners}, {}};
}
Results results_of(const MaxPoolGradient& op)
{
    return {{op.source}, {}, {}};
}
Results results_of(const AveragePoolGradient& op)
{
    return {{op.source}, {}, {}};
}
Results results_of(const Loss& op)
{
    return {{op.gradient}, {}, {op.row_losses}};  // the loops keep no loss of a row
}
Results results_of(const Normalise& op)
{
    return {{op.result}, {op.signs}, {}};
}
Results results_of(const Widen& op)
{
    return {op.to, {}, {}};
}
Results results_of(const Covariance& op)
{
    return {{op.halves, op.mean, op.factor}, {}, {}};
}
Results results_of(const MomentStatistics& op)
{
    return {{op.channels.mean, op.channels.inverse_deviation, op.channels.scale, op.channels.shift, op.running_mean,
             op.running_variance},
            {},
            {}};
}
Results results_of(const MomentGradient& op)
{
    return {{op.sum_of_products, op.gradient, op.scaled, op.slopes, op.shares}, {}, {}};
}
Results results_of(const CheckFinite&)
{
    return {};
}
Results results_of(const Descend& op)
{
    return {{op.values, op.momenta, op.copies}, {}, {}};
}
Results results_of(const Advance&)
{
    return {};
}
template <class Other>
Results results_of(const Other& op)
{
    return {{op.result}, {}, {}};
}

template <class Kind>
constexpr bool is_of_a_library = std::is_same_v<Kind, Convolve> || std::is_same_v<Kind, Multiply> ||
                                 std::is_same_v<Kind, LibraryNorm> || std::is_same_v<Kind, LibraryNormGradient>;

class Comparison {
  public:
    Comparison(const model::Graph& graph, const Settings& settings, const Choosers& choosers)
        : host_(graph, settings, choosers),
          device_(host_.written().bytes()),
          device_memory_(host_.written().program(), device_.data()),
          precision_(settings.storage())
    {
    }

    void run_step()
    {
        for (const Program::Stage& stage : host_.written().program().stages()) {
            for (const cudnn::Operation& operation : stage.operations)
                std::visit([&](const auto& one) { compare(one, stage.part.layer); }, operation);
        }
    }
    const std::set<std::string>& kinds() const { return kinds_; }

  private:
    std::byte* host_bytes() const
    {
        return reinterpret_cast<std::byte*>(host_.memory().state()) - offset(host_.written().program().state());
    }
    std::size_t offset(const Tensor& tensor) const { return host_.written().program().offset(tensor); }

    template <class Kind>
    void compare(const Kind& operation, const std::string& layer)
    {
        const Program::Stage alone{{}, {operation}, {}};
        const std::size_t bytes = host_.written().bytes();
        if constexpr (!is_of_a_library<Kind>) {
            INFO(layer << ", operation " << cudnn::Operation(operation).index());
            REQUIRE(cudaMemcpy(device_.data(), host_bytes(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
            enqueue(operation, device_memory_, nullptr);
            REQUIRE(emulated::fault_of_pending_work() == "");
            run_on_host(alone, host_.memory());
            kinds_.insert(typeid(Kind).name());
            check(results_of(operation));
        } else {
            run_on_host(alone, host_.memory());
        }
    }

    void check(const Results& results)
    {
        std::vector<std::byte> found = device_.values();
        const Memory there(host_.written().program(), found.data());
        for (const Tensor& tensor : results.values) {
            if (!tensor) continue;
            check_values(Values(host_.memory(), tensor), Values(there, tensor), tensor.elements(),
                         tensor.precision == Precision::fp32 ? Precision::fp32 : precision_);
            forget(tensor, found);
        }
        CHECK(there.state()->loss == Approx(host_.state().loss).epsilon(1e-5));
        there.state()->loss = host_.state().loss;
        for (const Tensor& tensor : results.scratch) forget(tensor, found);
        // Tensors of bytes, the state, and all that the operation does not write: the same bits.
        REQUIRE(std::memcmp(found.data(), host_bytes(), found.size()) == 0);
    }

    void check_values(const Values& expected, const Values& found, std::size_t count, Precision precision)
    {
        const double unit = precision == Precision::bf16 ? 1.0 / 128 : precision == Precision::fp16 ? 1.0 / 1024 : 1e-5;
        // Sums that should be 0 are what rounding left of their parts, which grow with the scale of the loss.
        const double least = 1e-7 * static_cast<double>(host_.state().loss_scale);
        double largest = 1e-6;
        for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
        for (std::size_t i = 0; i < count; ++i) {
            const double margin = least + unit * (std::abs(static_cast<double>(expected[i])) + 0.01 * largest);
            INFO("value " << i << " of " << count << ": " << found[i] << ", not " << expected[i]);
            REQUIRE(std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])) <= margin);
        }
    }

    void forget(const Tensor& tensor, std::vector<std::byte>& found) const
    {
        if (tensor) std::memcpy(found.data() + offset(tensor), host_bytes() + offset(tensor), tensor.bytes());
    }

    HostTraining host_;
    Array<std::byte> device_;
    Memory device_memory_;
    Precision precision_;
    std::set<std::string> kinds_;
};

/// Every kind of layer with a number of channels that no vector divides.
model::Graph odd_network()
{
    const model::Window three{.size = 3, .stride = 1, .padding = 1};
    model::Graph net("odd", {3, 12, 12});
    int x = net.relu("relu1", net.convolution("conv1", 0, 6, three, true));
    x = net.max_pool("pool1", x, {.size = 2, .stride = 2, .padding = 0});
    int y = net.relu("relu2", net.batch_norm("bn2", net.convolution("conv2", x, 6, three, false)));
    y = net.batch_norm("bn3", net.convolution("conv3", y, 6, three, false));
    x = net.relu("end", net.add("add", y, x));
    x = net.dropout("drop", net.flatten("flat", net.average_pool("average", x, 1)), 0.5F);
    net.linear("fc", net.relu("relu4", net.linear("fc1", x, 9)), 7);
    return net;
}

/// Windows that the kernels of pooling are not compiled for.
model::Graph unusual_windows()
{
    model::Graph net("windows", {3, 12, 12});
    int x = net.convolution("conv1", 0, 8, {.size = 3, .stride = 1, .padding = 1}, true);
    x = net.max_pool("pool1", x, {.size = 3, .stride = 1, .padding = 1});
    x = net.max_pool("pool2", x, {.size = 4, .stride = 3, .padding = 1});
    net.linear("fc", net.flatten("flat", x), 7);
    return net;
}

/// The first convolution of AlexNet, with fewer channels.
model::Graph long_stride()
{
    model::Graph net("stride", {3, 31, 31});
    const int x = net.convolution("conv1", 0, 8, {.size = 11, .stride = 4, .padding = 2}, true);
    net.linear("fc", net.flatten("flat", x), 7);
    return net;
}

model::Graph one_pool(int channels, const model::Window& window, bool has_norm)
{
    model::Graph net(has_norm ? "pool behind a batch norm" : "pool", {3, 12, 12});
    int x = net.convolution("conv1", 0, channels, {.size = 3, .stride = 1, .padding = 1}, !has_norm);
    if (has_norm) x = net.relu("relu1", net.batch_norm("bn1", x));
    net.linear("fc", net.flatten("flat", net.max_pool("pool1", x, window)), 7);
    return net;
}

/// A library computes batch norms forward: the backward pass has no scale and shift, and reads the ReLU's output.
Choosers norms_forward_by_loops()
{
    Choosers choosers = loops(false);
    choosers.norm = [](const NormShape& shape) {
        return Choice{.plan = shape.backward ? -1 : 0, .implementation = "loops", .algorithm = {}};
    };
    return choosers;
}

}  // namespace

TEST_CASE("every kernel of a training step gives what the host's loops give, in every precision", "[kernels]")
{
    std::set<std::string> kinds;
    for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
        const model::Window halves{.size = 2, .stride = 2, .padding = 0};
        const model::Window unusual{.size = 3, .stride = 1, .padding = 1};
        for (const model::Graph& graph :
             {plain_network(), residual_network(), bottleneck_network(), odd_network(), unusual_windows(),
              long_stride(), one_pool(8, halves, false), one_pool(8, unusual, true), one_pool(6, unusual, true)}) {
            for (const int kind : {0, 1, 2}) {
                Choosers choosers = kind == 2 ? norms_forward_by_loops() : loops(kind == 0);
                if (kind == 1) choosers.moments = [](const ConvolutionShape&) { return true; };
                choosers.deep_images = [=](const ConvolutionShape&) { return kind == 0; };
                INFO(graph.name() << " " << traits(precision).name);
                emulated::machine().chance().seed(1);
                const Settings settings{.batch = 3,  // Hashed parameters would leave dropout out.
                                        .parameters = engine::Parameters::random,
                                        .precision = precision};
                Comparison comparison(graph, settings, choosers);
                comparison.run_step();
                kinds.insert(comparison.kinds().begin(), comparison.kinds().end());
            }
        }
    }
    CHECK(kinds.size() == std::variant_size_v<cudnn::Operation> - 4);  // all but those of the libraries
}
