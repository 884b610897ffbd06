// C++ owners of cuDNN's backend descriptors. They are not cudnn-frontend's (1.32.0), which hides the numerical notes of
// an engine, needs NVRTC's headers, and takes a minute to compile where graph.cpp takes two seconds.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace roof::cudnn {

/// Throws Unsupported for "not supported", else Error. The message is `what` and the library's explanation.
void check(cudnnStatus_t status, const std::string& what);

/// Returns "9.19.0": the version of the loaded library.
std::string library_version();

/// cuDNN's number of the type of a single value.
template <class Value>
inline constexpr auto attribute_type = Value::of_other_types_there_is_none;
template <>
inline constexpr auto attribute_type<std::int64_t> = CUDNN_TYPE_INT64;
template <>
inline constexpr auto attribute_type<float> = CUDNN_TYPE_FLOAT;
template <>
inline constexpr auto attribute_type<bool> = CUDNN_TYPE_BOOLEAN;
template <>
inline constexpr auto attribute_type<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;

class Descriptor {
  public:
    /// Throws Error.
    explicit Descriptor(cudnnBackendDescriptorType_t type);

    /// Attributes can be set until finish(). These functions throw Unsupported or Error.
    Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                    const void* values);
    template <class Value>
    Descriptor& set(cudnnBackendAttributeName_t name, Value value)
    {
        return set(name, attribute_type<Value>, 1, &value);
    }
    Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values);
    Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<Descriptor>& values);
    Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value);
    /// Throws Unsupported if the library does not support the descriptor, else Error.
    Descriptor& finish();

    std::int64_t number(cudnnBackendAttributeName_t name) const;
    /// Returns at most `most` values of an enumeration attribute.
    std::vector<int> words(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t most) const;
    Descriptor part(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const;
    /// Returns all descriptors of the attribute; cuDNN reports their number.
    std::vector<Descriptor> parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const;
    /// Returns at most `most` descriptors, for attributes whose number cuDNN does not report.
    std::vector<Descriptor> parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                  std::int64_t most) const;

    cudnnBackendDescriptor_t get() const { return handle_.get(); }

  private:
    std::shared_ptr<void> handle_;
};

/// Returns the current device. Throws Error.
Descriptor current_device();

/// A cuDNN handle of the current device, bound to a stream. Throws Error.
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
