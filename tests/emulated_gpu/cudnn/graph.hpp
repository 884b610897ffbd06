// A graph of operations on matrices of images and heads, as cuDNN's developer guide defines them, and whether it is
// attention.
#pragma once

#include "tests/emulated_gpu/cudnn/descriptor.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <vector>

namespace roof::emulated {

using Index = std::array<std::int64_t, 4>;  ///< image, head, row, column

struct GraphTensor {
    std::int64_t number = 0;
    cudnnDataType_t type{};
    Index extents{}, strides{};
    std::int64_t alignment = 0;
    bool is_passing = false, is_argument = false;

    bool operator==(const GraphTensor&) const = default;
    std::int64_t elements() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
    /// The element's distance from the first, in elements.
    std::int64_t offset(const Index& at) const;
    std::int64_t span() const;  ///< elements from the first to behind the last
    bool is_packed() const;
};

struct GraphOperation {
    cudnnBackendDescriptorType_t kind{};
    int mode = 0;            ///< of a pointwise function or a reduction
    std::int64_t axis = -1;  ///< of an index
    cudnnDataType_t computed_in{};
    std::vector<std::int64_t> from{};
    std::int64_t to = 0;
};

class OperationGraph {
  public:
    /// Reads the descriptors' attributes. Refuses what contradicts itself.
    explicit OperationGraph(const std::vector<std::shared_ptr<Object>>& operations);

    /// Refuses what the fused kernels of attention of cuDNN 9.19 on compute capability 9.0 do not compute, by
    /// cudnn-frontend's support surface, which also says what they compute wrongly.
    void require_attention() const;
    bool is_backward() const;
    std::int64_t workspace() const;  ///< bytes
    /// Of all that lies in memory, and of arguments.
    std::vector<GraphTensor> addressed() const;

    /// Computes all operations in double; what is stored, or passes in a format, is rounded to it.
    void run(const std::map<std::int64_t, void*>& addresses) const;

  private:
    std::int64_t add(const Object& tensor);
    void add(const std::shared_ptr<Object>& operation);
    void check(const GraphOperation& operation) const;
    const GraphTensor& tensor(std::int64_t number) const { return tensors_.at(number); }

    std::map<std::int64_t, GraphTensor> tensors_;
    std::vector<GraphOperation> operations_;
};

/// The sizes of its numbers.
std::int64_t bytes_of(cudnnDataType_t type);
/// Calls round for each element.
void for_each(const Index& extents, const std::function<void(const Index&)>& round);

}  // namespace roof::emulated
