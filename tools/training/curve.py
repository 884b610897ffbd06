"""The losses of both programs training the same network on the same folder of images: two curves, one picture. Both start
from random parameters and shuffle, crop and flip at random, so the curves agree as two of PyTorch's own would: in their
course, not step by step."""

import json
import tempfile
from pathlib import Path

from measuring import Failed, run
from training.programs import openmp, run_roof, torch_step
from training.table import Row

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 860, 420, 60, 48, 40
COLOURS = {"roof": "#0b62a4", "PyTorch": "#c4500b"}


def add_arguments(parser):
    parser.add_argument("--curve", metavar="DIR", help="instead of a table: train on this folder of class/image.jpg, and draw "
                        "both losses; --models and --batches name one of each [resnet18, 16]")
    parser.add_argument("--curve-steps", type=int, default=300, metavar="N", help="[300]")
    parser.add_argument("--curve-lr", default="0.01", metavar="X", help="learning rate [0.01]")


def losses_of_torch(options, model, batch):
    command = [*torch_step(options, options.python[0], model, batch), "--data", options.curve, "--steps", options.curve_steps, "--lr",
               options.curve_lr]
    return json.loads(run(command, **openmp(options.threads)).text)["losses"]


def losses_of_roof(options, model, batch):
    with tempfile.TemporaryDirectory() as folder:
        _, _, answer = run_roof(options, Row(model, batch, "fp32", "auto"), options.curve_steps - 1, Path(folder) / "run",
                                "--data", options.curve, "--lr", options.curve_lr)
    return answer["losses"]


def smooth(losses, over=10):
    """The running mean over at most `over` losses."""
    return [sum(losses[max(0, i + 1 - over):i + 1]) / min(over, i + 1) for i in range(len(losses))]


def polyline(losses, most, colour, width, opacity):
    across = (WIDTH - LEFT - 20) / max(1, len(losses) - 1)
    points = " ".join(f"{LEFT + i * across:.1f},{HEIGHT - BOTTOM - loss / most * (HEIGHT - BOTTOM - TOP):.1f}" for i, loss in enumerate(losses))
    return (f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-opacity="{opacity}"/>')


def label(x, y, text, more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" {more}>{text}</text>'


def picture(curves, title):
    """SVG: each step's loss thin, the mean of ten thick. `curves`: {name: losses}."""
    most = max(max(losses) for losses in curves.values()) * 1.05
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             f'font-size="14">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', label(LEFT, 24, title)]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 20}" stroke="#ddd"/>')
        parts.append(label(LEFT - 8, y + 5, f"{share * most:.1f}", 'text-anchor="end"'))
    for place, (name, losses) in enumerate(curves.items()):
        parts.append(polyline(losses, most, COLOURS[name], 1, 0.3))
        parts.append(polyline(smooth(losses), most, COLOURS[name], 2.5, 1))
        parts.append(label(WIDTH - 30, TOP + 20 + 20 * place, name, f'text-anchor="end" fill="{COLOURS[name]}"'))
    steps = max(map(len, curves.values()))
    parts.append(label(LEFT, HEIGHT - 16, f"training steps, 1 to {steps}; upright: loss, thick its mean over ten steps"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def compare(options, progress):
    if not options.page:
        raise Failed("--curve draws a picture: say where with --page FILE.svg")
    model = options.models[0] if len(options.models) == 1 else "resnet18"
    batch = options.batches[0] if len(options.batches) == 1 else 16
    curves = {}
    for name, losses_of in (("roof", losses_of_roof), ("PyTorch", losses_of_torch)):
        progress.say(f"{model}, batch {batch}: {options.curve_steps} steps of {name}")
        curves[name] = losses_of(options, model, batch)
    title = f"{model}, batch {batch}, fp32, learning rate {options.curve_lr}, {Path(options.curve).name}"
    Path(options.page).write_text(picture(curves, title), encoding="utf-8")
    for name, losses in curves.items():
        tail = smooth(losses, 50)[-1]
        print(f"{name}: loss {losses[0]:.3f} at first, {tail:.3f} over the last {min(50, len(losses))} of {len(losses)} steps")
