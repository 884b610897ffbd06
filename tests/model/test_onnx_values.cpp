// The layers that operators and views of ONNX files become, and refusals; windows, inputs, limits of lists.
#include "ert/base/text.hpp"
#include "tests/model/made_onnx.hpp"
#include "workloads/model/onnx_values.hpp"

#include <catch2/catch.hpp>

#include <regex>

using namespace roof;
using namespace roof::model;
using namespace roof::model::onnx_file;
using namespace roof::tests;

namespace {

/// Operators one after another, of "images" (3x8x8): [1,2] is a list of integers, i1 an integer, f2 a float, w3x5
/// weights, _ an input that is left out; End pools so many channels and ends the network. Behind the arrow: the layers
/// before the pool, or the refusal of an operator.
constexpr const char* networks = R"(
a,b = Split images axis=-3; c = Concat b a axis=-3; End c 3 -> a.1 slice 2 1x8x8, a.0 slice 0 2x8x8, c concat 3x8x8
a = Relu images; b = Concat a images axis=-1; End b 6 -> Concat with axis -1 at 'at b'
a,b = Split images [1,2] axis=1; End b 2 -> a.1 slice 1 2x8x8
a,b = Split images axis=1 split=1,2; End b 2 -> a.1 slice 1 2x8x8
c = Conv images w8x3x1x1; a,b,d = Split c axis=1; e = Concat d a b axis=1; End e 8 -> c convolution 8x8x8, a.2 slice 6
  2x8x8, a.0 slice 0 3x8x8, a.1 slice 3 3x8x8, e concat 8x8x8
a,b = Split images [1,3] axis=1; End b 2 -> Split into 1x3 at 'at a'
a,b = Split images [1,1] axis=1; End b 2 -> Split into 1x1 at 'at a'
a,b = Split images [0,3] axis=1; End b 2 -> Split into 0x3 at 'at a'
a,b = Split images [1,2,5] axis=1; End b 2 -> Split into 1x2x5 at 'at a'
a,b = Split images [3] axis=1; End a 3 -> Split into 3 at 'at a'
a,b = Split images axis=4; End b 2 -> Split of axis 4 at 'at a'
x = Slice images [-1] [9223372036854775807] [1]; End x 1 -> x slice 2 1x8x8
x = Slice images [1,0] [3,4] [1,2]; y = Relu x; f = Flatten y; logits = MatMul f w64x10 -> x take_positions 0 3x1x32,
  x slice 1 2x1x32, y relu 2x1x32, f flatten 64x1x1, logits linear 10x1x1
x = Slice images starts=1 ends=2 axes=1; End x 1 -> x slice 1 1x8x8
x = Slice images [0] [2] [1] [2]; End x 1 -> Slice of a part of an axis at 'at x'
x = Slice images; End x 3 -> Slice of places that are not given at 'at x'
x = Slice images [0,0] [4] [2,3]; End x 3 -> Slice of places that are not given at 'at x'
x = Slice images [0] [4] [2,3]; End x 3 -> Slice of places that are not given at 'at x'
x = Slice images [0] [4] [3]; y = Relu x; End y 3 -> Relu of positions that are no neighbours at 'at y'
m = Reshape images [0,3,1,64]; x = Slice m [16] [48] [3]; r = Relu x; y = Slice x [8] [24] [3]; f = Flatten r; g =
  Flatten y; p = MatMul f w96x4; q = MatMul g w48x4; logits = Add p q -> x take_positions 16 3x1x32, r relu 3x1x32, f
  flatten 96x1x1, p linear 4x1x1, g take_positions 8 3x1x16, g flatten 48x1x1, q linear 4x1x1, logits add 4x1x1
c = Conv images w8x3x1x1; x = Slice c [2] [6] [1]; r = Relu x; y = Slice x [1] [3] [1]; s = Concat r y axis=1; End s 6
  -> c convolution 8x8x8, x slice 2 4x8x8, r relu 4x8x8, y slice 1 2x8x8, s concat 6x8x8
c = Conv images w8x3x1x1; x = Slice c [2] [6] [1]; y = Slice x [1] [3] [1]; End y 2 -> c convolution 8x8x8, y slice 3
  2x8x8
c = Conv images w8x3x1x1; x = Slice c [2] [6] [1]; r = Reshape x [0,2,2,8,8]; t = Transpose r perm=0,2,1,3,4; y =
  Reshape t [0,4,8,8]; z = Relu y; v = Sigmoid y; s = Add z v; End s 4 -> c convolution 8x8x8, y slice 2 4x8x8, y
  shuffle (0 2 1 3) 4x8x8, z relu 4x8x8, v sigmoid 4x8x8, s add 4x8x8
c = Conv images w8x3x1x1; r = Reshape c [0,4,2,8,8]; x = Slice r [0] [1] [2]; y = Relu x; End y 4 -> Relu of channels
  that are no neighbours at 'at y'
x = Gather images [-1] axis=1; End x 1 -> x slice 2 1x8x8
x = Gather images i-1 axis=1; y = Reshape x [0,1,8,8]; End y 1 -> y slice 2 1x8x8
x = Gather images i1 axis=2; f = Flatten x; logits = MatMul f w24x10 -> f take_positions 8 3x1x8, f flatten 24x1x1,
  logits linear 10x1x1
x = Gather images [0,1] axis=1; End x 2 -> Gather of other than one place at 'at x'
x = Slice images [0] [1] [2]; r = Reshape x [0,3,8]; t = Transpose r perm=0,2,1; p = Gather w9x3 [1,2,3,4,5,6,7,8]; y =
  Add t p; End y 3 -> Add of a constant that is neither a bias nor of each position at 'at y'
r = Reshape images [0,3,64]; t = Transpose r perm=0,2,1; p = Expand w1x1x3 [1,64,3]; y = Add t p; End y 3 -> Expand of
  trained numbers to several places at 'at p'
s = Concat f1,1 f2,2 axis=0; x = Resize images _ s mode=linear; End x 3 -> x resize 3x16x16
s = Concat f1,1 f2,2 axis=0; x = Add images s; End x 3 -> Concat of floats at 'at s'
x = Mul images f2; y = Relu x; End y 3 -> Relu of values that a constant multiplies at 'at y'
t = Transpose images perm=0,2,3,1; y = Relu t; End y 3 -> GlobalAveragePool of values in the shape 8x8x3 at 'at
  pooled'
x = Reshape images [-1,64]; logits = MatMul x w64x10 -> MatMul of values in the shape 64 at 'at logits'
t = Transpose images perm=0,2,3,1; f = Flatten t; logits = MatMul f w192x10 -> MatMul of values in the shape 192 at
  'at logits'
m = Reshape images [0,3,64]; t = Transpose m perm=0,2,1; p = MatMul t w3x5; u = Transpose p perm=0,2,1; f = Flatten u;
  logits = MatMul f w320x10 -> p linear 5x8x8, f flatten 320x1x1, logits linear 10x1x1
r = Reshape images [-1,24,8]; f = Flatten r; a = MatMul f w192x4; b = MatMul f w192x4; logits = Add a b -> f flatten
  192x1x1, a linear 4x1x1, b linear 4x1x1, logits add 4x1x1
f = Flatten images; a = MatMul f w192x4; b = Relu a; logits = Concat a b axis=-1 -> f flatten 192x1x1, a linear 4x1x1,
  b relu 4x1x1, logits concat 8x1x1
s = Slice [9,0,192] [1] [3] _ [1]; f = Reshape images s; logits = MatMul f w192x10 -> f flatten 192x1x1, logits linear
  10x1x1
f = Flatten images axis=2; logits = MatMul f w64x10 -> Flatten with axis 2 at 'at f'
s = Relu images; f = Reshape images s; End f 3 -> Reshape to a shape that is not constant at 'at f'
s = Relu images; f = Squeeze images s; End f 3 -> Squeeze by numbers that are not constant at 'at f'
s = Shape images start=1; f = Reshape images s; End f 3 -> Shape with start 1 at 'at s'
s = Shape images end=2; f = Reshape images s; End f 3 -> Shape with an end at 'at s'
s = Constant value_string=x; f = Reshape images s; End f 3 -> Constant without a tensor at 'at s'
y = Relu absent; End y 3 -> Relu of 'absent', which is no layer's output at 'at y'
y = Relu w3; End y 3 -> Relu of 'w3.1', which is no layer's output at 'at y'
a = Sigmoid images; b = Mul images a; c = HardSigmoid b alpha=0.16666667; d = Mul c b; End d 3 -> b silu 3x8x8, d
  hard_swish 3x8x8
a = HardSigmoid images alpha=0.2; End a 3 -> HardSigmoid with other than x / 6 + 1 / 2 at 'at a'
a = GlobalAveragePool images; b = Sigmoid a; c = Mul b a; d = Mul b images; e = Mul d c; End e 3 -> a average_pool
  3x1x1, b sigmoid 3x1x1, c multiply 3x1x1, d multiply 3x8x8, e multiply 3x8x8
a = Gelu images; b = Gelu a approximate=tanh; End b 3 -> a gelu 3x8x8, b gelu_tanh 3x8x8
a = Gelu images approximate=sigmoid; End a 3 -> Gelu with approximate sigmoid at 'at a'
x = Relu images; a = Div x f1.41421356; b = Erf a; c = Add b f1; d = Mul x c; e = Mul d f0.5; End e 3 -> x relu 3x8x8,
  e gelu 3x8x8
x = Relu images; a = Div x f1.41421356; b = Erf a; c = Add b f1; d = Mul f0.5 c; e = Mul x d; End e 3 -> x relu 3x8x8,
  e gelu 3x8x8
x = Relu images; a = Div x f1.41421356; b = Erf a; c = Add b f1; d = Mul c f0.5; e = Mul d f0.5; End e 3 -> Mul of
  'd', which is no layer's output at 'at e'
x = Relu images; a = Div x f1.5; b = Erf a; c = Add b f1; d = Mul x c; e = Mul d f0.5; End e 3 -> Erf at 'at b'
x = Relu images; a = Div x f1.41421356; b = Erf a; c = Add b f1; d = Mul images c; e = Mul d f0.5; End e 3 -> Mul of
  'c', which is no layer's output at 'at d'
x = Relu images; a = Div x f1.41421356; b = Erf a; c = Add b f1; d = Mul x c; e = Mul c f0.5; End e 3 -> Mul of
  'c', which is no layer's output at 'at e'
a = Conv images w4x3x3x3 dilations=2,2 pads=1,1,1,1; End a 4 -> a convolution 4x6x6
a = Einsum images; b = Relu a; logits = Erf b -> Einsum at 'at a'; Erf at 'at logits'
a = AveragePool images kernel_shape=3,3 pads=1,1,1,1; b = Relu a; c = Inverse b; d = LRN images; e = Add c d; End e 3
  -> AveragePool with pads that are left out of the mean at 'at a'; Inverse at 'at c'; LRN at 'at d'
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; c = Concat b a
  axis=3; r = Relu c; End r 3 -> m max_pool 3x2x2, c take_positions (1 0 3 2) 0 3x2x2, r relu 3x2x2
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; c = Concat b a
  axis=-1; d = Slice c [1] [2] [3]; e = Concat b d axis=3; r = Relu e; End r 3 -> m max_pool 3x2x2, e take_positions (1
  0 3 2) 0 3x2x2, r relu 3x2x2
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; t = Transpose a
  perm=0,2,3,1; u = Transpose b perm=0,2,3,1; c = Concat u t axis=2; v = Transpose c perm=0,3,1,2; r = Relu v; End r 3
  -> m max_pool 3x2x2, v take_positions (1 0 3 2) 0 3x2x2, r relu 3x2x2
p = MaxPool images kernel_shape=2,2 strides=2,2; a = Slice p [0] [4] [3] [2]; b = Slice p [1] [4] [3] [2]; c = Concat b
  a axis=1; r = Relu c; f = Flatten r; logits = MatMul f w48x4 -> p max_pool 3x4x4, c take_positions (1 0 3 2 5 4 7 6 9
  8 11 10 13 12 15 14) 0 6x4x2, r relu 6x4x2, f flatten 48x1x1, logits linear 4x1x1
p = MaxPool images kernel_shape=2,2 strides=2,2; a = Slice p [0] [2] [3]; b = Slice p [2] [4] [3]; s = Reshape a
  [0,3,8]; t = Reshape b [0,3,8]; c = Concat s t axis=2; y = Reshape c [0,3,4,4]; r = Relu y; End r 3 -> p max_pool
  3x4x4, y take_positions (0 1 4 5 8 9 12 13 2 3 6 7 10 11 14 15) 0 3x4x4, r relu 3x4x4
p = Conv images w2x3x1x1 strides=4,4; a = Slice p [0] [1] [3]; b = Slice p [1] [2] [3]; c = Concat a b axis=1; t =
  Transpose c perm=0,1,3,2; f = Flatten t; logits = MatMul f w8x4 -> p convolution 2x2x2, c take_positions (0 1 2 3) 0
  4x1x2, f flatten 8x1x1, logits linear 4x1x1
p = Conv images w1x3x1x1 strides=4,4; a = Slice p [0] [1] [3]; b = Slice p [1] [2] [3]; c = Concat b a axis=1; s =
  Reshape c [0,1,2,2]; r = Relu s; End r 1 -> p convolution 1x2x2, s take_positions (1 3 0 2) 0 1x2x2, r relu 1x2x2
a = Slice images [0] [4] [2]; r = Relu images; b = Slice r [0] [4] [2]; c = Concat a b axis=1; End c 6 -> Concat of
  values in the shape 3x4x8 at 'at c'
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; c = Concat a absent
  axis=3; End c 3 -> Concat of 'absent', which is no layer's output at 'at c'
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; c = Concat a b
  axis=0; End c 3 -> Concat of parts that differ at 'at c'
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; d = Mul b f2; c =
  Concat a d axis=3; End c 3 -> Concat of parts that differ at 'at c'
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; d = Slice a [0] [2]
  [1]; e = Slice b [1] [3] [1]; c = Concat d e axis=3; End c 3 -> Concat of parts that differ at 'at c'
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; d = Slice a [0] [1]
  [2]; c = Concat d b axis=3; End c 3 -> Concat of parts that differ at 'at c'
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; s = Squeeze b
  axes=3; c = Concat a s axis=2; End c 3 -> Concat of parts that differ at 'at c'
m = MaxPool images kernel_shape=4,4 strides=4,4; a = Slice m [0] [1] [3]; b = Slice m [1] [2] [3]; s = Squeeze b
  axes=3; c = Concat a s axis=3; End c 3 -> Concat of axis 3 at 'at c'
v = Conv images w4x3x1x1 strides=4,4; g = Reshape v [0,2,2,2,2]; a = Slice g [0] [1] [4]; b = Slice g [1] [2] [4]; c =
  Concat a b axis=1; End c 8 -> Concat of parts that differ at 'at c'
r = Reshape images [0,192]; x = Slice r [64] [128] [1]; y = Reshape x [0,1,8,8]; z = Relu y; End z 1 -> y slice 1
  1x8x8, z relu 1x8x8
a = Dropout images absent; End a 3 -> Dropout of 'absent', which is no number in the file at 'at a')";

