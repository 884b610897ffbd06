// cuDNN's backend API, the graph API's own C interface, with owners: a descriptor is made, given its attributes, finished, and
// gone with its last holder. Small enough to need no other library between, which would take half a minute of each compilation.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace roof::cudnn {

/// Throws Unsupported where the library says that it cannot, Error for all else; `what` begins the message, the library's own
/// explanation ends it.
void check(cudnnStatus_t status, const std::string& what);

/// "9.19.0": of the library that was loaded.
std::string library_version();

class Descriptor {
  public:
    /// Throws Error.
    explicit Descriptor(cudnnBackendDescriptorType_t type);

    /// Attributes may be set until finish(). They throw Unsupported or Error.
    Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                    const void* values);
    Descriptor& set(cudnnBackendAttributeName_t name, std::int64_t value);
    Descriptor& set(cudnnBackendAttributeName_t name, float value);
    Descriptor& set(cudnnBackendAttributeName_t name, bool value);
    Descriptor& set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
    Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values);
    Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<Descriptor>& values);
    Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value);
    /// Throws Unsupported where the library has no such thing, or Error.
    Descriptor& finish();

    std::int64_t number(cudnnBackendAttributeName_t name) const;
    /// The values of an attribute that holds enumerators, at most `most`.
    std::vector<int> words(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t most) const;
    Descriptor part(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const;
    /// As many as the library says that there are.
    std::vector<Descriptor> parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const;
    /// At most so many: of some attributes the library does not say how many there are.
    std::vector<Descriptor> parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                  std::int64_t most) const;

    cudnnBackendDescriptor_t get() const { return handle_.get(); }

  private:
    std::shared_ptr<void> handle_;
};

/// A device to plan for: its properties as cuDNN writes them (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION), so that plans can be
/// made where no such device is. Throws Error.
Descriptor device_from_json(const std::string& json);
/// The current device. Throws Error.
Descriptor current_device();
/// The JSON text of a device. Throws Error.
std::string json_of(const Descriptor& device);

/// A library handle of the current device, bound to a stream. Throws Error.
class Handle {
  public:
    explicit Handle(cudaStream_t stream);
    cudnnHandle_t get() const { return handle_.get(); }

  private:
    struct Destroy {
        void operator()(cudnnHandle_t handle) const noexcept { cudnnDestroy(handle); }
    };
    std::unique_ptr<cudnnContext, Destroy> handle_;
};

}  // namespace roof::cudnn
