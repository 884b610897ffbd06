// From the shapes of all values of an ONNX file, the work of its operators.
#include "ert/base/error.hpp"
#include "workloads/model/onnx_tensors.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace roof::model {
namespace {

using namespace onnx_file;

double count(const Numbers& dims, std::size_t from = 0)
{
    return static_cast<double>(count_of(dims, from));
}

class OperationReader {
  public:
    OperationReader(const onnx::GraphProto& proto, const Sizes& sizes) : proto_(proto), tensors_(proto, sizes)
    {
        tensors_.put_inputs(proto);
    }

    Operations read(const std::string& name)
    {
        made_.name = name;
        made_.batch = std::max(1.0, tensors_.batch());
        made_.inputs = tensors_.inputs();
        for (const onnx::NodeProto& proto : proto_.node()) read(Node(proto));
        return std::move(made_);
    }

    /// Of the operators one by one, those that fail left out.
    Tensors known()
    {
        for (const onnx::NodeProto& proto : proto_.node()) {
            try {
                read(Node(proto));
            } catch (const std::exception&) {
                continue;
            } catch (const Refused&) {
                continue;
            }
        }
        return std::move(tensors_);
    }

  private:
    void read(const Node& node)
    {
        if (node.operation() == "Constant")
            tensors_.put_constant(node);
        else
            add(node);
    }

    /// Puts the results, and appends the operator unless it computes on integers or constants alone, or makes a view.
    void add(const Node& node)
    {
        Operation done{.name = node.name(), .kind = node.operation()};
        bool is_constant = node.inputs() > 0, needs_gradient = false, is_blind = false;
        int gradients = 0;
        std::string origin;
        for (int index = 0; index < node.inputs(); ++index) {
            const Tensor* const given = tensors_.find(node, index);
            is_blind = is_blind || (node.has(index) && unknown_.contains(node.input(index)));
            if (given == nullptr) continue;
            is_constant = is_constant && given->is_constant;
            if (given->is_constant && origin.empty()) origin = given->origin;
            if (!given->is_float) continue;
            (given->is_constant ? done.constants : done.read) += count(given->dims);
            gradients += given->needs_gradient ? 1 : 0;
        }
        needs_gradient = gradients > 0 || (!is_constant && done.constants > 1);
        done.written = put_results(
            node, {.is_constant = is_constant && !is_blind, .needs_gradient = needs_gradient, .origin = origin},
            is_blind, done.output);
        const Tensor* const table = tensors_.find(node, 0);
        const bool gathers = node.operation() == "Gather" && table != nullptr && table->is_constant && table->is_float;
        const std::optional<Cost> cost = cost_of(node.operation());
        if (is_blind || unknown_.contains(node.output())) {
            done.has_rule = cost == Cost::view || cost == Cost::moves;
            done.moves = done.has_rule;
            done.parameters = count_parameters(node);
            if (!done.has_rule || done.read > 0) made_.all.push_back(std::move(done));
            return;
        }
        if ((is_constant && !gathers) || done.written == 0 || cost == Cost::view) return;
        done.parameters = count_parameters(node);
        count_work(node, cost, gradients, done);
        if (gathers) done.rows = done.written;
        static const std::set<std::string> reads_its_result{"Slice", "Gather", "Split", "GatherElements"};
        if (reads_its_result.contains(node.operation())) done.read = gathers ? 0 : done.written;
        made_.all.push_back(std::move(done));
    }

    /// Returns the values that are written, none if they are a small list that is computed here, and sets the extents of the first result. `like`: what all results are.
    /// `is_blind`: it reads a value of unknown shape.
    double put_results(const Node& node, const Tensor& like, bool is_blind, std::vector<long long>& first)
    {
        double written = 0;
        const std::optional<Reals> numbers = is_blind ? std::nullopt : numbers_of(node, tensors_);
        for (int index = 0; index < node.outputs(); ++index) {
            if (node.output(index).empty()) continue;
            std::optional<Numbers> shape =
                is_blind ? tensors_.told(node.output(index)) : shape_of(node, index, tensors_);
            if (!shape && index == 0 && numbers) shape = Numbers{static_cast<long long>(numbers->size())};
            if (!shape && (is_blind || index > 0 || !cost_of(node.operation()))) {
                unknown_.insert(node.output(index));
                continue;
            }
            if (!shape) fail(node, "has a result whose shape neither its rule nor the file gives");
            Tensor tensor = like;
            tensor.dims = *shape;
            tensor.is_float = gives_floats(node, tensors_);
            if (index == 0) tensor.numbers = numbers;
            if (index == 0) first = *shape;
            const bool is_written =
                index == 0 || node.operation() == "Split" || is_recurrent(node) || !cost_of(node.operation());
            if (tensor.is_float && is_written) written += count(*shape);
            tensors_.put(node.output(index), std::move(tensor));
        }
        return numbers ? 0 : written;
    }

    /// Those that no operator before has read.
    long long count_parameters(const Node& node)
    {
        long long fresh = 0;
        for (int index = 0; index < node.inputs(); ++index) {
            const Tensor* const given = tensors_.find(node, index);
            const bool is_statistic = node.operation() == "BatchNormalization" && index > 2;
            if (given == nullptr || !given->is_constant || !given->is_float || is_statistic) continue;
            const long long values = count_of(given->dims);
            if (values > 1 && counted_.insert(given->origin).second) fresh += values;
        }
        made_.parameters += fresh;
        return fresh;
    }