/// "x1,x2 = Split images axis=1", where numbers are constants.
void add_step(onnx::ModelProto& model, const std::string& step)
{
    const std::vector<std::string> words = split(trim(step), ' ');
    if (words[0] == "End") return add_end(model, words[1], std::stoi(words[2]));
    const auto numbers_in = [](const std::string& list) {
        std::vector<long long> numbers;
        for (const std::string& one : split(list, ',')) numbers.push_back(std::stoll(one));
        return numbers;
    };
    const std::vector<std::string> outputs = split(words[0], ',');
    add_node(model, words[2], {}, outputs[0]);
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::NodeProto& node = *graph.mutable_node()->rbegin();
    for (std::size_t k = 1; k < outputs.size(); ++k) node.add_output(outputs[k]);
    for (std::size_t k = 3; k < words.size(); ++k) {
        const std::string& word = words[k];
        const std::string constant = word + "." + std::to_string(graph.initializer_size() + 1);
        const std::vector<std::string> pair = split(word, '=');
        if (pair.size() == 2 && std::isalpha(pair[1][0])) {
            set_word(model, pair[0], pair[1]);
        } else if (pair.size() == 2 && pair[1].find('.') != std::string::npos) {
            node.add_attribute()->set_name(pair[0]);
            node.mutable_attribute()->rbegin()->set_f(std::stof(pair[1]));
        } else if (pair.size() == 2) {
            set_numbers(model, pair[0], numbers_in(pair[1]));
            node.mutable_attribute()->rbegin()->set_i(numbers_in(pair[1])[0]);
        } else if (word[0] == '[') {
            add_numbers(model, constant, numbers_in(word.substr(1, word.size() - 2)));
        } else if (word[0] == 'i' && word != "images") {
            add_numbers(model, constant, {std::stoll(word.substr(1))});
            graph.mutable_initializer()->rbegin()->clear_dims();
        } else if (word[0] == 'f' && word.size() > 1) {
            const std::vector<std::string> all = split(word.substr(1), ',');
            add_weights(model, constant, std::vector<long long>(all.size() > 1 ? 1 : 0, std::ssize(all)));
            for (const std::string& one : all) graph.mutable_initializer()->rbegin()->add_float_data(std::stof(one));
        } else if (word[0] == 'w') {
            add_weights(model, constant, numbers_in(std::regex_replace(word.substr(1), std::regex("x"), ",")));
        }
        const bool is_constant = graph.initializer_size() > 0 && graph.initializer().rbegin()->name() == constant;
        if (pair.size() == 1) node.add_input(word == "_" ? "" : is_constant ? constant : word);
    }
}

