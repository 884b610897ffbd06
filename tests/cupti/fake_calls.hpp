// Functions of the fake CUPTI for tests: launches, ranges and graphs of a program, which the fake then reports.
#pragma once

#include <cstdint>

extern "C" {

void fake_launch(const char* symbol, std::uintptr_t context);
/// Of three kernels.
void fake_graph_launch(std::uintptr_t context);
/// Captures: what is launched in between does not run.
void fake_begin_capture();
void fake_end_capture();
void fake_end_context(std::uintptr_t context);
void fake_push(const char* name);
void fake_pop();
void fake_node(std::uintptr_t node);
void fake_clone(std::uintptr_t node, std::uintptr_t original);

/// FAKE_CUPTI_VERSION, else that of this build.
std::uint32_t fake_version();

/// So many kernels ran: they are counted if the counters are on in that context.
void fake_count(int kernels, std::uintptr_t context);
}
