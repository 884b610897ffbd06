// A library that may or may not be there, opened while the program runs: what it is used for works with it, and is said
// to be missing without it. Nothing is linked, so one binary serves every machine.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace roof::gpu {

class Library {
  public:
    /// The first of `names` (file names or paths) that the loader, or else a Python package, has; nothing without it.
    static std::optional<Library> open(std::span<const std::string> names);

    /// The address of a function of type `Function`. Throws Unsupported naming it where the library has none of that
    /// name.
    template <class Function>
    Function* function(const char* name) const
    {
        return reinterpret_cast<Function*>(address(name));
    }

    /// The same; null where the library has none.
    template <class Function>
    Function* find(const char* name) const noexcept
    {
        return reinterpret_cast<Function*>(address_or_null(name));
    }

  private:
    explicit Library(void* handle) : handle_(handle) {}
    void* address(const char* name) const;
    void* address_or_null(const char* name) const noexcept;

    void* handle_;  ///< never closed: what it started may outlive us
};

}  // namespace roof::gpu
