#include "workloads/model/models.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/base/yaml_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>

namespace roof::model {
namespace {

constexpr int largest_extent = 65536;

bool is_of_word(char letter)
{
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-' || letter == '.';
}

class LayersReader {
  public:
    explicit LayersReader(const YAML::Node& root) : graph_(root["name"].as<std::string>(), image_of(root["image"]))
    {
        names_.emplace("image", 0);
        const YAML::Node layers = root["layers"];
        if (!layers.IsSequence() || layers.size() == 0) throw InputError("model: layers: a list of layers is expected");
        for (const YAML::Node& layer : layers) add(layer);
        const Shape& end = graph_.layers().back().output;
        if (end.elements() != end.channels && graph_.vocabulary() == 0)
            throw InputError("model: the last layer does not end in one value per class; 'linear' does");
        for (int unread = 0; const Layer& layer : graph_.layers()) {
            const bool is_read = std::ranges::any_of(graph_.layers(), [&](const Layer& other) {
                return std::ranges::find(other.inputs, unread) != other.inputs.end();
            });
            if (!is_read && &layer != &graph_.layers().back())
                throw InputError("model: no layer reads '" + layer.name + "', and it is not the last");
            ++unread;
        }
    }
    Graph take() { return std::move(graph_); }

  private:
    using Function = int (LayersReader::*)(LayerKind);

    static Shape image_of(const YAML::Node& node)
    {
        const auto extents = node.as<std::vector<int>>();
        const bool legal = extents.size() == 3 && std::ranges::all_of(extents, [](int extent) {
                               return extent > 0 && extent <= largest_extent;
                           });
        if (!legal) throw InputError("model: image: three numbers are expected: channels, height, width");
        return {extents[0], extents[1], extents[2]};
    }

    struct LayerGrammar {
        LayerKind kind;
        Function function;
        std::vector<std::string> settings;
    };

    static const std::map<std::string, LayerGrammar, std::less<>>& kinds()
    {
        static const std::map<std::string, LayerGrammar, std::less<>> all = [] {
            std::map<std::string, LayerGrammar, std::less<>> made;
            const auto put = [&](LayerKind kind, Function function, std::vector<std::string> settings = {}) {
                settings.insert(settings.begin(), {"name", "from"});
                made.emplace(name(kind), LayerGrammar{kind, function, std::move(settings)});
            };
            put(LayerKind::convolution, &LayersReader::convolution,
                {"channels", "window", "stride", "padding", "dilation", "groups", "bias"});
            put(LayerKind::batch_norm, &LayersReader::norm, {"epsilon"});
            put(LayerKind::layer_norm, &LayersReader::norm, {"epsilon"});
            put(LayerKind::rms_norm, &LayersReader::norm, {"epsilon"});
            put(LayerKind::max_pool, &LayersReader::max_pool, {"window", "stride", "padding"});
            put(LayerKind::average_pool, &LayersReader::average_pool, {"window", "stride", "padding"});
            put(LayerKind::flatten, &LayersReader::flatten);
            put(LayerKind::dropout, &LayersReader::dropout, {"probability"});
            put(LayerKind::linear, &LayersReader::linear, {"features", "bias", "each_position", "weights_of"});
            put(LayerKind::embedding, &LayersReader::embedding, {"vocabulary", "channels"});
            put(LayerKind::positions, &LayersReader::positions, {"count"});
            put(LayerKind::take_positions, &LayersReader::take_positions, {"first", "count"});
            put(LayerKind::resize, &LayersReader::resize, {"height", "width"});
            put(LayerKind::attention, &LayersReader::attention, {"heads", "causal", "kv_heads", "cached"});
            put(LayerKind::rope, &LayersReader::rope, {"heads", "theta", "kv_heads"});
            put(LayerKind::slice, &LayersReader::slice, {"first", "channels"});
            put(LayerKind::shuffle, &LayersReader::shuffle, {"groups"});
            for (const LayerKind kind : {LayerKind::add, LayerKind::multiply, LayerKind::concat})
                put(kind, &LayersReader::joined);
            put(LayerKind::relu, &LayersReader::activation);
            for (const Activation& one : activations) put(one.kind, &LayersReader::activation);
            return made;
        }();
        return all;
    }

