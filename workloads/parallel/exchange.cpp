#include "workloads/parallel/exchange.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace roof::parallel {

Mode parse_mode(std::string_view word)
{
    constexpr std::array<std::pair<std::string_view, Mode>, 3> words{
        {{"overlapped", Mode::overlapped}, {"serial", Mode::serial}, {"broadcast", Mode::broadcast}}};
    std::vector<std::string> legal;
    for (const auto& [name, mode] : words) {
        if (name == word) return mode;
        legal.emplace_back(name);
    }
    throw InputError(unknown_word("communication", word, legal));
}

Exchange::Exchange(std::shared_ptr<Communicator> communicator, Packing packing, Mode mode, const Clock& clock)
    : communicator_(std::move(communicator)),
      packing_(std::move(packing)),
      mode_(mode),
      clock_(clock),
      block_(communicator_->block(packing_.count)),
      schedule_(packing_),
      background_([this](std::span<float> range, Reach reach) { communicator_->mean(range, reach); }, clock)
{
}

void Exchange::begin(const std::vector<std::span<std::byte>>& parameters)
{
    schedule_.restart();
    transfers_.clear();
    waits_.clear();
    broadcast_ = {};
    if (mode_ != Mode::broadcast) return;
    const Seconds begin = clock_();
    for (const std::span<std::byte> bytes : parameters) {
        communicator_->broadcast(bytes, 0);
        broadcast_ += Bytes{static_cast<double>(bytes.size())};
    }
    waits_.push_back({begin, clock_()});
    transfers_ = waits_;
}

void Exchange::ready(std::size_t gradient)
{
    for (const std::size_t bucket : schedule_.ready(gradient)) {
        if (mode_ == Mode::overlapped) start(bucket);
    }
}

Communication Exchange::finish()
{
    if (!schedule_.complete()) throw std::logic_error("the backward pass ended before all gradients were ready");
    const Seconds begin = clock_();
    for (std::size_t bucket = 0; mode_ != Mode::overlapped && bucket < packing_.buckets.size(); ++bucket) start(bucket);
    for (const Interval& transfer : background_.finish()) transfers_.push_back(transfer);
    waits_.push_back({begin, clock_()});
    return communication_of(transfers_, waits_, reduced_bytes() + broadcast_);
}

void Exchange::start(std::size_t index)
{
    const Bucket& bucket = packing_.buckets[index];
    background_.start(block_.subspan(bucket.begin, bucket.count), mode_ == Mode::broadcast ? Reach::first : Reach::all);
}

Bytes Exchange::reduced_bytes() const
{
    return {static_cast<double>(packing_.count * sizeof(float))};
}

}  // namespace roof::parallel
