"""A small residual network in numpy: forward, backward, Adam.

Layers are objects with `forward`, `backward` and `weights`; activations are channels first, as ONNX
has them. Only what this example needs.
"""

import numpy as np


class Conv:
    """3x3 (padding 1) or 1x1 convolution without bias; group = 1, or depthwise."""

    def __init__(self, rng, inputs, outputs, kernel=3, stride=1, depthwise=False):
        self.kernel, self.stride, self.depthwise = kernel, stride, depthwise
        taps = kernel * kernel * (1 if depthwise else inputs)
        shape = (outputs, 1 if depthwise else inputs, kernel, kernel)
        self.w = rng.normal(0, np.sqrt(2 / taps), shape).astype(np.float32)
        self.weights = ["w"]

    def windows(self, x):
        pad, k, s = self.kernel // 2, self.kernel, self.stride
        x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        v = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))
        return v[:, :, ::s, ::s]  # N C H W kh kw

    def forward(self, x, training):
        self.shape, self.v = x.shape, self.windows(x)
        if self.depthwise:
            return np.einsum("nchwij,cij->nchw", self.v, self.w[:, 0], optimize=True)
        n, c, h, w = self.v.shape[:4]
        self.columns = self.v.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, -1)
        y = self.columns @ self.w.reshape(len(self.w), -1).T
        return y.reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, dy):
        n, c, h, w = self.v.shape[:4]
        if self.depthwise:
            self.dw = np.einsum("nchwij,nchw->cij", self.v, dy, optimize=True)[:, None]
            dv = dy[..., None, None] * self.w[:, 0][None, :, None, None]
        else:
            flat = dy.transpose(0, 2, 3, 1).reshape(n * h * w, -1)
            self.dw = (flat.T @ self.columns).reshape(self.w.shape)
            dv = (flat @ self.w.reshape(len(self.w), -1)).reshape(n, h, w, c, self.kernel, self.kernel)
            dv = dv.transpose(0, 3, 1, 2, 4, 5)
        pad, s = self.kernel // 2, self.stride
        dx = np.zeros((n, c, self.shape[2] + 2 * pad, self.shape[3] + 2 * pad), np.float32)
        for i in range(self.kernel):
            for j in range(self.kernel):
                dx[:, :, i:i + h * s:s, j:j + w * s:s] += dv[..., i, j]
        return dx[:, :, pad:pad + self.shape[2], pad:pad + self.shape[3]]


class Norm:
    """Batch normalisation."""
    epsilon = 1e-5

    def __init__(self, channels):
        self.scale, self.bias = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        self.mean, self.variance = np.zeros(channels, np.float32), np.ones(channels, np.float32)
        self.weights = ["scale", "bias"]

    def forward(self, x, training):
        mean, variance = self.mean, self.variance
        if training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
            self.mean += .1 * (mean - self.mean)
            self.variance += .1 * (variance - self.variance)
        self.deviation = np.sqrt(variance + self.epsilon)
        self.unit = (x - mean[:, None, None]) / self.deviation[:, None, None]
        return self.unit * self.scale[:, None, None] + self.bias[:, None, None]

    def backward(self, dy):
        self.dscale, self.dbias = (dy * self.unit).sum((0, 2, 3)), dy.sum((0, 2, 3))
        count = dy[:, 0].size
        d = dy - (self.dbias[:, None, None] + self.unit * self.dscale[:, None, None]) / count
        return d * (self.scale / self.deviation)[:, None, None]


class Relu:
    weights = []

    def forward(self, x, training):
        self.on = x > 0
        return x * self.on

    def backward(self, dy):
        return dy * self.on


class Residual:
    """relu(x + body(x))"""
    weights = []

    def __init__(self, *body):
        self.body, self.relu = body, Relu()

    def forward(self, x, training):
        y = x
        for layer in self.body:
            y = layer.forward(y, training)
        return self.relu.forward(x + y, training)

    def backward(self, dy):
        dy = self.relu.backward(dy)
        d = dy
        for layer in reversed(self.body):
            d = layer.backward(d)
        return d + dy


class Head:
    """Global average and a fully connected layer."""

    def __init__(self, rng, inputs, outputs):
        self.w = rng.normal(0, np.sqrt(1 / inputs), (outputs, inputs)).astype(np.float32)
        self.b = np.zeros(outputs, np.float32)
        self.weights = ["w", "b"]

    def forward(self, x, training):
        self.shape, self.mean = x.shape, x.mean((2, 3))
        return self.mean @ self.w.T + self.b

    def backward(self, dy):
        self.dw, self.db = dy.T @ self.mean, dy.sum(0)
        area = self.shape[2] * self.shape[3]
        return np.broadcast_to((dy @ self.w / area)[:, :, None, None], self.shape)


def build(seed):
    rng = np.random.default_rng(seed)

    def block(channels):
        return Residual(Conv(rng, channels, channels, depthwise=True), Norm(channels), Relu(),
                        Conv(rng, channels, channels, kernel=1), Norm(channels))

    return [Conv(rng, 1, 8, stride=2), Norm(8), Relu(), block(8),
            Conv(rng, 8, 24, stride=2), Norm(24), Relu(), block(24),
            Conv(rng, 24, 48, stride=2), Norm(48), Relu(), Head(rng, 48, 10)]


def flat(layers):
    """Every layer, those inside residual blocks included."""
    for layer in layers:
        yield from flat(layer.body) if isinstance(layer, Residual) else [layer]


def forward(layers, x, training=False):
    for layer in layers:
        x = layer.forward(x, training)
    return x


def train(layers, images, digits, epochs, seed, batch=64, rate=4e-3):
    rng = np.random.default_rng(seed)
    slots = [(layer, name) for layer in flat(layers) for name in layer.weights]
    first = [np.zeros_like(getattr(layer, name)) for layer, name in slots]
    second = [np.zeros_like(m) for m in first]
    steps, done = epochs * (len(images) // batch), 0
    for epoch in range(epochs):
        order = rng.permutation(len(images))
        total = 0.
        for start in range(0, len(order) - batch + 1, batch):
            pick = order[start:start + batch]
            scores = forward(layers, images[pick], True)
            p = np.exp(scores - scores.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            total -= np.log(p[np.arange(batch), digits[pick]] + 1e-9).mean()
            p[np.arange(batch), digits[pick]] -= 1
            d = p / batch
            for layer in reversed(layers):
                d = layer.backward(d)
            done += 1
            step = rate * .5 * (1 + np.cos(np.pi * done / steps))
            for (layer, name), m, v in zip(slots, first, second):
                g = getattr(layer, "d" + name)
                m += .1 * (g - m)
                v += .001 * (g * g - v)
                correction = np.sqrt(1 - .999**done) / (1 - .9**done)
                getattr(layer, name)[...] -= step * correction * m / (np.sqrt(v) + 1e-8)
        print(f"epoch {epoch + 1}: loss {total / (len(order) // batch):.4f}", flush=True)
