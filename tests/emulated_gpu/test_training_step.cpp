// Whole training steps on the emulated device: memory, copies, input, graph, events and kernels are the engine's own;
// loops take the place of cuDNN, and a stand-in that of cuBLASLt.
#include "ert/base/text.hpp"
#include "tests/data/jpeg_files.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "workloads/cudnn/step.hpp"
#include "workloads/model/hashed.hpp"
#include "workloads/model/models.hpp"

#include <algorithm>
#include <utility>

using namespace roof;
using namespace roof::cudnn;

namespace {

using model::Optimizer;

Settings hashed(Precision precision, Optimizer optimizer = Optimizer::sgd)
{
    return {.batch = 2,
            .parameters = engine::Parameters::hashed,
            .learning_rate = optimizer == Optimizer::sgd ? 0.01F : 0.002F,
            .optimizer = optimizer,
            .precision = precision};
}

model::Graph small_network()
{
    model::Graph net("small", {3, 8, 8});
    const int x = net.relu("relu", net.convolution("conv", 0, 8, {.size = 3, .stride = 2, .padding = 1}, true));
    net.linear("fc", net.flatten("flat", x), 10);
    return net;
}

StepOptions options_of(bool is_graph, const std::string& data = "hashed")
{
    return {.device = {0}, .device_model = "emulated", .data = data, .graph = is_graph};
}

/// Launches of a step, one at a time.
struct Launched {
    Launched(const model::Graph& graph, const Settings& settings, const StepOptions& options)
        : step(graph, settings, options), trace(clock, step.parts().size())
    {
    }
    /// Launches the step to the end of a phase, of the last as a rule.
    Trace& launch(Phase last = Phase::update)
    {
        trace.reset();
        if (last == Phase::update)
            step.launch(trace);
        else
            CHECK(step.launch_to(last, trace));
        return trace;
    }
    StepState state() const
    {
        StepState state;
        REQUIRE(cudaMemcpy(&state, step.program().state(), sizeof(state), cudaMemcpyDeviceToHost) == cudaSuccess);
        return state;
    }
    /// How many stages are launched, or captured.
    std::size_t entered_by_launch()
    {
        std::size_t entered = 0;
        const PartListener listener{[&](std::size_t) { ++entered; }, [] {}};
        trace.set_listener(&listener);
        launch();
        trace.set_listener(nullptr);
        return entered;
    }
    std::string remarks() const { return join(step.remarks(), "; "); }

    Step step;
    const Clock clock = steady_clock();
    Trace trace;
};

std::vector<double> losses_of(const model::Graph& graph, Precision precision, bool is_graph, int launches,
                              unsigned seed, Optimizer optimizer = Optimizer::sgd)
{
    emulated::machine().chance().seed(seed);
    Launched launched(graph, hashed(precision, optimizer), options_of(is_graph));
    std::vector<double> losses;
    for (int i = 0; i < launches; ++i) {
        losses.push_back(launched.launch().sample().loss.value());
        CHECK(launched.trace.time_taken().value().value > 0);
    }
    CHECK(emulated::fault_of_pending_work().empty());
    return losses;
}

}  // namespace

TEST_CASE("a captured step gives the losses of separate launches in every schedule, bit for bit")
{
    // Each network and each precision; the third launch is of a graph that has run.
    for (const auto& [graph, precision] : {std::pair{plain_network(), Precision::fp16},
                                           {residual_network(), Precision::bf16},
                                           {bottleneck_network(), Precision::fp32},
                                           {mobile_network(), Precision::bf16}}) {
        INFO(graph.name() << " " << traits(precision).name);
        const Optimizer optimizer = graph.name() == "mobile" ? Optimizer::adamw : Optimizer::sgd;
        const std::vector<double> losses = losses_of(graph, precision, true, 3, 1, optimizer);
        CHECK(losses == losses_of(graph, precision, true, 3, 2, optimizer));
        CHECK(losses == losses_of(graph, precision, false, 3, 3, optimizer));
    }
}

