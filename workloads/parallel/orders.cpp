#include "workloads/parallel/orders.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <array>
#include <cstring>

namespace roof::parallel {
namespace {

using Letter = std::array<char, 16384>;

constexpr std::array<const char*, 4> words{"make", "launch", "release", "leave"};

std::string text_of(const Order& order)
{
    std::string text = words[static_cast<std::size_t>(order.word)];
    if (order.word != Word::make) return text;
    text += '\n' + order.assignment.bench + '\n' + join(order.assignment.devices, " ");
    for (const auto& [axis, value] : order.assignment.point.values()) text += '\n' + axis + '=' + value;
    return text;
}

Order order_in(const std::string& text)
{
    const std::vector<std::string> lines = split(text, '\n');
    Order order;
    for (std::size_t word = 0; word < words.size(); ++word) {
        if (lines.front() == words[word]) order.word = static_cast<Word>(word);
    }
    if (order.word != Word::make) return order;
    order.assignment.bench = lines.at(1);
    order.assignment.devices = split(lines.at(2), ' ');
    for (std::size_t line = 3; line < lines.size(); ++line) {
        const std::size_t cut = lines[line].find('=');
        order.assignment.point.set(lines[line].substr(0, cut), lines[line].substr(cut + 1));
    }
    return order;
}

/// One rank's account of itself, of a fixed size.
struct Complaint {
    enum class Kind { none, error, out_of_memory } kind = Kind::none;
    double wanted = 0;
    double available = 0;
    std::array<char, 512> message{};
};

Complaint complaint_about(const std::exception_ptr& failure)
{
    Complaint complaint;
    if (failure == nullptr) return complaint;
    complaint.kind = Complaint::Kind::error;
    std::string message = "an unknown error";
    try {
        std::rethrow_exception(failure);
    } catch (const OutOfMemory& error) {
        complaint.kind = Complaint::Kind::out_of_memory;
        complaint.wanted = error.wanted.value;
        complaint.available = error.available.value;
        message = error.what();
    } catch (const std::exception& error) {
        message = error.what();
    }
    std::strncpy(complaint.message.data(), message.c_str(), complaint.message.size() - 1);
    return complaint;
}

[[noreturn]] void give_up(const Complaint& complaint, int rank)
{
    const std::string who = "rank " + std::to_string(rank);
    if (complaint.kind == Complaint::Kind::out_of_memory)
        throw OutOfMemory({complaint.wanted}, {complaint.available}, who + "'s share of the step");
    throw Error(who + ": " + complaint.message.data());
}

}  // namespace

Assignment assignment_of(const std::string& bench, const Device& device, const Point& point)
{
    Assignment assignment{bench, {device.name}, point};
    assignment.devices.insert(assignment.devices.end(), device.others.begin(), device.others.end());
    return assignment;
}

void say(const Communicator& communicator, const Order& order)
{
    Letter letter{};
    const std::string text = text_of(order);
    if (text.size() >= letter.size()) throw Error("this point's text is too long to be told to other ranks");
    text.copy(letter.data(), text.size());
    communicator.broadcast(std::as_writable_bytes(std::span(letter)), 0);
}

Order hear(const Communicator& communicator)
{
    Letter letter{};
    communicator.broadcast(std::as_writable_bytes(std::span(letter)), 0);
    return order_in(letter.data());
}

void agree(const Communicator& communicator, const std::exception_ptr& failure)
{
    const Complaint own = complaint_about(failure);
    for (int rank = 0; rank < communicator.size; ++rank) {
        Complaint complaint = own;
        communicator.broadcast(std::as_writable_bytes(std::span(&complaint, 1)), rank);
        if (complaint.kind != Complaint::Kind::none) {
            if (rank == communicator.rank) std::rethrow_exception(failure);
            give_up(complaint, rank);
        }
    }
}

}  // namespace roof::parallel
