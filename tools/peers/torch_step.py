#!/usr/bin/env python3
"""Training steps of a torchvision network under PyTorch on the CPU or a GPU, timed on request.

A step is what `roof run` times: gradients cleared, forward, mean cross-entropy, backward, SGD with momentum 0.9 and weight
decay 1e-4 on every parameter, on one resident batch of random images of 3x224x224, dropout on, without stochastic depth and
auxiliary classifiers. bf16 is PyTorch's own mixed precision: fp32 weights and updates, convolutions and matrix products in
bf16 (torch.autocast); fp16 is that with a scaled loss.

On a GPU (--device cuda) steps follow one another without waiting for the host, and a step's time is that from one event on
the device to the next: PyTorch is not charged for being asked. cuDNN tries its algorithms (cudnn.benchmark); fp32 is fp32,
and tf32 what PyTorch makes of it. --graph captures the whole step, optimizer included, as a CUDA graph.

It speaks in lines of JSON. The first, when it is ready, says what it is; then each line it reads is a number of steps, and
each line it writes is {"seconds": [...]}, one number per step. Between requests it waits and takes no processor time. With
--steps it answers once and ends. With --data it trains on a folder of class/image.jpg as `roof run --data` does (random crops of 0.08 to 1
of the area, flipped every other time, scaled as ImageNet's images are) and answers {"losses": [...]}:

    torch_step.py --model resnet50 --batch 16 --steps 10
    torch_step.py --model gpt2@256 --batch 2 --steps 3          sequences of 256 tokens, by AdamW
    torch_step.py --model llama_1b@4096/decode --batch 4 --steps 20      a token after 4,096 in caches; bf16: weights and caches, too
    torch_step.py --model vgg16 --batch 8 --precision bf16 --layout contiguous --steps 5 --compile max-autotune
    torch_step.py --model resnet18 --batch 16 --data photos --steps 300 --lr 0.01

Needs PyTorch and torchvision: pip install torch torchvision --index-url https://download.pytorch.org/whl/cpu
"""

import argparse
import contextlib
import inspect
import itertools
import json
import re
import resource
import sys
import time

REMEDY = ("needs PyTorch and torchvision: pip install torch torchvision --index-url "
          "https://download.pytorch.org/whl/cpu (on Debian: apt-get install python3-torch python3-torchvision)")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="as torchvision names it: alexnet, vgg16_bn, resnet50, ...")
    parser.add_argument("--batch", type=int, required=True, help="images per step")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16", "fp16"], default="fp32")
    parser.add_argument("--graph", action="store_true", help="on a GPU: capture the step as a CUDA graph")
    parser.add_argument("--layout", choices=["channels_last", "contiguous"], default="channels_last",
                        help="of images and weights in memory [channels_last]")
    parser.add_argument("--compile", nargs="?", const="default", choices=["default", "max-autotune"],
                        help="torch.compile the network with its loss, in this mode (PyTorch 2)")
    parser.add_argument("--padded", action="store_true", help="the vocabulary of GPT-2 is padded to 50,304, as tuned recipes have it")
    parser.add_argument("--threads", type=int, help="[PyTorch's choice]")
    parser.add_argument("--warmup", type=int, default=2, help="steps before it is ready [2]")
    parser.add_argument("--steps", type=int, help="time this many steps once, and end")
    parser.add_argument("--data", help="the losses of --steps steps on this folder of class/image.jpg")
    # A small rate prevents overflow with random labels; it does not affect the time.
    parser.add_argument("--lr", type=float, default=1e-4, help="learning rate [%(default)s]")
    return parser.parse_args(arguments)


