#include "analysis/report/panels.hpp"

#include <array>

namespace roof::analysis {

std::span<const Panel> panels()
{
    static constexpr std::array<Panel, 20> table{{
        {"verdict", "Verdict",
         "Each training step beside the best the machine has shown it can do. Brackets hold 95% intervals; headroom is "
         "the "
         "time that reaching the roof would save.",
         verdict_panel},
        {"expectations", "Expected, and found",
         "What was said before anything was measured: the hypotheses of the plan, answered from the rows and the "
         "ceilings, and the times that the ceilings predicted.",
         expectations_panel},
        {"roofline", "Hierarchical roofline",
         "Roofs are measured, as bands from the low to the high end of their interval. The axes follow from the roofs "
         "alone, so pictures of one machine can be laid over each other. A point stands at the intensity of compulsory "
         "traffic, each operand moved once from the farthest level; its whisker reaches to the intensity without any "
         "reuse, each operand moved again at every use. Its area is its time. A hollow point lies above the slanted "
         "roof of that level: fewer bytes came from there than were counted, for the others were still in a cache. "
         "Points on the frame lie beyond it or do no FLOPs. Hover over a point for its arithmetic.",
         roofline_panel},
        {"time", "Time under the roofs",
         "The same layers by the seconds that each roof would need alone: compute upwards, memory to the right. Above "
         "the "
         "diagonal the compute roof binds, below it memory does. Work without FLOPs, which no roofline shows, lies on "
         "the "
         "lower edge.",
         time_roofline_panel},
        {"headroom", "Where the time to be won lies",
         "The layers that would save the most if they reached the roof over them, for each model's largest batch.",
         headroom_panel},
        {"breakdown", "What a step's time is spent on",
         "Upper strip: phases. Lower strip: kinds of layer. What no layer accounts for is shown, not spread over the "
         "others.",
         breakdown_panel},
        {"kernels", "Kernels",
         "What was launched on a device, by category (measured). What no rule could classify comes first, never spread "
         "over the others.",
         kernels_panel},
        {"counted", "Kernels as counters saw them",
         "FLOPs and bytes by hardware counters, time measured. A ring is a memory level nearer to the core, the disc "
         "the "
         "farthest that was counted; its area is the time.",
         counted_panel},
        {"time_breakdown", "Where each device's time went",
         "The wall time of a recorded step, every instant entered once: under kernels if one runs, else under what no "
         "rule knows, "
         "collectives, copies, or idle (measured). What is hidden ran while a kernel did.",
         time_breakdown_panel},
        {"calls", "Calls of the host",
         "Time inside the runtime and the driver, by call (measured). In a wait the host stands still until a device "
         "is done, "
         "which is no overhead of the call.",
         calls_panel},
        {"copies", "Copies",
         "Bytes and time of copies and fills (measured), beside the best rate that the link was seen to reach.",
         copies_panel},
        {"memory", "Memory over time",
         "What was allocated and released while recording (measured). What was there before is not in it.",
         memory_panel},
        {"trajectory", "Batch trajectories",
         "How throughput and the share of the compute roof move with the batch. Bars are 95% intervals of the step "
         "time.",
         trajectory_panel},
        {"scaling", "Several ranks",
         "Data-parallel steps beside one rank with its part of the machine. Efficiency is the speedup over the number "
         "of ranks. "
         "Communication is exposed while the step stands still for it, hidden beside the backward pass; bus bandwidth "
         "is what each "
         "rank's link carries each way, by the ring's count.",
         scaling_panel},
        {"whatif", "What if",
         "The steps under roofs that are higher or lower than those measured, and at another batch (analytic).",
         what_if_panel},
        {"ceilings", "Ceilings",
         "Every roof with its interval, and the memory levels as measured beside those the machine reports.",
         ceilings_panel},
        {"curve", "Bandwidth against working set",
         "The sweep the memory levels were found on, at the most threads. Solid marks end a measured level, dashed "
         "ones are "
         "the reported capacities.",
         bandwidth_curve_panel},
        {"ert", "The Empirical Roofline's curve",
         "A loop of loads and multiply-adds at each arithmetic intensity and working set, under the roofs of loads and "
         "of "
         "multiply-adds, which were measured apart from it. A colour is a memory level. Where the roofs are true, the "
         "knee of each curve falls where they cross.",
         ert_curve_panel},
        {"absent", "Not measured here",
         "What a report can show that this run does not hold, and the command that would bring it.", absent_panel},
        {"provenance", "Method and provenance", "Where each number comes from, what ran, and what did not.",
         provenance_panel},
    }};
    return table;
}

}  // namespace roof::analysis
