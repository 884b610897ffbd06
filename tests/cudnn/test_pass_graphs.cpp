// What cuDNN is told of a pass: operations with the numbers of their tensors, in the order of cudnn_graph.h's
// attributes.
#include "tests/emulated_gpu/cudnn/descriptor.hpp"
#include "workloads/cudnn/library/pass_graphs.hpp"

#include <dlfcn.h>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cudnn;
using emulated::Object;

namespace {

using Tensors = std::map<std::int64_t, std::string>;

/// What the library was told, by its handles.
std::map<const void*, std::shared_ptr<Object>>& told()
{
    static std::map<const void*, std::shared_ptr<Object>> all;
    return all;
}

template <class Function>
Function* of_library(const char* name)
{
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// "bf16 2x8x6x6": channels last, aligned to 16 bytes; "passing" is never stored, "argument" a number of the host.
std::string text_of(const Object& tensor)
{
    static const std::map<cudnnDataType_t, std::string> types{
        {CUDNN_DATA_BFLOAT16, "bf16"}, {CUDNN_DATA_HALF, "fp16"}, {CUDNN_DATA_FLOAT, "fp32"}};
    std::string text = types.at(tensor.value<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE));
    const std::vector<std::int64_t> extents = tensor.integers(CUDNN_ATTR_TENSOR_DIMENSIONS);
    for (std::size_t i = 0; i < 4; ++i) text += (i == 0 ? " " : "x") + std::to_string(extents.at(i));
    const std::int64_t row = extents[3] * extents[1];
    CHECK(tensor.integers(CUDNN_ATTR_TENSOR_STRIDES) ==
          std::vector{extents[2] * row, std::int64_t{1}, row, extents[1]});
    CHECK(tensor.integers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT).at(0) == 16);
    return text + (tensor.has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) ? " passing" : "") +
           (tensor.has(CUDNN_ATTR_TENSOR_IS_BY_VALUE) ? " argument" : "");
}

void check(const std::vector<Descriptor>& operations, const std::vector<std::string>& due, const Tensors& tensors_due)
{
    static const std::map<int, std::string> names{
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, "convolution"},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, "gradient of data"},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, "gradient of weights"},
        {CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR, "sums"},
        {CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, "norm"},
        {CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR, "gradient of norm"}};
    static const std::map<int, std::string> functions{{CUDNN_POINTWISE_MUL, "multiply"},
                                                      {CUDNN_POINTWISE_ADD, "add"},
                                                      {CUDNN_POINTWISE_RELU_FWD, "relu"},
                                                      {CUDNN_POINTWISE_RELU_BWD, "gradient of relu"}};
    std::vector<std::string> found;
    Tensors tensors;
    for (const Descriptor& one : operations) {
        const Object& operation = *told().at(one.get());
        std::string& text = found.emplace_back(names.contains(operation.kind) ? names.at(operation.kind) : "");
        for (const std::shared_ptr<Object>& part : operation.all_parts()) {
            if (part->kind == CUDNN_BACKEND_POINTWISE_DESCRIPTOR)
                text = functions.at(
                    part->value<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE));
            if (part->kind != CUDNN_BACKEND_TENSOR_DESCRIPTOR) continue;
            const std::int64_t number = part->integers(CUDNN_ATTR_TENSOR_UNIQUE_ID).at(0);
            CHECK(tensors.try_emplace(number, text_of(*part)).first->second == text_of(*part));
            text += " " + std::to_string(number);
        }
    }
    CHECK(found == due);
    CHECK(tensors == tensors_due);
}

}  // namespace

// In place of the library's, which they call.
extern "C" cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* made)
{
    const auto status = of_library<decltype(cudnnBackendCreateDescriptor)>("cudnnBackendCreateDescriptor")(type, made);
    told()[*made] = std::make_shared<Object>(type);
    return status;
}

extern "C" cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                                                  cudnnBackendAttributeType_t type, std::int64_t count,
                                                  const void* values)
{
    emulated::Attribute made{.type = type, .count = count};
    const auto* const first = static_cast<const char*>(values);
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
        for (std::int64_t k = 0; k < count; ++k)
            made.objects.push_back(told().at(static_cast<const cudnnBackendDescriptor_t*>(values)[k]));
    else
        made.bytes.assign(first, first + count * (type == CUDNN_TYPE_INT64 ? 8 : type == CUDNN_TYPE_BOOLEAN ? 1 : 4));
    told().at(of)->set(name, std::move(made));
    return of_library<decltype(cudnnBackendSetAttribute)>("cudnnBackendSetAttribute")(of, name, type, count, values);
}

