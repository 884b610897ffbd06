#include "workloads/engine/program.hpp"

#include <algorithm>

namespace roof::engine {

void add_work(TimedPart& part, const Work& work)
{
    part.work.executed += work.executed.value > 0 ? work.executed : work.flops;
    part.work.flops += work.flops;
    part.work.compulsory += work.compulsory;
    part.work.no_reuse += work.no_reuse;
    part.work.read += work.read;
    part.work.written += work.written;
    part.work.refetched.insert(part.work.refetched.end(), work.refetched.begin(), work.refetched.end());
}

void add_operation(TimedPart& part, Operation operation)
{
    std::string& names = part.implementation;
    if ((" + " + names + " + ").find(" + " + operation.implementation + " + ") == std::string::npos)
        names += (names.empty() ? "" : " + ") + operation.implementation;
    part.operations.push_back(std::move(operation));
}

TimedPart finished(TimedPart part)
{
    if (part.work.executed == part.work.flops) part.work.executed = {};
    part.work.no_reuse = std::max(part.work.no_reuse, part.work.compulsory);
    return part;
}

}  // namespace roof::engine
