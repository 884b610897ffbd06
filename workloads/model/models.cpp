// Lists the model families and finds a model by name.
#include "workloads/model/models.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

namespace roof::model {
namespace {

std::vector<Recipe> all_recipes()
{
    std::vector<Recipe> recipes;
    for (const auto& family : {
             alexnet_family,
             vgg_family,
             resnet_family,
         }) {
        for (Recipe& recipe : family()) recipes.push_back(std::move(recipe));
    }
    return recipes;
}

}  // namespace

std::vector<std::string> model_names()
{
    std::vector<std::string> names;
    for (const Recipe& recipe : all_recipes()) names.push_back(recipe.name);
    return names;
}

bool is_own_network(std::string_view model)
{
    return is_layers_text(model) || model.ends_with(network_ending);
}

Graph build_model(std::string_view name, int classes)
{
    if (is_layers_text(name)) return read_layers(name);
    if (is_own_network(name)) return read_onnx(name);
    if (classes < 1) throw InputError("a model needs at least 1 class, not " + std::to_string(classes));
    for (const Recipe& recipe : all_recipes()) {
        if (recipe.name == name) return recipe.build(classes);
    }
    throw InputError(unknown_word("model", name, model_names()));
}

}  // namespace roof::model
