"""Trains a small network on several ranks in plain Python and double precision, for expected values that share nothing with the program: the
recipe of workloads/model/hashed.hpp. Each rank has its own batch and, in a batch norm, the statistics of that batch;
the gradients are the mean over the ranks. A map is [channel][row][column]."""
import itertools
import math

MOMENTUM, WEIGHT_DECAY, EPSILON = 0.9, 1e-4, 1e-5
FIRST_SEED = 100


def mix(x):
    x ^= x >> 16
    x = x * 0x7FEB352D & 0xFFFFFFFF
    x ^= x >> 15
    x = x * 0x846CA68B & 0xFFFFFFFF
    return x ^ x >> 16


def unit(seed, index):
    return (mix((mix(index) + seed * 0x9E3779B9) & 0xFFFFFFFF) >> 8) / 2**24 - 0.5


def places(channels, height, width):
    return itertools.product(range(channels), range(height), range(width))


def zeros(channels, height, width):
    return [[[0.0] * width for _ in range(height)] for _ in range(channels)]


def shape(x):
    return len(x), len(x[0]), len(x[0][0])


class Convolution:
    """3 x 3, stride 1, padding 1."""

    def __init__(self, inputs, outputs, bias):
        self.inputs, self.outputs, self.has_bias = inputs, outputs, bias

    def fills(self, is_normed, _):
        scale = 2 * math.sqrt(6 / (9 * self.inputs)) * (1 if is_normed else 0.85)
        return [(self.outputs * self.inputs * 9, scale, 0)] + ([(self.outputs, 0.1, 0)] if self.has_bias else [])

    def taps(self, source):
        """(place of the result, of the source, of the weight) of each product."""
        inputs, height, width = shape(source)
        for o, y, x in places(self.outputs, height, width):
            for i, dy, dx in places(inputs, 3, 3):
                if 0 <= y + dy - 1 < height and 0 <= x + dx - 1 < width:
                    yield o, y, x, i, y + dy - 1, x + dx - 1, ((o * inputs + i) * 3 + dy) * 3 + dx

    def forward(self, batch, values):
        results = []
        for source in batch:
            result = zeros(self.outputs, *shape(source)[1:])
            if self.has_bias:
                result = [[[values[1][o]] * len(row) for row in result[o]] for o in range(self.outputs)]
            for o, y, x, i, v, u, w in self.taps(source):
                result[o][y][x] += source[i][v][u] * values[0][w]
            results.append(result)
        return results

    def backward(self, batch, _, gradients, values, of_values):
        back = []
        for source, gradient in zip(batch, gradients):
            of_source = zeros(*shape(source))
            for o, y, x, i, v, u, w in self.taps(source):
                of_source[i][v][u] += gradient[o][y][x] * values[0][w]
                of_values[0][w] += gradient[o][y][x] * source[i][v][u]
            if self.has_bias:
                for o in range(self.outputs):
                    of_values[1][o] += sum(map(sum, gradient[o]))
            back.append(of_source)
        return back


class BatchNorm:
    def __init__(self, channels):
        self.channels = channels

    def fills(self, _, __):
        return [(self.channels, 0.5, 1), (self.channels, 0.2, 0)]

    @staticmethod
    def statistics(batch, c):
        values = [value for source in batch for row in source[c] for value in row]
        mean = sum(values) / len(values)
        return len(values), mean, 1 / math.sqrt(sum((value - mean) ** 2 for value in values) / len(values) + EPSILON)

    def forward(self, batch, values):
        results = [zeros(*shape(source)) for source in batch]
        for c in range(self.channels):
            _, mean, inverse = self.statistics(batch, c)
            for source, result in zip(batch, results):
                result[c] = [[values[0][c] * (value - mean) * inverse + values[1][c] for value in row] for row in source[c]]
        return results

    def backward(self, batch, _, gradients, values, of_values):
        back = [zeros(*shape(source)) for source in batch]
        for c in range(self.channels):
            count, mean, inverse = self.statistics(batch, c)
            pairs = [(g, (x - mean) * inverse) for source, gradient in zip(batch, gradients)
                     for of_g, of_x in zip(gradient[c], source[c]) for g, x in zip(of_g, of_x)]
            sums = sum(g for g, _ in pairs), sum(g * x for g, x in pairs)
            of_values[0][c] += sums[1]
            of_values[1][c] += sums[0]
            for source, gradient, of_source in zip(batch, gradients, back):
                of_source[c] = [[values[0][c] * inverse * (g - sums[0] / count - (x - mean) * inverse * sums[1] / count)
                                 for g, x in zip(of_g, of_x)] for of_g, of_x in zip(gradient[c], source[c])]
        return back


class Relu:
    @staticmethod
    def fills(_, __):
        return []

    @staticmethod
    def forward(batch, _):
        return [[[[max(value, 0.0) for value in row] for row in plane] for plane in source] for source in batch]

    @staticmethod
    def backward(batch, _, gradients, __, ___):
        return [[[[g if x > 0 else 0.0 for g, x in zip(*rows)] for rows in zip(*planes)] for planes in zip(*maps)]
                for maps in zip(gradients, batch)]


