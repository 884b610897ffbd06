// A network as data: layers in execution order, with shapes and edges. Independent of devices and libraries.
#pragma once

#include "ert/base/names.hpp"
#include "workloads/model/convolution.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace roof::model {

enum class LayerKind {
    input,
    convolution,
    batch_norm,
    relu,
    max_pool,
    average_pool,
    add,
    flatten,
    dropout,
    linear,
    relu6,
    concat,
    hard_swish,
    hard_sigmoid,
    silu,
    sigmoid,
    multiply,
    slice,
    shuffle,
    gelu,
    gelu_tanh,
    layer_norm,
    attention,
    rms_norm,
    rope,
    embedding,
    positions,
    take_positions,
    resize,
    tanh
};

constexpr EnumNames<LayerKind::tanh> names_of(LayerKind)
{
    return {"layer", {"input",      "convolution",  "batch_norm", "relu",           "max_pool",  "average_pool",
                      "add",        "flatten",      "dropout",    "linear",         "relu6",     "concat",
                      "hard_swish", "hard_sigmoid", "silu",       "sigmoid",        "multiply",  "slice",
                      "shuffle",    "gelu",         "gelu_tanh",  "layer_norm",     "attention", "rms_norm",
                      "rope",       "embedding",    "positions",  "take_positions", "resize",    "tanh"}};
}

/// Layers that normalise, and have a trained scale for each channel; all but the RMS norm have a shift, too.
constexpr bool is_norm(LayerKind kind)
{
    return kind == LayerKind::batch_norm || kind == LayerKind::layer_norm || kind == LayerKind::rms_norm;
}

/// Norms with a trained shift for each channel.
constexpr bool is_shifted(LayerKind kind)
{
    return is_norm(kind) && kind != LayerKind::rms_norm;
}

/// A function of each value, and its FLOPs per value (docs/method.md, section 4).
struct Activation {
    LayerKind kind;
    double forward_flops, backward_flops;
};
/// All but the ReLU, which the layer before it may compute. `workloads/engine/activations.hpp` has the functions.
inline constexpr std::array<Activation, 8> activations{{{LayerKind::relu6, 2, 1},
                                                        {LayerKind::sigmoid, 3, 6},
                                                        {LayerKind::silu, 4, 8},
                                                        {LayerKind::hard_sigmoid, 4, 2},
                                                        {LayerKind::hard_swish, 5, 5},
                                                        {LayerKind::gelu, 5, 11},
                                                        {LayerKind::gelu_tanh, 8, 15},
                                                        {LayerKind::tanh, 5, 6}}};
constexpr bool is_activation(LayerKind kind)
{
    return std::ranges::find(activations, kind, &Activation::kind) != activations.end();
}

struct Layer {
    std::string name;  ///< torchvision's module name ("layer1.0.conv1"), or else "layer1.0.add", "flatten"
    LayerKind kind = LayerKind::input;
    std::vector<int> inputs;  ///< indices of earlier layers
    Shape output;
    Window window;          ///< convolution and pooling; average_pool: the whole map, or 1 for identity
    bool bias = false;      ///< used by convolution and linear
    float dropout = 0;      ///< probability that a value becomes zero
    int groups = 1;         ///< convolution: channels are read only within their group; as many as channels: depthwise
    float epsilon = 1e-5F;  ///< norms: added to the variance
    int first = 0;  ///< slice: the first channel that it takes; take_positions, positions, rope: the first position
    int heads = 1;  ///< attention, rope
    bool causal = false;        ///< attention: a position reads itself and those before it
    int reach = 0;              ///< attention, causal: as many as these positions, its own as the last; 0: all
    std::vector<int> order{};   ///< shuffle: for each channel of the output, that of the input; see rearrange(), too
    int vocabulary = 0;         ///< embedding: number of tokens
    int count = 0;              ///< positions: those that have a value; attention: rows of its table, 0: none
    int windows = 1;            ///< attention: among this many parts of the positions, each by itself
    std::vector<int> places{};  ///< attention with a table: see attention_with_table()
    bool is_same = false;       ///< positions: one value of each channel for all positions
    int cached = 0;             ///< attention over a cache: positions, of which the layer's is the last; 0: no cache
    int weights_of = -1;        ///< linear: the embedding whose weights it reads, which are trained once; -1: its own
    float theta = 10000;        ///< rope
    int kv_heads = 1;           ///< attention, rope: heads of keys and of values

