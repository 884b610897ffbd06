// What a kernel's loops read again, by their blocking: of each operand the bytes that have to be kept between two uses,
// by all threads, and what moves again otherwise. Counted from block sizes, not measured.
#pragma once

#include "ert/method/bench/work.hpp"

#include <initializer_list>
#include <vector>

namespace roof::kernels {

/// `kept`, `moved`: words of 4 bytes.
struct RefetchedWords {
    double kept, moved;
};

/// Without operands that are read once.
inline std::vector<Refetch> refetches(std::initializer_list<RefetchedWords> all)
{
    std::vector<Refetch> found;
    for (const RefetchedWords& one : all)
        if (one.moved > 0) found.push_back({Bytes{4 * one.kept}, Bytes{4 * one.moved}});
    return found;
}

}  // namespace roof::kernels
