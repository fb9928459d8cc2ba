# SPDX-License-Identifier: Apache-2.0
"""Arguments for every function that computes: by the names of its parameters, or a recipe."""

import torch

import aclnn
import families

F = torch.float32


def rand(*shape, dtype=F):
    if dtype == torch.bool:
        return torch.rand(shape) > 0.5
    if dtype.is_complex or dtype.is_floating_point:
        return torch.randn(shape).to(dtype) if not dtype.is_complex else torch.randn(shape, dtype=dtype)
    return torch.randint(-5 if dtype.is_signed else 0, 6, shape, dtype=dtype)


def ints(high, *shape, dtype=torch.int64):
    return torch.randint(0, high, shape, dtype=dtype)


def layout(tensor, number):
    """The tensor's values in other memory: as they are (0), transposed (1), inside a larger tensor (2)."""
    if number == 1 and tensor.dim() >= 2:
        return tensor.mT.contiguous().mT
    if number == 2 and tensor.dim() >= 1:
        wide = torch.zeros([size + 3 for size in tensor.shape], dtype=tensor.dtype)
        inner = wide[tuple(slice(1, size + 1) for size in tensor.shape)]
        inner.copy_(tensor)
        return inner
    return tensor


SCALARS = {"alpha": 2, "beta": 0.5, "value": 3, "other": 2, "clipValueMin": -0.5, "clipValueMax": 0.75, "min": -0.5,
           "max": 0.75, "threshold": 0.25, "exponent": 2, "negativeSlope": 0.1, "scale": 1.5, "inputScale": 1.25, "lambda": 0.5, "shiftBits": 2,
           "weight": 0.25, "self": 2, "pScalar": 2, "ord": 2, "fillValue": 3, "scalar": 1.5, "lambd": 0.5, "p": 2,
           "maxNorm": 1, "prob": 0.25, "start": 1, "end": 9, "step": 2, "dim": 0, "betaOptional": 0.5, "alphaOptional": 2}
NUMBERS = {"dim": 0, "reduction": 1, "diagonal": 1, "mode": 1, "approximate": 1, "k": 2, "decimals": 1, "groups": 2,
           "numClasses": 5, "n": 4, "m": 3, "nan": 1.0, "posinf": 5.0, "neginf": -5.0, "correction": 1, "steps": 12,
           "beta": 1.5, "rtol": 1e-3, "atol": 1e-3, "p": 2.0, "lambd": 0.5, "eps": 1e-5, "epsilon": 1e-5}


def plain(name, dtype=F, shape=(3, 4)):
    """Arguments by the names of the parameters, outputs left out."""
    values = {}
    row = aclnn.functions()[name]
    for place, argument in enumerate(row["arguments"]):
        kind, word = argument["kind"], argument["name"]
        if place in row["outputs"] and argument["access"] == "ADVSTEP_WRITES":
            continue
        if kind == "kTensor":
            values[word] = (rand(*shape, dtype=dtype) > 0) if word in ("mask", "condition") else rand(*shape, dtype=dtype)
        elif kind == "kTensorList":
            values[word] = [rand(*shape, dtype=dtype), rand(5, dtype=dtype)]
        elif kind == "kScalar":
            values[word] = SCALARS[word]
        elif kind == "kScalarList":
            values[word] = [1.5, 2.0]
        elif kind == "kIntArray":
            values[word] = [0]
        elif kind in ("kInt", "kReal"):
            values[word] = NUMBERS.get(word, 0)
        elif kind == "kFlag":
            values[word] = False
        elif kind == "kDataType":
            values[word] = F
        elif kind == "kText":
            values[word] = "none"
    return values


def v(**values):
    return values


def _pool(name):
    three = "3d" in name
    x = rand(2, 3, 6, 7, 8) if three else rand(2, 3, 6, 7)
    n = 3 if three else 2
    return x, [2] * n, [2] * n, [0] * n


def _backward_of_pool(pool, x, *rest):
    return getattr(torch.ops.aten, pool)(x, *rest)


