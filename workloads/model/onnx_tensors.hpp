// The constants of an ONNX file: of each the extents and, of short lists from which exporters compute shapes, the
// numbers too.
#pragma once

#include "workloads/model/onnx_node.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace roof::model::onnx_file {

using Reals = std::vector<double>;

struct Tensor {
    Numbers dims{};
    std::optional<Reals> numbers{};  ///< of a short list
    bool is_float = true;
    bool is_zero = false;  ///< all of its numbers, also of a long list
    std::string origin{};  ///< the tensor of the file that it comes from
    Numbers table{};       ///< of rows of a trained table: its extents; the numbers are then their places in it

    /// The integers of a list, no farther from 0 than 2^62; empty for floats, and where they are not known.
    Numbers values() const;
    /// Of floats, the only one.
    std::optional<float> scalar() const;
};

/// Numbers of a list that are known.
inline constexpr std::size_t most_listed = 1 << 18;
inline constexpr long long most_floats = 64;  ///< of a list from which a shape is computed

/// The product of the extents. Throws InputError for more than 2^62, and for an extent below 0 or above 2^31.
long long count_of(const Numbers& dims);
/// The same. Throws Refused for more than most_listed.
std::size_t listed_count(const Numbers& dims);
bool is_float(int type);

class Tensors {
  public:
    Tensors() = default;
    explicit Tensors(const onnx::GraphProto& proto);

    void put(const std::string& name, Tensor tensor) { values_[name] = std::move(tensor); }
    /// Of the operator Constant. False if it is of a kind that is not read.
    bool put_constant(const Node& node);
    /// Null if the input is left out, or no constant.
    const Tensor* find(const Node& node, int index) const
    {
        return node.has(index) ? find(node.input(index)) : nullptr;
    }

    void put(const std::string& name, const onnx::TensorProto& constant);
    const Tensor* find(const std::string& name) const
    {
        const auto found = values_.find(name);
        return found == values_.end() ? nullptr : &found->second;
    }

  private:
    std::map<std::string, Tensor> values_;
};

/// What exporters compute from shapes, as PyTorch writes a channel shuffle as Shape, Gather, Div and Concat of
/// integers.
bool is_folded(const std::string& operation);
/// What such an operator makes of constants alone; the file's floats can only be cast, renamed or transposed, rows of
/// a table also reshaped, and scales of Resize, which are not trained, taken for any. Throws Refused.
Tensor folded(const Node& node, const Tensors& constants, bool are_scales = false);

}  // namespace roof::model::onnx_file
