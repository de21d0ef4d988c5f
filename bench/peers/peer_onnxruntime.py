"""ONNX Runtime: its attention operators, MatMul with constant weights, and a block of both."""
import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from peers import memory
from peers.cases import Attention, Projection
from peers.contender import DENSE, Contender, Offer, Refused
from peers.problem import rotary_angles
from peers.variants import CAUSAL

PEER = "ONNX Runtime"
CONTRIB = "com.microsoft"
TYPES = {np.dtype("f4"): TensorProto.FLOAT, np.dtype("i4"): TensorProto.INT32, np.dtype("i8"): TensorProto.INT64}


def version():
    return ort.__version__


def _contender(nodes, inputs, outputs, constants, shape, note=""):
    """inputs: {name: array}. outputs: {name: shape}, the first of them the result, read as `shape` by a function.

    Initializers are packed and folded by the session; inputs and outputs are bound once.
    """
    graph = helper.make_graph(
        nodes,
        "case",
        [helper.make_tensor_value_info(n, TYPES[a.dtype], a.shape) for n, a in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
        [numpy_helper.from_array(a, n) for n, a in constants.items()],
    )
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid(CONTRIB, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    results = {n: memory.empty(*s) for n, s in outputs.items()}
    for arrays, bind in ((inputs, binding.bind_input), (results, binding.bind_output)):
        for n, a in arrays.items():
            bind(n, "cpu", 0, a.dtype.type, a.shape, a.ctypes.data)
    run, run_options = session.run_with_iobinding, ort.RunOptions()
    first = next(iter(results.values()))
    keep = (inputs, results)  # the binding knows addresses only
    return Contender(lambda: run(binding, run_options), lambda: (keep, shape(first))[1], note=note)


def _packed_heads(x):
    """[1, heads, seq, head_dim] to [1, seq, heads * head_dim]."""
    return memory.copy(x.transpose(0, 2, 1, 3).reshape(1, x.shape[2], -1))


def _unpacked_heads(case):
    return lambda y: y.reshape(1, case.seq, case.heads, case.head_dim).transpose(0, 2, 1, 3)


def _qkv(problem, change=lambda x: x):
    return {name: change(problem.inputs[name]) for name in "qkv"}


def _multi_head(problem):
    case = problem.case
    inputs, names = _qkv(problem, _packed_heads), ["q", "k", "v"]
    if not case.plain:
        mask = problem.additive_mask()
        if mask is None:
            raise Refused("MultiHeadAttention has no softcap")
        inputs["mask"], names = mask, [*names, "", "", "mask"]
    node = helper.make_node("MultiHeadAttention", names, ["y"], domain=CONTRIB, num_heads=case.heads, unidirectional=int(case.variant is CAUSAL))
    return _contender([node], inputs, {"y": (1, case.seq, case.heads * case.head_dim)}, {}, _unpacked_heads(case), note="" if case.plain else DENSE)


def _lengths(seq):
    """seqlens_k counts from 0; total_sequence_length from 1."""
    return {"lengths": np.array([seq - 1], np.int32), "total": np.array([seq], np.int32)}


def _caches(case):
    return {n: (1, case.heads, case.seq, case.head_dim) for n in ("present_k", "present_v")}


def _group_query(problem):
    case, variant = problem.case, problem.case.variant
    if any(variant.keeps(0, key) for key in range(1, case.seq)):
        raise Refused("GroupQueryAttention is always causal")
    inputs, names = _qkv(problem, _packed_heads) | _lengths(case.seq), ["q", "k", "v", "", "", "lengths", "total"]
    options, note = {}, "also writes the cache"
    if variant.window:
        options["local_window_size"] = variant.window
    elif variant.softcap:
        options["softcap"] = variant.softcap
    elif not case.plain:
        inputs["mask"], names, note = problem.additive_mask(), [*names, "", "", "", "mask"], f"{DENSE}; {note}"
    node = helper.make_node(
        "GroupQueryAttention", names, ["y", "present_k", "present_v"],
        domain=CONTRIB, num_heads=case.heads, kv_num_heads=case.heads, **options)
    outputs = {"y": (1, case.seq, case.heads * case.head_dim)} | _caches(case)
    return _contender([node], inputs, outputs, {}, _unpacked_heads(case), note=note)


def _attention(problem):
    case = problem.case
    inputs, names, note = _qkv(problem), ["q", "k", "v"], ""
    causal = case.variant is CAUSAL or bool(case.variant.softcap)
    if not causal and not case.plain:
        inputs["mask"], names, note = problem.additive_mask(), [*names, "mask"], DENSE
    node = helper.make_node("Attention", names, ["y"], is_causal=int(causal), softcap=case.variant.softcap)
    return _contender([node], inputs, {"y": problem.expected.shape}, {}, lambda y: y, note)


def _projection(problem):
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    weights = {"w": np.ascontiguousarray(problem.weights["w"].T)}
    return _contender([node], dict(problem.inputs), {"y": problem.expected.shape}, weights, lambda y: y)


def _block_constants(problem):
    angles = rotary_angles(problem.case.seq, problem.case.head_dim)
    return {
        "w_qkv": np.ascontiguousarray(np.concatenate([problem.weights[n] for n in ("wq", "wk", "wv")]).T),
        "w_out": np.ascontiguousarray(problem.weights["wo"].T),
        "cos": np.cos(angles).astype(np.float32),
        "sin": np.sin(angles).astype(np.float32),
    }


def _block_group_query(problem):
    case = problem.case
    nodes = [
        helper.make_node("MatMul", ["x", "w_qkv"], ["qkv"]),
        helper.make_node(
            "GroupQueryAttention", ["qkv", "", "", "", "", "lengths", "total", "cos", "sin"], ["a", "present_k", "present_v"],
            domain=CONTRIB, num_heads=case.heads, kv_num_heads=case.heads, do_rotary=1, rotary_interleaved=1),
        helper.make_node("MatMul", ["a", "w_out"], ["y"]),
    ]
    outputs = {"y": problem.expected.shape} | _caches(case)
    return _contender(nodes, problem.inputs | _lengths(case.seq), outputs, _block_constants(problem), lambda y: y)


def _block_attention(problem):
    case = problem.case
    constants = _block_constants(problem) | {"positions": np.arange(case.seq, dtype=np.int64)[None]}
    rotary = {"interleaved": 1, "num_heads": case.heads}
    nodes = [
        helper.make_node("MatMul", ["x", "w_qkv"], ["qkv"]),
        helper.make_node("Split", ["qkv"], ["q", "k", "v"], axis=-1, num_outputs=3),
        helper.make_node("RotaryEmbedding", ["q", "cos", "sin", "positions"], ["rotated_q"], **rotary),
        helper.make_node("RotaryEmbedding", ["k", "cos", "sin", "positions"], ["rotated_k"], **rotary),
        helper.make_node("Attention", ["rotated_q", "rotated_k", "v"], ["a"], is_causal=1, q_num_heads=case.heads, kv_num_heads=case.heads),
        helper.make_node("MatMul", ["a", "w_out"], ["y"]),
    ]
    return _contender(nodes, dict(problem.inputs), {"y": problem.expected.shape}, constants, lambda y: y)


def offers(problem):
    if isinstance(problem.case, Attention):
        return [
            Offer("ORT MultiHeadAttention", PEER, lambda: _multi_head(problem)),
            Offer("ORT GroupQueryAttention", PEER, lambda: _group_query(problem)),
            Offer("ORT Attention", PEER, lambda: _attention(problem)),
        ]
    if isinstance(problem.case, Projection):
        return [Offer("ORT MatMul", PEER, lambda: _projection(problem))]
    return [
        Offer("ORT GroupQueryAttention", PEER, lambda: _block_group_query(problem)),
        Offer("ORT Attention", PEER, lambda: _block_attention(problem)),
    ]