std::string layers_of(const onnx::ModelProto& model)
{
    const std::string refusal = refusal_of(model), known = "operators that roof does not train: ";
    if (!refusal.empty()) return refusal.substr(refusal.find(known) + known.size());
    const Graph graph = read(model);
    std::vector<std::string> layers;
    for (const Layer& layer : graph.layers()) {
        if (layer.name == "at pooled") break;
        std::string order;
        for (const int channel : layer.order) order += (order.empty() ? "(" : " ") + std::to_string(channel);
        const bool is_cut = layer.kind == LayerKind::slice || layer.kind == LayerKind::take_positions;
        const Numbers shape{layer.output.channels, layer.output.height, layer.output.width};
        layers.push_back(layer.name.substr(3) + " " + std::string(name(layer.kind)) + " " +
                         (order.empty() ? "" : order + ") ") + (is_cut ? std::to_string(layer.first) + " " : "") +
                         text(shape));
    }
    return join(std::vector(layers.begin() + 1, layers.end()), ", ");
}

onnx::ModelProto with_input(const Numbers& dims, int type, long long batch = 0)
{
    onnx::ModelProto model = small_network();
    auto& tensor = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    tensor.clear_shape();
    tensor.set_elem_type(type);
    tensor.mutable_shape()->add_dim()->set_dim_value(batch);
    for (const long long extent : dims) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
    return model;
}

}  // namespace

