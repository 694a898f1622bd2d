"""Draws the digits 0 to 9 as a pen would: the data of this example, made from nothing.

A digit is a few strokes, each a handful of points on the unit square (x to the right, y down) joined
by a smooth curve. A drawing bends the points a little, slants, turns, stretches and moves the whole,
picks a pen, and adds paper grain. Everything follows from the seed.
"""

import numpy as np

SIDE = 32

# Digit -> styles -> strokes -> points. A stroke whose last point is its first is a closed curve.
STROKES = {
    0: [[[(.5, .1), (.25, .25), (.2, .5), (.27, .78), (.5, .9), (.74, .77), (.8, .5), (.74, .22), (.5, .1)]]],
    1: [[[(.52, .1), (.51, .36), (.5, .64), (.5, .9)]],
        [[(.32, .3), (.42, .2), (.54, .1)], [(.54, .1), (.54, .5), (.53, .9)]]],
    2: [[[(.25, .3), (.33, .14), (.55, .1), (.73, .24), (.68, .45), (.45, .68), (.24, .88)],
         [(.24, .88), (.5, .88), (.78, .86)]]],
    3: [[[(.27, .2), (.42, .1), (.64, .14), (.7, .3), (.6, .44), (.44, .48)],
         [(.44, .48), (.64, .52), (.76, .68), (.66, .84), (.45, .9), (.25, .8)]]],
    4: [[[(.6, .1), (.42, .36), (.22, .62)], [(.22, .62), (.5, .62), (.82, .6)], [(.62, .38), (.61, .64), (.6, .9)]],
        [[(.28, .1), (.27, .32), (.3, .5)], [(.3, .5), (.5, .52), (.74, .48)], [(.72, .12), (.7, .5), (.68, .9)]]],
    5: [[[(.3, .12), (.29, .28), (.28, .46)], [(.3, .12), (.5, .12), (.72, .1)],
         [(.28, .46), (.5, .39), (.7, .48), (.76, .66), (.64, .84), (.44, .9), (.24, .82)]]],
    6: [[[(.66, .1), (.46, .24), (.3, .46), (.24, .68), (.36, .86), (.56, .9), (.73, .78), (.72, .6), (.56, .5),
          (.38, .55), (.26, .68)]]],
    7: [[[(.24, .13), (.5, .13), (.77, .12)], [(.77, .12), (.6, .42), (.46, .66), (.4, .9)]],
        [[(.24, .14), (.5, .13), (.77, .12)], [(.77, .12), (.58, .46), (.42, .9)], [(.36, .5), (.53, .49), (.7, .48)]]],
    8: [[[(.5, .47), (.32, .38), (.3, .2), (.5, .1), (.7, .2), (.68, .36), (.5, .47), (.29, .6), (.27, .8), (.5, .9),
          (.73, .8), (.71, .6), (.5, .47)]]],
    9: [[[(.72, .28), (.6, .12), (.4, .12), (.28, .28), (.34, .46), (.54, .5), (.7, .38), (.73, .26)],
         [(.73, .26), (.72, .5), (.66, .72), (.54, .9)]]],
}


def smooth(points, pieces=6):
    """A Catmull-Rom curve through the points."""
    points = np.asarray(points, np.float64)
    closed = np.allclose(points[0], points[-1])
    before = points[-2] if closed else 2 * points[0] - points[1]
    after = points[1] if closed else 2 * points[-1] - points[-2]
    p = np.vstack([before, points, after])
    t = np.linspace(0, 1, pieces, endpoint=False)[:, None]
    curve = [
        .5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
        for a, b, c, d in zip(p[:-3], p[1:-2], p[2:-1], p[3:])
    ]
    return np.vstack(curve + [points[-1:]])


def draw(digit, rng):
    """One drawing: SIDE x SIDE, 0 is paper, 1 is ink."""
    styles = STROKES[digit]
    strokes = styles[rng.integers(len(styles))]
    angle, slant = rng.normal(0, .1), rng.normal(0, .16)
    stretch = rng.uniform(.72, 1.05, 2)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shape = turn @ np.array([[1, -slant], [0, 1]]) @ np.diag(stretch)
    centre = .5 + rng.uniform(-.07, .07, 2)
    pixel = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), -1).reshape(-1, 1, 2) + .5

    nearest = np.full(SIDE * SIDE, np.inf)
    bend = {}  # strokes that share a point keep sharing it
    for stroke in strokes:
        moved = [bend.setdefault(p, np.array(p) + rng.normal(0, .022, 2)) for p in stroke]
        curve = ((smooth(moved) - .5) @ shape.T + centre) * SIDE
        start, step = curve[None, :-1], np.diff(curve, axis=0)[None]
        along = ((pixel - start) * step).sum(-1) / np.maximum((step * step).sum(-1), 1e-9)
        foot = start + np.clip(along, 0, 1)[..., None] * step
        nearest = np.minimum(nearest, np.sqrt(((pixel - foot)**2).sum(-1)).min(1))
    pen = rng.uniform(.8, 1.7)
    ink = np.clip(pen + .5 - nearest, 0, 1) * rng.uniform(.7, 1)
    paper = rng.normal(0, rng.uniform(.01, .06), SIDE * SIDE)
    return np.clip(ink + paper, 0, 1).reshape(SIDE, SIDE)


def batch(count, seed):
    """`count` drawings and their digits. The same seed gives the same batch."""
    rng = np.random.default_rng(seed)
    digits = rng.integers(0, 10, count)
    images = np.stack([draw(d, rng) for d in digits])
    # Stored as a camera would: 8 bits a pixel.
    return (np.round(images * 255) / 255).astype(np.float32)[:, None], digits
