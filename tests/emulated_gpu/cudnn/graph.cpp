#include "tests/emulated_gpu/cudnn/graph.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace roof::emulated {
namespace {

Index four(const std::vector<std::int64_t>& values)
{
    require(values.size() == 4, "a tensor here has four dimensions");
    return {values[0], values[1], values[2], values[3]};
}

GraphTensor read_tensor(const Object& from)
{
    require(from.kind == CUDNN_BACKEND_TENSOR_DESCRIPTOR, "an operand is no tensor");
    GraphTensor made{
        .number = from.value<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64),
        .type = from.value<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE),
        .extents = four(from.integers(CUDNN_ATTR_TENSOR_DIMENSIONS)),
        .strides = four(from.integers(CUDNN_ATTR_TENSOR_STRIDES)),
        .alignment = from.value<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64),
        .is_passing = from.has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) &&
                      from.value<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN),
        .is_argument = from.has(CUDNN_ATTR_TENSOR_IS_BY_VALUE) &&
                       from.value<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN),
    };
    for (const std::int64_t one : made.extents) require(one > 0, "an extent is not positive");
    for (const std::int64_t one : made.strides) require(one > 0, "a stride is not positive");
    return made;
}

/// How many operands a pointwise function reads, of the modes that attention has.
std::size_t operands_of(int mode)
{
    switch (mode) {
        case CUDNN_POINTWISE_EXP:
        case CUDNN_POINTWISE_LOG:
        case CUDNN_POINTWISE_IDENTITY:
        case CUDNN_POINTWISE_GEN_INDEX:
            return 1;
        case CUDNN_POINTWISE_MUL:
        case CUDNN_POINTWISE_ADD:
        case CUDNN_POINTWISE_SUB:
        case CUDNN_POINTWISE_DIV:
        case CUDNN_POINTWISE_CMP_GE:
            return 2;
        case CUDNN_POINTWISE_BINARY_SELECT:
            return 3;
        default:
            throw Refused(CUDNN_STATUS_NOT_SUPPORTED, "pointwise mode " + std::to_string(mode) + " is not emulated");
    }
}

/// One is read along the other: as long, or repeated, once or for neighbouring heads.
bool is_read_along(const Index& read, const Index& along)
{
    for (std::size_t i = 0; i < 4; ++i)
        if (read[i] != along[i] && read[i] != 1) return false;
    return true;
}

bool divides(std::int64_t small, std::int64_t large)
{
    return large % small == 0;
}

/// The operations of both passes as cudnn-frontend writes them, one letter each; capitals where numbers of the maps are
/// multiplied.
///   M product   m largest   s sum over columns   h sum over heads   t reshape   * - + / multiply ... divide   e
///   exponential l logarithm   i index   g not less   c choose   = identity
constexpr const char* mask = "iigc";

char letter_of(const GraphOperation& operation)
{
    switch (operation.kind) {
        case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
            return 'M';
        case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
            return 't';
        case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
            return operation.mode == CUDNN_REDUCE_TENSOR_MAX ? 'm' : 's';
        default:
            break;
    }
    static const std::map<int, char> letters{{CUDNN_POINTWISE_MUL, '*'},           {CUDNN_POINTWISE_SUB, '-'},
                                             {CUDNN_POINTWISE_ADD, '+'},           {CUDNN_POINTWISE_DIV, '/'},
                                             {CUDNN_POINTWISE_EXP, 'e'},           {CUDNN_POINTWISE_LOG, 'l'},
                                             {CUDNN_POINTWISE_CMP_GE, 'g'},        {CUDNN_POINTWISE_GEN_INDEX, 'i'},
                                             {CUDNN_POINTWISE_BINARY_SELECT, 'c'}, {CUDNN_POINTWISE_IDENTITY, '='}};
    return letters.at(operation.mode);
}

}  // namespace

std::int64_t GraphTensor::offset(const Index& at) const
{
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += at[i] * strides[i];
    return sum;
}

std::int64_t GraphTensor::span() const
{
    return offset({extents[0] - 1, extents[1] - 1, extents[2] - 1, extents[3] - 1}) + 1;
}

bool GraphTensor::is_packed() const
{
    return strides == Index{extents[1] * extents[2] * extents[3], extents[2] * extents[3], extents[3], 1};
}

