"""The same model for ONNX Runtime, of the operators that its own optimiser makes of an exported BERT, which its graph
optimiser finds nothing to add to: Attention with lengths, SkipLayerNormalization, BiasGelu."""
import attune
import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from models.minilm import EPSILON, HEADS, LAYERS, MODEL

CONTRIB = "com.microsoft"


def _graph(file, batch, seq):
    weights = attune.weights(file)
    constants, nodes = {}, []

    def constant(name, array):
        constants[name] = np.ascontiguousarray(array)
        return name

    def node(op, inputs, domain="", **attributes):
        result = f"t{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [result], domain=domain, **attributes))
        return result

    def norm(name):
        return [constant(f"{name}.LayerNorm.{part}", weights[f"{name}.LayerNorm.{part}"]) for part in ("weight", "bias")]

    def transposed(name):
        return constant(name, weights[f"{name}.weight"].T)

    def bias(name):
        return constant(f"{name}.bias", weights[f"{name}.bias"])

    words = node("Gather", [constant("words", weights["embeddings.word_embeddings.weight"]), "ids"])
    places = weights["embeddings.position_embeddings.weight"][:seq] + weights["embeddings.token_type_embeddings.weight"][0]
    x = node("LayerNormalization", [node("Add", [words, constant("places", places)]), *norm("embeddings")], epsilon=EPSILON)
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        projections = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        w = constant(f"{layer}.w", np.concatenate([weights[f"{p}.weight"] for p in projections]).T)
        b = constant(f"{layer}.b", np.concatenate([weights[f"{p}.bias"] for p in projections]))
        heard = node("Attention", [x, w, b, "lengths"], CONTRIB, num_heads=HEADS)
        out = f"{layer}.attention.output.dense"
        x = node("SkipLayerNormalization", [node("MatMul", [heard, transposed(out)]), x, *norm(f"{layer}.attention.output"), bias(out)], CONTRIB, epsilon=EPSILON)
        up, down = f"{layer}.intermediate.dense", f"{layer}.output.dense"
        inner = node("BiasGelu", [node("MatMul", [x, transposed(up)]), bias(up)], CONTRIB)
        x = node("SkipLayerNormalization", [node("MatMul", [inner, transposed(down)]), x, *norm(f"{layer}.output"), bias(down)], CONTRIB, epsilon=EPSILON)
    return helper.make_graph(
        nodes,
        "minilm",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, (batch, seq)), helper.make_tensor_value_info("lengths", TensorProto.INT32, (batch,))],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, (batch, seq, MODEL))],
        [numpy_helper.from_array(a, n) for n, a in constants.items()],
    )


class OnnxEncoder:
    """As models.minilm.Encoder, on one thread."""

    def __init__(self, file, batch, seq):
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(_graph(file, batch, seq), opset_imports=opsets, ir_version=10)
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def __call__(self, ids, lengths):
        return self.session.run(None, {"ids": ids, "lengths": lengths})[0]