    /// "relu", or one key with the layer's settings.
    void add(const YAML::Node& node)
    {
        const std::string place = "model: layer " + std::to_string(++count_);
        if (!node.IsScalar() && !(node.IsMap() && node.size() == 1))
            throw InputError(place + ": a kind of layer, or one with its settings, is expected");
        const std::string kind = node.IsScalar() ? node.as<std::string>() : node.begin()->first.as<std::string>();
        settings_ = node.IsMap() ? node.begin()->second : YAML::Node(YAML::NodeType::Map);
        std::vector<std::string> legal;
        for (const auto& known : kinds()) legal.push_back(known.first);
        const auto found = kinds().find(kind);
        if (found == kinds().end()) throw InputError(place + ": " + unknown_word("kind of layer", kind, legal));
        try {
            if (!settings_.IsMap()) throw InputError("its settings are no map");
            for (const auto& pair : settings_)
                if (const auto key = pair.first.as<std::string>();
                    std::ranges::find(found->second.settings, key) == found->second.settings.end())
                    throw InputError(unknown_word("setting", key, found->second.settings));
            name_ = settings_["name"] ? settings_["name"].as<std::string>() : kind + std::to_string(count_);
            const int made = (this->*found->second.function)(found->second.kind);
            if (!names_.emplace(name_, made).second)
                throw InputError("a layer '" + printable(name_) + "' exists already");
        } catch (const YAML::Exception& error) {
            throw InputError(place + " (" + kind + "): " + error.msg);
        } catch (const std::runtime_error& error) {
            throw InputError(place + " (" + kind + "): " + error.what());
        } catch (const std::logic_error& error) {
            throw InputError(place + " (" + kind + "): " + error.what());
        }
    }

    /// The layers named by `from`, or else the one before.
    std::vector<int> sources()
    {
        const YAML::Node from = settings_["from"];
        if (!from) return {static_cast<int>(graph_.layers().size()) - 1};
        std::vector<int> all;
        for (const std::string& wanted :
             from.IsScalar() ? std::vector{from.as<std::string>()} : from.as<std::vector<std::string>>())
            all.push_back(layer_named("from", wanted));
        return all;
    }
    int layer_named(const std::string& key, const std::string& wanted) const
    {
        const auto found = names_.find(wanted);
        if (found != names_.end()) return found->second;
        std::vector<std::string> legal;
        for (const auto& known : names_) legal.push_back(known.first);
        throw InputError(key + ": " + unknown_word("earlier layer", wanted, legal));
    }
    int source()
    {
        const std::vector<int> all = sources();
        if (all.size() != 1) throw InputError("it reads one layer");
        return all.front();
    }

    int number(const std::string& key, int least, std::optional<int> usual = {})
    {
        const YAML::Node node = settings_[key];
        if (!node && !usual) throw InputError(key + " is missing");
        const int given = node ? node.as<int>() : *usual;
        if (given < least || given > largest_extent)
            throw InputError(key + ": " + std::to_string(given) + " is not a legal value; legal values: from " +
                             std::to_string(least) + " to " + std::to_string(largest_extent));
        return given;
    }
    template <class Value>
    Value setting(const std::string& key, Value usual)
    {
        return settings_[key] ? settings_[key].as<Value>() : usual;
    }
    Window window(int stride)
    {
        const int size = number("window", 1);
        return {size, number("stride", 1, stride > 0 ? stride : size), number("padding", 0, 0)};
    }