std::int64_t bytes_of(cudnnDataType_t type)
{
    switch (type) {
        case CUDNN_DATA_BFLOAT16:
        case CUDNN_DATA_HALF:
            return 2;
        case CUDNN_DATA_FLOAT:
        case CUDNN_DATA_INT32:
            return 4;
        case CUDNN_DATA_BOOLEAN:
            return 1;
        default:
            throw Refused(CUDNN_STATUS_NOT_SUPPORTED, "data type " + std::to_string(type) + " is not emulated");
    }
}

OperationGraph::OperationGraph(const std::vector<std::shared_ptr<Object>>& operations)
{
    require(!operations.empty(), "a graph without operations");
    for (const std::shared_ptr<Object>& one : operations) add(one);
    std::set<std::int64_t> written;
    for (const GraphOperation& operation : operations_) {
        for (const std::int64_t number : operation.from)
            require(!tensor(number).is_passing || written.contains(number),
                    "a passing tensor is read before it is written");
        require(written.insert(operation.to).second, "a tensor is written twice");
        require(!tensor(operation.to).is_argument, "an argument is written");
        check(operation);
    }
}

std::int64_t OperationGraph::add(const Object& from)
{
    const GraphTensor made = read_tensor(from);
    const auto [place, is_new] = tensors_.try_emplace(made.number, made);
    require(is_new || place->second == made, "two tensors of one number differ");
    return made.number;
}

