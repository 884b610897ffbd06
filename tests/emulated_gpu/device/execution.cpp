#include "tests/emulated_gpu/device/execution.hpp"

#include <cxxabi.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace roof::emulated {

namespace {

std::string text(const Dim& place)
{
    return "(" + std::to_string(place.x) + "," + std::to_string(place.y) + "," + std::to_string(place.z) + ")";
}

std::string plain_name(const std::string& mangled)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 ? plain.get() : mangled;
}

Dim place_in(const Dim& size, u32 number)
{
    return {number % size.x, number / size.x % size.y, number / size.x / size.y};
}

}  // namespace

Execution::Execution(Engine& engine, const AddressSpace& memory, DeviceState& device, const Launch& launch)
    : engine_(engine),
      memory_(memory),
      device_(device),
      launch_(launch),
      spoils_(!engine.spoils.empty() && launch.name.find(engine.spoils) != std::string::npos)
{
    const Card& card = device.card;
    const auto multiprocessors = static_cast<u32>(card.multiprocessors);
    const u32 of_multiprocessor = std::max(1U, card.threads / launch.block.count());
    most_blocks_ = std::size_t{multiprocessors} * of_multiprocessor;
    const double threads =
        std::min(1.0 * card.threads * card.multiprocessors, 1.0 * launch.grid.count() * launch.block.count());
    constexpr double latency = 4;
    const double cycles = std::max(1.0 / (card.lanes * card.multiprocessors), latency / threads);
    seconds_of_instruction_ = cycles / card.clock_hz;
    seconds_of_shared_byte_ = 1 / (card.shared_bytes_per_cycle * card.multiprocessors * card.clock_hz);
    seconds_of_link_byte_ = 1 / (card.link_bytes_per_cycle * card.clock_hz);
    device.caches.expect(threads);
    for (u32 i = 0; i < launch.grid.count() / launch.cluster; ++i) waiting_clusters_.push_back(i);
    std::shuffle(waiting_clusters_.begin(), waiting_clusters_.end(), engine.chance);
    if (engine.finds_races) races_.emplace();
    const std::size_t fibers = std::min<std::size_t>(most_blocks_, launch.grid.count()) * launch.block.count();
    while (engine.fibers.size() < fibers) engine.fibers.push_back(std::make_unique<Fiber>());
}

void Execution::find_range(u64 address, std::size_t bytes)
{
    const auto place = [address] {  // each change of tensors comes here
        char text[32];
        std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
        return std::string(text);
    };
    if (address % bytes != 0) throw Fault(Fault::Kind::misaligned, "a misaligned access to global address " + place());
    last_range_ = memory_.find(address, bytes);
    const bool is_mine = last_range_.device == AddressSpace::host || last_range_.device == device_.number ||
                         device_.peers.contains(last_range_.device);
    if (last_range_.contains(address, bytes) && is_mine) return;
    last_range_ = {};
    throw Fault(Fault::Kind::outside, "an access outside the memory of this device, at global address " + place());
}

void Execution::take_time_of_products(double flops, Format format)
{
    const Card& card = device_.card;
    const double of_half = format == Format::fp64 ? 1.0 / 16 : 16.0 / bits_of(format);
    device_.seconds += flops / (of_half * card.half_flops_per_cycle * card.multiprocessors * card.clock_hz);
}

void Execution::run_thread(Thread& thread)
{
    try {
        launch_.code->function(thread);
    } catch (const Fault& fault) {
        if (fault_.empty()) {
            fault_ = fault.what() + std::string(", in block ") + text(thread.block().place()) + " thread " +
                     text(thread.index) + ", near line " + std::to_string(thread.line()) + " of the translation, of " +
                     plain_name(launch_.name);
            fault_kind_ = fault.kind();
        }
    }
    thread.has_ended = true;
    thread.block().count_end();
    thread.progressed = true;
}

std::unique_ptr<Block> Execution::make_block()
{
    auto block = std::make_unique<Block>(*this);
    for (u32 i = 0; i < launch_.block.count(); ++i)
        block->add_thread(place_in(launch_.block, i), *engine_.fibers[fibers_used_++]);
    return block;
}

void Execution::start_blocks()
{
    while (!waiting_clusters_.empty() && running_.size() + launch_.cluster <= most_blocks_) {
        const u32 first = waiting_clusters_.back() * launch_.cluster;
        waiting_clusters_.pop_back();
        const auto cluster = std::make_shared<Cluster>();
        for (u32 i = 0; i < launch_.cluster; ++i) start_block(first + i, cluster);
    }
}

void Execution::start_block(u32 number, const std::shared_ptr<Cluster>& cluster)
{
    // Each multiprocessor gets blocks in turns, as on a device.
    const u32 here = static_cast<u32>(started_++ % static_cast<std::size_t>(device_.card.multiprocessors));
    if (over_.empty()) over_.push_back(make_block());
    running_.push_back(std::move(over_.back()));
    over_.pop_back();
    running_.back()->begin(place_in(launch_.grid, number), here, cluster);
    if (races_) races_->begin(number, launch_.block.count());
    for (const auto& thread : running_.back()->threads())
        thread->fiber().start([this, it = thread.get()] { run_thread(*it); });
}

void Execution::run_threads(Block& block, bool& progressed)
{
    auto& threads = block.threads();
    const std::size_t count = threads.size();
    const std::size_t first = engine_.chance() % count;
    const bool is_backward = engine_.chance() % 2 == 0;
    for (std::size_t i = 0; i < count && fault_.empty(); ++i) {
        Thread& thread = *threads[(first + (is_backward ? count - i : i)) % count];
        if (thread.has_ended || thread.is_in_meeting) continue;
        thread.resume();
        progressed |= thread.progressed || thread.has_ended;
    }
}

bool Execution::run_round()
{
    bool progressed = false;
    std::shuffle(running_.begin(), running_.end(), engine_.chance);
    for (const auto& block : running_) {
        run_threads(*block, progressed);
        if (!fault_.empty()) return false;
        progressed |= block->advance_copies(engine_.chance, false);
    }
    if (!progressed) {
        for (const auto& block : running_) progressed |= block->advance_copies(engine_.chance, true);
    }
    std::erase_if(running_, [this](auto& block) {
        if (!block->has_ended()) return false;
        block->check_end();
        block->cluster().blocks[block->rank()] = nullptr;
        unseen_.push_back(block->take_delayed());
        over_.push_back(std::move(block));
        return true;
    });
    return progressed;
}

void Execution::run()
{
    device_.seconds += device_.card.launch_cycles / device_.card.clock_hz;
    try {
        for (start_blocks(); !running_.empty(); start_blocks()) {
            if (run_round()) continue;
            if (!fault_.empty()) throw Fault(fault_kind_, fault_);
            throw Fault(Fault::Kind::launch, "all threads wait for ever, in " + plain_name(launch_.name));
        }
    } catch (const Fault&) {
        for (const auto& fiber : engine_.fibers) fiber->abandon();
        throw;
    }
    for (auto& writes : unseen_) writes.flush_all();
}

}  // namespace roof::emulated
