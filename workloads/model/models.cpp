// Lists the model families and finds a model by name.
#include "workloads/model/models.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <iterator>

namespace roof::model {
namespace {

Decoder decoder_of(std::string_view name)
{
    if (name.ends_with(config_ending)) return read_config(name);
    const std::vector<Decoder> known = known_decoders();
    return *std::ranges::find(known, name, &Decoder::name);
}

}  // namespace

std::vector<std::string> model_names()
{
    return names_in(image_networks());
}

std::vector<std::string> token_model_names()
{
    return names_in(known_decoders());
}

int usual_tokens(std::string_view name)
{
    constexpr int usual = 1024;
    const std::vector<std::string> names = token_model_names();
    return name.ends_with(config_ending) || std::ranges::find(names, name) != names.end() ? usual : 0;
}

bool is_own_network(std::string_view model)
{
    return is_layers_text(model) || model.ends_with(network_ending) || model.ends_with(config_ending);
}

Graph build_model(std::string_view name, int classes, int tokens, Use use)
{
    if (const int usual = usual_tokens(name); usual > 0)
        return build(decoder_of(name), tokens > 0 ? tokens : usual, use);
    if (use == Use::prefill || use == Use::decode)
        throw InputError("phase " + std::string(roof::name(use)) + ": " + std::string(name) +
                         " reads images, not tokens");
    if (tokens > 0) throw InputError("tokens: " + std::string(name) + " reads images, not tokens");
    if (is_layers_text(name)) return read_layers(name);
    if (is_own_network(name)) return read_onnx(name);
    if (classes < 1) throw InputError("a model needs at least 1 class, not " + std::to_string(classes));
    for (const Recipe& recipe : image_networks())
        if (recipe.name == name) return recipe.build(classes);
    std::vector<std::string> known = model_names();
    std::ranges::move(token_model_names(), std::back_inserter(known));
    throw InputError(unknown_word("model", name, known));
}

}  // namespace roof::model