    /// Returns the number of values of its weight, which may be another layer's.
    long long weights(const Shape& input) const;
    /// Returns the number of trained values: weight, unless it is another layer's, and bias.
    long long parameters(const Shape& input) const
    {
        return (weights_of < 0 ? weights(input) : 0) + (bias || is_shifted(kind) ? output.channels : 0);
    }
};

/// One trained tensor. Order: PyTorch's named_parameters().
struct Parameter {
    std::string name;  ///< "conv1.weight"
    int layer = 0;     ///< index of its layer
    bool is_bias = false;
    std::vector<int> shape;  ///< OIHW, [out][in], [tokens][channels], [positions][channels] or [channels]
    long long elements() const;
};

class Graph {
  public:
    Graph(std::string name, Shape input);

    /// These append a layer and return its index; layer 0 is the input. Throw std::logic_error for shapes that differ.
    int convolution(std::string name, int input, int channels, Window window, bool bias, int groups = 1);
    int batch_norm(std::string name, int input, float epsilon = 1e-5F)
    {
        return norm(LayerKind::batch_norm, std::move(name), input, epsilon);
    }
    /// Over the channels of each position.
    int layer_norm(std::string name, int input, float epsilon = 1e-5F)
    {
        return norm(LayerKind::layer_norm, std::move(name), input, epsilon);
    }
    /// A norm of any kind. rms_norm: over the channels of each position, x / sqrt(mean of x^2 + epsilon) * scale.
    int norm(LayerKind kind, std::string name, int input, float epsilon = 1e-5F);
    int relu(std::string name, int input) { return activation(LayerKind::relu, std::move(name), input); }
    /// relu; relu6: min(max(x, 0), 6); sigmoid: 1 / (1 + e^-x); silu: x sigmoid(x); hard_sigmoid: relu6(x + 3) / 6;
    /// hard_swish: x hard_sigmoid(x); gelu: x (1 + erf(x / √2)) / 2; gelu_tanh: its approximation
    /// x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2.
    int activation(LayerKind kind, std::string name, int input)
    {
        return append({std::move(name), kind, {input}, layer(input).output, {}});
    }
    /// `ceil`: the last window may begin inside the map and end outside, as PyTorch's ceil_mode.
    int max_pool(std::string name, int input, Window window, bool ceil = false);
    /// Padding counts as zeros.
    int average_pool(std::string name, int input, Window window);
    /// Appends a pool with an output of `size` x `size`; identity if the input already has that size.
    int average_pool(std::string name, int input, int size);
    /// The map in another size: at each place the mean of the four neighbours in the input, weighted by their distance,
    /// as PyTorch's bilinear interpolation without aligned corners.
    int resize(std::string name, int input, int height, int width)
    {
        return append({std::move(name), LayerKind::resize, {input}, {layer(input).output.channels, height, width}, {}});
    }
    int add(std::string name, int left, int right);
    /// The product of two maps, or of a map and one factor for each of its channels.
    int multiply(std::string name, int map, int factor);
    /// Attention among the positions of an image, of `heads`. The input has the channels of the heads of queries, which
    /// are as many as the output's, then of keys and of values: softmax(q k' / sqrt(channels of a head)) v. Keys and
    /// values have `kv_heads`, each for as many neighbouring heads of queries; 0: one for each. Of a causal one each
    /// position reads the last `reach` up to its own; 0: all.
    int attention(std::string name, int input, int heads, bool causal = false, int kv_heads = 0, int reach = 0);
    /// Attention of one position over `cached` ones, its own as the last, whose keys and values are kept from step to
    /// step. The input has queries of `heads` and keys and values of `kv_heads` heads, each of which serves as many
    /// heads of queries.
    int attention_over_cache(std::string name, int input, int heads, int kv_heads, int cached);
    /// Attention in `windows` parts of neighbouring positions, [windows][positions of one]. To the score of each pair a
    /// trained number is added, that of the head in row places[query][key] of a table of `rows`; -1 hides the key from
    /// the query. `places` are those of one window, which all of them have, or of each window.
    int attention_with_table(std::string name, int input, int heads, int windows, int rows, std::vector<int> places);
    /// Rotary positions, before attention() with so many heads: in each head of the queries and keys, of d channels,
    /// the channels c and c + d / 2 of position p are turned by the angle p / theta^(2 c / d), as in Llama; the first
    /// position is `first`.
    int rope(std::string name, int input, int heads, float theta = 10000, int kv_heads = 0, int first = 0);
    /// `channels` of the input's, from `first` on.
    int slice(std::string name, int input, int first, int channels);
    /// Channel k of the output is channel order[k] of the input; `order` is a permutation.
    int shuffle(std::string name, int input, std::vector<int> order);
    /// The channels of all inputs, one after the other.
    int concat(std::string name, std::vector<int> inputs);
    int flatten(std::string name, int input);
    int dropout(std::string name, int input, float probability)
    {
        return append({std::move(name), LayerKind::dropout, {input}, layer(input).output, {}, false, probability});
    }
    int linear(std::string name, int input, int features, bool bias = true)
    {
        return append({std::move(name), LayerKind::linear, {input}, {features, 1, 1}, {}, bias});
    }
    /// The same linear layer for each position. `weights_of`: an embedding with as many tokens as features.
    int linear_of_positions(std::string name, int input, int features, bool bias = true, int weights_of = -1);
    /// The trained vector of each token. Its input is the input of the network: one channel, the numbers of the tokens.
    int embedding(std::string name, int input, int vocabulary, int channels);
    /// Adds a trained value of each channel and position, the same for all images. There are values of `count`
    /// positions; 0: of all. The input's first one is position `first`.
    int positions(std::string name, int input, int count = 0, int first = 0);
    /// Adds a trained value of each channel, the same for all positions and images.
    int shift(std::string name, int input);
    /// `count` positions of the input's, row by row, from `first` on; zeros where it has none: -1 for a position before
    /// all others.
    int take_positions(std::string name, int input, int first, int count);
    /// All positions in another order, which is a permutation: place k of the output has what position order[k] of the
    /// input has. `output`: its channels are those of one or more places, one after the other.
    int rearrange(std::string name, int input, Shape output, std::vector<int> order);

