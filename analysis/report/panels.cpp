#include "analysis/report/panels.hpp"

#include <array>

namespace roof::analysis {

std::span<const Panel> panels()
{
    static constexpr std::array<Panel, 20> table{{
        {"verdict", "Verdict",
         "Each training step beside the best rate measured on the machine. Brackets hold 95% intervals. Headroom is "
         "the "
         "time that reaching the roof would save.",
         verdict_panel},
        {"expectations", "Expectations",
         "The hypotheses of the plan, answered from the rows and the ceilings, and the times predicted from the "
         "ceilings "
         "before anything was measured.",
         expectations_panel},
        {"roofline", "Hierarchical roofline",
         "Roofs are measured; their bands are 95% intervals. The axes depend on the roofs alone, so pictures of one "
         "machine "
         "have the same frame. A point is drawn at the intensity of compulsory traffic: each operand moves once from "
         "the "
         "farthest level. Its whisker reaches to the intensity without reuse: each operand moves again at every use. "
         "Its "
         "area is its time. A hollow point is above the slanted roof of that level: part of its bytes was still in a "
         "cache. Points on the frame are beyond it or do no FLOPs. The tooltip of a point shows its arithmetic.",
         roofline_panel},
        {"time", "Time under the roofs",
         "The same layers by the seconds that each roof allows alone: compute upwards, memory to the right. Above the "
         "diagonal the compute roof binds, below it memory. Work without FLOPs is on the lower edge.",
         time_roofline_panel},
        {"headroom", "Headroom",
         "The layers that would save the most time by reaching their roof, for the largest batch of each model.",
         headroom_panel},
        {"breakdown", "Breakdown of the step time",
         "Upper strip: phases. Lower strip: kinds of layer. Time outside the layers is shown as such.",
         breakdown_panel},
        {"kernels", "Kernels", "Kernels launched on a device, by category (measured). Unclassified kernels come first.",
         kernels_panel},
        {"counted", "Kernels as counters saw them",
         "FLOPs and bytes by hardware counters, time measured. A ring is a memory level nearer to the core, the disc "
         "the "
         "farthest level that was counted. The area of the disc is the time.",
         counted_panel},
        {"time_breakdown", "Time breakdown of each device",
         "The wall time of a recorded step (measured). Every instant counts once: as kernels if one runs, else as "
         "unclassified, collectives, copies or idle. Hidden means: while a kernel ran.",
         time_breakdown_panel},
        {"calls", "Calls of the host",
         "Time inside the runtime and the driver, by call (measured). In a wait the host waits for a device; that is "
         "not "
         "overhead of the call.",
         calls_panel},
        {"copies", "Copies",
         "Bytes and time of copies and fills (measured), beside the best measured rate of the link.", copies_panel},
        {"memory", "Memory over time",
         "Memory allocated and released during the recording (measured), without what was allocated before.",
         memory_panel},
        {"trajectory", "Batch trajectories",
         "Throughput and share of the compute roof over the batch. Bars are 95% intervals of the step time.",
         trajectory_panel},
        {"scaling", "Several ranks",
         "Data-parallel steps beside one rank with its part of the machine. Efficiency is the speedup over the number "
         "of "
         "ranks. Exposed communication stops the step; hidden communication runs beside the backward pass. Bus "
         "bandwidth "
         "is what the link of each rank carries each way, by the count of a ring.",
         scaling_panel},
        {"whatif", "What-if", "The step times under higher or lower roofs, and at another batch (analytic).",
         what_if_panel},
        {"ceilings", "Ceilings",
         "Every ceiling with its interval, and the memory levels as measured beside those the machine reports.",
         ceilings_panel},
        {"curve", "Bandwidth over working set",
         "The sweep that shows the memory levels, with the most threads. Solid marks end a measured level; dashed "
         "marks "
         "are reported capacities.",
         bandwidth_curve_panel},
        {"ert", "Empirical Roofline curves",
         "A loop of loads and multiply-adds at each arithmetic intensity and working set, under the separately "
         "measured "
         "roofs of loads and multiply-adds. A colour is a memory level. If the roofs are right, the knee of each curve "
         "is "
         "where they cross.",
         ert_curve_panel},
        {"absent", "Not measured here", "What this run lacks, and the command that adds it.", absent_panel},
        {"provenance", "Method and provenance", "The source of each number, what ran, and what did not.",
         provenance_panel},
    }};
    return table;
}

}  // namespace roof::analysis