    static bool is_recurrent(const Node& node) { return node.attribute("hidden_size") != nullptr; }

    bool is_trained(const Node& node, int index) const
    {
        const Tensor* const given = tensors_.find(node, index);
        return given != nullptr && given->is_constant && given->is_float;
    }

    static bool is_sum(const std::string& operation)
    {
        static const std::set<std::string> sums{
            "Add", "Sub", "Neg", "Sum", "Mean", "ReduceSum", "ReduceMean", "AveragePool", "GlobalAveragePool"};
        return sums.contains(operation);
    }

    void count_work(const Node& node, std::optional<Cost> cost, int gradients, Operation& done)
    {
        const std::optional<double> products = cost == Cost::product ? product_flops(node, done.output) : std::nullopt;
        done.is_contraction = products.has_value();
        done.has_rule = cost && (products || *cost != Cost::product);
        done.moves = cost == Cost::moves;
        done.flops = products.value_or(0);
        done.gradient_flops = done.flops * gradients;
        done.is_linear = is_sum(node.operation());
        if (products && !is_recurrent(node) && node.operation() != "Attention") {
            done.is_linear = is_trained(node, 0) || is_trained(node, 1);
            if (is_trained(node, 2)) done.biases = count(tensors_.dims(node, 2));
        }
        if (products && is_recurrent(node)) {  // through time, and to the input
            const double of_input = count(tensors_.dims(node, 1)), of_state = count(tensors_.dims(node, 2));
            const bool to_input = tensors_.find(node, 0)->needs_gradient;
            done.gradient_flops = done.flops / (of_input + of_state) * (of_state + (to_input ? of_input : 0));
        }
        if (products && node.operation() == "Attention") return count_attention(node, gradients, done);
        if (products || !done.has_rule || done.moves) return;
        const double in = count(tensors_.dims(node, 0));
        const double taps = node.operation() == "MaxPool" ? count(node.numbers("kernel_shape", {})) - 1 : 0;
        done.flops = taps > 0             ? taps * done.written
                     : cost == Cost::sums ? in
                     : cost == Cost::norm ? 8 * done.written
                                          : done.written;
        const double backward = cost == Cost::norm ? 11 * done.written : cost == Cost::sums ? in : done.written;
        done.gradient_flops = gradients > 0 ? backward : 0;
    }

    /// Backward computes the scores again: five products for the forward pass's two.
    void count_attention(const Node& node, int gradients, Operation& done) const
    {
        const AttentionShape of = attention_of(node, tensors_);
        const auto q = static_cast<double>(of.queries), k = static_cast<double>(of.keys), both = std::min(q, k);
        const auto width = static_cast<double>(of.width), values = static_cast<double>(of.width_of_values);
        done.gradient_flops = gradients > 0 ? done.flops / (width + values) * (3 * width + 2 * values) : 0;
        if (node.number("is_causal", 0) == 1) done.executed = (both * (both + 1) / 2 + (q - both) * k) / (q * k);
    }

    /// Nothing for an Einsum that leaves letters out or has one input.
    std::optional<double> product_flops(const Node& node, const Numbers& out) const
    {
        const std::string& operation = node.operation();
        const auto dims = [&](int index) -> const Numbers& { return tensors_.dims(node, index); };
        if (operation == "Conv") return 2 * count(out) * count(dims(1), 1);
        if (operation == "ConvTranspose") return 2 * count(dims(0)) * count(dims(1), 1);
        if (operation == "MatMul") return 2 * count(out) * static_cast<double>(dims(0).back());
        if (operation == "Gemm")
            return 2 * count(out) * static_cast<double>(dims(0).at(node.number("transA", 0) == 1 ? 0 : 1));
        if (operation == "Attention") {
            const AttentionShape of = attention_of(node, tensors_);
            return 2 * count({of.batch, of.heads, of.queries, of.keys, of.width + of.width_of_values});
        }
        if (operation == "Einsum") {
            const auto letters = node.inputs() > 1 ? letters_of(node, tensors_) : std::nullopt;
            if (!letters) return std::nullopt;
            double flops = 2;
            for (const auto& [letter, extent] : letters->extents) flops *= static_cast<double>(extent);
            return flops;
        }
        return 2 * count({dims(0).at(0), dims(0).at(1)}) * (count(dims(1)) + count(dims(2)));  // recurrent
    }

    const onnx::GraphProto& proto_;
    Tensors tensors_;
    std::set<std::string> counted_;  ///< constants
    std::set<std::string> unknown_;  ///< values whose shape neither a rule nor the file gives
    Operations made_{};
};

}  // namespace

Tensors onnx_file::tensors_of(const onnx::GraphProto& graph)
{
    return OperationReader(graph, {}).known();
}

Operations read_onnx_operations(const std::filesystem::path& file, const Sizes& sizes)
{
    const onnx::GraphProto graph = graph_in(file);
    try {
        return OperationReader(graph, sizes).read(file.stem().string());
    } catch (const InputError& error) {
        throw InputError("'" + file.string() + "': " + error.what());
    } catch (const Refused& refused) {
        throw InputError("'" + file.string() + "': an operator " + refused.reason);
    } catch (const std::out_of_range&) {
        throw InputError("'" + file.string() + "': an operator lacks an extent, an axis or an input");
    }
}

}  // namespace roof::model