def _conv(transposed=False, groups=1):
    x, w = rand(2, 4, 7, 8), rand(4, 6 // 2 if transposed else 4 // groups, 3, 3)
    return v(input=x, weight=w, bias=rand(w.shape[1] * groups if transposed else 4), stride=[2, 1], padding=[1, 0],
             dilation=[1, 1], transposed=transposed, outputPadding=[1, 0], groups=groups)


def _conv_backward():
    a = _conv()
    y = torch.ops.aten.convolution(*a.values())
    return v(gradOutput=torch.randn_like(y), input=a["input"], weight=a["weight"], biasSizes=[4], stride=[2, 1],
             padding=[1, 0], dilation=[1, 1], transposed=False, outputPadding=[0, 0], groups=1,
             outputMask=[True, True, True])


def _upsample(name):
    dims = 3 if ("3d" in name) else 1 if "1d" in name else 2
    size = {1: [7], 2: [7, 9], 3: [5, 7, 9]}[dims]
    source = [4, 5, 6][:dims]
    values = {}
    for argument in aclnn.functions()[name]["arguments"]:
        word = argument["name"]
        if word in ("self", "x", "input"):
            values[word] = rand(2, 3, *source)
        elif word in ("gradOut", "gradOutput"):
            values[word] = rand(2, 3, *size)
        elif word == "outputSize":
            values[word] = size
        elif word == "inputSize":
            values[word] = [2, 3, *source]
        elif word == "alignCorners":
            values[word] = False
        elif word.startswith("scale"):
            values[word] = 0.0
    return values


def _norm_stats(x, dims):
    return x.mean(dims, True), torch.rsqrt(x.var(dims, unbiased=False, keepdim=True) + 1e-5)


def _layer_norm_backward():
    x = rand(3, 4, 5)
    mean, rstd = _norm_stats(x, [-1])
    return v(gradOut=rand(3, 4, 5), input=x, normalizedShape=[5], mean=mean, rstd=rstd, weightOptional=rand(5),
             biasOptional=rand(5), outputMask=[True, True, True])


def _group_norm_backward():
    x = rand(2, 6, 4, 5)
    _, mean, rstd = torch.ops.aten.native_group_norm(x, None, None, 2, 6, 20, 3, 1e-5)
    return v(gradOut=rand(2, 6, 4, 5), input=x, mean=mean, rstd=rstd, gamma=rand(6), N=2, C=6, HxW=20, group=3,
             outputMask=[True, True, True])


def _batch_norm_backward():
    x = rand(4, 3, 5)
    mean, invstd = _norm_stats(x, [0, 2])
    return v(gradOut=rand(4, 3, 5), input=x, weight=rand(3), runningMean=rand(3), runningVar=rand(3).abs(),
             saveMean=mean.flatten(), saveInvstd=invstd.flatten(), training=True, eps=1e-5,
             outputMask=[True, True, True])


def _max_pool_backward(name):
    three = "3d" in name
    x = rand(2, 3, 6, 6, 6) if three else rand(2, 3, 6, 6)
    n = 3 if three else 2
    pool = torch.ops.aten.max_pool3d_with_indices if three else torch.ops.aten.max_pool2d_with_indices
    y, indices = pool(x, [2] * n, [2] * n, [0] * n, [1] * n, False)
    return v(gradOutput=torch.randn_like(y), self=x, indices=indices.int(), kernelSize=[2] * n, stride=[2] * n,
             padding=[0] * n, dilation=[1] * n, ceilMode=False)


def _adaptive_max_backward(name):
    three = "3d" in name
    x = rand(2, 3, 6, 6, 6) if three else rand(2, 3, 6, 6)
    pool = torch.ops.aten.adaptive_max_pool3d if three else torch.ops.aten.adaptive_max_pool2d
    y, indices = pool(x, [3] * (3 if three else 2))
    return v(gradOutput=torch.randn_like(y), self=x, indices=indices)


def _ctc(backward=False):
    logs = torch.log_softmax(rand(6, 2, 5), -1)
    a = dict(logProbs=logs, targets=ints(4, 2, 3) + 1, inputLengths=[6, 5], targetlengths=[3, 2], blank=0,
             zeroInfinity=False)
    if not backward:
        return a
    loss, alpha = torch.ops.aten._ctc_loss(*a.values())
    a["targetLengths"] = a.pop("targetlengths")
    return dict(gradOut=torch.ones(2), logProbs=logs, targets=a["targets"], inputLengths=[6, 5], targetLengths=[3, 2],
                negLogLikelihood=loss, logAlpha=alpha, blank=0, zeroInfinity=False)


def _nll(backward=False, two=False):
    x = rand(4, 5, 3, 3) if two else rand(4, 5)
    target = ints(5, 4, 3, 3, dtype=torch.int32) if two else ints(5, 4, dtype=torch.int32)
    a = dict(self=x, target=target, weight=rand(5).abs(), reduction=1, ignoreIndex=-100)
    if backward:
        total = a["weight"][target.long()].sum()
        a = dict(gradOutput=rand(), **a, totalWeight=total)
    return a


def _pool_avg(name, backward=False):
    x, kernel, stride, pad = _pool(name)
    a = dict(self=x, kernelSize=kernel, ceilMode=False, countIncludePad=True, divisorOverride=0)
    n = len(kernel)
    if not backward:
        spelled = ("strides", "paddings") if name == "aclnnAvgPool2d" else ("stride", "padding")
        return dict(self=x, kernelSize=kernel, **{spelled[0]: stride, spelled[1]: pad}, ceilMode=False,
                    countIncludePad=True, divisorOverride=0)
    y = torch.ops.aten.avg_pool3d(x, kernel, stride) if n == 3 else torch.ops.aten.avg_pool2d(x, kernel, stride)
    return dict(gradOutput=torch.randn_like(y), stride=stride, padding=pad, **a)


def ordered_product(n):
    return dict(x1=rand(3, 2, 4), x2=rand(2, 4, 5), bias=None, scale=None, permX1=[1, 0, 2], permX2=[0, 1, 2],
                permY=[1, 0, 2], batchSplitFactor=1)


RECIPES = {
    "aclnnAddmm": lambda n: v(self=rand(3, 5), mat1=rand(3, 4), mat2=rand(4, 5), beta=0.5, alpha=2),
    "aclnnInplaceAddmm": lambda n: v(selfRef=rand(3, 5), mat1=rand(3, 4), mat2=rand(4, 5), beta=0.5, alpha=2),
    "aclnnAddmv": lambda n: v(self=rand(3), mat=rand(3, 4), vec=rand(4), beta=0.5, alpha=2),
    "aclnnAddbmm": lambda n: v(self=rand(3, 5), batch1=rand(2, 3, 4), batch2=rand(2, 4, 5), beta=0.5, alpha=2),
    "aclnnAddr": lambda n: v(self=rand(3, 4), vec1=rand(3), vec2=rand(4), betaOptional=0.5, alphaOptional=2),
    "aclnnBaddbmm": lambda n: v(self=rand(2, 3, 5), batch1=rand(2, 3, 4), batch2=rand(2, 4, 5), beta=0.5, alpha=2),
    "aclnnInplaceBaddbmm": lambda n: v(selfRef=rand(2, 3, 5), batch1=rand(2, 3, 4), batch2=rand(2, 4, 5), beta=0.5,
                                       alpha=2),
    "aclnnBatchMatMul": lambda n: v(self=rand(2, 3, 4), mat2=rand(2, 5, 4).mT),
    "aclnnMatmul": lambda n: v(self=rand(2, 1, 3, 4), mat2=rand(3, 4, 5)),
    "aclnnAddmmWeightNz": lambda n: v(self=rand(3, 5), mat1=rand(3, 4), mat2=rand(4, 5), beta=0.5, alpha=2),
    "aclnnBatchMatMulWeightNz": lambda n: v(self=rand(2, 3, 4), mat2=rand(2, 5, 4).mT),
    "aclnnMatmulWeightNz": lambda n: v(self=rand(3, 4), mat2=rand(4, 5)),
    "aclnnFusedMatmul": lambda n: v(x1=rand(3, 4), x2=rand(4, 5), bias=rand(5), x3=rand(3, 5), fusedOpType="add"),
    "aclnnTransposeBatchMatMul": ordered_product, "aclnnTransposeBatchMatMulWeightNz": ordered_product,
    "aclnnMm": lambda n: v(self=rand(3, 4), mat2=rand(4, 5)),
    "aclnnMv": lambda n: v(self=rand(4, 3).t(), vec=rand(4)),
    "aclnnDot": lambda n: v(self=rand(6), tensor=rand(6)),
    "aclnnSum": lambda n: v(tensors=[rand(3, 4), rand(4), rand(3, 1)]),
    "aclnnSumV2": lambda n: v(tensors=[rand(3, 4), rand(4), rand(3, 1)]),
    "aclnnGer": lambda n: v(self=rand(3), vec2=rand(4)),
    "aclnnGemm": lambda n: v(A=rand(4, 3), B=rand(4, 5), C=rand(3, 5), alpha=2.0, beta=0.5, transA=1, transB=0),
    "aclnnTriangularSolve": lambda n: v(self=rand(4, 2), A=rand(4, 4) + 5 * torch.eye(4), upper=True, transpose=True,
                                        unitriangular=False),
    "aclnnInverse": lambda n: v(self=rand(4, 4) + 5 * torch.eye(4)),
    "aclnnArange": lambda n: v(start=1, end=9, step=2),
    "aclnnRange": lambda n: v(start=1, end=9, step=2),
    "aclnnCat": lambda n: v(tensors=[rand(2, 3), rand(4, 3)], dim=0),
    "aclnnAddN": lambda n: v(tensors=[rand(3, 5), rand(3, 5), rand(5)]),
    "aclnnEinsum": lambda n: v(tensors=[rand(3, 5), rand(5, 4)], equation="ij,jk->ik"),
    "aclnnStack": lambda n: v(tensors=[rand(2, 3), rand(2, 3)], dim=1),
    "aclnnConstantPadNd": lambda n: v(self=rand(3, 4), pad=[1, 2], value=3),
    "aclnnEmbedding": lambda n: v(weight=rand(5, 3), indices=ints(5, 2, 4, dtype=torch.int32)),
    "aclnnEmbeddingDenseBackward": lambda n: v(grad=rand(2, 4, 3), indices=ints(5, 2, 4), numWeights=5,
                                               paddingIdx=(1 << 64) - 1, scaleGradByFreq=False),
    "aclnnExpand": lambda n: v(self=rand(3, 1), size=[2, 3, 4]),
    "aclnnFlip": lambda n: v(self=rand(3, 4), dims=[1]),
    "aclnnGather": lambda n: v(self=rand(3, 4), dim=1, index=ints(4, 3, 2, dtype=torch.int32)),
    "aclnnGatherV2": lambda n: v(self=rand(3, 4), dim=1, index=ints(4, 2, 3, dtype=torch.int32) - 4),
    "aclnnIndex": lambda n: v(self=rand(3, 4, 5), indices=[ints(3, 2), None, ints(5, 2)]),
    "aclnnIndexAdd": lambda n: v(self=rand(3, 4), dim=1, index=ints(4, 5, dtype=torch.int32), source=rand(3, 5), alpha=2),
    "aclnnIndexPutImpl": lambda n: v(selfRef=rand(3, 4), indices=[ints(3, 2), ints(4, 2)], values=rand(2),
                                     accumulate=True, unsafe=False),
    "aclnnIndexSelect": lambda n: v(self=rand(3, 4), dim=-1, index=ints(4, 6, dtype=torch.int32)),
    "aclnnInplaceIndexCopy": lambda n: v(selfRef=rand(3, 4), dim=0, index=torch.tensor([2, 0]), source=rand(2, 4)),
    "aclnnInplaceIndexFill": lambda n: v(selfRef=rand(3, 4), dim=0, index=torch.tensor([2, 0]), value=3),
    "aclnnInplaceIndexFillTensor": lambda n: v(selfRef=rand(3, 4), dim=0, index=[2, 0], value=3),
    "aclnnInplaceFillDiagonal": lambda n: v(selfRef=rand(4, 4), fillValue=3, wrap=False),
    "aclnnInplaceFillTensor": lambda n: v(selfRef=rand(3, 4), value=torch.tensor([2.5])),
    "aclnnInplaceMaskedFillTensor": lambda n: v(selfRef=rand(3, 4), mask=rand(3, 4) > 0, value=torch.tensor(2.5)),
    "aclnnInplaceMaskedScatter": lambda n: v(selfRef=rand(3, 4), mask=rand(3, 4) > 0, source=rand(12)),
    "aclnnOneHot": lambda n: v(self=ints(5, 3, 2), numClasses=5, onValue=torch.tensor(2.0), offValue=torch.tensor(-1.0),
                               axis=-1),
    "aclnnPermute": lambda n: v(self=rand(2, 3, 4), dims=[2, 0, 1]),
    "aclnnReflectionPad1d": lambda n: v(self=rand(2, 3, 5), padding=[1, 2]),
    "aclnnReflectionPad2d": lambda n: v(self=rand(2, 3, 5, 4), padding=[1, 2, 2, 0]),
    "aclnnReflectionPad3d": lambda n: v(self=rand(1, 2, 3, 5, 4), padding=[1, 2, 2, 0, 1, 1]),
    "aclnnReplicationPad1d": lambda n: v(self=rand(2, 3, 5), padding=[1, 2]),
    "aclnnReplicationPad2d": lambda n: v(self=rand(2, 3, 5, 4), padding=[1, 2, 2, 0]),
    "aclnnReplicationPad3d": lambda n: v(self=rand(1, 2, 3, 5, 4), padding=[1, 2, 2, 0, 1, 1]),
    "aclnnRepeat": lambda n: v(self=rand(3, 4), repeats=[2, 1, 3]),
    "aclnnRepeatInterleave": lambda n: v(self=rand(6), repeats=ints(3, 6), outputSize=0),
    "aclnnRepeatInterleaveWithDim": lambda n: v(self=rand(3, 4), repeats=ints(3, 3), dim=0, outputSize=0),
    "aclnnRepeatInterleaveInt": lambda n: v(self=rand(3, 4), repeats=2, outputSize=24),
    "aclnnRepeatInterleaveIntWithDim": lambda n: v(self=rand(3, 4), repeats=2, dim=1, outputSize=8),
    "aclnnRoll": lambda n: v(x=rand(3, 4), shifts=[1], dims=[1]),
    "aclnnScatter": lambda n: v(self=rand(3, 4), dim=1, index=ints(4, 3, 2), src=rand(3, 2), reduce=1),
    "aclnnScatterValue": lambda n: v(self=rand(3, 4), dim=1, index=ints(4, 3, 2), value=3, reduce=0),
    "aclnnInplaceScatter": lambda n: v(selfRef=rand(3, 4), dim=1, index=torch.tensor([[0, 2]] * 3), src=rand(3, 2), reduce=0),
    "aclnnInplaceScatterValue": lambda n: v(selfRef=rand(3, 4), dim=1, index=ints(4, 3, 2), value=3, reduce=2),
    "aclnnScatterAdd": lambda n: v(self=rand(3, 4), dim=1, index=ints(4, 3, 2), src=rand(3, 2)),
    "aclnnScatterNd": lambda n: v(data=rand(4, 3), indices=torch.tensor([[2], [0]]), updates=rand(2, 3)),
    "aclnnSlice": lambda n: v(self=rand(3, 8), dim=-1, start=1, end=7, step=2),
    "aclnnSliceV2": lambda n: v(self=rand(3, 8), starts=[1, 0], ends=[7, 2], axes=[1, 0], steps=[2, 1]),
    "aclnnSplitTensor": lambda n: v(self=rand(5, 3), splitSections=2, dim=0),
    "aclnnSplitWithSize": lambda n: v(self=rand(5, 3), splitSize=[2, 3], dim=0),
    "aclnnDiag": lambda n: v(self=rand(4, 3), diagonal=1),
    "aclnnInplaceRoundDecimals": lambda n: v(selfRef=rand(3, 4), decimals=1),
    "aclnnSwish": lambda n: v(self=rand(3, 4), betaOptional=1.5),
    "aclnnSwishBackward": lambda n: v(gradOutput=rand(3, 4), self=rand(3, 4), betaOptional=1.5),
    "aclnnFastGeluBackward": lambda n: v(gradOutput=rand(3, 4), self=rand(3, 4)),
    "aclnnPrelu": lambda n: v(self=rand(2, 3, 4), weight=rand(3)),
    "aclnnPreluBackward": lambda n: v(gradOutput=rand(2, 3, 4), self=rand(2, 3, 4), weight=rand(3)),
    "aclnnComplex": lambda n: v(real=rand(3, 4), imag=rand(3, 4)),
    "aclnnUnique2": lambda n: v(self=ints(4, 9), sorted=True, returnInverse=True, returnCounts=True),
    "aclnnBatchNorm": lambda n: v(input=rand(4, 3, 5), weight=rand(3), bias=rand(3), runningMean=rand(3),
                                  runningVar=rand(3).abs(), training=True, momentum=0.1, eps=1e-5),
    "aclnnBatchNormBackward": lambda n: _batch_norm_backward(),
    "aclnnGroupNorm": lambda n: v(self=rand(2, 6, 4, 5), gammaOptional=rand(6), betaOptional=rand(6), n=2, c=6, hxw=20,
                                  group=3, eps=1e-5),
    "aclnnGroupNormBackward": lambda n: _group_norm_backward(),
    "aclnnLayerNorm": lambda n: v(input=rand(3, 4, 5), normalizedShape=[5], weightOptional=rand(5),
                                  biasOptional=rand(5), eps=1e-5),
    "aclnnLayerNormBackward": lambda n: _layer_norm_backward(),
    "aclnnConvolution": lambda n: _conv(),
    "aclnnConvolutionBackward": lambda n: _conv_backward(),
    "aclnnConvDepthwise2d": lambda n: v(self=rand(2, 4, 6, 6), weight=rand(4, 1, 3, 3), kernelSize=[3, 3], bias=rand(4),
                                        stride=[1, 1], padding=[1, 1], dilation=[1, 1]),
    "aclnnConvTbc": lambda n: v(self=rand(6, 2, 4), weight=rand(3, 4, 5), bias=rand(5), pad=1),
    "aclnnMaxPool": lambda n: v(self=rand(2, 3, 6, 7), kernelShape=[2, 2], strides=[2, 2], autoPad=0, pads=[1, 0, 0, 1],
                                dilations=[1, 1], ceilMode=0),
    "aclnnMaxPool2dWithIndices": lambda n: v(self=rand(2, 3, 6, 7), kernelSize=[2, 2], stride=[2, 2], padding=[0, 0],
                                             dilation=[1, 1], ceilMode=False),
    "aclnnMaxPool3dWithArgmax": lambda n: v(self=rand(2, 3, 6, 7, 8), kernelSize=[2, 2, 2], stride=[2, 2, 2],
                                            padding=[0, 0, 0], dilation=[1, 1, 1], ceilMode=False),
    "aclnnMaxPool2dWithIndicesBackward": _max_pool_backward,
    "aclnnMaxPool3dWithArgmaxBackward": _max_pool_backward,
    "aclnnAvgPool2d": _pool_avg, "aclnnAvgPool3d": _pool_avg,
    "aclnnAvgPool2dBackward": lambda n: _pool_avg(n, True), "aclnnAvgPool3dBackward": lambda n: _pool_avg(n, True),
    "aclnnAdaptiveAvgPool2d": lambda n: v(self=rand(2, 3, 6, 7), outputSize=[3, 2]),
    "aclnnAdaptiveAvgPool3d": lambda n: v(self=rand(2, 3, 6, 7, 5), outputSize=[3, 2, 2]),
    "aclnnAdaptiveAvgPool2dBackward": lambda n: v(gradOutput=rand(2, 3, 3, 2), self=rand(2, 3, 6, 7)),
    "aclnnAdaptiveAvgPool3dBackward": lambda n: v(gradOutput=rand(2, 3, 3, 2, 2), self=rand(2, 3, 6, 7, 5)),
    "aclnnAdaptiveMaxPool2d": lambda n: v(self=rand(2, 3, 6, 7), outputSize=[3, 2]),
    "aclnnAdaptiveMaxPool3d": lambda n: v(self=rand(2, 3, 6, 7, 5), outputSize=[3, 2, 2]),
    "aclnnAdaptiveMaxPool2dBackward": _adaptive_max_backward, "aclnnAdaptiveMaxPool3dBackward": _adaptive_max_backward,
    "aclnnIm2col": lambda n: v(self=rand(2, 3, 6, 7), kernelSize=[2, 3], dilation=[1, 1], padding=[1, 0], stride=[2, 1]),
    "aclnnIm2colBackward": lambda n: v(gradOutput=rand(2, 18, 20), inputSize=[6, 7], kernelSize=[2, 3], dilation=[1, 1],
                                       padding=[1, 0], stride=[2, 1]),
    "aclnnGridSampler2D": lambda n: v(input=rand(2, 3, 5, 6), grid=rand(2, 4, 4, 2), interpolationMode=0, paddingMode=0,
                                      alignCorners=False),
    "aclnnGridSampler3D": lambda n: v(input=rand(2, 3, 5, 6, 4), grid=rand(2, 4, 4, 3, 3), interpolationMode=0,
                                      paddingMode=0, alignCorners=False),
    "aclnnGridSampler2DBackward": lambda n: v(gradOutput=rand(2, 3, 4, 4), input=rand(2, 3, 5, 6), grid=rand(2, 4, 4, 2),
                                              interpolationMode=0, paddingMode=0, alignCorners=False,
                                              outputMask=[True, True]),
    "aclnnGridSampler3DBackward": lambda n: v(gradOutput=rand(2, 3, 4, 4, 3), input=rand(2, 3, 5, 6, 4),
                                              grid=rand(2, 4, 4, 3, 3), interpolationMode=0, paddingMode=0,
                                              alignCorners=False, outputMask=[True, True]),
    "aclnnAffineGrid": lambda n: v(theta=rand(2, 2, 3), size=[2, 3, 4, 5], alignCorners=False),
    "aclnnBinaryCrossEntropy": lambda n: v(self=torch.rand(3, 4), target=torch.rand(3, 4), weight=torch.rand(3, 4), reduction=1),
    "aclnnBinaryCrossEntropyBackward": lambda n: v(gradOutput=rand(), self=torch.rand(3, 4), target=torch.rand(3, 4),
                                                   weightOptional=torch.rand(3, 4), reduction=1),
    "aclnnCtcLoss": lambda n: _ctc(), "aclnnCtcLossBackward": lambda n: _ctc(True),
    "aclnnNLLLoss": lambda n: _nll(), "aclnnNLLLossBackward": lambda n: _nll(True),
    "aclnnNLLLoss2d": lambda n: _nll(two=True), "aclnnNLLLoss2dBackward": lambda n: _nll(True, True),
    "aclnnMseLossBackward": lambda n: v(gradOutput=rand(3, 4), self=rand(3, 4), target=rand(3, 4), reduction=0),
    "aclnnSmoothL1LossBackward": lambda n: v(gradOut=rand(3, 4), self=rand(3, 4), target=rand(3, 4), reduction=0, beta=1.0),
    "aclnnSmoothL1Loss": lambda n: v(self=rand(3, 4), target=rand(3, 4), reduction=1, beta=1.0),
    "aclnnSoftMarginLossBackward": lambda n: v(gradOutput=rand(3, 4), self=rand(3, 4), target=rand(3, 4).sign(), reduction=0),
    "aclnnSoftmaxCrossEntropyWithLogits": lambda n: v(features=rand(3, 5), labels=torch.softmax(rand(3, 5), -1)),
    "aclnnGlu": lambda n: v(self=rand(3, 8), dim=-1),
    "aclnnGluBackward": lambda n: v(gradOut=rand(3, 4), self=rand(3, 8), dim=-1),
    "aclnnChannelShuffle": lambda n: v(self=rand(2, 4, 3, 3), groups=2),
    "aclnnDropoutDoMask": lambda n: v(self=rand(3, 4), mask=ints(256, 16, dtype=torch.uint8), prob=0.25),
    "aclnnCumprod": lambda n: v(input=rand(3, 4), dim=1, dtype=F),
    "aclnnProd": lambda n: v(self=rand(3, 4), dtype=F),
    "aclnnNorm": lambda n: v(self=rand(3, 4), pScalar=2, dim=[1], keepdim=True),
    "aclnnTransMatmulWeight": lambda n: v(mmWeightRef=rand(3, 4)),
    "aclnnCast": lambda n: v(self=rand(3, 4), dtype=torch.float16),
    "aclnnEqual": lambda n: v(self=rand(3, 4), other=rand(3, 4)),
    "aclnnForeachNonFiniteCheckAndUnscale": lambda n: v(scaledGrads=[rand(3), rand(4)], foundInf=torch.zeros(1),
                                                        invScale=torch.tensor([0.5])),
}


def _unpool(name):
    three = "3d" in name
    x = rand(2, 3, 6, 6, 6) if three else rand(2, 3, 6, 6)
    n = 3 if three else 2
    pool = torch.ops.aten.max_pool3d_with_indices if three else torch.ops.aten.max_pool2d_with_indices
    y, indices = pool(x, [2] * n, [2] * n, [0] * n, [1] * n, False)
    return v(self=y, indices=indices.int(), outputSize=[6] * n, stride=[2] * n, padding=[0] * n)


def _pad_backward(name):
    n = int(name[name.index("Pad") + 3])
    x, padding = rand(2, 3, *[5, 4, 6][:n]), [1, 2, 2, 0, 1, 1][:2 * n]
    return v(gradOutput=torch.randn_like(torch.nn.functional.pad(x, padding)), self=x, padding=padding)


def _parts():
    """The statistics of three processes and what they are of."""
    x = rand(6, 3, 5)
    parts = x.split([1, 2, 3])
    mean = torch.stack([part.mean((0, 2)) for part in parts])
    invstd = torch.stack([(part.var((0, 2), unbiased=False) + 1e-5).rsqrt() for part in parts])
    return v(input=x, mean=mean, invstd=invstd, runningMean=rand(3), runningVar=rand(3).abs(), momentum=0.25, eps=1e-5,
             counts=torch.tensor([5.0, 10.0, 15.0]))


def _part(**more):
    x = rand(4, 3, 5)
    mean, invstd = _norm_stats(x, [0, 2])
    return v(input=x, weight=rand(3), mean=mean.flatten(), invstd=invstd.flatten(), **more)


def _reduced(name):
    return v(gradOutput=rand(), self=rand(3, 4), target=torch.rand(3, 4), reduction=1, logTarget=False)


_EVEN = torch.tensor([-1.5, -0.5, 0.25, 0.5, 1.0])
RECIPES.update({
    **{f"aclnnReflectionPad{n}dBackward": _pad_backward for n in (1, 2, 3)},
    **{f"aclnnReplicationPad{n}dBackward": _pad_backward for n in (1, 2, 3)},
    "aclnnMaxUnpool2d": _unpool, "aclnnMaxUnpool3d": _unpool,
    "aclnnBatchNormStats": lambda n: v(input=rand(4, 3, 5), eps=1e-5),
    "aclnnBatchNormGatherStatsWithCounts": lambda n: _parts(),
    "aclnnBatchNormElemt": lambda n: _part(bias=rand(3), eps=1e-5),
    "aclnnBatchNormElemtBackward": lambda n: _part(gradOut=rand(4, 3, 5), sumDy=rand(3), sumDyXmu=rand(3),
                                                   counter=torch.tensor([20, 20], dtype=torch.int32)),
    "aclnnBatchNormReduceBackward": lambda n: _part(gradOut=rand(4, 3, 5), inputG=True, weightG=True, biasG=True),
    "aclnnBinaryCrossEntropyWithLogits": lambda n: v(self=rand(3, 4), target=torch.rand(3, 4), weightOptional=torch.rand(3, 4),
                                                     posWeightOptional=torch.rand(4), reduction=1),
    "aclnnBinaryCrossEntropyWithLogitsBackward": lambda n: v(
        gradOutput=rand(), self=rand(3, 4), target=torch.rand(3, 4), weightOptional=torch.rand(3, 4),
        posWeightOptional=torch.rand(4), reduction=1),
    "aclnnKlDivBackward": _reduced, "aclnnL1LossBackward": _reduced,
    "aclnnMultilabelMarginLoss": lambda n: v(self=rand(3, 5), target=torch.tensor([[1, 3, -1, 0, 0]] * 3), reduction=1),
    "aclnnBincount": lambda n: v(self=ints(7, 20), weights=rand(20), minlength=9),
    "aclnnCumsumV2": lambda n: v(self=rand(3, 4), dim=1, exclusive=True, reverse=True),
    "aclnnHistc": lambda n: v(self=rand(30), bins=5, min=-1, max=1),
    "aclnnBucketize": lambda n: v(self=rand(3, 4), boundaries=_EVEN, outInt32=True, right=True),
    "aclnnSearchSorted": lambda n: v(sortedSequence=_EVEN, self=rand(3, 4), outInt32=False, right=False, sorter=None),
    "aclnnSearchSorteds": lambda n: v(sortedSequence=_EVEN, self=0.5, outInt32=False, right=True, sorter=None),
    "aclnnIndexCopy": lambda n: v(selfRef=rand(3, 4), dim=0, index=torch.tensor([2, 0]), source=rand(2, 4)),
    "aclnnIndexFill": lambda n: v(self=rand(3, 4), dim=0, index=torch.tensor([2, 0]), value=3),
    "aclnnIndexFillTensor": lambda n: v(self=rand(3, 4), dim=0, index=[2, 0], value=3),
    "aclnnInplacePut": lambda n: v(selfRef=rand(3, 4), index=ints(12, 5), source=rand(5), accumulate=True),
    "aclnnTake": lambda n: v(self=rand(3, 4), index=ints(12, 2, 5, dtype=torch.int32)),
    "aclnnIsInScalarTensor": lambda n: v(element=2, testElements=ints(4, 5), assumeUnique=False, invert=True),
    "aclnnIsInTensorScalar": lambda n: v(element=ints(4, 5), testElement=2, assumeUnique=False, invert=False),
    "aclnnLogSpace": lambda n: v(start=1, end=3, steps=7, base=2.0),
    "aclnnRepeatInterleaveTensor": lambda n: v(repeats=ints(3, 6), outputSize=0),
    "aclnnUniqueDim": lambda n: v(self=ints(2, 9, 2), sorted=True, returnInverse=True, dim=0),
    "aclnnInplaceAddr": lambda n: v(selfRef=rand(3, 4), vec1=rand(3), vec2=rand(4), betaOptional=0.5, alphaOptional=2),
    "aclnnInplaceAddrV2": lambda n: v(selfRef=rand(3, 4), vec1=rand(3), vec2=rand(4), betaOptional=0.5, alphaOptional=2),
    "aclnnAddrV2": lambda n: v(self=rand(3, 4), vec1=rand(3), vec2=rand(4), betaOptional=0.5, alphaOptional=2),
    "aclnnInplaceAddbmm": lambda n: v(selfRef=rand(3, 5), batch1=rand(2, 3, 4), batch2=rand(2, 4, 5), beta=0.5, alpha=2),
    "aclnnCdist": lambda n: v(x1=rand(2, 3, 4), x2=rand(2, 5, 4), p=2.0, compute_mode=1),
    "aclnnPdist": lambda n: v(self=rand(5, 3), p=2.0),
    "aclnnGer": lambda n: v(self=rand(3), vec2=rand(4)),
    "aclnnLinalgCholesky": lambda n: (lambda a: v(self=a @ a.mT + torch.eye(4), upper=True))(rand(2, 4, 4)),
    "aclnnLinalgCross": lambda n: v(self=rand(4, 3), other=rand(4, 3), dim=-1),
    "aclnnLogdet": lambda n: (lambda a: v(self=a @ a.mT + torch.eye(4)))(rand(4, 4)),
    "aclnnSlogdet": lambda n: v(self=rand(2, 4, 4)), "aclnnTrace": lambda n: v(self=rand(3, 4)),
    "aclnnQr": lambda n: v(self=rand(4, 3), some=False),
    "aclnnMaskedScale": lambda n: v(self=rand(3, 4), mask=ints(2, 3, 4, dtype=torch.uint8), scale=1.25),
    "aclnnVar": lambda n: v(self=rand(3, 4), dim=[], unbiased=False, keepdim=True),
    "aclnnLogit": lambda n: v(input=torch.rand(3, 4), eps=-1.0),
    "aclnnLogitGrad": lambda n: v(x=torch.rand(3, 4), dy=rand(3, 4), eps=0.25),
})
for _kind in ("NearestExact1d", "NearestExact2d", "NearestExact3d", "Linear1d", "Nearest1d", "Nearest2d", "Nearest3d", "Bilinear2d", "Bicubic2d", "Trilinear3d",
              "Bilinear2dAA", "Bicubic2dAA"):
    for _end in ("", "V2", "Backward", "BackwardV2", "Grad"):
        RECIPES[f"aclnnUpsample{_kind}{_end}"] = _upsample


def foreach(name):
    values = plain(name)
    for argument in aclnn.functions()[name]["arguments"]:
        if argument["kind"] == "kTensor" and argument["name"] in ("scalar", "alpha", "roundMode"):
            values[argument["name"]] = torch.tensor([1.5])
        if argument["kind"] == "kTensor" and argument["name"] == "scalars":
            values[argument["name"]] = torch.tensor([1.5, 2.0])
        if argument["kind"] == "kTensorList" and argument["name"] in values and argument["name"] != "x":
            values[argument["name"]] = [rand(3, 4).abs() + 0.5, rand(5).abs() + 0.5]
    return values


RECIPES.update({
    "aclnnBernoulliTensor": lambda n: v(self=rand(3, 4), prob=torch.rand(3, 4), seed=7, offset=3),
    "aclnnInplaceBernoulliTensor": lambda n: v(selfRef=rand(3, 4), prob=torch.rand(3, 4), seed=7, offset=3),
    "aclnnInplaceNormal": lambda n: v(selfRef=rand(100, 100), mean=2.0, std=3.0, seed=7, offset=3),
    "aclnnInplaceUniform": lambda n: v(selfRef=rand(100, 100), seed=7, offset=3) | {"from": 2.0, "to": 4.0},
    "aclnnInplaceRandom": lambda n: v(selfRef=rand(100, 100), seed=7, offset=3) | {"from": 2, "to": 9},
    "aclnnInplaceRandomWithoutFromTo": lambda n: v(selfRef=rand(100, 100), seed=7, offset=3),
    "aclnnMultinomial": lambda n: v(self=torch.rand(3, 4), numsamples=2, replacement=False, seed=7, offset=3),
    "aclnnMultinomialTensor": lambda n: v(self=torch.rand(3, 4), numsamples=2, replacement=False,
                                          seedTensor=torch.tensor([7]), offsetTensor=torch.tensor([3]), offset=0),
    "aclnnNormalFloatFloat": lambda n: v(mean=2.0, std=3.0, seed=7, offset=3),
    "aclnnNormalFloatTensor": lambda n: v(mean=2.0, std=torch.rand(3, 4), seed=7, offset=3),
    "aclnnNormalTensorFloat": lambda n: v(mean=rand(3, 4), std=3.0, seed=7, offset=3),
    "aclnnNormalTensorTensor": lambda n: v(mean=rand(3, 4), std=torch.rand(3, 4), seed=7, offset=3),
    "aclnnRandperm": lambda n: v(n=50, seed=7, offset=3),
    "aclnnDropoutGenMask": lambda n: v(shape=[100, 50], prob=0.25, seed=7, offset=3),
    "aclnnDropoutGenMaskV2": lambda n: v(shape=[100, 50], prob=0.25, seed=7, offset=3, probDataType=F),
})
# The output of each function of random numbers, or None if it is in place.
RANDOM = {"aclnnInplaceNormal": None, "aclnnInplaceUniform": None, "aclnnInplaceBernoulli": None,
          "aclnnInplaceBernoulliTensor": None, "aclnnBernoulli": torch.zeros(3, 4), "aclnnBernoulliTensor": torch.zeros(3, 4),
          "aclnnInplaceRandom": None, "aclnnInplaceRandomWithoutFromTo": None,
          "aclnnMultinomial": torch.zeros(3, 2, dtype=torch.int64),
          "aclnnMultinomialTensor": torch.zeros(3, 2, dtype=torch.int64), "aclnnNormalFloatFloat": torch.zeros(100, 100),
          "aclnnNormalFloatTensor": torch.zeros(3, 4), "aclnnNormalTensorFloat": torch.zeros(3, 4),
          "aclnnNormalTensorTensor": torch.zeros(3, 4), "aclnnRandperm": torch.zeros(50, dtype=torch.int64),
          "aclnnDropoutGenMask": torch.zeros(640, dtype=torch.uint8),
          "aclnnDropoutGenMaskV2": torch.zeros(640, dtype=torch.uint8)}


def arguments(name):
    """The inputs of one usual call, by name."""
    if name in families.CASES:
        return families.arguments(name)
    if RECIPES.get(name):
        return RECIPES[name](name)
    whole = torch.int32 if any(word in name for word in ("Bitwise", "Gcd", "LeftShift", "RightShift")) else F
    return foreach(name) if name.startswith("aclnnForeach") else plain(name, whole)


def outputs_for(results, dtype=None):
    """Outputs as the results are, with other contents."""
    made = []
    for result in results:
        if isinstance(result, (list, tuple)):
            made.append([torch.full_like(one.contiguous(), 7) for one in result])
        elif result is None:
            made.append(None)
        elif isinstance(result, aclnn.Int4):
            made.append(aclnn.Int4(torch.full_like(result.numbers, 7)))
        else:
            made.append(torch.full(result.shape, 7, dtype=dtype or result.dtype))
    return made
