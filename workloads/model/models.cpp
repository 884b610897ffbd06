// Lists the model families and finds a model by name.
#include "workloads/model/models.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <iterator>

namespace roof::model {
namespace {

std::vector<Recipe> all_recipes()
{
    std::vector<Recipe> recipes;
    for (const auto& family : {
             alexnet_family,
             vgg_family,
             resnet_family,
             vit_family,
         }) {
        for (Recipe& recipe : family()) recipes.push_back(std::move(recipe));
    }
    return recipes;
}

std::vector<TokenRecipe> token_recipes()
{
    std::vector<TokenRecipe> recipes = gpt2_family();
    std::ranges::move(llama_family(), std::back_inserter(recipes));
    return recipes;
}

}  // namespace

std::vector<std::string> model_names()
{
    std::vector<std::string> names;
    for (const Recipe& recipe : all_recipes()) names.push_back(recipe.name);
    return names;
}

std::vector<std::string> token_model_names()
{
    std::vector<std::string> names;
    for (const TokenRecipe& recipe : token_recipes()) names.push_back(recipe.name);
    return names;
}

int usual_tokens(std::string_view name)
{
    for (const TokenRecipe& recipe : token_recipes())
        if (recipe.name == name) return recipe.tokens;
    return 0;
}

bool is_own_network(std::string_view model)
{
    return is_layers_text(model) || model.ends_with(network_ending);
}

Graph build_model(std::string_view name, int classes, int tokens, Use use)
{
    for (const TokenRecipe& recipe : token_recipes()) {
        if (recipe.name == name) return recipe.build(tokens > 0 ? tokens : recipe.tokens, use);
    }
    if (use == Use::prefill || use == Use::decode)
        throw InputError("phase " + std::string(roof::name(use)) + ": " + std::string(name) +
                         " reads images, not tokens");
    if (tokens > 0) throw InputError("tokens: " + std::string(name) + " reads images, not tokens");
    if (is_layers_text(name)) return read_layers(name);
    if (is_own_network(name)) return read_onnx(name);
    if (classes < 1) throw InputError("a model needs at least 1 class, not " + std::to_string(classes));
    for (const Recipe& recipe : all_recipes()) {
        if (recipe.name == name) return recipe.build(classes);
    }
    std::vector<std::string> known = model_names();
    std::ranges::move(token_model_names(), std::back_inserter(known));
    throw InputError(unknown_word("model", name, known));
}

}  // namespace roof::model
