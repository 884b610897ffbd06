#include "workloads/cudnn/library/backend.hpp"

#include "ert/base/error.hpp"

#include <array>

namespace roof::cudnn {

void check(cudnnStatus_t status, const std::string& what)
{
    if (status == CUDNN_STATUS_SUCCESS) return;
    std::array<char, 1024> explanation{};
    cudnnGetLastErrorString(explanation.data(), explanation.size());
    const std::string message = what + " (" + cudnnGetErrorString(status) + ") " + explanation.data();
    if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) throw Unsupported(message);
    throw Error(message);
}

std::string library_version()
{
    const std::size_t version = cudnnGetVersion();
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t made = nullptr;
    check(cudnnBackendCreateDescriptor(type, &made), "cuDNN made no descriptor");
    handle_.reset(made, [](void* descriptor) { cudnnBackendDestroyDescriptor(descriptor); });
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                            const void* values)
{
    check(cudnnBackendSetAttribute(get(), name, type, count, values), "attribute " + std::to_string(name));
    return *this;
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values)
{
    return set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const std::vector<Descriptor>& values)
{
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const Descriptor& value : values) handles.push_back(value.get());
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(handles.size()), handles.data());
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const Descriptor& value)
{
    return set(name, std::vector<Descriptor>{value});
}

Descriptor& Descriptor::finish()
{
    check(cudnnBackendFinalize(get()), "cuDNN refuses");
    return *this;
}

std::int64_t Descriptor::number(cudnnBackendAttributeName_t name) const
{
    std::int64_t value = 0;
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(get(), name, CUDNN_TYPE_INT64, 1, &count, &value), "reading an attribute");
    return value;
}

std::vector<int> Descriptor::words(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                   std::int64_t most) const
{
    std::vector<int> values(static_cast<std::size_t>(most));
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(get(), name, type, most, &count, values.data()), "reading an attribute");
    values.resize(static_cast<std::size_t>(count));
    return values;
}

Descriptor Descriptor::part(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const
{
    const Descriptor made(type);
    cudnnBackendDescriptor_t handle = made.get();
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &handle),
          "reading a part of a descriptor");
    return made;
}

std::vector<Descriptor> Descriptor::parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const
{
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
          "counting the parts of a descriptor");
    return parts(name, type, count);
}

std::vector<Descriptor> Descriptor::parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                          std::int64_t most) const
{
    std::int64_t count = 0;
    std::vector<Descriptor> made;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (std::int64_t i = 0; i < most; ++i) handles.push_back(made.emplace_back(type).get());
    check(cudnnBackendGetAttribute(get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, handles.data()),
          "reading the parts of a descriptor");
    made.erase(made.begin() + static_cast<std::ptrdiff_t>(count), made.end());
    return made;
}

Descriptor current_device()
{
    int id = 0;
    if (cudaGetDevice(&id) != cudaSuccess) throw Error("there is no current device to plan for");
    Descriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    device.set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &id);
    return device.finish();
}

Handle::Handle(cudaStream_t stream)
{
    cudnnHandle_t handle = nullptr;
    check(cudnnCreate(&handle), "cuDNN does not start");
    handle_.reset(handle);
    check(cudnnSetStream(handle, stream), "binding cuDNN to a stream");
}

}  // namespace roof::cudnn