TEST_CASE("a step on images of a folder has the same losses in every schedule, and says what their copies took")
{
    const test::TemporaryFolder folder;
    test::write_folder_of(folder.path(), 10, 2);
    std::vector<std::vector<double>> losses;
    Seconds longest{};
    for (const bool is_graph : {true, true, false, true, true, true}) {
        emulated::machine().chance().seed(static_cast<unsigned>(losses.size()));
        losses.emplace_back();
        Launched launched(plain_network(), hashed(Precision::fp32), options_of(is_graph, folder.path().string()));
        Seconds waited{};
        for (int i = 0; i < 6; ++i) {  // the fifth is followed by a watched step
            // A pass forward waits for the batch of the step that follows, and has its loss.
            if (i == 2) launched.launch(Phase::forward);
            const float forward = launched.state().loss;
            const double loss = losses.back().emplace_back(launched.launch().sample().loss.value());
            waited += launched.trace.sample().data;
            CHECK((i != 2 || loss == static_cast<double>(forward)));
        }
        longest = std::max(longest, waited);
        const std::string wait = "the step waited " + format_duration((waited / 6).value) + " for it on average";
        CHECK_THAT(launched.remarks(), Catch::Contains("a batch was copied in ") && Catch::Contains(wait));
    }
    CHECK(longest.value > 0);
    for (const std::vector<double>& other : losses) CHECK(other == losses.front());
    CHECK(losses.front()[1] != losses.front()[3]);
    Launched in_memory(plain_network(), hashed(Precision::fp32), options_of(true));
    CHECK(in_memory.remarks().find("a batch was copied") == std::string::npos);
}

TEST_CASE("a launch to the end of a phase takes less than the whole step, and leaves the parameters")
{
    for (const bool is_graph : {true, false}) {
        Launched launched(plain_network(), hashed(Precision::fp32), options_of(is_graph));
        const auto to = [&](Phase last) { return launched.launch(last).time_taken().value().value; };
        to(Phase::update);
        to(Phase::update);
        const double whole = to(Phase::update);
        CHECK(to(Phase::forward) > 0);
        CHECK(to(Phase::backward) > 1.5 * to(Phase::forward));
        CHECK(to(Phase::backward) < whole);
        const std::vector<double> due = losses_of(plain_network(), Precision::fp32, is_graph, 4, 1);
        CHECK(launched.launch().sample().loss.value() == due[3]);
    }
}

TEST_CASE("a recorded launch is one step, and a counted one goes operation by operation")
{
    for (const bool is_graph : {true, false}) {
        Launched launched(small_network(), hashed(Precision::fp32), options_of(is_graph));
        const std::size_t stages = launched.step.parts().size();
        const std::size_t in_step = is_graph ? 0 : stages;
        for (int i = 0; i < 3; ++i) launched.launch();
        launched.trace.set_recording(Recording::traced);
        for (int i = 0; i < 5; ++i) CHECK(launched.entered_by_launch() == in_step);
        launched.trace.set_recording(Recording::counted);
        for (int i = 0; i < 5; ++i) CHECK(launched.entered_by_launch() == stages);
    }
}

TEST_CASE("the time of a step contains neither the upload of its graph nor the wait for its first kernel")
{
    emulated::Machine& machine = emulated::machine();
    machine.graph_upload_seconds = 100;
    machine.graph_launch_seconds = 10;
    Launched launched(plain_network(), hashed(Precision::fp32), options_of(true));
    std::vector<double> seconds;
    for (int i = 0; i < 6; ++i)  // the first without a graph, the second makes it
        seconds.push_back(launched.launch().time_taken().value().value);
    machine.graph_upload_seconds = machine.graph_launch_seconds = 0;
    for (std::size_t i = 1; i < seconds.size(); ++i) {
        CHECK(seconds[i] > 0);
        CHECK(seconds[i] < 10);
        CHECK(seconds[i] == Approx(seconds.back()).epsilon(0.1));
    }
}

TEST_CASE("a step whose library computes bias and ReLU has the losses of one whose kernels do")
{
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const std::vector<double> fused = losses_of(plain_network(), precision, true, 3, 1);
        emulated::machine().libraries_fuse = false;
        const std::vector<double> apart = losses_of(plain_network(), precision, true, 3, 1);
        emulated::machine().libraries_fuse = true;
        // In bf16 the result is rounded once more before the bias is added.
        const double within = precision == Precision::fp32 ? 1e-6 : 0.02;
        for (std::size_t i = 0; i < fused.size(); ++i) CHECK(apart[i] == Approx(fused[i]).epsilon(within));
    }
}

