"""Predicts how long a comparison takes, and chooses rounds and steps that fit into the given time."""

from collections import namedtuple

#: Model FLOPs of one image in one training step, analytic: used only to predict the time.
GFLOPS = {"alexnet": 4.14, "vgg11": 45.5, "vgg13": 67.7, "vgg16": 92.6, "vgg19": 117.6, "vgg11_bn": 45.5, "vgg13_bn": 67.7,
          "vgg16_bn": 92.6, "vgg19_bn": 117.6, "resnet18": 10.6, "resnet34": 21.7, "resnet50": 24.3, "resnet101": 46.6,
          "resnet152": 68.8}
#: Seconds that a step takes however small its batch: the parameters' traffic.
FIXED = {"alexnet": 0.1, "vgg11": 0.2, "vgg13": 0.2, "vgg16": 0.2, "vgg19": 0.2}

START_TORCH = 6.0
COMPILE = 50.0  # once for each network and precision; a variant that loses is not tried again
START_ROOF = 1.5
BF16_SPEED, AUTO_SPEED = 1.6, 1.3
CHOOSING = 4  # steps' worth of trying algorithms, when a row's are not remembered
SLOW = 2.0  # seconds of a step above which the best variant of PyTorch at a smaller batch is used without trials

#: Rounds of each row, and about how many seconds of timed steps a round has; at least one step.
Depth = namedtuple("Depth", "rounds seconds")
DEPTHS = (Depth(7, 4), Depth(5, 4), Depth(5, 2), Depth(4, 1.5), Depth(3, 1), Depth(3, 0.5), Depth(2, 0.5))
MOST_STEPS = 20

#: A network, batch and precision. PyTorch is started once for it and compared with each of our algorithms.
Group = namedtuple("Group", "model batch precision algorithms")


def steps_for(depth, seconds):
    return max(1, min(MOST_STEPS, round(depth.seconds / seconds)))


def step_seconds(group, rate):
    """Seconds of a step at `rate` FLOP/s in fp32; within a factor of two."""
    speed = BF16_SPEED if group.precision == "bf16" else 1
    return FIXED.get(group.model, 0) + GFLOPS.get(group.model, 25) * 1e9 * group.batch / (rate * speed)


def group_seconds(group, rate, depth, variants):
    """Seconds of a group; `variants`: variants of PyTorch to try."""
    step = step_seconds(group, rate)
    count = steps_for(depth, step)
    trial = variants * (START_TORCH + 2 * step) if step < SLOW else START_TORCH + step
    choosing = CHOOSING * step if "auto" in group.algorithms else 0
    ours = sum(START_ROOF + (1 + count) * step / (AUTO_SPEED if algorithm == "auto" and group.precision == "fp32" else 1)
               for algorithm in group.algorithms)
    return trial + choosing + depth.rounds * (count * step + ours)


def total_seconds(groups, rate, depth, variants, compiled):
    """Seconds of all groups; `compiled`: Pythons in which torch.compile is tried."""
    tried = {(group.model, group.precision) for group in groups}
    return sum(group_seconds(group, rate, depth, variants) for group in groups) + compiled * COMPILE * len(tried)


def deepest(groups, rate, seconds, variants, compiled=0):
    """The first depth at which all groups fit into `seconds`, else the last one; and its seconds."""
    for depth in DEPTHS:
        total = total_seconds(groups, rate, depth, variants, compiled)
        if total <= seconds:
            break
    return depth, total


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