class MaxPool(Relu):
    """2 x 2, stride 2."""

    @staticmethod
    def largest(source, c, y, x):
        return max((source[c][v][u], v, u) for v in (2 * y, 2 * y + 1) for u in (2 * x, 2 * x + 1))

    def forward(self, batch, _):
        return [[[[self.largest(source, c, y, x)[0] for x in range(len(source[0][0]) // 2)] for y in range(len(source[0]) // 2)]
                 for c in range(len(source))] for source in batch]

    def backward(self, batch, _, gradients, __, ___):
        back = [zeros(*shape(source)) for source in batch]
        for source, gradient, of_source in zip(batch, gradients, back):
            for c, y, x in places(*shape(gradient)):
                _, v, u = self.largest(source, c, y, x)
                of_source[c][v][u] += gradient[c][y][x]
        return back


class Linear:
    """Of a map in the order of its places; the result is a map of one place for each feature."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = inputs, outputs

    def fills(self, is_normed, is_last):
        assert is_last
        return [(self.outputs * self.inputs, 2 * math.sqrt(3 / self.inputs) * 0.1, 0), (self.outputs, 0.1, 0)]

    @staticmethod
    def flat(source):
        return [value for plane in source for row in plane for value in row]

    def forward(self, batch, values):
        rows = [values[0][o * self.inputs:(o + 1) * self.inputs] for o in range(self.outputs)]
        return [[[[sum(map(float.__mul__, self.flat(source), row)) + bias]] for row, bias in zip(rows, values[1])] for source in batch]

    def backward(self, batch, _, gradients, values, of_values):
        back = []
        for source, gradient in zip(batch, gradients):
            flat, of_flat = self.flat(source), [0.0] * self.inputs
            for o in range(self.outputs):
                of_values[1][o] += gradient[o][0][0]
                for i, value in enumerate(flat):
                    of_values[0][o * self.inputs + i] += gradient[o][0][0] * value
                    of_flat[i] += gradient[o][0][0] * values[0][o * self.inputs + i]
            channels, height, width = shape(source)
            back.append([[of_flat[(c * height + y) * width:(c * height + y + 1) * width] for y in range(height)] for c in range(channels)])
        return back


def add(batch, other):
    return [[[[a + b for a, b in zip(*rows)] for rows in zip(*planes)] for planes in zip(*maps)] for maps in zip(batch, other)]


class Training:
    """`layers`: each a layer, whose source is the one before, or a number: the result of that layer is added to the one before."""

    def __init__(self, image, layers, rate, is_adamw=False):
        self.image, self.layers, self.rate, self.is_adamw, self.steps = image, layers, rate, is_adamw, 0
        is_normed = any(isinstance(layer, BatchNorm) for layer in layers)
        fills = [[] if isinstance(layer, int) else layer.fills(is_normed, layer is layers[-1]) for layer in layers]
        seeds = itertools.count(FIRST_SEED)
        self.values = [[self.fill(next(seeds), *one) for one in of_layer] for of_layer in fills]
        self.momenta, self.squares = ([[[0.0] * len(one) for one in of_layer] for of_layer in self.values] for _ in range(2))

    @staticmethod
    def fill(seed, count, scale, offset):
        return [unit(seed, i) * scale + offset for i in range(count)]

    def batch(self, first, count):
        channels, height, width = self.image
        size = channels * height * width
        return [[[[unit(1, n * size + (c * height + y) * width + x) * 2 * math.sqrt(3) for x in range(width)] for y in range(height)]
                 for c in range(channels)] for n in range(first, first + count)]

    def differentiate(self, first, count):
        """The loss of these images, and its gradients."""
        results = [self.batch(first, count)]
        for layer, values in zip(self.layers, self.values):
            results.append(add(results[-1], results[layer + 1]) if isinstance(layer, int) else layer.forward(results[-1], values))
        loss, gradients = 0.0, []
        for n, result in enumerate(results[-1]):
            largest = max(value for ((value,),) in result)
            powers = [math.exp(value - largest) for ((value,),) in result]
            label = (7 + 389 * (first + n)) % len(powers)
            loss -= math.log(powers[label] / sum(powers)) / count
            gradients.append([[[(power / sum(powers) - (k == label)) / count]] for k, power in enumerate(powers)])
        of_values = [[[0.0] * len(one) for one in of_layer] for of_layer in self.values]
        of_results = {len(self.layers): gradients}
        for k in reversed(range(len(self.layers))):
            gradient = of_results[k + 1]
            layer = self.layers[k]
            if isinstance(layer, int):
                of_results[layer + 1] = gradient
                back = gradient
            else:
                back = layer.backward(results[k], results[k + 1], gradient, self.values[k], of_values[k])
            of_results[k] = add(back, of_results[k]) if k in of_results else back
        return loss, of_values

    def step(self, ranks, batch):
        """The mean loss of the ranks."""
        self.steps += 1
        shares = [self.differentiate(rank * batch, batch) for rank in range(ranks)]
        for k, of_layer in enumerate(self.values):
            for p, values in enumerate(of_layer):
                for i in range(len(values)):
                    gradient = sum(of_values[k][p][i] for _, of_values in shares) / ranks
                    self.update(values, self.momenta[k][p], self.squares[k][p], i, gradient)
        return sum(loss for loss, _ in shares) / ranks

    def update(self, values, momenta, squares, i, gradient):
        if self.is_adamw:
            momenta[i] = 0.9 * momenta[i] + 0.1 * gradient
            squares[i] = 0.999 * squares[i] + 0.001 * gradient**2
            mean, root = momenta[i] / (1 - 0.9**self.steps), math.sqrt(squares[i] / (1 - 0.999**self.steps))
            values[i] -= self.rate * (0.01 * values[i] + mean / (root + 1e-8))
        else:
            momenta[i] = MOMENTUM * momenta[i] + gradient + WEIGHT_DECAY * values[i]
            values[i] -= self.rate * momenta[i]

    def losses(self, launches, ranks, batch, look_every=4):
        """Of the launches; after each fourth, from the first on, another step that times the layers trains, too."""
        found = []
        for launch in range(launches):
            found.append(self.step(ranks, batch))
            if launch % look_every == 0:
                self.step(ranks, batch)
        return found
