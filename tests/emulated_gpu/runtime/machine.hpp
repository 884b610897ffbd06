// The emulated machine behind the calls of the CUDA runtime: devices, memory, streams, and errors that stick. Work in a
// stream is done when somebody waits for it, and in an order among streams that is random as far as events leave it
// open: what forgets to wait reads what is not there yet.
#pragma once

#include "tests/emulated_gpu/device/execution.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace roof::emulated {

struct Event {
    int device = 0;
    bool has_time = true;
    u64 records = 0;  ///< that were enqueued
    u64 done = 0;     ///< of them
    double seconds = 0;
    /// The node that recorded it last while its stream was captured; -1: none.
    long node = -1;
    struct Capture* capture = nullptr;
};

/// Something that a stream does.
struct Operation {
    std::function<void(double& seconds)> run;   ///< moves the stream's time on
    std::function<void()> on_launch = nullptr;  ///< of the graph that it is a node of
    std::function<bool()> is_ready = nullptr;   ///< empty: always
    std::function<bool()> is_over = nullptr;    ///< after run(), which is called until then; empty: always
    bool awaits_others = false;                 ///< is_ready() may wait for another process
};

struct Capture {
    struct Node {
        Operation operation;
        std::set<long> after;
    };
    std::vector<Node> nodes;
    struct Stream* origin = nullptr;
    std::set<struct Stream*> joined;
    bool is_valid = true;
};

struct Stream {
    int device = 0;
    bool waits_for_default = true;  ///< and the default stream waits for it
    std::deque<Operation> queue;
    double seconds = 0;
    Capture* capture = nullptr;
    std::set<long> captured_last;  ///< nodes that the next one follows
};

struct Graph {
    std::vector<Capture::Node> nodes;
    bool is_uploaded = false;
};

/// A launch of a graph: its nodes in a random order that keeps to their dependences.
class GraphRun {
  public:
    explicit GraphRun(const Graph& graph) : graph_(graph) {}
    /// Runs nodes until none is ready.
    void run(double& seconds);
    bool is_over() const { return done_.size() == graph_.nodes.size(); }
    bool is_ready() const { return is_over() || !ready().empty(); }

  private:
    std::vector<long> ready() const;

    Graph graph_;
    std::set<long> done_;
};

class Machine {
  public:
    /// As many small cards as the environment's ROOF_EMULATED_GPUS says, else one, of the kind ROOF_EMULATED_CARD, else
    /// an H100, each with ROOF_EMULATED_MIB of memory ("256,8": the first has 256, the others 8). With
    /// ROOF_EMULATED_PEAK the most bytes that were allocated go to the file of this name and the number of the device;
    /// with ROOF_EMULATED_RACES all races for global memory are found.
    Machine();

    std::recursive_mutex& mutex() { return mutex_; }
    int count() const { return static_cast<int>(devices_.size()); }
    DeviceState& device(int number) { return *devices_[static_cast<std::size_t>(number)]; }
    AddressSpace& memory() { return memory_; }
    Engine& engine() { return engine_; }

    /// The handle, or the default stream of the device.
    Stream& stream(cudaStream_t handle, int device);
    Stream* make_stream(int device, bool waits_for_default);
    void destroy_stream(Stream* stream);

    /// Puts an operation at the end of a stream, or into the graph that is captured from it.
    cudaError_t enqueue(Stream& stream, Operation operation);
    /// Does work of the streams until the condition holds. Returns the device's error that sticks. Where only other
    /// processes can go on, it waits for them, or returns cudaErrorNotReady if it may not.
    cudaError_t run_until(const std::function<bool()>& condition, bool may_wait = true);
    cudaError_t finish(Stream& stream);
    cudaError_t finish_device(int device);
    /// Whether all work of all streams is done.
    bool is_idle() const;
    /// What waits on the host may not be called while a stream is captured.
    cudaError_t check_not_captured(Stream& stream);

    /// What the device answers from now on; a fault's text goes to standard error.
    void fail(int device, const Fault& fault);
    cudaError_t sticky(int device) const;
    const std::string& last_fault() const { return last_fault_; }
    /// Ends the error that sticks: for tests, which a process would have to end.
    void forget_faults();

    std::mt19937& chance() { return engine_.chance; }
    std::map<const void*, std::string> kernel_names;
    std::map<const void*, u32> dynamic_shared_limits;
    std::set<std::string> launched;  ///< kernels
    bool libraries_fuse = true;      ///< cuDNN and cuBLASLt compute bias and ReLU themselves; else a kernel follows
    Dim most_blocks{~0U, ~0U, ~0U};  ///< of a launch along each dimension
    double graph_upload_seconds = 0, graph_launch_seconds = 0;  ///< before its first node, in the stream
    std::set<int> contexts;                                     ///< devices on which the process has one
    std::vector<int> priorities;                                ///< of the streams that were made with one
    long kernels_run = 0;
    std::size_t most_pinned = SIZE_MAX;  ///< bytes of a piece of pinned memory
    long library_objects = 0;            ///< of cuBLASLt, that are not destroyed
    int fast_products = 0;               ///< that cuBLASLt was asked to sum in fewer bits

  private:
    bool run_one();
    bool awaits_others() const;

    std::recursive_mutex mutex_;
    Engine engine_;
    AddressSpace memory_;
    std::vector<std::unique_ptr<DeviceState>> devices_;
    std::vector<std::unique_ptr<Stream>> defaults_;
    std::list<std::unique_ptr<Stream>> streams_;
    std::map<int, cudaError_t> sticky_;
    std::string last_fault_;
};

/// The one machine of the process: the calls of the runtime name none.
Machine& machine();

/// The thread's current device, and its last error.
int current_device();
void set_current_device(int device);
cudaError_t returned(cudaError_t status);  ///< remembers an error for cudaGetLastError()

}  // namespace roof::emulated
