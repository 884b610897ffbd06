// The values of an ONNX file while it is read: constants, and layers' outputs with their views.
#pragma once

#include "workloads/model/onnx_node.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace roof::model::onnx_file {

// A value of an ONNX file that is a layer's output in another shape: its axes cut, joined, permuted or cut short.

/// `extent` images, channels or positions (row by row) of a layer's output, `stride` apart.
struct Part {
    enum class Of { images, channels, positions } of;
    long long extent, stride = 1;
    bool operator==(const Part&) const = default;
};
using Parts = std::vector<Part>;  ///< of an axis, the outermost first; none: an axis of 1

struct View {
    int layer = 0;
    std::vector<Parts> axes{};
    long long channel = 0, position = 0;  ///< the first that it has
    double factor = 1;                    ///< by which its values are multiplied
    std::vector<int> order{};             ///< of the positions that parts count, those of the layer; none: the same
    std::string name{};                   ///< of the operator that made it

    /// The whole output of a layer as [images][channels][height][width]; `axes`: 2 for [images][channels].
    static View of(int layer, const Shape& shape, long long images, std::size_t axes = 4);
    Numbers dims() const;
    /// All parts in their order; those that follow one another in the layer's output as one.
    Parts parts() const;
    /// The channels or positions that it has.
    long long count(Part::Of of) const;
};

/// Neighbours that follow one another as one, and none of one place.
Parts joined(const Parts& parts);

/// The parts of one kind, in their order.
Parts parts_of(const View& view, Part::Of kind);
/// Whether they are neighbours in the layer's output, in its order.
bool are_together(const Parts& parts);
/// For each channel or position of the parts, from `first` on and in their order, that of the layer's output.
std::vector<int> order_of(const Parts& parts, int first = 0);
/// Of the layer, in the order of the view's.
std::vector<int> positions_of(const View& view);
/// Counts its channels or positions from 0 in its order; `order`: of the positions, as View has it.
void renumber(View& view, Part::Of kind, std::vector<int> order = {});

/// The axis from the front; a negative one counts from the end. Throws Refused if there is none.
std::size_t axis_of(long long axis, std::size_t axes);

// The view that an operator makes of another. Axes count the images, negative ones from the end. They throw Refused.

/// The extents that Reshape makes of others: one of `to` may be -1; 0 keeps an axis.
Numbers reshaped(const Numbers& from, const Numbers& to);
View reshaped(View view, const Numbers& to);
View transposed(View view, const Numbers& perm);
/// Without axes of 1; all of them where none is given.
View squeezed(View view, const Numbers& axes);
/// With axes of 1; `axes` as those of the result.
View unsqueezed(View view, Numbers axes);
/// The places first, first + step, ... before `end` of an axis.
View sliced(View view, long long axis, long long first, long long end, long long step = 1);

/// The file's one input that is no tensor of weights. Throws InputError if there is another number of them.
const onnx::ValueInfoProto& input_of(const onnx::GraphProto& proto);
/// The shape of one image, or of a sequence's tokens: one channel in a row. Throws InputError where it is left open.
Shape image_of(const onnx::GraphProto& proto);

class Values {
  public:
    /// Both must outlive it. The graph's layer 0 is the file's input.
    Values(const onnx::GraphProto& proto, Graph& graph);

    /// Takes an operator that computes nothing from a layer's output: constants, shapes and what is computed from them,
    /// and views. False for others. Throws Refused.
    bool take(const Node& node);
    /// True if take() handles the operator.
    static bool takes(const std::string& operation);

    /// Null if the input is left out or is no constant.
    const Tensor* constant(const Node& node, int index) const { return constants_.find(node, index); }
    bool trains(const Tensor& constant) const { return constants_.trains(constant); }
    /// The layer that gives this input as a map or a list; adds the layers that make it of a view. Throws Refused.
    int layer(const Node& node, int index = 0);
    /// The layer that gives what the view has, in any order of its axes. Throws Refused.
    int whole(View& view);
    /// Joins parts of one layer's positions along an axis: a view of them in another order, or along the channels a
    /// layer of fewer positions. False for inputs that are no such parts. Throws Refused.
    bool join(const Node& node);
    /// A layer's output that is read. Throws Refused.
    View& view(const Node& node, int index = 0);
    bool is_view(const Node& node, int index) const { return node.has(index) && views_.contains(node.input(index)); }
    /// This value is the layer's output.
    void put(const std::string& value, int layer);
    void put(const std::string& value, View view) { views_[value] = std::move(view); }
    /// True for a list of values: behind a flatten or a linear layer.
    bool is_flat(int layer) const;
    /// The operator that alone reads the node's output; null if there is none or several.
    const onnx::NodeProto* only_reader(const Node& node) const;

  private:
    bool reads_constants(const Node& node) const;
    Tensor shape_of(const Node& node);
    Tensor fold(const Node& node);
    View view_of(const Node& node);
    bool split(const Node& node);
    View& to_cut(const Node& node);

    Graph& graph_;
    Tensors constants_;
    std::map<std::string, View> views_;
    std::map<std::string, std::vector<const onnx::NodeProto*>> readers_;  ///< by value; null: the file's output
    long long batch_;                                                     ///< the number of images
    std::size_t folded_ = 0;                                              ///< integers of all lists that fold() made
    mutable std::vector<bool> flat_;                                      ///< is_flat() of each layer
};

// Attention as exporters write it: the product of queries and keys, scaled before or behind, rows of a trained table
// and a mask added, Softmax, and the product with values.

class Attentions {
  public:
    Attentions(Values& values, Graph& graph) : values_(values), graph_(graph) {}

    /// Takes the node if it is a part of one; the last adds the layer. Throws Refused.
    bool take(const Node& node);

  private:
    struct Scores {
        View queries, keys;  ///< [images][heads][positions][channels of a head], [images][heads][channels][positions]
        double factor = 1;
        bool are_shares = false;  ///< behind the Softmax
        Numbers dims{};           ///< [images and windows][heads][queries][keys], or as Reshape has made them
        long long windows = 1;
        int rows = 0;                ///< of the table whose numbers are added; 0: none
        std::vector<int> places{};   ///< [queries][keys]: their row
        std::vector<bool> hidden{};  ///< [windows][queries][keys]; empty: none is
    };
    bool takes_scores(const Node& node, int index, Scores scores);
    void add(const Tensor& constant, Scores& scores);
    void put(const Node& node, const Scores& scores);

    Values& values_;
    Graph& graph_;
    std::map<std::string, Scores> scores_;
    std::set<std::string> nowhere_;  ///< where scores are no numbers
    std::set<std::string> tables_;   ///< that scores have
};

// GELU as exporters write it before opset 20: x / √2, its Erf, + 1, times x, times 1/2; the last two in either order.

class Gelus {
  public:
    /// Takes the next of the five operators. Returns x for the last, nothing inside for the others. Throws Refused.
    std::optional<std::optional<View>> take(const Node& node, Values& values);

  private:
    struct Begun {
        std::size_t operators = 0;  ///< that were taken
        std::string source;         ///< x
        View view{};                ///< as it is read
        bool is_halved = false;     ///< 1/2 went before x
    };
    std::map<std::string, Begun> begun_;  ///< by the value that the last of them gives
};

}  // namespace roof::model::onnx_file
