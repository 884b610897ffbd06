// For a build without ONNX.
#include "ert/base/error.hpp"
#include "workloads/model/models.hpp"
#include "workloads/model/operations.hpp"

namespace roof::model {

Graph read_onnx(const std::filesystem::path& file)
{
    read_onnx_operations(file, {});
    return Graph("", {});
}

Operations read_onnx_operations(const std::filesystem::path& file, const Sizes& /*sizes*/)
{
    throw Unsupported("'" + file.string() + "' cannot be read: libonnx-dev was not found when roof was built");
}

}  // namespace roof::model