TEST_CASE("cuDNN is told a convolution with what is before and behind it, in groups, by strides and dilated")
{
    const ConvolutionPass alone{
        {.batch = 2, .source = {8, 6, 6}, .result = {16, 6, 6}, .window = {.size = 3, .stride = 1, .padding = 1}},
        Pass::forward,
        Precision::bf16};
    const std::string inputs = "fp32 1x8x1x1", outputs = "fp32 1x16x1x1", between = "fp32 2x16x6x6 passing";
    const Tensors maps{{1, "bf16 2x8x6x6"}, {2, "bf16 16x8x3x3"}, {3, "bf16 2x16x6x6"}};
    const auto with = [&](Tensors others) {
        others.insert(maps.begin(), maps.end());
        return others;
    };
    ConvolutionPass shape = alone;
    for (const auto& [pass, text] : {std::pair{Pass::forward, "convolution 2 1 3"},
                                     {Pass::backward_data, "gradient of data 2 1 3"},
                                     {Pass::backward_weights, "gradient of weights 2 1 3"}}) {
        shape.pass = pass;
        check(operations_of(shape), {text}, maps);
    }
    shape = alone;
    shape.bias = true;
    check(operations_of(shape), {"convolution 2 1 100", "add 100 4 3"}, with({{4, "bf16 1x16x1x1"}, {100, between}}));
    shape.relu = true;
    check(operations_of(shape), {"convolution 2 1 100", "add 100 4 101", "relu 101 3"},
          with({{4, "bf16 1x16x1x1"}, {100, between}, {101, between}}));
    shape.bias = false;
    check(operations_of(shape), {"convolution 2 1 100", "relu 100 3"}, with({{100, between}}));
    shape = alone;
    shape.prologue = shape.statistics = true;
    check(operations_of(shape),
          {"multiply 1 5 100", "add 100 6 101", "relu 101 102", "convolution 2 102 3", "sums 3 7 8"},
          with({{5, inputs},
                {6, inputs},
                {7, outputs},
                {8, outputs},
                {100, "fp32 2x8x6x6 passing"},
                {101, "fp32 2x8x6x6 passing"},
                {102, "bf16 2x8x6x6 passing"}}));
    shape = alone;
    shape.groups = 2;
    shape.window = {.size = 3, .stride = 2, .padding = 2, .dilation = 2};
    shape.result = {16, 3, 3};
    check(operations_of(shape), {"convolution 2 1 3"},
          {{1, "bf16 2x8x6x6"}, {2, "bf16 16x4x3x3"}, {3, "bf16 2x16x3x3"}});
}

TEST_CASE("cuDNN is told a batch norm with its ReLU, and their gradients")
{
    const std::string map = "fp16 4x16x5x5", channel = "fp32 1x16x1x1", number = "fp32 1x1x1x1 argument";
    const Tensors forward{{1, map},     {2, channel}, {3, channel}, {4, channel}, {5, channel}, {6, channel},
                          {7, channel}, {8, channel}, {9, channel}, {10, number}, {11, number}, {12, map}};
    const Tensors backward{{1, map},  {2, channel}, {4, channel},  {5, channel},
                           {12, map}, {13, map},    {15, channel}, {16, channel}};
    NormShape shape{.batch = 4, .map = {16, 5, 5}, .precision = Precision::fp16};
    check(operations_of(shape), {"norm 1 4 5 2 3 10 11 6 7 8 9 12"}, forward);
    shape.backward = true;
    check(operations_of(shape), {"gradient of norm 1 4 5 13 2 16 15 12"}, backward);
    shape.relu = true;
    Tensors with_relu = backward;
    with_relu.insert({{14, map}, {100, "fp32 4x16x5x5 passing"}});
    check(operations_of(shape), {"gradient of relu 14 100 13", "gradient of norm 1 4 5 100 2 16 15 12"}, with_relu);
    shape.backward = false;
    with_relu = forward;
    with_relu.insert({100, "fp32 4x16x5x5 passing"});
    check(operations_of(shape), {"norm 1 4 5 2 3 10 11 6 7 8 9 100", "relu 100 12"}, with_relu);
}