def import_torchvision(torch):
    """Imports torchvision, even if its compiled operators cannot be loaded, for example with a different build of
    PyTorch. The import declares properties of operators and fails if they are undeclared, so they are declared here by
    name. No network here uses them."""
    declared = None
    while True:
        try:
            import torchvision  # pylint: disable=import-outside-toplevel
            torchvision.declared = declared  # declarations last as long as this object
            return torchvision
        except RuntimeError as error:
            lacking = re.search(r"operator torchvision::(\w+) does not exist", str(error))
            if not lacking:
                raise
            for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
                del sys.modules[name]
            declared = declared or torch.library.Library("torchvision", "DEF")
            declared.define(f"{lacking[1]}(Tensor of) -> Tensor")


def imported(program):
    """torch and torchvision; nothing, with the remedy on standard error, where one is missing."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
        return torch, import_torchvision(torch)
    except ImportError as error:
        print(f"{program}: {error}; {REMEDY}", file=sys.stderr)
        return None


def optimizer_of(torch, parameters, rate, has_tokens):
    """SGD, or of tokens AdamW, in a single pass over the parameters if this PyTorch has it, because that is fastest."""
    kind = torch.optim.AdamW if has_tokens else torch.optim.SGD
    settings = {"lr": rate} if has_tokens else {"lr": rate, "momentum": 0.9, "weight_decay": 1e-4}
    if "fused" in inspect.signature(kind.__init__).parameters:
        try:
            return kind(parameters, fused=True, **settings), f"fused {kind.__name__}"
        except RuntimeError:
            pass
    return kind(parameters, **settings), f"plain {kind.__name__}"


#: GPT-2's 50,257 words, padded to a multiple of 64 as in nanoGPT and llm.c; no label is one of the others.
PADDED = 50304
NARROW = {"bf16": "bfloat16", "fp16": "float16"}


def set_precision(torch, options):
    torch.backends.cuda.matmul.allow_tf32 = options.precision != "fp32"
    torch.backends.cudnn.allow_tf32 = options.precision != "fp32"
    torch.backends.cudnn.benchmark = True


def network_of(torchvision, name, classes):
    """The network as `roof` trains it: without stochastic depth and auxiliary classifiers."""
    more = {"aux_logits": False, "init_weights": False} if name == "googlenet" else {}
    network = getattr(torchvision.models, name)(num_classes=classes, **more)
    for layer in network.modules():
        if isinstance(layer, torchvision.ops.StochasticDepth):
            layer.p = 0
    return network


def batches(torch, torchvision, options):
    """Yields images and labels of the folder endlessly, in a new order each epoch."""
    transforms = torchvision.transforms
    cut = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
                              transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    loader = torch.utils.data.DataLoader(torchvision.datasets.ImageFolder(options.data, cut), options.batch, shuffle=True, drop_last=True)
    return itertools.chain.from_iterable(itertools.repeat(loader))


def make_decode(torch, options, name, cached):
    """A function that decodes one token of each sequence, and returns one of its scores, and that nothing is trained."""
    from torch_transformers import LLAMA, decoder  # pylint: disable=import-outside-toplevel
    number = getattr(torch, NARROW.get(options.precision, "float32"))
    network = decoder(torch, options.batch, cached, **LLAMA[name]).to(options.device, number).eval()
    run = torch.compile(network, mode=options.compile) if options.compile else network
    tokens = torch.randint(0, LLAMA[name]["vocabulary"], (options.batch,)).to(options.device)

    @torch.no_grad()
    def step():
        return run(tokens)[0, 0]

    return (captured(torch, step) if options.graph else step), "no optimizer"


def make_step(torch, torchvision, options):
    """A function that runs one step, on a resident batch or the one given, and returns its loss as a tensor, and the name of the
    optimizer's kind."""
    torch.manual_seed(0)
    set_precision(torch, options)
    from torch_transformers import GPT2, token_network  # pylint: disable=import-outside-toplevel
    name, _, tokens = options.model.partition("@")
    tokens, _, phase = tokens.partition("/")
    if phase == "decode":
        return make_decode(torch, options, name, int(tokens))
    has_tokens = name in GPT2
    tokens = int(tokens or 1024)
    settings = {**GPT2[name], **({"vocabulary": PADDED} if options.padded else {})} if has_tokens else {}
    network = token_network(torch, tokens=tokens, **settings) if has_tokens else network_of(torchvision, name, 1000)
    layout = torch.channels_last if options.layout == "channels_last" else torch.contiguous_format
    network = network.to(options.device).to(memory_format=layout).train()
    if has_tokens:
        images = torch.randint(0, GPT2[name]["vocabulary"], (options.batch, tokens)).to(options.device)
        labels = images.roll(-1).flatten()
    else:
        images = torch.randn(options.batch, 3, 224, 224).to(options.device).to(memory_format=layout)
        labels = torch.randint(0, 1000, (options.batch,)).to(options.device)
    measure = torch.nn.CrossEntropyLoss()
    optimizer, kind = optimizer_of(torch, list(network.parameters()), options.lr, has_tokens)

    def loss_of(images, labels):
        return measure(network(images).float(), labels)

    run = torch.compile(loss_of, mode=options.compile) if options.compile else loss_of
    scaler = torch.amp.GradScaler("cuda") if options.precision == "fp16" else None

    def mixed():
        if options.precision not in NARROW:
            return contextlib.nullcontext()
        # A captured step must not keep low-precision copies of the weights from the previous step.
        return torch.autocast(options.device, dtype=getattr(torch, NARROW[options.precision]), cache_enabled=not options.graph)

    def step(images=images, labels=labels):
        optimizer.zero_grad(set_to_none=True)
        with mixed():
            loss = run(images, labels)
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        return loss

    return (captured(torch, step) if options.graph else step), kind


