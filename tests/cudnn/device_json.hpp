// A GPU's properties as JSON (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION), by which cuDNN plans for an absent one.
#pragma once

#include "workloads/cudnn/library/backend.hpp"

#include <string>

namespace roof::cudnn {

/// Both throw Error.
Descriptor device_from_json(const std::string& json);
std::string json_of(const Descriptor& device);

}  // namespace roof::cudnn
