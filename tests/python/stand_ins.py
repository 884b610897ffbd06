"""Stand-ins for what roof.configs asks of PyTorch and transformers: tensors with shapes, configurations and models."""

import math
import sys
from contextlib import nullcontext
from types import SimpleNamespace

SIZES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8}


class Tensor:
    def __init__(self, *shape, dtype="float32", first=0):
        self.shape, self.dtype, self.first = shape, dtype, first
        self.element_size, self.is_floating_point = lambda: SIZES[dtype], lambda: dtype != "int64"
        self.dim, self.numel = lambda: len(shape), lambda: math.prod(shape)

    def __getitem__(self, key):
        rows, tokens = (range(extent)[part] for extent, part in zip(self.shape, key))
        return Tensor(len(rows), len(tokens), dtype=self.dtype, first=tokens.start)


class Torch(SimpleNamespace):
    def __init__(self):
        super().__init__(**dict(zip(SIZES, SIZES)), usual="float16", nn=SimpleNamespace(Linear=Linear))
        self.get_default_dtype = lambda: self.usual
        self.set_default_dtype = lambda dtype: setattr(self, "usual", dtype)
        self.device, self.empty = nullcontext, lambda *extents: Tensor(*extents, dtype=self.usual)
        self.zeros = lambda *extents, dtype: Tensor(*extents, dtype=dtype)


class Layer:
    def __init__(self, *shapes):
        self.tensors = [Tensor(*shape, dtype="bfloat16") for shape in shapes]

    def parameters(self, recurse):
        return [] if recurse else self.tensors


Linear = type("Linear", (Layer,), {})


class Made:
    """A configuration."""

    def __init__(self, model_type="made", **keys):
        self.__dict__.update(keys, model_type=model_type)

    def get_text_config(self):
        return getattr(self, "text_config", self)


Bare, Lone = (type(name, (Made,), {}) for name in ("Bare", "Lone"))


class Model:
    main_input_name = "input_ids"

    def __init__(self, forward, generates=True, **members):
        self.forward, self.can_generate, self.calls, self.steps = forward, lambda: generates, [], []
        self.__dict__.update(members)

    def __call__(self, *given, **named):
        self.calls.append(named or given)
        return self.forward(*given, **named)

    @classmethod
    def _from_config(cls, config, dtype, attn_implementation):
        made = cls(lambda input_ids: 0, config=config, named_modules=lambda: [])
        made.steps.append((dtype, attn_implementation))
        return made

    @classmethod
    def _can_set_attn_implementation(cls):
        return True

    def eval(self):
        self.steps.append("eval")
        return self

    def tie_weights(self):
        self.steps.append("tied")


Masked, Causal, Translating = (type(name, (Model,), {}) for name in ("Masked", "Causal", "Translating"))


def libraries(version="5.0.1"):
    """The modules by their names."""
    types = {"made": Made, "bare": Bare, "lone": Lone}
    heads = {"MASKED_LM": Masked, "CAUSAL_LM": Causal, "SEQ_TO_SEQ_CAUSAL_LM": (Translating, Causal)}
    mappings = {f"MODEL_FOR_{head}_MAPPING": {Made: one} for head, one in heads.items()}
    auto = SimpleNamespace(configuration_auto=SimpleNamespace(CONFIG_MAPPING=types),
                           modeling_auto=SimpleNamespace(MODEL_MAPPING={Bare: Model}, **mappings))
    of_auto = SimpleNamespace(for_model=lambda model_type, **keys: types[model_type](model_type, **keys))
    fakes = SimpleNamespace(FakeTensorMode=lambda allow_non_fake_inputs: nullcontext())
    return {"torch": Torch(), "torch._subclasses.fake_tensor": fakes, "transformers.models.auto": auto,
            "transformers": SimpleNamespace(__version__=version, models=SimpleNamespace(auto=auto), Model=Model,
                                            helper=lambda: 0, AutoConfig=of_auto),
            "transformers.initialization": SimpleNamespace(no_init_weights=nullcontext),
            "transformers.modeling_outputs": SimpleNamespace(BaseModelOutput=dict)}
