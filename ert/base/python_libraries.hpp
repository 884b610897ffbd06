// NVIDIA's libraries from Python packages: PyTorch installs cuDNN, cuBLAS and NCCL where no loader looks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roof {

/// `nvidia/*/lib` and `torch/lib` of the environment that is active (VIRTUAL_ENV, CONDA_PREFIX), of the user's and of
/// the system's Python, in this order. Looked up once.
const std::vector<std::filesystem::path>& python_library_folders();

/// The file of this name in the first of them; empty if none has it.
std::filesystem::path python_library(const std::string& name);

/// Which libraries of these folders this process has loaded: "libcudnn.so.9 of /usr/…/nvidia/cudnn/lib".
std::vector<std::string> loaded_python_libraries();

}  // namespace roof
