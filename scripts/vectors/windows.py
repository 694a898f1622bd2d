"""Convolution, its transpose, pooling windows and resampling of [n, h, w, c], in double precision."""
import numpy as np


def windows(x, kernel, stride, dilation, begin, end, fill, ceil=False):
    """[n, oh, ow, kh, kw, c] of x [n, h, w, c]."""
    size = []
    for i in range(2):
        reach = dilation[i] * (kernel[i] - 1) + 1
        room = x.shape[1 + i] + begin[i] + end[i] - reach
        o = (-(-room // stride[i]) if ceil else room // stride[i]) + 1
        if ceil and (o - 1) * stride[i] >= x.shape[1 + i] + begin[i]:
            o -= 1
        size.append((o, max(0, (o - 1) * stride[i] + reach - x.shape[1 + i] - begin[i])))
    x = np.pad(x, ((0, 0), (begin[0], size[0][1]), (begin[1], size[1][1]), (0, 0)), constant_values=fill)
    y = np.empty((x.shape[0], size[0][0], size[1][0], kernel[0], kernel[1], x.shape[3]))
    for oy in range(size[0][0]):
        for ox in range(size[1][0]):
            for i in range(kernel[0]):
                for j in range(kernel[1]):
                    y[:, oy, ox, i, j] = x[:, oy * stride[0] + i * dilation[0], ox * stride[1] + j * dilation[1]]
    return y


def convolve(x, w, b, stride, dilation, begin, end, groups):
    out, kh, kw, each = w.shape
    v = windows(x, (kh, kw), stride, dilation, begin, end, 0.0)
    y = np.empty(v.shape[:3] + (out,))
    for o in range(out):
        g = o // (out // groups)
        y[..., o] = np.einsum("nyxijc,ijc->nyx", v[..., g * each:(g + 1) * each], w[o])
    return y if b is None else y + b


def transpose_convolve(x, w, b, stride, dilation, begin, end, extra, groups):
    out, kh, kw, each = w.shape
    n, h, width, _ = x.shape
    full = np.zeros((n, (h - 1) * stride[0] + dilation[0] * (kh - 1) + 1 + extra[0], (width - 1) * stride[1] + dilation[1] * (kw - 1) + 1 + extra[1], out))
    for o in range(out):
        g = o // (out // groups)
        for i in range(kh):
            for j in range(kw):
                part = np.einsum("nyxc,c->nyx", x[..., g * each:(g + 1) * each], w[o, i, j])
                full[:, i * dilation[0]:i * dilation[0] + h * stride[0]:stride[0], j * dilation[1]:j * dilation[1] + width * stride[1]:stride[1], o][:, :h, :width] += part
    y = full[:, begin[0]:full.shape[1] - end[0], begin[1]:full.shape[2] - end[1]]
    return y if b is None else y + b


def places(count, extent, coordinates):
    """Where each of `count` outputs stands in an input of `extent`."""
    o, scale = np.arange(count), count / extent
    return {"half_pixel": (o + 0.5) / scale - 0.5, "asymmetric": o / scale, "align_corners": o * (extent - 1) / max(count - 1, 1)}[coordinates]


def resized(x, size, linear, coordinates, rounding):
    for axis in (1, 2):
        extent, at = x.shape[axis], places(size[axis - 1], x.shape[axis], coordinates)
        if linear:
            at = np.clip(at, 0, extent - 1)
            low = np.floor(at).astype(int)
            share = (at - low).reshape([-1 if k == axis else 1 for k in range(x.ndim)])
            x = np.take(x, low, axis) * (1 - share) + np.take(x, np.minimum(low + 1, extent - 1), axis) * share
        else:
            at = np.floor(at) if rounding == "floor" else np.floor(at + 0.5)
            x = np.take(x, np.clip(at.astype(int), 0, extent - 1), axis)
    return x
