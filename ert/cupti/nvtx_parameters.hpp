// The parameters of NVTX's calls as CUPTI hands them over. Before CUDA 13 CUPTI's header includes none of the headers
// that it needs.
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtSync.h>

#include <generated_nvtx_meta.h>
