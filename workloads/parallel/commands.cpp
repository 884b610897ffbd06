#include "workloads/parallel/commands.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace roof::parallel {
namespace {

using Message = std::array<char, 16384>;

std::string text_of(const Command& command)
{
    std::string text(name(command.kind));
    if (command.kind == CommandKind::launch) return text + '\n' + std::to_string(static_cast<int>(command.recording));
    if (command.kind != CommandKind::make) return text;
    text += '\n' + command.assignment.bench + '\n' + join(command.assignment.devices, " ");
    for (const auto& [axis, value] : command.assignment.point.values()) text += '\n' + axis + '=' + value;
    return text;
}

Command command_in(const std::string& text)
{
    const std::vector<std::string> lines = split(text, '\n');
    Command command{parse_enum<CommandKind>(lines.front())};
    if (command.kind == CommandKind::launch) command.recording = static_cast<Recording>(std::stoi(lines.at(1)));
    if (command.kind != CommandKind::make) return command;
    command.assignment.bench = lines.at(1);
    command.assignment.devices = split(lines.at(2), ' ');
    for (std::size_t line = 3; line < lines.size(); ++line) {
        const std::size_t cut = lines[line].find('=');
        command.assignment.point.set(lines[line].substr(0, cut), lines[line].substr(cut + 1));
    }
    return command;
}

/// What went wrong on a rank, in a fixed size.
struct Failure {
    enum class Kind { none, error, out_of_memory } kind = Kind::none;
    double wanted{};
    double available{};
    std::array<char, 512> message{};
};

Failure failure_of(const std::exception_ptr& failure)
{
    Failure failed;
    if (failure == nullptr) return failed;
    failed.kind = Failure::Kind::error;
    std::string message = "an unknown error";
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        message = error.what();
        if (const auto* const memory = dynamic_cast<const OutOfMemory*>(&error); memory != nullptr) {
            failed.kind = Failure::Kind::out_of_memory;
            failed.wanted = memory->wanted.value;
            failed.available = memory->available.value;
        }
    }
    std::strncpy(failed.message.data(), message.c_str(), failed.message.size() - 1);
    return failed;
}

[[noreturn]] void throw_failure(const Failure& failed, int rank)
{
    const std::string who = "rank " + std::to_string(rank);
    if (failed.kind == Failure::Kind::out_of_memory)
        throw OutOfMemory({failed.wanted}, {failed.available}, who + "'s share of the step");
    throw Error(who + ": " + failed.message.data());
}

}  // namespace

Assignment assignment_of(const std::string& bench, const Device& device, const Point& point)
{
    Assignment assignment{bench, {device.name}, point};
    assignment.devices.insert(assignment.devices.end(), device.others.begin(), device.others.end());
    return assignment;
}

void send(Communicator& communicator, const Command& command)
{
    Message message{};
    const std::string text = text_of(command);
    if (text.size() >= message.size()) throw Error("this point's text is too long to be sent to other ranks");
    text.copy(message.data(), text.size());
    communicator.broadcast(std::as_writable_bytes(std::span(message)), 0);
}

Command receive(Communicator& communicator)
{
    Message message{};
    communicator.broadcast(std::as_writable_bytes(std::span(message)), 0);
    return command_in(message.data());
}

std::vector<std::string> nodes_of_ranks(Communicator& communicator, const std::string& own)
{
    std::vector<std::string> nodes;
    for (int rank = 0; rank < communicator.size; ++rank) {
        std::array<char, 128> name{};
        own.copy(name.data(), name.size() - 1);
        communicator.broadcast(std::as_writable_bytes(std::span(name)), rank);
        nodes.emplace_back(name.data());
    }
    return nodes;
}

std::string text_of_first(Communicator& communicator, std::string text, int first)
{
    std::uint64_t size = text.size();
    communicator.broadcast(bytes_in(size), first);
    text.resize(size);
    communicator.broadcast(std::as_writable_bytes(std::span(text)), first);
    return text;
}

void agree(Communicator& communicator, const std::exception_ptr& failure)
{
    const Failure own = failure_of(failure);
    for (int rank = 0; rank < communicator.size; ++rank) {
        Failure failed = own;
        communicator.broadcast(bytes_in(failed), rank);
        if (failed.kind != Failure::Kind::none) {
            if (rank == communicator.rank) std::rethrow_exception(failure);
            throw_failure(failed, rank);
        }
    }
}

void require_same(Communicator& communicator, const std::string& lines, const std::string& differ)
{
    std::vector<std::string> own = split(lines, '\n');
    std::vector<std::string> first = split(text_of_first(communicator, lines), '\n');
    const std::size_t count = std::max(first.size(), own.size());
    own.resize(count);
    first.resize(count);
    const auto [here, there] = std::ranges::mismatch(own, first);
    std::exception_ptr failure;
    if (here != own.end())
        failure = std::make_exception_ptr(
            Error("the ranks " + differ + ": '" + *here + "' here, '" + *there + "' on rank 0"));
    agree(communicator, failure);
}

}  // namespace roof::parallel
