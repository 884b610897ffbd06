// What a node of an ONNX file says: its inputs and attributes, and windows.
#pragma once

#include "workloads/model/graph.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace roof::model::onnx_file {

using Numbers = std::vector<long long>;

/// An operator, or a use of one, that the graph has no layer for.
struct Refused {
    std::string reason;
};

/// Throws Refused for less than `least` and for more than 2^31 - 1.
int extent_of(long long extent, long long least = 1);

class Node {
  public:
    explicit Node(const onnx::NodeProto& proto) : proto_(proto), operation_(operation_of(proto)) {}

    /// "Relu", or "other.domain.Relu".
    const std::string& operation() const { return operation_; }
    static std::string operation_of(const onnx::NodeProto& proto)
    {
        const bool is_own = proto.domain().empty() || proto.domain() == "ai.onnx";
        return is_own ? proto.op_type() : proto.domain() + "." + proto.op_type();
    }
    const std::string& output(int index = 0) const { return proto_.output(index); }
    int outputs() const { return proto_.output_size(); }
    int inputs() const { return proto_.input_size(); }
    bool has(int index) const { return index < inputs() && !proto_.input(index).empty(); }
    const std::string& input(int index) const
    {
        if (!has(index)) throw Refused{"without input " + std::to_string(index)};
        return proto_.input(index);
    }
    std::string name() const { return proto_.name().empty() ? output() : proto_.name(); }

    const onnx::AttributeProto* attribute(const std::string& of) const
    {
        for (const onnx::AttributeProto& one : proto_.attribute()) {
            if (one.name() == of) return &one;
        }
        return nullptr;
    }
    long long number(const std::string& of, long long usual) const
    {
        const onnx::AttributeProto* const found = attribute(of);
        return found == nullptr ? usual : found->i();
    }
    /// Throws Refused where the attribute is not given.
    long long number(const std::string& of) const
    {
        if (attribute(of) == nullptr) throw Refused{"without " + of};
        return number(of, 0);
    }
    float real(const std::string& of, float usual) const
    {
        const onnx::AttributeProto* const found = attribute(of);
        return found == nullptr ? usual : found->f();
    }
    std::string word(const std::string& of, const std::string& usual) const
    {
        const onnx::AttributeProto* const found = attribute(of);
        return found == nullptr ? usual : found->s();
    }
    Numbers numbers(const std::string& of, const Numbers& usual) const
    {
        const onnx::AttributeProto* const found = attribute(of);
        return found == nullptr ? usual : Numbers(found->ints().begin(), found->ints().end());
    }
    /// Throws Refused unless the attribute has this value.
    void require(const std::string& of, long long value) const
    {
        const long long given = number(of, value);
        if (given != value) throw Refused{"with " + of + " " + std::to_string(given)};
    }
    /// Throws Refused unless `axis`, or else `usual`, is this one of `axes`. Negative ones count from the end.
    void require_axis(long long wanted, std::size_t axes, long long usual) const
    {
        const long long given = number("axis", usual);
        if (given != wanted && given + static_cast<long long>(axes) != wanted)
            throw Refused{"with axis " + std::to_string(given)};
    }

  private:
    const onnx::NodeProto& proto_;
    std::string operation_;
};

/// The graph of a file, without the operators that its outputs do not need. Throws InputError for another file.
onnx::GraphProto graph_in(const std::filesystem::path& file);

/// "Einsum at 'a', 'b'; Erf at 'c'", of the places by operator.
std::string places_text(const std::map<std::string, std::vector<std::string>>& places);

/// "3x3"
std::string text(const Numbers& numbers);
/// The begin or the end of a slice of so many values: negative ones count from the end, those beyond are the outermost.
inline long long bound_of(long long given, long long size, bool is_backwards = false)
{
    const long long found = given < 0 ? given + size : given;
    return is_backwards ? std::clamp(found, -1LL, size - 1) : std::clamp(found, 0LL, size);
}
/// The window of a convolution, or of a pool, square and the same on both axes; numbers up to 65,536. Throws Refused.
Window window_of(const Node& node, const Numbers& kernel);

/// Stands for the number of images where the file leaves it open: a prime number that no other extent has.
inline constexpr long long open_batch = 1'000'003;

// The constants of an ONNX file: of each the extents and, of short lists from which exporters compute shapes, the
// numbers too.

using Reals = std::vector<double>;

struct Tensor {
    Numbers dims{};
    std::optional<Reals> numbers{};  ///< of a short list
    bool is_float = true;
    bool is_zero = false;  ///< all of its numbers, also of a long list
    bool is_even = true;   ///< all of its numbers are the same, or not known
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
    /// False for one of an operator Constant, which training leaves as it is.
    bool trains(const Tensor& tensor) const { return tensor.origin.empty() || held_.contains(tensor.origin); }
    const Tensor* find(const std::string& name) const
    {
        const auto found = values_.find(name);
        return found == values_.end() ? nullptr : &found->second;
    }

  private:
    std::map<std::string, Tensor> values_;
    std::set<std::string> held_;  ///< names of the file's tensors
};

/// What exporters compute from shapes, as PyTorch writes a channel shuffle as Shape, Gather, Div and Concat of
/// integers.
bool is_folded(const std::string& operation);
/// What such an operator makes of constants alone; the file's floats can only be cast, renamed or transposed, rows of
/// a table also reshaped, and scales of Resize, which are not trained, taken for any. Throws Refused.
Tensor folded(const Node& node, const Tensors& constants, bool are_scales = false);

}  // namespace roof::model::onnx_file
