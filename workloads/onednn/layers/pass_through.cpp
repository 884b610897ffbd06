// Layers without work: flatten, disabled dropout, pooling to the size of the input. They have no stage.
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {

void pass_through(Builder& build, const Unit& unit)
{
    build.put(unit, build.input(unit));
    build.tape.emplace_back([=, &build] { build.give(build.source(unit), build.gradient(unit.layer)); });
}

}  // namespace roof::onednn
