// Batches that reach the device while a step computes on the one before, and the stream of a step's exchange.
#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "workloads/cudnn/input.hpp"
#include "workloads/nccl/device_exchange.hpp"
#include "workloads/parallel/shared_memory.hpp"

#include <algorithm>

using namespace roof;
using namespace roof::cudnn;

namespace {

constexpr std::size_t values = 3 << 10;
constexpr std::size_t labels_there = 4;
constexpr int classes = 10;

/// The n-th batch has n in all places.
struct Numbered {
    std::vector<float> images = std::vector<float>(values);
    std::vector<int> labels = std::vector<int>(labels_there);
    int made = 0;
    bool fresh = true;

    data::Source source()
    {
        const auto next = [this] {
            ++made;
            std::ranges::fill(images, static_cast<float>(made));
            std::ranges::fill(labels, made);
            return data::Batch{images.data(), labels.data(), fresh};
        };
        return {next, [] { return data::SourceFacts{}; }};
    }
};

struct Place {
    emulated::Array<float> images{values};
    emulated::Array<std::int32_t> labels{labels_there};

    Input::Target target() const { return {images.data(), labels.data(), labels_there, values, classes}; }
};

/// 1, as often as it is said, then 2, and so on.
template <class Number>
std::vector<Number> in_turn(std::size_t numbers, std::size_t each)
{
    std::vector<Number> all;
    for (std::size_t i = 1; i <= numbers; ++i) all.insert(all.end(), each, static_cast<Number>(i));
    return all;
}

void copy(void* to, const void* from, std::size_t bytes, const gpu::Stream& stream)
{
    gpu::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream.get()));
}

}  // namespace

TEST_CASE("a batch is copied after the step has read the one before, whatever runs first")
{
    constexpr std::size_t steps = 4;
    Seconds longest{};
    for (unsigned seed = 1; seed <= 12; ++seed) {
        emulated::machine().chance().seed(seed);
        Numbered numbered;
        const Place place;
        const emulated::Array<float> seen(steps * values);
        const emulated::Array<std::int32_t> labels_seen(steps * labels_there);
        const gpu::Stream step;
        const gpu::Event is_read;
        const gpu::Event end;
        Input input(numbered.source(), place.target());
        end.record(step.get());
        CHECK(input.arrive(end).value == 0);
        CHECK(input.copies() == 0);
        for (std::size_t i = 0; i < steps; ++i) {
            copy(seen.data() + i * values, place.images.data(), values * sizeof(float), step);
            copy(labels_seen.data() + i * labels_there, place.labels.data(), labels_there * sizeof(int), step);
            is_read.record(step.get());
            end.record(step.get());
            input.fetch(is_read);
            step.synchronize();
            // The copy did not begin before the batch was read, which was the step's end.
            const Seconds before = input.copying();
            const Seconds waited = input.arrive(end);
            CHECK(input.copying() > before);
            CHECK(waited.value <= 1.001 * (input.copying() - before).value);
            longest = std::max(longest, waited);
        }
        CHECK(input.copies() == static_cast<int>(steps));
        CHECK(seen.values() == in_turn<float>(steps, values));
        CHECK(labels_seen.values() == in_turn<std::int32_t>(steps, labels_there));
    }
    CHECK(longest.value > 0);
}

TEST_CASE("a step that ends after the copy of its next batch does not wait, and a batch that is there is not copied")
{
    Numbered numbered;
    const Place place;
    const emulated::Array<float> far(values);
    const gpu::Stream step;
    const gpu::Event is_read;
    const gpu::Event end;
    Input input(numbered.source(), place.target());
    is_read.record(step.get());
    for (int i = 0; i < 1000; ++i) copy(far.data(), place.images.data(), values * sizeof(float), step);
    end.record(step.get());
    input.fetch(is_read);
    step.synchronize();
    CHECK(input.arrive(end).value == 0);
    CHECK(input.copies() == 1);
    CHECK(input.bytes_each() == values * sizeof(float) + labels_there * sizeof(int));
    numbered.fresh = false;
    input.fetch(is_read);
    CHECK(input.arrive(end).value == 0);
    CHECK(input.copies() == 1);
    CHECK(place.images.values().front() == 2);
    numbered.fresh = true;
    numbered.made = classes - 1;
    CHECK_THROWS_AS(input.fetch(is_read), Error);
}

TEST_CASE("the exchange of a step runs in a stream before all others, and its bytes are those of each mode")
{
    emulated::machine().chance().seed(1);
    const auto library = gpu::Nccl::open({ROOF_EMULATED_NCCL});
    REQUIRE(library != nullptr);
    const auto hosts = parallel::shared_memory_communicator(parallel::SharedMemory::create(1), 0, {});
    const auto ranks = std::make_shared<nccl::Ranks>(library, hosts);
    const emulated::Array<float> gradients(std::vector<float>(64, 3));
    const emulated::Array<float> parameters(16);
    const parallel::Packing packing = parallel::pack({{32, 1}, {32, 0}}, 0);
    const auto of_mode = [&](parallel::Mode mode) {
        const gpu::Stream step;
        emulated::machine().priorities.clear();
        nccl::DeviceExchange exchange(ranks,
                                      {.packing = packing,
                                       .mode = mode,
                                       .gradients = {gradients.data(), 64, Precision::fp32},
                                       .parameters = {{parameters.data(), 64}}},
                                      step.get());
        CHECK(emulated::machine().priorities == std::vector<int>{-5});
        Communication cost;
        for (int i = 0; i < 2; ++i) {  // the second step's bytes are its own
            exchange.begin();
            exchange.ready(1);
            copy(gradients.data(), gradients.data() + 32, 32 * sizeof(float), step);
            exchange.ready(0);
            exchange.finish();
            cost = exchange.cost();
        }
        CHECK(gradients.values() == std::vector<float>(64, 3));
        return cost;
    };
    const Communication overlapped = of_mode(parallel::Mode::overlapped);
    CHECK(overlapped.bytes == Bytes{256});
    CHECK(overlapped.exposed.value > 0);
    const Communication serial = of_mode(parallel::Mode::serial);
    CHECK(serial.bytes == Bytes{256});
    CHECK(serial.exposed.value > 0);
    const Communication broadcast = of_mode(parallel::Mode::broadcast);
    CHECK(broadcast.bytes == Bytes{256 + 64});
    CHECK(broadcast.exposed.value > 0);
}