TEST_CASE("a step by moments has the losses of the loops by passes, in every schedule")
{
    emulated::machine().libraries_fuse = false;  // else convolutions would take over the batch norms before them
    for (const Precision precision : {Precision::bf16, Precision::fp16}) {
        HostTraining due(bottleneck_network(), hashed(precision), false);
        const std::vector<double> losses = losses_of(bottleneck_network(), precision, true, 2, 1);
        CHECK(losses[0] == Approx(due.differentiate()).margin(precision == Precision::bf16 ? 0.05 : 0.01));
        if (precision == Precision::bf16) CHECK(losses == losses_of(bottleneck_network(), precision, true, 2, 2));
    }
    emulated::machine().libraries_fuse = true;
}

TEST_CASE("the losses of steps on the emulated device are those of the loops")
{
    for (const model::Graph& graph : {plain_network(), residual_network(), mobile_network(), squeeze_network(),
                                      flattened_network(), layer_norm_network(), attention_network(), token_network(),
                                      vision_network(), window_network(), llama_network()}) {
        const Optimizer optimizer = graph.name() == "attention" ? Optimizer::adamw : Optimizer::sgd;
        HostTraining due(graph, hashed(Precision::fp32, optimizer));
        const auto next = [&due] {
            const double loss = due.differentiate();
            due.update();
            return loss;
        };
        const std::vector<double> losses = losses_of(graph, Precision::fp32, true, 2, 1, optimizer);
        CHECK(losses[0] == Approx(next()).epsilon(1e-4));
        next();  // the first launch is followed by a step that times the parts
        CHECK(losses[1] == Approx(next()).epsilon(1e-4));
    }
}

TEST_CASE("a step that decodes a token begins with the caches of the tokens before it")
{
    const std::string file = std::string(ROOF_TEST_DATA) + "/../engine/data/configs/config_llama.json";
    Settings settings = hashed(Precision::fp32);
    settings.trains = settings.tune = false;
    const Step step(model::build_model(file, 1000, 40, model::Use::decode), settings, options_of(false));
    const std::vector<Tensor>& caches = step.program().list().caches;
    CHECK(caches.size() == 2);
    for (std::size_t k = 0; k < caches.size(); ++k) {
        std::vector<float> due(caches[k].elements());
        model::hashed_cache(static_cast<int>(k)).fill(due);
        CHECK(step.program().numbers(caches[k]) == due);
    }
}

TEST_CASE("a step whose attention is cuDNN's has the losses of our kernels', in every schedule")
{
    for (const auto& [graph, precision] : {std::pair{token_network(true, 24, 32), Precision::bf16},
                                           {vision_network(24, 8, 16), Precision::fp16},
                                           {llama_network(24, 4, 32), Precision::bf16}}) {
        INFO(graph.name() << " " << traits(precision).name);
        const Step step(graph, hashed(precision), {.device = {0}, .device_model = "emulated", .data = "hashed"});
        int fused = 0;
        for (const TimedPart& part : step.parts())
            if (part.kind == "attention") fused += part.implementation.find("cudnn:engine") != std::string::npos;
        CHECK(fused == 4);  // two layers, forward and backward
        HostTraining due(graph, hashed(precision));
        const std::vector<double> losses = losses_of(graph, precision, true, 2, 1);
        const double within = precision == Precision::bf16 ? 0.02 : 0.003;
        const auto next = [&due] {
            const double loss = due.differentiate();
            due.update();
            return loss;
        };
        CHECK(losses[0] == Approx(next()).margin(within));
        next();  // the first launch is followed by a step that times the parts
        CHECK(losses[1] == Approx(next()).margin(within));
        CHECK(losses == losses_of(graph, precision, true, 2, 2));
    }
}

