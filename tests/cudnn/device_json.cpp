#include "tests/cudnn/device_json.hpp"

namespace roof::cudnn {

Descriptor device_from_json(const std::string& json)
{
    Descriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(json.size() + 1),
               json.c_str());
    return device.finish();
}

std::string json_of(const Descriptor& device)
{
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(device.get(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, &count,
                                   nullptr),
          "measuring a device's properties");
    std::string json(static_cast<std::size_t>(count), '\0');
    check(cudnnBackendGetAttribute(device.get(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, count,
                                   &count, json.data()),
          "reading a device's properties");
    return json.c_str();
}

}  // namespace roof::cudnn
