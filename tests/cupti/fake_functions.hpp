// Access to the fake_… functions of the fake CUPTI, which is loaded at run time.
#pragma once

#include "fake_calls.hpp"

#include <dlfcn.h>

#include <catch2/catch.hpp>

namespace roof::cupti::made {

/// `fake<decltype(fake_launch)>("fake_launch")`.
template <class Function>
Function* fake(const char* name)
{
    void* const library = dlopen(ROOF_FAKE_CUPTI, RTLD_NOW);
    REQUIRE(library != nullptr);
    return reinterpret_cast<Function*>(dlsym(library, name));
}

inline void launch(const char* symbol, std::uintptr_t context = 7)
{
    fake<decltype(fake_launch)>("fake_launch")(symbol, context);
}

inline void push(const char* name)
{
    fake<decltype(fake_push)>("fake_push")(name);
}

inline void pop()
{
    fake<decltype(fake_pop)>("fake_pop")();
}

}  // namespace roof::cupti::made
