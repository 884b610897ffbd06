// For a build without ONNX.
#include "ert/base/error.hpp"
#include "workloads/model/models.hpp"

namespace roof::model {

Graph read_onnx(const std::filesystem::path& file)
{
    throw Unsupported("'" + file.string() + "' cannot be read: libonnx-dev was not found when roof was built");
}

}  // namespace roof::model
