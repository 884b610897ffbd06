// libcudnn's backend API in place of the real one, for attention: descriptors with their attributes, one engine for
// what its support surface names, and plans that compute the graph's operations on the host, one after the other, in
// the order of the stream. Every other graph has no engine.
#include "tests/emulated_gpu/cudnn/graph.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <algorithm>
#include <cstring>
#include <set>

using namespace roof::emulated;

struct cudnnContext {
    cudaStream_t stream = nullptr;
};

namespace {

std::string& last_error()
{
    static std::string text;
    return text;
}

template <class Round>
cudnnStatus_t answered(const Round& round)
{
    try {
        round();
        return CUDNN_STATUS_SUCCESS;
    } catch (const Refused& refused) {
        last_error() = refused.what();
        return refused.status;
    }
}

/// The descriptors of a process by their handles.
std::map<const void*, std::shared_ptr<Object>>& handles()
{
    static std::map<const void*, std::shared_ptr<Object>> all;
    return all;
}

std::shared_ptr<Object>& object(const void* handle)
{
    const auto found = handles().find(handle);
    require(found != handles().end(), "no descriptor");
    return found->second;
}

std::size_t size_of(cudnnBackendAttributeType_t type)
{
    switch (type) {
        case CUDNN_TYPE_BOOLEAN:
            return sizeof(bool);
        case CUDNN_TYPE_INT64:
        case CUDNN_TYPE_VOID_PTR:
        case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        case CUDNN_TYPE_HANDLE:
            return sizeof(void*);
        default:
            return sizeof(int);  // enumerations, int32 and float
    }
}

OperationGraph graph_in(const Object& of)
{
    return OperationGraph(of.parts(CUDNN_ATTR_OPERATIONGRAPH_OPS));
}

const Object& graph_of_configuration(const Object& configuration)
{
    return configuration.part(CUDNN_ATTR_ENGINECFG_ENGINE).part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
}

/// What finishing a descriptor asks of it.
void check(const Object& one)
{
    switch (one.kind) {
        case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
            require(one.value<int>(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32) == current_device(),
                    "a device that is not current");
            break;
        case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
            graph_in(one);
            break;
        case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
            one.part(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
            graph_in(one.part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)).require_attention();
            break;
        case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
            one.part(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
            one.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
            break;
        case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: {
            std::vector<std::int64_t> numbers = one.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
            std::ranges::sort(numbers);
            require(std::ranges::adjacent_find(numbers) == numbers.end(), "two addresses of one tensor");
            break;
        }
        default:
            break;
    }
}

/// The engine that heuristics find for a graph.
std::shared_ptr<Object> configuration_for(const Object& heuristics)
{
    const auto finished = [](cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t name, Attribute value) {
        auto made = std::make_shared<Object>(type);
        made->set(name, std::move(value));
        made->is_final = true;
        return made;
    };
    const Attribute graph{.type = CUDNN_TYPE_BACKEND_DESCRIPTOR,
                          .count = 1,
                          .objects = heuristics.parts(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)};
    const auto engine = finished(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    return finished(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE,
                    {.type = CUDNN_TYPE_BACKEND_DESCRIPTOR, .count = 1, .objects = {engine}});
}

void give(std::int64_t most, std::int64_t* count, void* values, const std::vector<std::shared_ptr<Object>>& all)
{
    *count = static_cast<std::int64_t>(all.size());
    auto* const into = static_cast<cudnnBackendDescriptor_t*>(values);
    for (std::size_t k = 0; k < std::min(all.size(), static_cast<std::size_t>(most)); ++k) object(into[k]) = all[k];
}

void give(std::int64_t* count, void* value, std::int64_t number)
{
    *count = 1;
    *static_cast<std::int64_t*>(value) = number;
}

void read(const Object& of, cudnnBackendAttributeName_t name, std::int64_t most, std::int64_t* count, void* values)
{
    require(of.is_final, "an attribute of a descriptor that is not finished");
    switch (name) {
        case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
            const auto mode = of.value<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE);
            return give(most, count, values,
                        mode == CUDNN_HEUR_MODE_A ? std::vector{configuration_for(of)}
                                                  : std::vector<std::shared_ptr<Object>>{});
        }
        case CUDNN_ATTR_ENGINECFG_ENGINE:
            return give(most, count, values, of.parts(name));
        case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
            return give(count, values, graph_in(of.part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH)).is_backward() ? 6 : 2);
        case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
            return give(count, values,
                        graph_in(graph_of_configuration(of.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG))).workspace());
        case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
        case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
            *count = 0;
            return;
        default:
            is_wrong("attribute " + std::to_string(name) + " cannot be read");
    }
}

