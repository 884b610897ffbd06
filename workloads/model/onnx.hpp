// Networks from ONNX files (opset 7 and later, as PyTorch writes them). Only shapes are read: training starts from its
// own values.
#pragma once

#include "workloads/model/graph.hpp"

#include <filesystem>

namespace roof::model {

/// The network of the file, named after it. A Softmax at the end belongs to the loss and is left out. Weights may be
/// missing from the file or stored outside; their shapes suffice. Throws InputError for a file that cannot be read or
/// has more than one input or output, and for operators that are not known, with each of them and its place.
/// Throws Unsupported where roof was built without ONNX.
Graph read_onnx(const std::filesystem::path& file);

}  // namespace roof::model
