#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a GGUF file to measure with, so that every engine reads the same file:

    make_gguf.py LIKE SHAPE FORM OUT

LIKE is a GGUF file of a LLaMA whose tokenizer and chat template are taken. SHAPE is "same" for the
weights of LIKE, rounded anew, or 1b or 3b for made-up weights: one layer of normal noise, stored as
often as the shape has layers, so an answer is nonsense but takes its true time. FORM is q4_0, q4_1,
q8_0 or bf16; embeddings are never below 8 bits. Needs "pip install gguf".
"""
import sys

# layers, width, width of the MLP, heads, heads of keys and values
SHAPES = {"1b": (16, 2048, 8192, 32, 8), "3b": (28, 3072, 8192, 24, 8)}


def fail(sentence):
    sys.exit(f"make_gguf.py: {sentence}")


try:
    import gguf
    import numpy
except ImportError:
    fail("the package gguf is missing: pip install gguf.")

FORMS = {
    "q4_0": gguf.GGMLQuantizationType.Q4_0,
    "q4_1": gguf.GGMLQuantizationType.Q4_1,
    "q8_0": gguf.GGMLQuantizationType.Q8_0,
    "bf16": gguf.GGMLQuantizationType.BF16,
}


def copy_fields(reader, writer, wanted):
    """The fields whose name begins with `wanted`, as they are."""
    for field in reader.fields.values():
        if not field.name.startswith(wanted) or field.name == gguf.Keys.General.ARCHITECTURE:
            continue
        kind = field.types[0]
        part = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, part)


class Tensors:
    """Writes tensors: matrices in the form, all others as float32."""

    def __init__(self, writer, form):
        self.writer = writer
        self.form = form

    def add(self, name, values):
        values = numpy.ascontiguousarray(values, dtype=numpy.float32)
        if values.ndim == 1:
            self.writer.add_tensor(name, values)
            return
        form = self.form
        if name == "token_embd.weight" and form != gguf.GGMLQuantizationType.BF16:
            form = gguf.GGMLQuantizationType.Q8_0
        self.writer.add_tensor(name, gguf.quants.quantize(values, form), raw_dtype=form)


def write_same(reader, tensors):
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        tensors.add(tensor.name, values.reshape([int(n) for n in reversed(tensor.shape)]))


def write_made_up(shape, vocabulary, writer, tensors):
    layers, width, mlp, heads, pairs = SHAPES[shape]
    head = width // heads
    writer.add_context_length(8192)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(mlp)
    writer.add_rope_dimension_count(head)
    writer.add_head_count(heads)
    writer.add_head_count_kv(pairs)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(100000.0)
    writer.add_vocab_size(vocabulary)
    noise = numpy.random.default_rng(1)

    def matrix(rows, columns):
        return noise.standard_normal((rows, columns), dtype=numpy.float32) * columns**-0.5

    layer = {
        "attn_q": matrix(heads * head, width),
        "attn_k": matrix(pairs * head, width),
        "attn_v": matrix(pairs * head, width),
        "attn_output": matrix(width, heads * head),
        "ffn_gate": matrix(mlp, width),
        "ffn_up": matrix(mlp, width),
        "ffn_down": matrix(width, mlp),
        "attn_norm": numpy.ones(width),
        "ffn_norm": numpy.ones(width),
    }
    tensors.add("token_embd.weight", matrix(vocabulary, width))
    tensors.add("output_norm.weight", numpy.ones(width))
    for number in range(layers):
        for name, values in layer.items():
            tensors.add(f"blk.{number}.{name}.weight", values)


def main():
    if len(sys.argv) != 5 or sys.argv[2] not in ("same", *SHAPES) or sys.argv[3] not in FORMS:
        fail("give LIKE, same|1b|3b, q4_0|q4_1|q8_0|bf16 and OUT.")
    like, shape, form, out = sys.argv[1:]
    try:
        reader = gguf.GGUFReader(like)
    except (OSError, ValueError) as reason:
        fail(f"{like} cannot be read as a GGUF file: {reason}.")
    writer = gguf.GGUFWriter(out, "llama")
    tensors = Tensors(writer, FORMS[form])
    copy_fields(reader, writer, ("tokenizer.",) if shape in SHAPES else ("tokenizer.", "llama."))
    if shape in SHAPES:
        vocabulary = len(reader.fields[gguf.Keys.Tokenizer.LIST].data)
        write_made_up(shape, vocabulary, writer, tensors)
    else:
        write_same(reader, tensors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
