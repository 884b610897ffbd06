// The values of an ONNX file by their shapes alone: of each the extents, and of small lists, from which exporters compute shapes, the numbers
// too.
#pragma once

#include "workloads/model/onnx_node.hpp"
#include "workloads/model/operations.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace roof::model::onnx_file {

using Reals = std::vector<double>;
/// Without fractions, and no farther from 0 than 2^31.
Numbers whole(const Reals& numbers);

struct Tensor {
    Numbers dims{};
    std::optional<Reals> numbers{};  ///< of a small list
    bool is_float = true;
    bool is_constant = false;
    bool needs_gradient = false;  ///< a layer with weights is before it
    std::string origin{};         ///< of a constant: the tensor of the file that it comes from

    /// The integers of a list, no farther from 0 than 2^62; empty for floats, and where they are not known.
    Numbers values() const;
    /// Of floats, the only one.
    std::optional<float> scalar() const;
};

/// Throws InputError: "MatMul at 'a' …".
[[noreturn]] void fail(const Node& node, const std::string& what);
/// The product of the extents from one axis up to another. Throws InputError for more than 2^62, and for an extent below 0 or above 2^31.
long long count_of(const Numbers& dims, std::size_t from = 0, std::size_t to = SIZE_MAX);
/// Negative axes count from the end. Throws InputError.
std::size_t axis_of(const Node& node, long long axis, std::size_t axes);
bool is_float(int type);
/// So many integers, or at most 64 floats, that a tensor of the file holds. Nothing for other types and numbers, and for values elsewhere.
std::optional<Reals> numbers_in(const onnx::TensorProto& tensor, long long count);

class Tensors {
  public:
    /// The graph must outlive it. Puts the file's constants.
    explicit Tensors(const onnx::GraphProto& proto, Sizes sizes = {});
    /// Throws InputError for an extent that is open.
    void put_inputs(const onnx::GraphProto& proto);

    double batch() const { return batch_; }    ///< images of the file's first input
    double inputs() const { return inputs_; }  ///< values of all inputs
    /// Whether so many numbers may still be computed: at most 2^24 in a file.
    bool can_compute(std::size_t numbers) const
    {
        computed_ += std::min(numbers, most_computed + 1);
        return computed_ <= most_computed;
    }
    void put(const std::string& name, Tensor tensor) { values_[name] = std::move(tensor); }
    void put(const std::string& name, const onnx::TensorProto& constant);
    /// Of the operator Constant. False if it is of a kind that is not read, and so of an unknown shape.
    bool put_constant(const Node& node);

    /// Null if the input is left out, or unknown.
    const Tensor* find(const Node& node, int index) const;
    /// These throw InputError where find() gives nothing.
    const Tensor& at(const Node& node, int index) const;
    const Numbers& dims(const Node& node, int index) const { return at(node, index).dims; }
    /// Of an input or, in older files, an attribute. Nothing if neither is there, or its numbers are not known.
    std::optional<Numbers> numbers(const Node& node, int index, const std::string& attribute = "") const;
    /// Null for a value that is not known.
    const Numbers* shape(const std::string& value) const;
    /// The extents that the file says for a value; nothing if it does not, or leaves one open.
    std::optional<Numbers> told(const std::string& value) const;

  private:
    void add_input(const onnx::ValueInfoProto& input);
    std::optional<long long> extent_in(const onnx::TensorShapeProto::Dimension& dim) const;

    Sizes sizes_;
    std::set<std::string> batch_names_;
    std::map<std::string, const onnx::ValueInfoProto*> told_;
    std::map<std::string, Tensor> values_;
    double batch_ = 0, inputs_ = 0;
    static constexpr std::size_t most_computed = std::size_t{1} << 24;
    mutable std::size_t computed_ = 0;
};

/// The values of a graph, as far as the rules of its operators, or the file, give their shapes.
Tensors tensors_of(const onnx::GraphProto& graph);

/// What a rule counts for an operator: nothing for views; what it moves; a FLOP for each value, eight for norms; a FLOP for each value that
/// it adds up or compares; two for each multiply-add.
enum class Cost { view, moves, values, norm, sums, product };

/// Nothing for an operator without a rule.
std::optional<Cost> cost_of(const std::string& operation);
/// Extents, as far as they are known.
using Result = std::optional<Numbers>;
/// The extents of an output by the operator's rule, or else as the file says. Nothing if neither gives them.
Result shape_of(const Node& node, int output, const Tensors& tensors);
/// Those of the first output of what slides a window over its input. Throw InputError.
Result convolution(const Node& node, const Tensors& tensors);
Result transposed_convolution(const Node& node, const Tensors& tensors);
Result pool(const Node& node, const Tensors& tensors);
Result global_pool(const Node& node, const Tensors& tensors);
/// What an operator computes from small lists; nothing for other inputs.
std::optional<Reals> numbers_of(const Node& node, const Tensors& tensors);
/// Whether an operator's results are floats.
bool gives_floats(const Node& node, const Tensors& tensors);

/// Extents of the operator Attention.
struct AttentionShape {
    long long batch, heads, queries, keys, width, width_of_values;
};
AttentionShape attention_of(const Node& node, const Tensors& tensors);
/// Extents by the letters of Einsum's "bhid,bhjd->bhij", and the letters of the result; nothing where some are left out.
struct Letters {
    std::map<char, long long> extents;
    std::string result;
};
std::optional<Letters> letters_of(const Node& node, const Tensors& tensors);

}  // namespace roof::model::onnx_file
