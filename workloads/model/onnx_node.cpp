#include "workloads/model/onnx_node.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "workloads/model/onnx_tensors.hpp"

#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <system_error>

namespace roof::model::onnx_file {
namespace {

bool all_equal(const Numbers& numbers)
{
    return std::ranges::adjacent_find(numbers, std::not_equal_to{}) == numbers.end();
}

void drop_unread(onnx::GraphProto& graph)
{
    std::set<std::string> read;
    for (const onnx::ValueInfoProto& output : graph.output()) read.insert(output.name());
    std::vector<onnx::NodeProto> kept;
    for (auto node = graph.node().rbegin(); node != graph.node().rend(); ++node) {
        const auto is_read = [&](const std::string& value) { return read.contains(value); };
        if (std::ranges::none_of(node->output(), is_read)) continue;
        read.insert(node->input().begin(), node->input().end());
        kept.push_back(*node);
    }
    *graph.mutable_node() = google::protobuf::RepeatedPtrField<onnx::NodeProto>(kept.rbegin(), kept.rend());
}

/// Takes a list from which shapes may follow, and zeros, out of the file beside it; weights stay there.
void take_in(onnx::TensorProto& tensor, const std::filesystem::path& folder)
{
    const int type = tensor.data_type();
    const bool is_float = type == onnx::TensorProto::FLOAT;
    const std::size_t size = type == onnx::TensorProto::INT64               ? 8
                             : type == onnx::TensorProto::INT32 || is_float ? 4
                                                                            : 0;
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL || size == 0) return;
    const auto count = static_cast<std::size_t>(count_of({tensor.dims().begin(), tensor.dims().end()}));
    if (count > most_listed) return;
    std::map<std::string, std::string> of;
    for (const auto& entry : tensor.external_data()) of[entry.key()] = entry.value();
    const std::filesystem::path place = folder / std::filesystem::path(of["location"]).filename();
    std::error_code failed;
    if (!std::filesystem::is_regular_file(place, failed)) return;
    std::ifstream in = open_to_read(place);
    std::string values(count * size, '\0');
    in.seekg(std::strtoll(of["offset"].c_str(), nullptr, 10));
    if (!in.read(values.data(), std::ssize(values))) return;
    if (!is_float || count <= most_floats || values.find_first_not_of('\0') == std::string::npos)
        tensor.set_raw_data(values);
}

}  // namespace

onnx::GraphProto graph_in(const std::filesystem::path& file)
{
    std::ifstream in = open_to_read(file);
    onnx::ModelProto model;
    if (!model.ParseFromIstream(&in) || !model.has_graph()) throw InputError("'" + file.string() + "' is no ONNX file");
    drop_unread(*model.mutable_graph());
    for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) take_in(tensor, file.parent_path());
    return std::move(*model.mutable_graph());
}

std::string places_text(const std::map<std::string, std::vector<std::string>>& places)
{
    constexpr std::size_t most_named = 3;
    std::vector<std::string> all;
    for (auto [operation, named] : places) {
        const std::size_t others = named.size() > most_named ? named.size() - most_named : 0;
        named.resize(named.size() - others);
        all.push_back(operation + " at " + join(named, ", ") +
                      (others > 0 ? " and " + std::to_string(others) + " other places" : ""));
    }
    return join(all, "; ");
}

std::string text(const Numbers& numbers)
{
    std::vector<std::string> words;
    for (const long long number : numbers) words.push_back(std::to_string(number));
    return join(words, "x");
}

int extent_of(long long extent, long long least)
{
    if (extent < least || extent > std::numeric_limits<int>::max())
        throw Refused{"of " + std::to_string(extent) + " values along an axis"};
    return static_cast<int>(extent);
}

Window window_of(const Node& node, const Numbers& kernel)
{
    const Numbers strides = node.numbers("strides", {1, 1});
    const Numbers dilations = node.numbers("dilations", {1, 1});
    const std::string automatic = node.word("auto_pad", "NOTSET");
    const bool is_conv = node.operation() == "Conv";
    if (kernel.size() != 2 || !(all_equal(kernel) || is_conv)) throw Refused{"with a window of " + text(kernel)};
    if (strides.size() != 2 || !(all_equal(strides) || is_conv)) throw Refused{"with strides of " + text(strides)};
    if (dilations.size() != 2 || !all_equal(dilations)) throw Refused{"with dilations of " + text(dilations)};
    const auto check = [](const char* what, const Numbers& numbers, long long least) {
        constexpr long long most = 65'536;
        for (const long long number : numbers)
            if (number < least || number > most) throw Refused{std::string("with ") + what + " of " + text(numbers)};
    };
    check("a window", kernel, 1);
    check("strides", strides, 1);
    check("dilations", dilations, 1);
    const Numbers reach{dilations[0] * (kernel[0] - 1), dilations[0] * (kernel[1] - 1)};
    const bool keeps =
        automatic.starts_with("SAME") && strides == Numbers{1, 1} && reach[0] % 2 == 0 && reach[1] % 2 == 0;
    if (automatic != "NOTSET" && automatic != "VALID" && !keeps) throw Refused{"with auto_pad " + automatic};
    const Numbers half{reach[0] / 2, reach[1] / 2};
    const Numbers pads = keeps ? Numbers{half[0], half[1], half[0], half[1]} : node.numbers("pads", {0, 0, 0, 0});
    if (pads.size() != 4 || pads[0] != pads[2] || pads[1] != pads[3] || !(all_equal(pads) || is_conv))
        throw Refused{"with pads of " + text(pads)};
    check("pads", pads, 0);
    const Window window{extent_of(kernel[0]), extent_of(strides[0]), extent_of(pads[0], 0), extent_of(dilations[0])};
    Window both = window;
    both.width = extent_of(kernel[1]);
    both.stride_across = extent_of(strides[1]);
    both.padding_across = extent_of(pads[1], 0);
    return both.across() == window ? window : both;
}

}  // namespace roof::model::onnx_file
