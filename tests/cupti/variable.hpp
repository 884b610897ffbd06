// Sets an environment variable for a scope.
#pragma once

#include <cstdlib>

namespace roof::cupti::made {

class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

}  // namespace roof::cupti::made
