"""Recording real models on the CPU."""

import csv
import importlib.util
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock
from collections import defaultdict
from pathlib import Path

import roof
import test_folder
from roof import compiled

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_INDUCTOR = HAS_TORCH and importlib.util.find_spec("torch._inductor") is not None and shutil.which("g++") is not None
if HAS_TORCH:
    import torch
    from torch.nn.functional import cross_entropy
    from torch.utils.checkpoint import checkpoint
    from torch.utils.flop_counter import FlopCounterMode

    import networks

    IMAGES = (torch.zeros(2, 3, 224, 224).normal_(), torch.tensor([1, 2]))
    TOKENS = torch.arange(128).reshape(4, 32) % 300
    TEXT = (TOKENS, TOKENS.flatten())


def train(model, batch, steps=3):
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)
    for _ in range(steps):
        optimizer.zero_grad()
        cross_entropy(model(batch[0]), batch[1]).backward()
        optimizer.step()


def flops_by_torch(model, batch):
    with FlopCounterMode(display=False) as counter:
        cross_entropy(model(batch[0]), batch[1]).backward()
    return counter.get_total_flops()


def record_as_rank(folder, marks, rank, start, said):
    """Two steps and one for each rank before: what stands in a folder tells who wrote it."""
    os.environ.update(marks)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    model = torch.nn.Linear(4, 3)
    start.wait()
    try:
        with roof.record(folder, model) as recording:
            for _ in range(2 + rank):
                model(torch.zeros(2, 4)).sum().backward()
        said.put((rank, recording.folder))
    except FileExistsError:
        said.put((rank, None))


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Recorded(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name) / "mine"

    def record(self, model, batch, steps=3, **options):
        with roof.record(self.folder, model, **options) as recording:
            train(model, batch, steps)
        return recording

    def rows(self, name):
        with (self.folder / name).open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def layer(self, name, phase):
        return next(row for row in self.rows("layers.csv") if (row["layer"], row["phase"]) == (name, phase))

    # --------------------------------------------------------------------------------------------- counts
    def test_resnet18_has_the_flops_and_bytes_that_roof_has_layer_by_layer(self):
        recording = self.record(networks.ResNet18(), IMAGES, 1, name="resnet18")
        estimate = json.loads(subprocess.run([os.environ["ROOF_PROGRAM"], "estimate", "resnet18", "--batch", "2", "--json"], capture_output=True,
                                             text=True, check=True).stdout)
        expected = defaultdict(lambda: [0, 0])
        for layer in estimate["layers"]:  # torch's block does its own addition, and its relu runs twice
            name = layer["name"][:-4] if layer["name"].endswith(".add") else layer["name"]
            expected[name][0] += layer["forward_flops"]
            expected[name][1] += layer["forward_bytes"]
        del expected["flatten"]  # moves nothing
        del expected["loss"]  # PyTorch's is of several operators
        found = {row["layer"]: [float(row["flops"]), float(row["compulsory_bytes"])] for row in self.rows("layers.csv") if row["phase"] == "forward"}
        self.assertEqual(dict(expected), {name: found[name] for name in expected})
        self.assertEqual(60, len(expected))
        self.assertEqual(flops_by_torch(networks.ResNet18(), IMAGES), recording.flops)

    def test_sgd_costs_six_flops_and_twenty_bytes_for_each_parameter(self):
        model = networks.ResNet18()
        self.record(model, IMAGES, 2)
        row = self.layer("SGD", "update")
        parameters = sum(p.numel() for p in model.parameters())
        self.assertEqual((6.0 * parameters, 20.0 * parameters), (float(row["flops"]), float(row["compulsory_bytes"])))

    def test_mobilenet_v2_counts_each_group_alone(self):
        model = networks.MobileNetV2()
        self.assertEqual(3504872, sum(p.numel() for p in model.parameters()))
        # 300,774,272 multiply-adds forward; the first convolution needs no gradient of its input.
        first = 32 * 112 * 112 * 27
        self.assertEqual(2 * 2 * (3 * 300774272 - first), self.record(model, IMAGES, 1).flops)

    def test_attention_is_counted_which_torch_s_counter_leaves_out_on_a_cpu(self):
        model, small = networks.ViT(image=32, patch=8, width=64, depth=2, heads=4), (torch.zeros(2, 3, 32, 32), IMAGES[1])
        attention = 2 * 2 * 2 * 17 * 17 * 64 * 2  # layers, batch, products, length squared, width, FLOPs
        self.assertEqual(flops_by_torch(model, small) + attention * 3.5, self.record(model, small, 1).flops)

    def test_vit_b16_has_its_parameters_and_its_blocks(self):
        model = networks.ViT()
        self.assertEqual(86567656, sum(p.numel() for p in model.parameters()))
        model.blocks = model.blocks[:1]
        recording = self.record(model, IMAGES, 1)
        tokens = 2 * 197
        qkv = 2 * tokens * 768 * 3 * 768
        self.assertEqual(qkv, recording.work[("forward", "blocks.0.qkv")].contraction_flops)
        self.assertEqual(2 * qkv, recording.work[("backward", "blocks.0.qkv")].contraction_flops)

    def test_a_small_gpt_has_attention_in_its_blocks(self):
        recording = self.record(networks.GPT(), TEXT, 1)
        self.assertEqual(2 * 2 * 4 * 32 * 32 * 64, recording.work[("forward", "blocks.0")].contraction_flops)
        self.assertEqual(0, recording.work[("forward", "embedding")].flops)

    def test_pairs_that_a_causal_mask_leaves_out_are_not_executed(self):
        recording = self.record(networks.GPT(), TEXT, 1)
        per_pair, both_blocks = 2 * 2 * 64, 2 * 4  # two products of width 64; blocks and sequences
        forward, backward = both_blocks * per_pair * 32 * 32, both_blocks * per_pair * 32 * 32 * 5 / 2
        left_out = (forward + backward) * (32 * 31 / 2) / 32**2
        row = self.rows("measurements.csv")[0]
        self.assertEqual(flops_by_torch(networks.GPT(), TEXT) + forward + backward, float(row["flops"]))
        self.assertEqual(float(row["flops"]) - left_out, float(row["executed_flops"]))
        self.assertEqual(recording.executed_flops, float(row["executed_flops"]))
        again = both_blocks * 2 * 64 * 32 * 33 / 2
        self.assertIn(f"FLOPs of attention: {forward + backward:,.0f} of all pairs of query and key, "
                      f"{forward + backward - left_out:,.0f} executed, {again:,.0f} of these for scores", row["remarks"])
        layer = self.layer("blocks.0", "forward")
        self.assertEqual(forward / 2 * (32 * 31 / 2) / 32**2, float(layer["flops"]) - float(layer["executed_flops"]))
        self.assertEqual("", self.layer("blocks.0.qkv", "forward")["executed_flops"])

    def test_an_lstm_multiplies_every_weight_with_every_token(self):
        model = networks.LSTM()
        recording = self.record(model, TEXT, 1)
        weights = sum(p.numel() for name, p in model.rnn.named_parameters() if "weight" in name)
        self.assertEqual(2 * 128 * weights, recording.work[("forward", "rnn")].contraction_flops)
        self.assertEqual(2 * 2 * 128 * weights, recording.work[("backward", "rnn")].contraction_flops)

    # --------------------------------------------------------------------------------------------- times and files
    def test_parts_add_up_to_phases_and_phases_to_the_step(self):
        recording = self.record(networks.GPT(), TEXT, 5)
        self.assertEqual(3, len(recording.steps))  # two were counted
        for step in recording.steps:
            self.assertAlmostEqual(step.total(), sum(step.phase(p) for p in ("forward", "backward", "update")))
        samples = self.rows("samples.csv")
        self.assertEqual(["0", "0", "1", "1", "1"], [sample["used"] for sample in samples])
        self.assertGreater(float(samples[1]["data_s"]), 0)
        row = self.rows("measurements.csv")[0]
        self.assertEqual(("GPT", "4", "fp32", "cpu"), tuple(row[key] for key in ("model", "batch", "precision", "device")))
        self.assertGreaterEqual(float(row["others_processors"]), 0)
        self.assertGreaterEqual(float(row["waited_share"]), 0)

    def test_the_report_places_the_layers(self):
        self.record(networks.GPT(), TEXT)
        done = subprocess.run([os.environ["ROOF_PROGRAM"], "report", self.folder, "--data", self.folder / "data"], capture_output=True, text=True,
                              check=False, cwd=self.folder, timeout=120)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn("blocks.1.mlp.0", (self.folder / "data" / "placements.csv").read_text(encoding="utf-8"))

    def test_accumulated_gradients_make_one_step_and_a_last_pass_without_update_is_left_out(self):
        model = networks.LSTM()
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        with roof.record(self.folder, model) as recording:
            for i in range(7):
                cross_entropy(model(TEXT[0]), TEXT[1]).backward()
                if i % 2:
                    optimizer.step()
        self.assertEqual(3, len(self.rows("samples.csv")))
        self.assertIn("left out: 1 forward pass after the last update", "; ".join(recording.remarks))

    def test_a_penalty_on_gradients_counts_its_second_backward_pass(self):
        model, x = torch.nn.Linear(8, 4, bias=False), torch.ones(2, 8, requires_grad=True)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        with roof.record(self.folder, model):
            for _ in range(3):
                (penalty,) = torch.autograd.grad(model(x).square().sum(), x, create_graph=True)
                (penalty.square().sum() + torch.linalg.inv(torch.eye(2)).sum()).backward()
                optimizer.step()
        # Forward, the gradient of x, and back through each of the two: to the weights and to the other factor; an inverse has no formula.
        row = self.rows("measurements.csv")[0]
        self.assertEqual((6 * 2 * 2 * 8 * 4, "1"), (float(row["flops"]), row["flops_at_least"]))

    def test_inference_has_a_forward_phase_alone(self):
        model = networks.LSTM()
        with torch.no_grad(), roof.record(self.folder, model):
            for _ in range(3):
                model(TEXT[0])
        row = self.rows("measurements.csv")[0]
        self.assertGreater(float(row["forward_median_s"]), 0)
        self.assertEqual((0.0, 0.0), (float(row["backward_median_s"]), float(row["update_median_s"])))

    def test_the_model_is_left_as_it_was_also_after_an_error(self):
        model = networks.LSTM()
        with self.assertRaisesRegex(ValueError, "mine"), roof.record(self.folder, model):
            model(TEXT[0])
            raise ValueError("mine")
        self.assertEqual([], [name for name, module in model.named_modules() if "forward" in vars(module)])
        self.assertFalse((self.folder / "measurements.csv").exists())

    def test_what_another_backend_compiles_is_one_layer_from_its_first_step_on(self):
        plain = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
        batch = (torch.ones(8, 64), torch.arange(8))
        recording = self.record(torch.compile(plain, backend="eager"), batch, 4)
        flops = 2 * 8 * (2 * 64 * 128 + 3 * 128 * 10)
        self.assertEqual(flops, recording.flops)
        self.assertEqual(["Sequential"], [row["layer"] for row in self.rows("layers.csv") if row["phase"] == "forward"][:1])
        self.assertIn("a compiled model is one layer: Inductor did not", self.rows("measurements.csv")[0]["remarks"])
        plain.compile(backend="eager")
        with self.assertRaisesRegex(RuntimeError, "'Sequential' was compiled in place"):
            with roof.record(self.folder, plain, replace=True):
                pass

    @unittest.skipUnless(HAS_INDUCTOR, "Inductor does not compile here")
    def test_a_compiled_model_has_the_layers_and_flops_that_it_has_when_it_is_not_compiled(self):
        with mock.patch.dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(self.folder.parent / "cache")):
            model = networks.GPT()
            recording = self.record(torch.compile(model), TEXT, 5)
        self.assertEqual(2, len(recording.steps))  # two were counted, one compiled
        found = {(row["layer"], row["phase"]): row for row in self.rows("layers.csv")}
        with roof.record(self.folder, model, replace=True) as eager:
            train(model, TEXT, 3)
        for key, work in eager.work.items():
            self.assertEqual(work.contraction_flops, recording.work[key].contraction_flops if key in recording.work else 0.0, key)
        self.assertEqual((eager.flops, eager.executed_flops), (recording.flops, recording.executed_flops))
        embedding, tokens, width, words = found["blocks.0.norm1", "forward"], 128, 64, 500
        self.assertIn("also for embedding", embedding["implementation"])
        # Tokens, positions, gain and offset, mean and deviation (written and read again), two results, and of the table the rows alone.
        moved = 8 * tokens + 4 * (32 * width + 2 * width + 4 * tokens + 2 * tokens * width + tokens * width)
        self.assertEqual(moved, float(embedding["compulsory_bytes"]))
        self.assertGreater(4 * words * width, 4 * tokens * width)
        self.assertEqual("linear", found["blocks.0.qkv", "backward"]["kind"])

    @unittest.skipUnless(HAS_INDUCTOR, "Inductor does not compile here")
    def test_a_model_that_was_compiled_before_the_recording_is_one_layer_for_that_reason(self):
        with mock.patch.dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(self.folder.parent / "cache")):
            model = torch.compile(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()))
            batch = (torch.ones(4, 8), torch.arange(4))
            train(model, batch, 1)
            self.record(model, batch, 4)
        self.assertIn("a compiled model is one layer: it was compiled before", self.rows("measurements.csv")[0]["remarks"])

    def test_a_function_that_was_compiled_around_the_model_is_refused_with_what_to_do(self):
        model = networks.LSTM()
        step = torch.compile(lambda x, y: cross_entropy(model(x), y), backend="aot_eager")
        with self.assertRaisesRegex(RuntimeError, r"was compiled: record torch.compile\(model\)"), roof.record(self.folder, model):
            for _ in range(3):
                step(*TEXT).backward()

    def test_inputs_of_different_lengths_are_remarked(self):
        model = networks.GPT()
        with torch.no_grad(), roof.record(self.folder, model):
            for length in (32, 32, 16, 16):
                model(TOKENS[:, :length])
        self.assertIn("inputs had 2 different shapes", self.rows("measurements.csv")[0]["remarks"])

    def test_a_node_s_module_has_its_path_in_the_model_whatever_the_argument_s_name(self):
        for path in ("L['self'].blocks._modules['0'].qkv", "L['net'].blocks._modules['0'].qkv", "L['args'][0].blocks._modules['0'].qkv"):
            node = mock.Mock(meta={"nn_module_stack": {"a": (path, None)}})
            self.assertEqual("blocks.0.qkv", compiled.module_of(node))

    def test_kernels_of_triton_have_the_bytes_and_flops_that_inductor_says(self):
        node = mock.Mock(target=torch.ops.aten.relu.default, args=(mock.Mock(meta={"val": torch.empty(8)}, spec=["meta"]),), kwargs={},
                         meta={"val": torch.empty(8), "nn_module_stack": {"a": ("L['self']._modules['0'].act", None)}})
        program = ("triton_poi_0 = async_compile.triton('triton_poi_0', '''\n inductor_meta={'kernel_num_gb': 6.4e-08, 'kernel_flop': 128}''')\n"
                   "cpp_fused_1 = async_compile.cpp_pybinding(['float*'], r'''void  kernel(float* in_out_ptr0,\n const float* in_ptr0, "
                   "long ks0)\n{''')")
        defined = compiled.definitions(program)
        kernel = compiled.kernel_of("triton_poi_0", [node], defined["triton_poi_0"], set())
        self.assertEqual(("0.act", 8.0, 128.0, 64.0), (kernel.layer, kernel.work.flops, kernel.work.contraction_flops, kernel.work.compulsory))
        self.assertEqual([2, 1, 0], compiled.kernel_of("cpp_fused_1", [node], defined["cpp_fused_1"], set()).operands)

    def test_an_optimizer_that_asks_for_passes_is_a_step_with_all_of_them(self):
        model = networks.LSTM()
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, tolerance_grad=0, tolerance_change=0)

        def passes():
            optimizer.zero_grad()
            loss = cross_entropy(model(TEXT[0]), TEXT[1])
            loss.backward()
            return loss

        with roof.record(self.folder, model) as recording:
            for _ in range(5):
                optimizer.step(passes)
        self.assertEqual([3, 3, 3], [step.passes for step in recording.steps])
        self.assertEqual(5, len(self.rows("samples.csv")))
        once = self.record(networks.LSTM(), TEXT, 3, replace=True)
        self.assertEqual(3 * once.flops, recording.flops)
        self.assertIn("a step has 3 forward passes", "; ".join(recording.remarks))

    def test_the_work_of_a_step_is_that_of_its_passes(self):
        once = self.record(networks.LSTM(), TEXT, 3)
        for passes in (3, 5, 6):  # a step of three is counted whole, others are not
            model = networks.LSTM()
            optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)
            with roof.record(self.folder, model, replace=True) as recording:
                for i in range(5 * passes):
                    cross_entropy(model(TEXT[0]), TEXT[1]).backward()
                    if i % passes == passes - 1:
                        optimizer.step()
                        optimizer.zero_grad()
            self.assertEqual(passes * once.flops, recording.flops)
            update = ("update", "optimizer")
            self.assertEqual(once.work[update].flops, recording.work[update].flops)

    def test_nodes_of_a_function_of_one_s_own_and_recomputed_passes_belong_to_their_module(self):
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(_context, x):
                return x * 2

            @staticmethod
            def backward(_context, gradient):
                return gradient * 2

        class Own(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = torch.nn.Linear(64, 64), torch.nn.Linear(64, 10)

            def forward(self, x):
                return self.second(checkpoint(lambda y: torch.tanh(Twice.apply(self.first(y))), x, use_reentrant=False))

        recording = self.record(Own(), (torch.ones(8, 64), torch.arange(8)), 3)
        first = 2 * 8 * 64 * 64  # once more in the backward pass, by the module that asks for it
        self.assertEqual(2 * first + 3 * 2 * 8 * 64 * 10 + first, recording.flops)
        self.assertIn(("backward", "first"), recording.steps[0].seconds)

    def test_a_block_without_a_step_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "no training step"), roof.record(self.folder, networks.LSTM()):
            pass

    def test_steps_whose_folder_was_taken_meanwhile_are_kept_in_another(self):
        model = torch.nn.Linear(4, 3)
        with self.assertWarnsRegex(UserWarning, "holds results already"), roof.record(self.folder, model) as second:
            train(model, (torch.zeros(2, 4), torch.tensor([1, 2])))
            other = torch.nn.Linear(4, 3)
            with roof.record(self.folder, other) as first:
                train(other, (torch.zeros(2, 4), torch.tensor([1, 2])))
        self.assertEqual((self.folder, self.folder.with_name(f"mine-process{os.getpid()}")), (first.folder, second.folder))
        for one in (first, second):
            self.assertTrue((one.folder / "measurements.csv").exists())

    def test_each_rank_of_a_race_has_a_folder_that_is_whole_and_its_own(self):
        races, ranks = int(os.environ.get("ROOF_RACES", "3")), range(4)
        fork = multiprocessing.get_context("forkserver")
        fork.set_forkserver_preload([__name__, "torch._dynamo"])  # which the first step would import in each child
        for race in range(races):
            marks = (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"), None)[race % 3]
            folder = self.folder.with_name(f"race{race}")
            start, said = fork.Barrier(len(ranks)), fork.Queue()
            children = [fork.Process(target=record_as_rank, args=(folder, {marks[0]: str(rank), marks[1]: "4"} if marks else {}, rank, start, said))
                        for rank in ranks]
            for one in children:
                one.start()
            written = {place: rank for rank, place in (said.get(timeout=300) for _ in ranks) if place}
            for one in children:
                one.join()
            if marks:  # unmarked ones may also have found the folder taken before their first step
                self.assertEqual({folder.with_name(f"{folder.name}-rank{rank}") if rank else folder: rank for rank in ranks}, written)
            self.assertGreaterEqual(len(written), 1)
            self.assertEqual(sorted(written), sorted(self.folder.parent.glob(f"race{race}*")))
            for place, rank in written.items():
                test_folder.check_recording(place)
                self.assertEqual(2 + rank, len((place / "samples.csv").read_text(encoding="utf-8").splitlines()) - 1)
            if race % 50 == 49:
                print(f"{race + 1} races of four recorders", file=sys.stderr, flush=True)

    def test_profile_states_what_recording_costs_and_keeps_the_losses(self):
        recording = roof.profile(networks.LSTM(), cross_entropy, TEXT, steps=3, folder=self.folder)
        self.assertRegex(recording.remarks[0], r"recording cost -?\d+\.\d%: .* 3 steps each in turns")
        self.assertEqual(3, len([float(sample["loss"]) for sample in self.rows("samples.csv")]))


if __name__ == "__main__":
    unittest.main()