    const std::string& name() const { return name_; }
    const std::vector<Layer>& layers() const { return layers_; }
    const Layer& layer(int index) const { return layers_[static_cast<std::size_t>(index)]; }
    /// Returns the shape of the layer's first input; for the input layer its own shape.
    const Shape& input_shape(int index) const;
    std::vector<Parameter> parameters() const;
    /// Returns the number of trained values. Running means and variances of batch norms are not counted.
    long long parameter_count() const;
    int classes() const { return layers_.back().output.channels; }
    /// Number of tokens, if the network reads tokens; 0 for one that reads images.
    int vocabulary() const { return layers_.size() > 1 ? layers_[1].vocabulary : 0; }
    /// Positions of an image, or tokens of a sequence, each of which has a label: one, unless the last layer keeps
    /// them.
    int labels_each() const { return layers_.back().output.height * layers_.back().output.width; }
    /// Whether a linear layer treats each position by itself.
    bool is_of_positions(int index) const;
    /// Whether another layer reads the weights of this one.
    bool shares_weights(int index) const
    {
        return std::ranges::find(layers_, index, &Layer::weights_of) != layers_.end();
    }

  private:
    int append(Layer layer);
    int of_heads(Layer layer, int heads, int kv_heads, int divisor);

    std::string name_;
    std::vector<Layer> layers_;
};

/// What a network is built for. Prefill: the scores of the last token of each sequence alone; decode: those of one
/// token, with the keys and values of `tokens` in caches, its own as the last.
enum class Use { train, forward, prefill, decode };
constexpr EnumNames<Use::decode> names_of(Use)
{
    return {"phase", {"train", "forward", "prefill", "decode"}};
}

/// Returns the names ("alexnet", "vgg16_bn", "resnet50", …). As in torchvision: 1000 classes, 3x224x224.
std::vector<std::string> model_names();
/// Of networks of tokens: "gpt2", ...
std::vector<std::string> token_model_names();
/// Tokens of a sequence unless others are asked for; 0 for a network of images.
int usual_tokens(std::string_view name);
/// The endings of the files that can replace a model's name: an ONNX file, a decoder's config.json.
inline constexpr std::string_view network_ending = ".onnx", config_ending = ".json";
/// True for such a file or a network's layers as text: for all that is no built-in name.
bool is_own_network(std::string_view model);
/// The network of this name, with that many classes, or that of a file or a text (models.hpp), with its own. `tokens`:
/// of a sequence; 0: usual_tokens(). Throws InputError with the known models and the nearest name, and where a network
/// of images is asked for tokens, or any for a use that it has not.
Graph build_model(std::string_view name, int classes = 1000, int tokens = 0, Use use = Use::train);

}  // namespace roof::model