    int convolution(LayerKind)
    {
        Window of = window(1);
        of.dilation = number("dilation", 1, 1);
        return graph_.convolution(name_, source(), number("channels", 1), of, setting("bias", true),
                                  number("groups", 1, 1));
    }
    int norm(LayerKind kind)
    {
        const float epsilon = setting("epsilon", 1e-5F);
        if (!(epsilon > 0 && epsilon < 1)) throw InputError("epsilon: more than 0 and less than 1");
        return graph_.norm(kind, name_, source(), epsilon);
    }
    int activation(LayerKind kind) { return graph_.activation(kind, name_, source()); }
    int max_pool(LayerKind) { return graph_.max_pool(name_, source(), window(0)); }
    /// Without a window: of the whole map.
    int average_pool(LayerKind)
    {
        if (!settings_["window"] && !settings_["stride"] && !settings_["padding"])
            return graph_.average_pool(name_, source(), 1);
        return graph_.average_pool(name_, source(), window(0));
    }
    int resize(LayerKind)
    {
        const int from = source();
        return graph_.resize(name_, from, number("height", 1), number("width", 1));
    }
    int joined(LayerKind kind)
    {
        const std::vector<int> all = sources();
        if (kind == LayerKind::concat) return graph_.concat(name_, all);
        if (all.size() != 2) throw InputError("from: two layers are expected");
        return kind == LayerKind::add ? graph_.add(name_, all[0], all[1]) : graph_.multiply(name_, all[0], all[1]);
    }
    int flatten(LayerKind) { return graph_.flatten(name_, source()); }
    int dropout(LayerKind)
    {
        const float probability = setting("probability", 0.5F);
        if (!(probability >= 0 && probability < 1)) throw InputError("probability: from 0 to less than 1");
        return graph_.dropout(name_, source(), probability);
    }
    int linear(LayerKind)
    {
        const int from = source();
        const int features = number("features", 1);
        const bool bias = setting("bias", true);
        const YAML::Node other = settings_["weights_of"];
        const int weights_of = other ? layer_named("weights_of", other.as<std::string>()) : -1;
        if (!setting("each_position", weights_of >= 0)) return graph_.linear(name_, from, features, bias);
        return graph_.linear_of_positions(name_, from, features, bias, weights_of);
    }
    int embedding(LayerKind)
    {
        return graph_.embedding(name_, source(), number("vocabulary", 2), number("channels", 1));
    }
    int positions(LayerKind) { return graph_.positions(name_, source(), number("count", 0, 0)); }
    int take_positions(LayerKind)
    {
        return graph_.take_positions(name_, source(), number("first", -largest_extent, 0), number("count", 1));
    }
    int attention(LayerKind)
    {
        const int heads = number("heads", 1, 1);
        const int kv_heads = number("kv_heads", 1, heads);
        if (settings_["cached"])
            return graph_.attention_over_cache(name_, source(), heads, kv_heads, number("cached", 1));
        return graph_.attention(name_, source(), heads, setting("causal", false), kv_heads);
    }
    int rope(LayerKind)
    {
        const float theta = setting("theta", 10000.0F);
        if (!(theta > 1 && std::isfinite(theta))) throw InputError("theta: more than 1");
        const int heads = number("heads", 1, 1);
        return graph_.rope(name_, source(), heads, theta, number("kv_heads", 1, heads));
    }
    int slice(LayerKind) { return graph_.slice(name_, source(), number("first", 0), number("channels", 1)); }
    /// One channel of each group in turn.
    int shuffle(LayerKind)
    {
        const int from = source();
        const int channels = graph_.layer(from).output.channels;
        const int groups = number("groups", 1);
        if (channels % groups != 0) throw InputError("groups: they do not divide the channels");
        std::vector<int> order;
        for (int channel = 0; channel < channels; ++channel)
            order.push_back(channel % groups * (channels / groups) + channel / groups);
        return graph_.shuffle(name_, from, order);
    }

    Graph graph_;
    std::map<std::string, int> names_;
    int count_ = 0;
    YAML::Node settings_;  ///< of the layer that is read
    std::string name_;     ///< its name
};

}  // namespace

bool is_layers_text(std::string_view model)
{
    return model.starts_with('{');
}

Graph read_layers(std::string_view text)
{
    return reading_yaml("model", [&] {
        const YAML::Node root = parse_yaml(std::string(text), "model");
        const std::vector<std::string> keys{"name", "image", "layers"};
        for (const auto& pair : root) {
            const auto key = pair.first.as<std::string>();
            if (std::ranges::find(keys, key) == keys.end())
                throw InputError("model: " + unknown_word("key of a network", key, keys));
        }
        for (const std::string& key : keys)
            if (!root[key]) throw InputError("model: " + key + " is missing");
        if (root.begin()->first.as<std::string>() != "name") throw InputError("model: its first key is name");
        const auto title = root["name"].as<std::string>();
        if (title.empty() || !std::ranges::all_of(title, is_of_word))
            throw InputError("model: name: letters, digits, '_', '-' and '.' are expected");
        return LayersReader(root).take();
    });
}

}  // namespace roof::model
