// What a program has told cuDNN: attributes of descriptors, as they were set.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace roof::emulated {

/// The answer of a call that is refused.
struct Refused : std::runtime_error {
    Refused(cudnnStatus_t with, const std::string& why) : std::runtime_error(why), status(with) {}
    cudnnStatus_t status;
};

[[noreturn]] inline void is_wrong(const std::string& why)
{
    throw Refused(CUDNN_STATUS_BAD_PARAM, why);
}
inline void require(bool holds, const std::string& what)
{
    if (!holds) is_wrong(what);
}
inline void require_supported(bool holds, const std::string& what)
{
    if (!holds) throw Refused(CUDNN_STATUS_NOT_SUPPORTED, what);
}

struct Attribute;

class Object {
  public:
    explicit Object(cudnnBackendDescriptorType_t of) : kind(of) {}

    bool has(cudnnBackendAttributeName_t name) const { return attributes_.contains(name); }
    void set(cudnnBackendAttributeName_t name, Attribute value);
    /// These refuse an attribute that is not set, or of another type or number.
    std::vector<std::int64_t> integers(cudnnBackendAttributeName_t name) const
    {
        return values<std::int64_t>(name, CUDNN_TYPE_INT64);
    }
    template <class Value>
    Value value(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const;
    template <class Value>
    std::vector<Value> values(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const;
    const Object& part(cudnnBackendAttributeName_t name) const;
    const std::vector<std::shared_ptr<Object>>& parts(cudnnBackendAttributeName_t name) const;
    /// Of all attributes, in the order of their numbers.
    std::vector<std::shared_ptr<Object>> all_parts() const;

    cudnnBackendDescriptorType_t kind;
    bool is_final = false;

  private:
    const Attribute& attribute(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const;

    std::map<cudnnBackendAttributeName_t, Attribute> attributes_;
};

struct Attribute {
    cudnnBackendAttributeType_t type{};
    std::int64_t count = 0;
    std::vector<char> bytes{};
    std::vector<std::shared_ptr<Object>> objects{};
};

inline void Object::set(cudnnBackendAttributeName_t name, Attribute value)
{
    attributes_[name] = std::move(value);
}

inline const Attribute& Object::attribute(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const
{
    const auto found = attributes_.find(name);
    require(found != attributes_.end(), "attribute " + std::to_string(name) + " is not set");
    require(found->second.type == type, "attribute " + std::to_string(name) + " has another type");
    return found->second;
}

template <class Value>
std::vector<Value> Object::values(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const
{
    const Attribute& one = attribute(name, type);
    std::vector<Value> all;
    for (std::int64_t k = 0; k < one.count; ++k) {
        Value single{};
        std::memcpy(&single, one.bytes.data() + static_cast<std::size_t>(k) * sizeof(Value), sizeof(Value));
        all.push_back(single);
    }
    return all;
}

template <class Value>
Value Object::value(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const
{
    const std::vector<Value> all = values<Value>(name, type);
    require(all.size() == 1, "attribute " + std::to_string(name) + " is one value");
    return all.front();
}

inline const std::vector<std::shared_ptr<Object>>& Object::parts(cudnnBackendAttributeName_t name) const
{
    return attribute(name, CUDNN_TYPE_BACKEND_DESCRIPTOR).objects;
}

inline std::vector<std::shared_ptr<Object>> Object::all_parts() const
{
    std::vector<std::shared_ptr<Object>> all;
    for (const auto& [name, one] : attributes_) all.insert(all.end(), one.objects.begin(), one.objects.end());
    return all;
}

inline const Object& Object::part(cudnnBackendAttributeName_t name) const
{
    require(parts(name).size() == 1, "attribute " + std::to_string(name) + " is one descriptor");
    return *parts(name).front();
}

}  // namespace roof::emulated
