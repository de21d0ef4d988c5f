"""OpenVINO: compiled models of ScaledDotProductAttention, MatMul with constant weights, and a block of both."""
import numpy as np
import openvino as ov
import openvino.opset13 as ops

from peers.cases import Attention, Projection
from peers.contender import DENSE, Contender, Offer, Refused
from peers.problem import rotary_angles
from peers.variants import CAUSAL

PEER = "OpenVINO"
# The process is pinned already. Without the hint a CPU with bf16 units would compute in bf16.
SETTINGS = {
    "INFERENCE_NUM_THREADS": 1,
    "NUM_STREAMS": 1,
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_PRECISION_HINT": "f32",
    "ENABLE_CPU_PINNING": False,
}
_core = ov.Core()


def version():
    return ov.__version__


def _contender(result, parameters, arrays, note=""):
    """Compiles, and binds arrays without copies; infer(share_outputs=True) copies no result either."""
    compiled = _core.compile_model(ov.Model([result], parameters, "case"), "CPU", SETTINGS)
    request = compiled.create_infer_request()
    tensors = [ov.Tensor(array, shared_memory=True) for array in arrays]
    for i, tensor in enumerate(tensors):
        request.set_input_tensor(i, tensor)
    infer = request.infer
    keep = (arrays, tensors)  # the request knows addresses only
    return Contender(lambda: infer(share_outputs=True), lambda: (keep, request.get_output_tensor(0).data)[1], note=note)


def _parameter(array):
    return ops.parameter(list(array.shape), np.float32)


def _ints(*values):
    return ops.constant(np.array(values, np.int64))


def _attention(problem):
    case = problem.case
    arrays = [problem.inputs[name] for name in "qkv"]
    if not case.plain:
        mask = problem.additive_mask()
        if mask is None:
            raise Refused("ScaledDotProductAttention has no softcap")
        arrays.append(mask)
    parameters = [_parameter(a) for a in arrays]
    result = ops.scaled_dot_product_attention(*parameters, causal=case.variant is CAUSAL)
    return _contender(result, parameters, arrays, "" if case.plain else DENSE)


def _projection(problem):
    x = problem.inputs["x"]
    parameter = _parameter(x)
    return _contender(ops.matmul(parameter, ops.constant(problem.weights["w"]), False, True), [parameter], [x])


def _block(problem):
    case = problem.case
    x = problem.inputs["x"]
    parameter = _parameter(x)
    w_qkv = np.concatenate([problem.weights[n] for n in ("wq", "wk", "wv")])
    qkv = ops.matmul(parameter, ops.constant(w_qkv), False, True)
    split = ops.variadic_split(qkv, ops.constant(2), _ints(*[case.model] * 3))
    angles = rotary_angles(case.seq, case.head_dim)[None, None, :, :, None]
    cos, sin = (ops.constant(f(angles).astype(np.float32)) for f in (np.cos, np.sin))

    def heads_of(y):  # [1, seq, model] to [1, heads, seq, head_dim]
        return ops.transpose(ops.reshape(y, _ints(1, case.seq, case.heads, case.head_dim), False), _ints(0, 2, 1, 3))

    def rotate(y):
        pairs = ops.split(ops.reshape(y, _ints(1, case.heads, case.seq, case.head_dim // 2, 2), False), ops.constant(4), 2)
        even, odd = pairs.output(0), pairs.output(1)
        rotated = ops.concat(
            [
                ops.subtract(ops.multiply(even, cos), ops.multiply(odd, sin)),
                ops.add(ops.multiply(even, sin), ops.multiply(odd, cos)),
            ],
            4,
        )
        return ops.reshape(rotated, _ints(1, case.heads, case.seq, case.head_dim), False)

    q, k, v = (heads_of(split.output(i)) for i in range(3))
    a = ops.scaled_dot_product_attention(rotate(q), rotate(k), v, causal=True)
    merged = ops.reshape(ops.transpose(a, _ints(0, 2, 1, 3)), _ints(1, case.seq, case.model), False)
    return _contender(ops.matmul(merged, ops.constant(problem.weights["wo"]), False, True), [parameter], [x])


def offers(problem):
    if isinstance(problem.case, Attention):
        return [Offer("OpenVINO SDPA", PEER, lambda: _attention(problem))]
    if isinstance(problem.case, Projection):
        return [Offer("OpenVINO MatMul", PEER, lambda: _projection(problem))]
    return [Offer("OpenVINO", PEER, lambda: _block(problem))]