TEST_CASE("a step launches its stages, or graphs of them, and every fourth time once more to time each")
{
    for (const bool is_graph : {true, false}) {
        Launched launched(small_network(), hashed(Precision::fp32), options_of(is_graph));
        const std::size_t stages = launched.step.parts().size();
        // The first launch loads kernels, then the watched step is captured; the second launch captures its own.
        const std::vector<std::size_t> due =
            is_graph ? std::vector<std::size_t>{2, 1, 0, 0, 0, 0} : std::vector<std::size_t>{2, 1, 1, 1, 2, 1};
        for (std::size_t i = 0; i < due.size(); ++i) {
            CHECK(launched.entered_by_launch() == due[i] * stages);
            CHECK(launched.state().step == i + 1 + i / 4 + 1);
            Seconds sum{};
            for (const Seconds part : launched.trace.part_seconds()) {
                CHECK(part.value > 0);
                sum += part;
            }
            CHECK(sum.value == Approx(launched.trace.time_taken().value().value).epsilon(0.25));
        }
        CHECK(launched.remarks().find("updates were left out") == std::string::npos);
    }
}

TEST_CASE("the copy of a batch is in the time of the step that it runs beside, or is waited for before the next")
{
    const test::TemporaryFolder folder;
    test::write_folder_of(folder.path(), 10, 2);
    emulated::Card& card = emulated::machine().device(0).card;
    const double before = std::exchange(card.link_bytes_per_cycle, card.link_bytes_per_cycle * 1e-3);
    double longest_step = 0, longest_wait = 0;
    for (const bool is_graph : {true, false}) {
        emulated::machine().chance().seed(1);
        Launched launched(small_network(), hashed(Precision::fp32), options_of(is_graph, folder.path().string()));
        const StepProgram& list = launched.step.program().list();
        const auto bytes = static_cast<double>(list.images.bytes() + list.labels.bytes());
        const double copy = bytes / (card.link_bytes_per_cycle * card.clock_hz);
        Seconds all{}, waited{};
        const auto launch = [&](Phase last) {
            const Trace& trace = launched.launch(last);
            all += trace.data_seconds() + trace.time_taken().value();
            longest_step = std::max(longest_step, trace.time_taken().value().value / copy);
            longest_wait = std::max(longest_wait, trace.data_seconds().value / copy);
            return trace.data_seconds();
        };
        for (int i = 0; i < 6; ++i) waited += launch(Phase::update);
        CHECK_THAT(launched.remarks(), Catch::Contains("the step waited " + format_duration((waited / 6).value)));
        launch(Phase::forward);
        CHECK(launch(Phase::update).value == 0);  // the batch is there
        launch(Phase::backward);
        // What is copied between the last event of a graph and the one behind it is in neither.
        CHECK(all.value <= 1.02 * 7 * copy);
        if (!is_graph) CHECK(all.value >= 7 * copy);
    }
    CHECK(longest_step > 1);
    CHECK(longest_wait > 1);
    card.link_bytes_per_cycle = before;
}

TEST_CASE("a step has the clock that the driver names beside it, and says when updates were left out")
{
    setenv("ROOF_EMULATED_CLOCKS", "1", 1);
    StepOptions options = options_of(true);
    options.nvml = gpu::Nvml::open();
    REQUIRE(options.nvml != nullptr);
    Launched launched(small_network(), hashed(Precision::fp16), options);
    CHECK(launched.remarks().find("updates were left out") == std::string::npos);
    for (const Phase last : {Phase::update, Phase::forward, Phase::backward})
        CHECK(launched.launch(last).sample().clock.value == 1e6);
    unsetenv("ROOF_EMULATED_CLOCKS");
}

TEST_CASE("ranks are sent the parameters, what is read in their place, and the step's state")
{
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const Step step(small_network(), hashed(precision), options_of(false));
        const Parameters& parameters = step.program().list().parameters;
        std::vector<std::size_t> due{parameters.values.bytes(), sizeof(StepState)};
        std::vector<std::size_t> found;
        if (precision == Precision::bf16) due.insert(due.begin() + 1, parameters.values.bytes() / 2);
        for (const nccl::DeviceBytes& one : step.program().updated()) found.push_back(one.bytes);
        CHECK(found == due);
    }
}