def captured(torch, step):
    """The step as a CUDA graph, captured after some steps on a separate stream, as PyTorch's notes recommend."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


def timed_on_gpu(torch, step, count):
    """Times from event to event, so that the host can run ahead, as in training."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    marks[0].record()
    for mark in marks[1:]:
        step()
        mark.record()
    torch.cuda.synchronize()
    return {"seconds": [begin.elapsed_time(end) * 1e-3 for begin, end in zip(marks, marks[1:])],
            "peak_memory_bytes": torch.cuda.max_memory_allocated()}


def timed(step, count):
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        step().item()
        seconds.append(time.perf_counter() - begin)
    return {"seconds": seconds, "peak_memory_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def say(answer):
    print(json.dumps(answer), flush=True)


def main(arguments):
    options = parse_arguments(arguments)
    libraries = imported("torch_step")
    if libraries is None:
        return 2
    torch, torchvision = libraries
    if options.compile and not hasattr(torch, "compile"):
        print(f"torch_step: --compile needs PyTorch 2, this is {torch.__version__}", file=sys.stderr)
        return 2
    if options.device == "cuda" and not torch.cuda.is_available():
        print("torch_step: this PyTorch sees no GPU", file=sys.stderr)
        return 2
    if options.graph and (options.device != "cuda" or options.precision == "fp16"):
        print("torch_step: --graph captures steps on a GPU whose loss is not scaled", file=sys.stderr)
        return 2
    if options.threads:
        torch.set_num_threads(options.threads)
    step, kind = make_step(torch, torchvision, options)
    if options.data:
        say({"losses": [step(*batch).item() for batch in itertools.islice(batches(torch, torchvision, options), options.steps)]})
        return 0
    losses = [step().item() for _ in range(max(1, options.warmup))]
    time_steps = (lambda count: timed_on_gpu(torch, step, count)) if options.device == "cuda" else (lambda count: timed(step, count))
    say({"ready": True, "torch": torch.__version__, "torchvision": torchvision.__version__,
         "threads": torch.get_num_threads(), "layout": options.layout, "compiled": options.compile or False, "padded": options.padded,
         "graph": options.graph, "optimizer": kind, "loss": losses[0]})
    if options.steps:
        say(time_steps(options.steps))
        return 0
    for line in sys.stdin:
        say(time_steps(int(line)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
