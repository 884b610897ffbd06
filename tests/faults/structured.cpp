// structured TRIES [SEED]: files that are valid in form, with fields that a changed byte seldom reaches: sizes,
// attributes, names and operators of networks, cells and column types of databases, values of JSON, cells and columns
// of CSV. Each must be read, or refused with an error of this project, within 5 s and 500 MB. Exit status 1 after a
// failure, whose input is kept.
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/faults/mutate.hpp"
#include "tests/faults/readers.hpp"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>

namespace roof::faults {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::array<long long, 22> numbers{0,
                                            1,
                                            2,
                                            3,
                                            -1,
                                            -2,
                                            7,
                                            64,
                                            1000,
                                            65'535,
                                            65'536,
                                            100'000,
                                            1LL << 20,
                                            (1LL << 31) - 1,
                                            1LL << 31,
                                            -(1LL << 31),
                                            1LL << 32,
                                            (1LL << 32) + 3,
                                            1LL << 40,
                                            1LL << 62,
                                            std::numeric_limits<long long>::max(),
                                            std::numeric_limits<long long>::min()};
constexpr std::array<std::string_view, 46> operators{"Add",
                                                     "AveragePool",
                                                     "BatchNormalization",
                                                     "Cast",
                                                     "Clip",
                                                     "Concat",
                                                     "Constant",
                                                     "ConstantOfShape",
                                                     "Conv",
                                                     "ConvTranspose",
                                                     "Div",
                                                     "Dropout",
                                                     "Einsum",
                                                     "Expand",
                                                     "Flatten",
                                                     "Gather",
                                                     "Gemm",
                                                     "Gelu",
                                                     "HardSigmoid",
                                                     "Identity",
                                                     "MatMul",
                                                     "MaxPool",
                                                     "Mul",
                                                     "Pad",
                                                     "Pow",
                                                     "Range",
                                                     "ReduceMean",
                                                     "ReduceProd",
                                                     "Relu",
                                                     "Reshape",
                                                     "Resize",
                                                     "Shape",
                                                     "Sigmoid",
                                                     "Size",
                                                     "Slice",
                                                     "Softmax",
                                                     "Split",
                                                     "Squeeze",
                                                     "Sub",
                                                     "Tile",
                                                     "Where",
                                                     "Transpose",
                                                     "Unsqueeze",
                                                     "GRU",
                                                     "Attention",
                                                     "DepthToSpace"};

template <class Values>
auto any_of(Chance& chance, const Values& values)
{
    return values[below(chance, values.size())];
}

/// The messages below one, itself included.
void collect(Message& message, std::vector<Message*>& all)
{
    all.push_back(&message);
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* const field : fields) {
        if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
        if (!field->is_repeated()) {
            collect(*message.GetReflection()->MutableMessage(&message, field), all);
            continue;
        }
        for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i)
            collect(*message.GetReflection()->MutableRepeatedMessage(&message, field, i), all);
    }
}

class Network {
  public:
    Network(Chance& chance, const std::string& bytes) : chance_(chance)
    {
        model_.ParseFromString(bytes);
        for (const onnx::NodeProto& node : model_.graph().node())
            for (const auto* const names : {&node.input(), &node.output()})
                names_.insert(names_.end(), names->begin(), names->end());
        for (const onnx::TensorProto& tensor : model_.graph().initializer()) names_.push_back(tensor.name());
        names_.emplace_back();
    }
    std::string changed()
    {
        for (std::size_t left = 1 + below(chance_, 4); left > 0; --left) change();
        return model_.SerializeAsString();
    }

  private:
    void change()
    {
        auto& nodes = *model_.mutable_graph()->mutable_node();
        if (below(chance_, 4) == 0 && !nodes.empty()) return change_node(nodes);
        std::vector<Message*> all;
        collect(model_, all);
        Message& message = *any_of(chance_, all);
        std::vector<const FieldDescriptor*> fields;
        message.GetReflection()->ListFields(message, &fields);
        if (!fields.empty()) change_field(message, *any_of(chance_, fields));
    }

