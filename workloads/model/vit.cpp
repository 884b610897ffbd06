// Vision transformers (Dosovitskiy et al., 2021) as in torchvision, for images of 3x224x224. A class token stands
// before the patches: a position of zeros to which a trained value is added. Parameters have torchvision's names; the
// class token is behind the first convolution.
#include "workloads/model/models.hpp"

namespace roof::model {
namespace {

struct Size {
    std::string name;
    int patch, blocks, channels, heads;
};

int block(Graph& net, const std::string& at, const Size& size, int x)
{
    constexpr float epsilon = 1e-6F;
    int y = net.linear_of_positions(at + "self_attention.in_proj", net.layer_norm(at + "ln_1", x, epsilon),
                                    3 * size.channels);
    y = net.attention(at + "self_attention", y, size.heads);
    x = net.add(at + "add_1", x, net.linear_of_positions(at + "self_attention.out_proj", y, size.channels));
    y = net.linear_of_positions(at + "mlp.0", net.layer_norm(at + "ln_2", x, epsilon), 4 * size.channels);
    y = net.linear_of_positions(at + "mlp.3", net.activation(LayerKind::gelu, at + "mlp.1", y), size.channels);
    return net.add(at + "add_2", x, y);
}

Graph vit(const Size& size, int classes)
{
    Graph net(size.name, imagenet_image);
    const Window patches{.size = size.patch, .stride = size.patch, .padding = 0};
    int x = net.convolution("conv_proj", 0, size.channels, patches, true);
    const Shape& map = net.layer(x).output;
    x = net.take_positions("with_class", x, -1, map.height * map.width + 1);
    x = net.positions("encoder.pos_embedding", net.positions("class_token", x, 1));
    for (int k = 0; k < size.blocks; ++k)
        x = block(net, "encoder.layers.encoder_layer_" + std::to_string(k) + ".", size, x);
    x = net.take_positions("class", net.layer_norm("encoder.ln", x, 1e-6F), 0, 1);
    net.linear("heads.head", x, classes);
    return net;
}

}  // namespace

std::vector<Recipe> vit_family()
{
    std::vector<Recipe> all;
    for (const Size& size : {Size{"vit_b_16", 16, 12, 768, 12}, Size{"vit_b_32", 32, 12, 768, 12},
                             Size{"vit_l_16", 16, 24, 1024, 16}, Size{"vit_l_32", 32, 24, 1024, 16}})
        all.push_back({size.name, [size](int classes) { return vit(size, classes); }});
    return all;
}

}  // namespace roof::model
