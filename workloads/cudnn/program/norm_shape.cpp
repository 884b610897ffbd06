#include "workloads/cudnn/program/norm_shape.hpp"

namespace roof::cudnn {

std::string NormShape::text() const
{
    return std::to_string(batch) + "x" + std::to_string(map.channels) + "x" + std::to_string(map.height) + "x" +
           std::to_string(map.width) + (relu ? ", relu" : "");
}

}  // namespace roof::cudnn