TEST_CASE("Operators and views become layers, one that cuts, orders or flattens for each view, or are refused")
{
    for (const std::string& line : split(trim(std::regex_replace(networks, std::regex("\n +"), " ")), '\n')) {
        const std::size_t arrow = line.find(" -> ");
        onnx::ModelProto model = small_network();
        for (const std::string& step : split(line.substr(0, arrow), ';')) add_step(model, step);
        INFO(line);
        CHECK(layers_of(model) == line.substr(arrow + 4));
    }
}

TEST_CASE("The number of images is the file's, where it gives one")
{
    const auto reshaped = [](long long batch, const std::string& to) {
        onnx::ModelProto model = with_input({3, 8, 8}, onnx::TensorProto::FLOAT, batch);
        add_step(model, "f = Reshape images " + to);
        add_step(model, "logits = MatMul f w192x10");
        return layers_of(model);
    };
    const std::string flattened = "f flatten 192x1x1, logits linear 10x1x1";
    CHECK((reshaped(1, "[1,192]") == flattened && reshaped(2, "[2,192]") == flattened));
    CHECK(reshaped(0, "[1,192]") == "Reshape to 1x192, which is not the batch and its values at 'at f'");
}

TEST_CASE("The input is the one that has no weights: images, or tokens in integers, of 1 to 65,536 along an axis")
{
    const auto image = [](const Numbers& dims, int type = onnx::TensorProto::FLOAT) {
        return image_of(with_input(dims, type).graph());
    };
    CHECK(image({1, 65536, 1}) == Shape{1, 65536, 1});
    CHECK(image({65536, 1, 65536}) == Shape{65536, 1, 65536});
    CHECK(image({7}, onnx::TensorProto::INT64) == Shape{1, 1, 7});
    CHECK_THROWS_WITH(image({3, 0, 8}),
                      "the size of the network's images is not given: axis 2 of the input has no number");
    CHECK_THROWS_WITH(image({3, 8, 65537}), Catch::Contains("axis 3 of the input has no number"));
    for (const auto& [dims, type] : {std::pair<Numbers, int>{{7}, onnx::TensorProto::FLOAT}, {{7}, 0}, {{3, 8}, 1}})
        CHECK_THROWS_WITH(image(dims, type),
                          "the network's input is neither [batch][channels][height][width] nor [batch][tokens]");
    onnx::ModelProto model = small_network();
    model.mutable_graph()->add_input()->set_name("w");
    CHECK_THROWS_WITH(input_of(model.graph()), "the network has 2 inputs; one, the images, is read");
    add_weights(model, "w", {3});
    CHECK(input_of(model.graph()).name() == "images");
    model.mutable_graph()->clear_input();
    CHECK_THROWS_WITH(input_of(model.graph()), "the network has 0 inputs; one, the images, is read");
}

