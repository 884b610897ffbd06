"""The steps in order of importance, which is the order in which they run. Seconds are those of one H100. Of nine
minutes, the spare time goes to the first step that needs more, and at last to the sweep."""

from acceptance.scene import attention, gpu, ncu, part, program, torch
from acceptance.sequence import Step
from acceptance.steps import ceilings, machine, profiles, recorders, training

TRAINS = (gpu, part("cudnn"))

STEPS = (
    Step("machine", "which machine, libraries and revision the numbers are of", 6, 40, (), machine.provenance),
    Step("device-tests", "every kernel of the ceilings computes what the host does; NVML's, cuBLASLt's and NCCL's prototypes",
         20, 110, (gpu, program("test_gpu")), machine.device_tests),
    Step("peers", "what PyTorch's products and copies reach, before", 9, 30, (gpu, torch), ceilings.measure_peers("before")),
    Step("calibration", "every ceiling, in under a minute, beside what is promised; levels; links", 60, 100, (gpu,),
         ceilings.calibrate),
    Step("peers-again", "the same after: ours stand between", 9, 31, (gpu, torch), ceilings.measure_peers("after")),
    Step("parity", "training computes what the loops and PyTorch do; graph and launches agree bit for bit", 70, 120,
         (*TRAINS, program("test_cudnn_device")), machine.parity),
    Step("kernel-times", "the rate of each of a step's own kernels beside the memory's", 2, 30,
         (*TRAINS, program("test_cudnn_device")), training.time_kernels),
    Step("sustained", "what lasts over seconds, with its clock, power and joules: tensor cores, memory, CUDA cores", 20, 260, (gpu,),
         ceilings.sweep_plan("sustained", "gpu_sustained")),
    Step("attention", "attention by cuDNN is that of our kernels and of whole matrices, and its time beside ours", 13, 60,
         (*TRAINS, program("test_cudnn_device"), attention), training.time_attention),
    Step("read-back", "counters read what is known: FLOPs within 1%, bytes within 3%", 38, 60, (gpu, part("cupti")),
         profiles.read_probes_back),
    Step("ncu", "Nsight Compute reads the same of a training step's kernels", 65, 100, (*TRAINS, part("cupti"), ncu),
         profiles.count_beside_ncu),
    Step("quick-calibration", "the main ceilings, in under 15 seconds", 9, 20, (gpu,), ceilings.calibrate_quickly),
    Step("more-ceilings", "latencies to 60 GB", 15, 120, (gpu,),
         ceilings.sweep_plan("more-ceilings", "gpu_more")),
    Step("training-beside-pytorch", "our steps compared with PyTorch, at its best where time allows, in turns", 68, 2100, (*TRAINS, torch),
         training.beside_pytorch),
    Step("pytorch-recorded", "PyTorch's training loop recorded as it is, and placed under the ceilings", 17, 45,
         (gpu, program("roof_inject.so"), torch), profiles.record_pytorch),
    Step("pytorch-graph", "kernels of its CUDA graphs have their phases", 13, 40, (gpu, program("roof_inject.so"), torch),
         recorders.record_graphs),
    Step("our-steps-recorded", "phases counted as they run add up to the step; tracing costs at most 4 us a kernel", 13, 60,
         (*TRAINS, part("cupti")), recorders.record_our_steps),
    Step("probes-placed", "counted probes land within 10% of the roofs they were measured on", 1, 15, (gpu, part("cupti")),
         recorders.place_probes),
    Step("nccl", "means of ranks by NCCL, one and two on one GPU", 4, 30, (gpu, program("nccl_ranks")), machine.nccl),
    Step("training-ranks", "a step by NCCL, within a graph, in each way to communicate", 10, 30, TRAINS, training.on_ranks),
    Step("two-ranks", "two ranks on one GPU have the losses of one with both batches, and equal parameters", 32, 90, TRAINS,
         training.two_ranks),
    Step("pytorch-counted", "kernels of a program that is none of ours counted as it launches them, under their names", 32, 80,
         (gpu, program("roof_inject.so"), torch), recorders.count_pytorch),
    Step("training-sweep", "training steps of every family, number format and batch", 4, 36000, TRAINS, training.sweep),
)