    /// A node becomes another operator, is repeated with its own results as its inputs, gets an attribute, or is moved.
    void change_node(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes)
    {
        const int at = static_cast<int>(below(chance_, static_cast<std::size_t>(nodes.size())));
        onnx::NodeProto& node = nodes[at];
        switch (below(chance_, 4)) {
            case 0:
                node.set_op_type(std::string(any_of(chance_, operators)));
                break;
            case 1: {
                const onnx::NodeProto pattern = node;
                const std::size_t times = std::size_t{1} << below(chance_, 8);
                std::string last = pattern.output_size() > 0 ? pattern.output(0) : "";
                for (std::size_t k = 0; k < times && !last.empty(); ++k) {
                    onnx::NodeProto& more = *nodes.Add() = pattern;
                    for (std::string& input : *more.mutable_input()) input = last;
                    more.clear_output();
                    last += "'";
                    more.add_output(last);
                }
                for (int i = nodes.size() - 1; i > at + static_cast<int>(times); --i) nodes.SwapElements(i, i - 1);
                for (onnx::ValueInfoProto& output : *model_.mutable_graph()->mutable_output())
                    if (below(chance_, 2) == 0) output.set_name(last);
                break;
            }
            case 2: {
                static constexpr std::array<std::string_view, 14> attributes{
                    "strides", "pads", "dilations", "group", "axis", "axes",   "kernel_shape",
                    "perm",    "ends", "blocksize", "split", "to",   "starts", "ceil_mode"};
                onnx::AttributeProto& attribute = *node.add_attribute();
                attribute.set_name(std::string(any_of(chance_, attributes)));
                attribute.set_i(any_of(chance_, numbers));
                for (std::size_t k = below(chance_, 5); k > 0; --k) attribute.add_ints(any_of(chance_, numbers));
                break;
            }
            default:
                nodes.SwapElements(at, static_cast<int>(below(chance_, static_cast<std::size_t>(nodes.size()))));
        }
    }

    void change_field(Message& message, const FieldDescriptor& field)
    {
        const google::protobuf::Reflection& of = *message.GetReflection();
        if (!field.is_repeated()) {
            if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64)
                of.SetInt64(&message, &field, any_of(chance_, numbers));
            if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32)
                of.SetInt32(&message, &field, static_cast<int>(any_of(chance_, numbers)));
            if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING)
                of.SetString(&message, &field, any_of(chance_, names_));
            if (below(chance_, 8) == 0) of.ClearField(&message, &field);
            return;
        }
        const int size = of.FieldSize(message, &field);
        const int at = static_cast<int>(below(chance_, static_cast<std::size_t>(size)));
        if (below(chance_, 6) == 0) return of.RemoveLast(&message, &field);
        if (below(chance_, 6) == 0) return of.SwapElements(&message, &field, at, size - 1);
        if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64)
            of.SetRepeatedInt64(&message, &field, at, any_of(chance_, numbers));
        if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING)
            of.SetRepeatedString(&message, &field, at, any_of(chance_, names_));
    }

    Chance& chance_;
    onnx::ModelProto model_;
    std::vector<std::string> names_;
};

void collect(nlohmann::json& value, std::vector<nlohmann::json*>& all)
{
    all.push_back(&value);
    if (value.is_structured())
        for (nlohmann::json& one : value) collect(one, all);
}

