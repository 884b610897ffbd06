// What the collectives of the emulated NCCL give, and the accidents that may happen to them.
#pragma once

#include "tests/emulated_gpu/nccl/meeting.hpp"

#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace roof::emulated {

enum { all_reduce, reduce, broadcast, message };
inline constexpr int bytes_type = 0, fp16_type = 6, fp32_type = 7, bf16_type = 9;
inline constexpr int sum_operation = 0, mean_operation = 4;

/// An accident that ROOF_EMULATED_NCCL_ACCIDENT plants, "kill init 1": `kill` and `freeze` end or stop the process of a
/// rank of that number; `hang`, which leaves its call without an end, and `wrong`, which changes a sign in a result,
/// are returned where asked for. Places: init, call, run, graph, leave.
inline bool has_accident(const std::string& place, int rank, const std::string& kind = "hang")
{
    const char* const text = std::getenv("ROOF_EMULATED_NCCL_ACCIDENT");
    const std::string planted = text == nullptr ? "" : text;
    const std::string here = " " + place + " " + std::to_string(rank);
    if (planted == "kill" + here) raise(SIGKILL);
    if (planted == "freeze" + here) raise(SIGSTOP);
    return planted == kind + here;
}

inline std::size_t bytes_of_type(int type)
{
    return type == fp32_type ? 4 : type == bytes_type ? 1 : 2;
}

inline double number(int type, const std::byte* at)
{
    const auto as = [at]<class T>(T value) {
        std::memcpy(&value, at, sizeof(value));
        return value;
    };
    return type == fp32_type ? as(f32{}) : type == fp16_type ? widen(as(f16{})) : widen(as(bf16{}));
}

inline void put(int type, std::byte* at, double value)
{
    const auto store = [at](auto stored) { std::memcpy(at, &stored, sizeof(stored)); };
    if (type == fp32_type)
        store(static_cast<f32>(value));
    else if (type == fp16_type)
        store(narrow<f16>(value));
    else
        store(narrow<bf16>(value));
}

inline std::vector<std::byte> result_of(const Meeting& meeting, const Collective& what)
{
    if (what.kind == broadcast) return meeting.bytes_of(what.root);
    std::vector<double> sums(what.count);
    const std::size_t size = bytes_of_type(what.type);
    std::vector<std::byte> bytes;
    for (int rank = 0; rank < meeting.ranks(); ++rank) {
        bytes = meeting.bytes_of(rank);
        for (std::size_t i = 0; i < what.count; ++i) sums[i] += number(what.type, bytes.data() + i * size);
    }
    const double share = what.operation == mean_operation ? 1.0 / meeting.ranks() : 1;
    for (std::size_t i = 0; i < what.count; ++i) put(what.type, bytes.data() + i * size, share * sums[i]);
    return bytes;
}

}  // namespace roof::emulated