void OperationGraph::add(const std::shared_ptr<Object>& operation)
{
    const Object& one = *operation;
    GraphOperation made{.kind = one.kind};
    const auto reads = [&](cudnnBackendAttributeName_t name) { made.from.push_back(add(one.part(name))); };
    const auto computes = [&](const Object& how, cudnnBackendAttributeName_t name) {
        made.computed_in = how.value<cudnnDataType_t>(name, CUDNN_TYPE_DATA_TYPE);
    };
    switch (one.kind) {
        case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
            reads(CUDNN_ATTR_OPERATION_MATMUL_ADESC);
            reads(CUDNN_ATTR_OPERATION_MATMUL_BDESC);
            made.to = add(one.part(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
            computes(one.part(CUDNN_ATTR_OPERATION_MATMUL_DESC), CUDNN_ATTR_MATMUL_COMP_TYPE);
            break;
        case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: {
            const Object& how = one.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
            made.mode = how.value<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE);
            if (how.has(CUDNN_ATTR_POINTWISE_AXIS))
                made.axis = how.value<std::int64_t>(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64);
            const std::size_t operands = operands_of(made.mode);
            reads(CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
            if (operands > 1) reads(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
            if (operands > 2) reads(CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
            made.to = add(one.part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
            computes(how, CUDNN_ATTR_POINTWISE_MATH_PREC);
            break;
        }
        case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: {
            const Object& how = one.part(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
            made.mode =
                how.value<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE);
            require_supported(made.mode == CUDNN_REDUCE_TENSOR_ADD || made.mode == CUDNN_REDUCE_TENSOR_MAX,
                              "a reduction that is not emulated");
            reads(CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
            made.to = add(one.part(CUDNN_ATTR_OPERATION_REDUCTION_YDESC));
            computes(how, CUDNN_ATTR_REDUCTION_COMP_TYPE);
            break;
        }
        case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
            reads(CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
            made.to = add(one.part(CUDNN_ATTR_OPERATION_RESHAPE_YDESC));
            break;
        default:
            throw Refused(CUDNN_STATUS_NOT_SUPPORTED, "operation " + std::to_string(one.kind) + " is not emulated");
    }
    operations_.push_back(made);
}

/// The extents fit together, and types are those of the operation's results.
void OperationGraph::check(const GraphOperation& operation) const
{
    const Index& to = tensor(operation.to).extents;
    const Index& from = tensor(operation.from[0]).extents;
    switch (operation.kind) {
        case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: {
            const Index& other = tensor(operation.from[1]).extents;
            for (const std::size_t i : {0U, 1U})
                require(to[i] == std::max(from[i], other[i]), "a product has the larger number of images and of heads");
            require(divides(from[1], to[1]) && divides(other[1], to[1]), "heads do not divide the product's");
            require(from[3] == other[2] && to[2] == from[2] && to[3] == other[3], "a product's matrices do not fit");
            break;
        }
        case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
            for (const std::size_t i : {0U, 2U, 3U}) require(to[i] == from[i] || to[i] == 1, "a sum over a part");
            require(divides(to[1], from[1]), "a sum over heads in unequal groups");
            break;
        case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
            require(tensor(operation.to).elements() == tensor(operation.from[0]).elements(),
                    "a reshape of another size");
            break;
        default: {
            for (const std::int64_t number : operation.from)
                require(is_read_along(tensor(number).extents, to), "operands of a pointwise function do not fit");
            const bool is_index = operation.mode == CUDNN_POINTWISE_GEN_INDEX;
            require(is_index == (operation.axis >= 0) && operation.axis < 4, "an index has an axis, and nothing else");
            require(!is_index || tensor(operation.to).type == CUDNN_DATA_INT32, "an index is int32");
            const bool compares = operation.mode == CUDNN_POINTWISE_CMP_GE;
            require(compares == (tensor(operation.to).type == CUDNN_DATA_BOOLEAN),
                    "only a comparison is a truth value");
        }
    }
}

bool OperationGraph::is_backward() const
{
    return letter_of(operations_.front()) == '*';
}

std::vector<GraphTensor> OperationGraph::addressed() const
{
    std::vector<GraphTensor> all;
    for (const auto& [number, one] : tensors_)
        if (!one.is_passing) all.push_back(one);
    return all;
}

/// As cuDNN 9.19 asks for on an H200 within a page, from its plans for 4 images, 12 heads, 1,024 positions and 64
/// channels: the probabilities' gradients in order; whole heads of two gradients where fewer heads have keys.
std::int64_t OperationGraph::workspace() const
{
    if (!is_backward()) return 256;
    std::int64_t bytes = 256;
    const GraphTensor& last = tensor(operations_.back().to);
    if (letter_of(operations_.back()) == 'M')
        bytes += last.extents[0] * last.extents[1] * last.extents[2] * last.extents[2] * 2;
    for (const GraphOperation& one : operations_)
        if (one.kind == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR && tensor(one.to).extents[3] > 1)
            bytes += tensor(one.from[0]).elements() * 2;
    return bytes;
}

void OperationGraph::require_attention() const
{
    std::string found;
    for (const GraphOperation& one : operations_) found += letter_of(one);
    std::set<std::string> known;
    for (const std::string masked : {"", mask}) {
        known.insert("M*" + masked + "m-esl+/M");
        for (const std::string heads : {"", "s"})
            for (const std::string stored : {"", "="})
                known.insert("*s*M*-" + masked + "etM" + heads + "M-**tM" + heads + "tM" + stored);
    }
    require_supported(known.contains(found), "no engine has the operations " + found);
    const GraphTensor& queries = tensor(operations_[is_backward() ? 3 : 0].from[0]);
    const cudnnDataType_t type = queries.type;
    require_supported(type == CUDNN_DATA_BFLOAT16 || type == CUDNN_DATA_HALF,
                      "attention of another type than bf16 and fp16");
    constexpr std::int64_t most = 256, vector = 8;
    require_supported(queries.extents[3] <= most && queries.extents[3] % vector == 0, "heads of these channels");
    require_supported(!is_backward() || queries.extents[2] > 1, "a gradient of one position");
    for (const auto& [number, one] : tensors_) {
        const std::string name = "tensor " + std::to_string(number) + ": ";
        if (one.is_argument) {
            require(one.type == CUDNN_DATA_FLOAT && one.elements() == 1, name + "an argument is a float");
        } else if (!one.is_passing && one.type == CUDNN_DATA_FLOAT) {
            require_supported(one.is_packed(), name + "numbers of queries have no other layout than packed");
        } else if (!one.is_passing) {
            require_supported(one.type == type, name + "maps of two types");
            // Of keys and values, rows and columns may change places.
            require_supported(one.strides[3] == 1 || one.strides[2] == 1, name + "channels are not together");
            for (const std::int64_t stride : one.strides)
                require_supported(stride == 1 || stride * bytes_of(type) % one.alignment == 0,
                                  name + "a stride is not aligned");
        }
    }
    for (const GraphOperation& one : operations_) {
        const bool is_product = one.kind == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
        if (one.kind != CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR && one.mode != CUDNN_POINTWISE_CMP_GE)
            require_supported(one.computed_in == CUDNN_DATA_FLOAT, "computed in another type than fp32");
        const bool is_last_slope =
            is_product && is_backward() && &one == &operations_.back() - (letter_of(operations_.back()) == '=');
        if (is_product && !is_last_slope)
            for (const std::int64_t number : one.from)
                require_supported(tensor(number).type == type, "a product of another type than the maps");
    }
}

}  // namespace roof::emulated