std::string changed_json(Chance& chance, const std::string& text)
{
    nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
    if (document.is_discarded()) return text;
    for (std::size_t left = 1 + below(chance, 4); left > 0; --left) {
        std::vector<nlohmann::json*> all;
        collect(document, all);
        nlohmann::json& one = *any_of(chance, all);
        const nlohmann::json other = *any_of(chance, all);
        switch (below(chance, 5)) {
            case 0:
                one = any_of(chance, numbers);
                break;
            case 1:
                one = nlohmann::json::array({1, "x", nullptr});
                break;
            case 2:
                one = std::to_string(any_of(chance, numbers));
                break;
            case 3:
                one = 1e300;
                break;
            default:
                one = other;
        }
    }
    return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Cells become others, and a column is lost, doubled or exchanged with another.
std::string changed_table(Chance& chance, const std::string& text)
{
    static constexpr std::array<std::string_view, 12> cells{
        "", "0", "-1", "1e308", "nan", "inf", "\"\"", "a,b", "1,5", "1.234.567", "18446744073709551616", "-0"};
    std::vector<std::vector<std::string>> rows;
    std::size_t widest = 1;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::vector<std::string> row{""};
        bool quoted = false;
        for (const char letter : std::string_view(text).substr(at, end - at)) {
            quoted = quoted != (letter == '"');
            if (letter == ',' && !quoted)
                row.emplace_back();
            else
                row.back() += letter;
        }
        widest = std::max(widest, row.size());
        rows.push_back(std::move(row));
        at = end + 1;
    }
    for (std::size_t left = below(chance, 4); left > 0 && !rows.empty(); --left) {
        std::vector<std::string>& row = rows[below(chance, rows.size())];
        row[below(chance, row.size())] = any_of(chance, cells);
    }
    const std::size_t column = below(chance, widest), other = below(chance, widest), how = below(chance, 4);
    std::string made;
    for (std::vector<std::string>& row : rows) {
        if (how == 0 && column < row.size()) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
        if (how == 1 && column < row.size()) row.push_back(row[column]);
        if (how == 2 && std::max(column, other) < row.size()) std::swap(row[column], row[other]);
        for (std::size_t i = 0; i < row.size(); ++i) made += (i == 0 ? "" : ",") + row[i];
        made += '\n';
    }
    return made;
}

std::string changed(Chance& chance, const Reader& reader, const std::string& text)
{
    if (reader.name.starts_with("onnx")) return Network(chance, text).changed();
    if (reader.name.ends_with(".json")) return changed_json(chance, text);
    if (reader.name.ends_with(".csv") || reader.name == "points" || reader.name == "predictions")
        return changed_table(chance, text);
    return "";
}

int change_all(std::size_t tries, std::uint64_t seed)
{
    const fakes::TemporaryFolder scratch;
    Chance chance(seed);
    std::vector<Reader> all = readers(ROOF_TESTS);
    std::erase_if(all, [&](const Reader& one) { return changed(chance, one, one.corpus.front()).empty(); });
    int failures = 0;
    std::size_t total = 0;
    for (const Reader& reader : all) {
        double slowest = 0, most = 0;
        // Networks have most of the fields that nobody wrote by hand.
        const std::size_t share = reader.name.starts_with("onnx") ? 4 : 1;
        const std::size_t inputs = std::max<std::size_t>(1, tries * share / (all.size() + 9));
        for (std::size_t i = 0; i < inputs; ++i) {
            const std::string text = changed(chance, reader, any_of(chance, reader.corpus));
            const Answer answer = answer_of(reader, text, scratch.path());
            slowest = std::max(slowest, answer.seconds);
            most = std::max(most, answer.megabytes);
            ++total;
            if (answer.failure.empty()) continue;
            const std::string kept = fmt::format("failure-structured-{}", ++failures);
            std::ofstream(kept, std::ios::binary) << text;
            std::cout << reader.name << ": " << answer.failure << "; its input is " << kept << std::endl;
            if (failures == 20) return 1;
        }
        std::cout << fmt::format("{:28} {:8} inputs, {:4.0f} MB more and {:5.3f} s at most\n", reader.name, inputs,
                                 most, slowest)
                  << std::flush;
    }
    std::cout << total << " inputs, " << failures << " failures\n";
    return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace roof::faults

int main(int count, char** words)
{
    return roof::faults::change_all(count > 1 ? std::strtoull(words[1], nullptr, 10) : 1000,
                                    count > 2 ? std::strtoull(words[2], nullptr, 10) : 1);
}