TEST_CASE("Lists of up to 262,144 integers are computed from shapes, and 4,194,304 integers in all")
{
    onnx::ModelProto model = small_network();
    add_numbers(model, "half", std::vector<long long>(131072, 1));
    add_numbers(model, "most", std::vector<long long>(65535, 1));  // with its one extent 2^16
    add_numbers(model, "one", {1});
    add_weights(model, "unknown", {});
    for (const char* step : {"a = Concat half half axis=0", "b = Concat half half one axis=0", "c = Identity unknown",
                             "d = Identity most"})
        add_step(model, step);
    const auto node = [&](int index) { return Node(model.graph().node(index)); };
    Graph graph("made", {3, 8, 8});
    CHECK(Values(model.graph(), graph).take(node(0)));
    Values values(model.graph(), graph);
    CHECK_THROWS_AS(values.take(node(1)), Refused);
    CHECK(values.take(node(2)));
    for (int k = 0; k < 64; ++k) values.take(node(3));
    CHECK_THROWS_AS(values.take(node(3)), Refused);
}

TEST_CASE("A window has two extents, strides, pads and dilations of at most 65,536, and a pool's is square")
{
    const auto window = [](const std::string& step) {
        onnx::ModelProto model = small_network();
        add_step(model, "x = " + step);
        const Node node(model.graph().node(0));
        try {
            const Window of = window_of(node, node.numbers("kernel_shape", {}));
            const Window across = of.across();
            return text(Numbers{of.size, across.size}) + " " + text(Numbers{of.stride, across.stride}) + " " +
                   text(Numbers{of.padding, across.padding}) + " " + std::to_string(of.dilation);
        } catch (const Refused& refused) {
            return refused.reason;
        }
    };
    for (const auto& [step, result] : std::vector<std::pair<std::string, std::string>>{
             {"MaxPool kernel_shape=3,3", "3x3 1x1 0x0 1"},
             {"Conv kernel_shape=3,5 strides=2,1 pads=1,2,1,2 dilations=4,4", "3x5 2x1 1x2 4"},
             {"MaxPool kernel_shape=65536,65536 strides=65536,65536 pads=65536,65536,65536,65536 dilations=65536,65536",
              "65536x65536 65536x65536 65536x65536 65536"},
             {"Conv kernel_shape=3,5 auto_pad=SAME_UPPER dilations=2,2", "3x5 1x1 2x4 2"},
             {"Conv kernel_shape=2,2 auto_pad=VALID pads=0,0,0,0", "2x2 1x1 0x0 1"},
             {"Conv kernel_shape=3,3 auto_pad=NOTSET pads=1,1,1,1", "3x3 1x1 1x1 1"},
             {"Conv kernel_shape=2,3 auto_pad=SAME_UPPER", "with auto_pad SAME_UPPER"},
             {"Conv kernel_shape=3,2 auto_pad=SAME_LOWER", "with auto_pad SAME_LOWER"},
             {"Conv kernel_shape=3,3 auto_pad=SAME_UPPER strides=2,2", "with auto_pad SAME_UPPER"},
             {"Conv kernel_shape=3,3 auto_pad=OTHER", "with auto_pad OTHER"}}) {
        INFO(step);
        CHECK(window(step) == result);
    }
    for (const auto& [step, wrong] : std::vector<std::pair<std::string, std::string>>{
             {"Conv kernel_shape", "3 3,3,3 0,0 3,65537"},
             {"MaxPool kernel_shape", "3,2"},
             {"Conv kernel_shape=3,3 strides", "2 1,0 65537,1"},
             {"MaxPool kernel_shape=3,3 strides", "2,1"},
             {"Conv kernel_shape=3,3 dilations", "2 1,2 0,0 65537,65537"},
             {"Conv kernel_shape=3,3 pads", "1,1 1,1,1,1,1,1 1,1,0,1 1,1,1,0 -1,0,-1,0 0,65537,0,65537"},
             {"MaxPool kernel_shape=3,3 pads", "1,0,1,0"}}) {
        const std::string attribute = split(step, ' ').back();
        for (const std::string& one : split(wrong, ' ')) {
            INFO(step << " " << one);
            CHECK(window(step + "=" + one) == "with " + (attribute == "kernel_shape" ? "a window" : attribute) +
                                                  " of " + std::regex_replace(one, std::regex(","), "x"));
        }
    }
}

TEST_CASE("Extents are of 32 bits, and of an operator's places three are named")
{
    CHECK((extent_of(1) == 1 && extent_of(0, 0) == 0 && extent_of((1LL << 31) - 1) == 2147483647));
    CHECK_THROWS_AS(extent_of(0), Refused);
    CHECK_THROWS_AS(extent_of(1LL << 31), Refused);
    CHECK(places_text({{"Erf", {"a", "b", "c", "d", "e"}}, {"Sin", {"f", "g", "h"}}}) ==
          "Erf at a, b, c and 2 other places; Sin at f, g, h");
}
