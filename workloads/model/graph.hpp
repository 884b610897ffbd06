// A network as data: layers in the order they run, with shapes and edges. Arithmetic only: no device, no library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roof::model {

enum class LayerKind { input, convolution, batch_norm, relu, max_pool, average_pool, add, flatten, dropout, linear };

std::string_view name(LayerKind kind);

/// Of one image. A linear layer's output is {features, 1, 1}.
struct Shape {
    int channels = 0;
    int height = 1;
    int width = 1;

    long long elements() const { return 1LL * channels * height * width; }
    bool operator==(const Shape&) const = default;
};

/// Square windows: all networks here have them.
struct Window {
    int size = 1;
    int stride = 1;
    int padding = 0;
};

struct Layer {
    std::string name;  ///< torchvision's module name, "layer1.0.conv1"; where it has none: "layer1.0.add", "flatten"
    LayerKind kind = LayerKind::input;
    std::vector<int> inputs;  ///< indices of earlier layers
    Shape output;
    Window window;      ///< convolution and pooling; for average_pool, size is the whole map or 1 (identity)
    bool bias = false;  ///< convolution and linear
    float dropout = 0;  ///< probability of zeroing

    /// Number of trained values: weight and bias.
    long long parameters(const Shape& input) const;
};

/// A trained tensor, in the order of PyTorch's named_parameters().
struct Parameter {
    std::string name;  ///< "conv1.weight"
    int layer = 0;     ///< index of its layer
    bool is_bias = false;
    std::vector<int> shape;  ///< OIHW, [out][in], or [channels]
    long long elements() const;
};

class Graph {
  public:
    Graph(std::string name, Shape input);

    /// Appends; the output shape is worked out from the input's. Each returns the new layer's index; layer 0 is the
    /// input. Throws std::logic_error for shapes that do not fit together.
    int convolution(std::string name, int input, int channels, Window window, bool bias);
    int batch_norm(std::string name, int input);
    int relu(std::string name, int input);
    int max_pool(std::string name, int input, Window window);
    /// To an output of `size` x `size`; identity if the input has that size already.
    int average_pool(std::string name, int input, int size);
    int add(std::string name, int left, int right);
    int flatten(std::string name, int input);
    int dropout(std::string name, int input, float probability);
    int linear(std::string name, int input, int features);

    const std::string& name() const { return name_; }
    const std::vector<Layer>& layers() const { return layers_; }
    const Layer& layer(int index) const { return layers_[static_cast<std::size_t>(index)]; }
    /// Of the layer's first input; of the input layer, its own.
    const Shape& input_shape(int index) const;
    std::vector<Parameter> parameters() const;
    long long parameter_count() const;
    /// Batch norm's running mean and variance are buffers, not parameters; they are not counted.
    int classes() const { return layers_.back().output.channels; }

  private:
    int append(Layer layer);

    std::string name_;
    std::vector<Layer> layers_;
};

/// "alexnet", "vgg16_bn", "resnet50", …: as torchvision defines them, 1000 classes, 3x224x224.
std::vector<std::string> model_names();
/// Throws InputError naming the models there are and the nearest.
Graph build_model(std::string_view name, int classes = 1000);

}  // namespace roof::model
