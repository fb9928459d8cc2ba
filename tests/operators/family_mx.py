# SPDX-License-Identifier: Apache-2.0
"""Microscaling formats: arguments, and references on the bytes of the formats.

FLOAT8 is written out as specification 1.0 of the Open Compute Project has it: no dtype of torch computes here."""

import bisect
import math

import torch

from family_norms import DTYPES

# dstType: torch's dtype, bits of the mantissa, bias, the largest finite byte
FORMATS = {36: (torch.float8_e4m3fn, 3, 7, 0x7E), 35: (torch.float8_e5m2, 2, 15, 0x7B)}
SHAPES = [((3, 40), -1), ((70,), 0), ((2, 33, 5), 1), ((65, 2, 3), -3), ((1, 64), 1), ((2, 1), -1), ((2, 100), 1)]


def decoded(byte, mantissa, bias):
    """The value of a byte without a sign."""
    exponent, part = byte >> mantissa, (byte & ((1 << mantissa) - 1)) / (1 << mantissa)
    return math.ldexp(part, 1 - bias) if exponent == 0 else math.ldexp(1 + part, exponent - bias)


def encoded(value, kind):
    """The nearest byte, of two the even one; beyond the largest number that one."""
    _, mantissa, bias, most = FORMATS[kind]
    known = [decoded(byte, mantissa, bias) for byte in range(most + 1)]
    magnitude = min(abs(value), known[-1])
    above = bisect.bisect_left(known, magnitude)
    below = max(above - 1, 0)
    near, far = magnitude - known[below], known[above] - magnitude
    byte = below if near < far else above if far < near else below if below % 2 == 0 else above
    return byte | (0x80 if math.copysign(1, value) < 0 else 0)


def exponent_of(block, kind, way, bound):
    """The power of two of a block of finite numbers."""
    _, mantissa, bias, most = FORMATS[kind]
    largest = max(abs(one) for one in block)
    if way == 1:
        top = torch.tensor(decoded(most, mantissa, bias), dtype=torch.float32)
        largest = (torch.tensor(max(largest, bound), dtype=torch.float32) / top).item()
    if largest == 0:
        return -127
    part, exponent = math.frexp(largest)
    power = exponent - 1 - ((most >> mantissa) - bias) if way == 0 else exponent - (part == 0.5)
    return min(max(power, -127), 127)


def case_mx(dice):
    shape, axis = dice.choice(SHAPES)
    x = torch.randn(shape) * 10.0 ** dice.randrange(-4, 4)
    if dice.random() < 0.3:
        x = torch.where(torch.rand(shape) < 0.9, torch.zeros(()), x)
    if dice.random() < 0.2:
        x.view(-1)[dice.randrange(x.numel())] = dice.choice([math.inf, -math.inf, math.nan])
    if dice.random() < 0.2:
        x = x * 1e-38
    return {"x": x.to(dice.choice(DTYPES)), "axis": axis, "roundModeOptional": dice.choice([None, "rint"]),
            "dstType": dice.choice(list(FORMATS)), "blocksize": dice.choice([32, 32, 64]), "scaleAlg": dice.randrange(2),
            "dstTypeMax": 0.0, "maxLowBound": 0.0}


def case_mx_v3(dice):
    a = case_mx(dice)
    return a | {"maxLowBound": dice.choice([0.0, 2.5]) if a["scaleAlg"] == 1 else 0.0}


def mx_reference(a):
    kind, size, axis = a["dstType"], a["blocksize"], a["axis"] % a["x"].dim()
    lines = a["x"].double().movedim(axis, -1)
    numbers, scales = [], []
    for line in lines.reshape(-1, lines.shape[-1]).tolist():
        powers = []
        for begin in range(0, len(line), size):
            block = line[begin:begin + size]
            if not all(map(math.isfinite, block)):
                powers.append(255)
                numbers += [0x7F] * len(block)
                continue
            power = exponent_of(block, kind, a["scaleAlg"], a["maxLowBound"])
            powers.append(power + 127)
            numbers += [encoded(math.ldexp(one, -power), kind) for one in block]
        scales += powers + [0] * (len(powers) % 2)
    y = torch.tensor(numbers, dtype=torch.uint8).reshape(lines.shape).movedim(-1, axis).contiguous()
    mxscale = torch.tensor(scales, dtype=torch.uint8).reshape(*lines.shape[:-1], -1, 2).movedim(-2, axis).contiguous()
    return {"yOut": y.view(FORMATS[kind][0]), "mxscaleOut": mxscale.view(torch.float8_e8m0fnu)}


def case_back(dice):
    a = case_mx(dice) | {"blocksize": 32, "scaleAlg": 0}
    made = mx_reference(a)
    if dice.random() < 0.5:
        made["mxscaleOut"].view(torch.uint8).view(-1)[::3] = 255
    y = dice.choice([torch.float32, torch.float16, torch.bfloat16])
    return {"x": made["yOut"], "mxscale": made["mxscaleOut"], "axis": a["axis"], "y_dtype": y,
            "dstType": {torch.float32: 0, torch.float16: 1, torch.bfloat16: 27}[y]}


def back_reference(a):
    kind = {values[0]: number for number, values in FORMATS.items()}[a["x"].dtype]
    _, mantissa, bias, most = FORMATS[kind]
    axis = a["axis"] % a["x"].dim()
    lines = a["x"].view(torch.uint8).movedim(axis, -1)
    powers = a["mxscale"].view(torch.uint8).movedim(axis, -2).reshape(-1, a["mxscale"].shape[axis] * 2).tolist()
    out = []
    for line, scales in zip(lines.reshape(-1, lines.shape[-1]).tolist(), powers):
        for place, byte in enumerate(line):
            value = decoded(byte & 0x7F, mantissa, bias) if byte & 0x7F <= most else math.nan
            power = scales[place // 32]
            out.append(math.nan if power == 255 else math.copysign(math.ldexp(value, power - 127), -1 if byte & 0x80 else 1))
    return {"y": torch.tensor(out, dtype=torch.float64).reshape(lines.shape).movedim(-1, axis).contiguous().to(a["y_dtype"])}


CASES = {
    "DynamicMxQuant": (case_mx, mx_reference), "DynamicMxQuantV2": (case_mx, mx_reference),
    "DynamicMxQuantV3": (case_mx_v3, mx_reference), "AntiMxQuant": (case_back, back_reference),
}