/// The addresses of a pack for a graph. Refuses what is missing, too much, or not aligned.
std::map<std::int64_t, void*> addresses_for(const OperationGraph& graph, const Object& pack)
{
    const std::vector<std::int64_t> numbers = pack.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    std::map<std::int64_t, void*> all;
    const auto places = pack.values<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR);
    require(places.size() == numbers.size(), "numbers and addresses");
    for (std::size_t k = 0; k < numbers.size(); ++k) all[numbers[k]] = places[k];
    for (const GraphTensor& one : graph.addressed()) {
        const std::string name = "tensor " + std::to_string(one.number);
        require(all.contains(one.number) && all.at(one.number) != nullptr, name + " has no address");
        const auto address = reinterpret_cast<std::uintptr_t>(all.at(one.number));
        require(one.is_argument || address % static_cast<std::uintptr_t>(one.alignment) == 0, name + " is not aligned");
    }
    require(all.size() == graph.addressed().size(), "an address of no tensor");
    const auto workspace = pack.value<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR);
    require(workspace != nullptr || graph.workspace() == 0, "no workspace");
    return all;
}

}  // namespace

extern "C" {

size_t cudnnGetVersion()
{
    // The last for cards before 7.5, on one of them.
    const roof::emulated::Card& card = roof::emulated::machine().device(0).card;
    return 10 * card.major + card.minor < 75 ? 91002 : 91900;
}
const char* cudnnGetErrorString(cudnnStatus_t status)
{
    return status == CUDNN_STATUS_SUCCESS     ? "success"
           : status == CUDNN_STATUS_BAD_PARAM ? "bad parameter"
                                              : "not supported";
}
void cudnnGetLastErrorString(char* message, size_t most)
{
    std::strncpy(message, last_error().c_str(), most - 1);
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle)
{
    *handle = new cudnnContext;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    delete handle;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream)
{
    *stream = handle->stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor)
{
    auto made = std::make_shared<Object>(type);
    *descriptor = new char;
    handles()[*descriptor] = std::move(made);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
    return answered([&] {
        require(handles().erase(descriptor) == 1, "no descriptor");
        delete static_cast<char*>(descriptor);
    });
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* values)
{
    return answered([&] {
        Object& of = *object(descriptor);
        require(!of.is_final, "an attribute of a finished descriptor");
        Attribute made{.type = type, .count = count};
        if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
            for (std::int64_t k = 0; k < count; ++k) {
                made.objects.push_back(object(static_cast<const cudnnBackendDescriptor_t*>(values)[k]));
                require(made.objects.back()->is_final, "a part that is not finished");
            }
        } else {
            const auto* const first = static_cast<const char*>(values);
            made.bytes.assign(first, first + static_cast<std::size_t>(count) * size_of(type));
        }
        of.set(name, std::move(made));
    });
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t most, int64_t* count, void* values)
{
    return answered([&] { read(*object(descriptor), name, most, count, values); });
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
    return answered([&] {
        Object& of = *object(descriptor);
        check(of);
        of.is_final = true;
    });
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
    return answered([&] {
        const Object& of = *object(plan);
        const OperationGraph graph = graph_in(graph_of_configuration(of.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)));
        const auto addresses = addresses_for(graph, *object(pack));
        Machine& here = machine();
        const std::lock_guard lock(here.mutex());
        Stream& stream = here.stream(handle->stream, current_device());
        const Card& card = here.device(stream.device).card;
        const auto run = [graph, addresses, taken = card.launch_cycles / card.clock_hz](double& seconds) {
            graph.run(addresses);
            seconds += taken;
        };
        here.enqueue(stream, {.run = run});
    });
}

}  // extern "C"
