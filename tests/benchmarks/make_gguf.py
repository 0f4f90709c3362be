#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a GGUF file to measure with, so that every engine reads the same file:

    make_gguf.py LIKE SHAPE FORM OUT

LIKE is a GGUF file of a LLaMA whose tokenizer and chat template are taken. SHAPE is "same" for the
weights of LIKE, rounded anew, or 1b or 3b for made-up weights: one layer of normal noise, stored as
often as the shape has layers, so an answer is nonsense but takes its true time. FORM is q4_0, q4_1,
q8_0 or bf16, where embeddings are never below 8 bits, or q4_k_m: 4 bits, and 6 for the embeddings, a head of its
own, and the values and last matrices of every other layer, as most published files have them. Needs
"pip install gguf".
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

Type = gguf.GGMLQuantizationType
FORMS = {
    "q4_0": Type.Q4_0,
    "q4_1": Type.Q4_1,
    "q8_0": Type.Q8_0,
    "bf16": Type.BF16,
    "q4_k_m": Type.Q4_K,
}
BLOCK = 256


def halves(numbers):
    """The bytes of a float16 for each block, [blocks, 2]."""
    return numbers.astype(numpy.float16).reshape(-1, 1).view(numpy.uint8)


def shares(numbers, whole):
    """Numbers of a block as fractions of it, 0 where it is 0."""
    return numpy.divide(numbers, whole[:, None], out=numpy.zeros_like(numbers), where=whole[:, None] > 0)


def nearest(numbers, lowest, highest):
    return numpy.clip(numpy.rint(numbers), lowest, highest).astype(numpy.int32)


def to_q4_k(values):
    """Rounds to 4 bits between each group's least and largest number; both have 6 bits of a block's."""
    groups = values.reshape(-1, 8, 32)
    least = numpy.minimum(groups.min(axis=2), 0)
    steps = (groups.max(axis=2) - least) / 15
    step, low = steps.max(axis=1) / 63, -least.min(axis=1) / 63
    scales, minima = nearest(shares(steps, step), 0, 63), nearest(shares(-least, low), 0, 63)
    size = scales * step[:, None]
    above = groups + (minima * low[:, None])[:, :, None]
    stored = nearest(
        numpy.divide(above, size[:, :, None], out=numpy.zeros_like(above), where=size[:, :, None] > 0), 0, 15
    )
    pairs = numpy.concatenate(
        [
            scales[:, :4] | scales[:, 4:] >> 4 << 6,
            minima[:, :4] | minima[:, 4:] >> 4 << 6,
            (scales[:, 4:] & 15) | (minima[:, 4:] & 15) << 4,
        ],
        axis=1,
    )
    nibbles = (stored[:, 0::2] | stored[:, 1::2] << 4).reshape(-1, 128)
    parts = (halves(step), halves(low), pairs.astype(numpy.uint8), nibbles.astype(numpy.uint8))
    return numpy.concatenate(parts, axis=1)


def to_q6_k(values):
    """Rounds to 6 bits, with a scale of 8 bits of the block's for every 16 numbers."""
    groups = values.reshape(-1, 16, 16)
    steps = numpy.abs(groups).max(axis=2) / 31
    step = steps.max(axis=1) / 127
    scales = nearest(shares(steps, step), 0, 127)
    size = (scales * step[:, None])[:, :, None]
    stored = nearest(numpy.divide(groups, size, out=numpy.zeros_like(groups), where=size > 0), -32, 31) + 32
    quarters = stored.reshape(-1, 2, 4, 32)  # of each half
    low = numpy.concatenate(
        [quarters[:, :, 0] & 15 | (quarters[:, :, 2] & 15) << 4, quarters[:, :, 1] & 15 | (quarters[:, :, 3] & 15) << 4],
        axis=2,
    )
    high = sum(quarters[:, :, i] >> 4 << 2 * i for i in range(4))
    parts = (low.reshape(-1, 128), high.reshape(-1, 64), scales)
    return numpy.concatenate([part.astype(numpy.uint8) for part in parts] + [halves(step)], axis=1)


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
        self.rounded = {}

    def add(self, name, values, key=None):
        """Matrices of one key are the same one: it is rounded once for each form, and held once."""
        values = numpy.ascontiguousarray(values, dtype=numpy.float32)
        if values.ndim == 1:
            self.writer.add_tensor(name, values)
            return
        form = self.form_of(name, values.shape[1])
        rows = self.rounded.get((key, form))
        if rows is None:
            rows = self.rows_of(values, form)
        if key is not None:
            self.rounded[key, form] = rows
        self.writer.add_tensor(name, rows, raw_dtype=form)

    def form_of(self, name, columns):
        """Rows that are no whole blocks take the nearest form of 32 numbers, as llama.cpp does."""
        if self.form != Type.Q4_K:
            isWide = name == "token_embd.weight" and self.form != Type.BF16
            return Type.Q8_0 if isWide else self.form
        part = name.split(".")
        isFine = part[0] in ("token_embd", "output") or (
            part[2] in ("attn_v", "ffn_down") and int(part[1]) % 2 == 0
        )
        if columns % BLOCK != 0:
            return Type.Q8_0 if isFine else Type.Q5_0
        return Type.Q6_K if isFine else Type.Q4_K

    def rows_of(self, values, form):
        pack = {Type.Q6_K: to_q6_k, Type.Q4_K: to_q4_k}.get(form)
        if pack is None:
            return gguf.quants.quantize(values, form)
        return pack(values).reshape(values.shape[0], -1)


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
            tensors.add(f"blk.{number}.{name}.weight", values, name)


def main():
    if len(sys.argv) != 5 or sys.argv[2] not in ("same", *SHAPES) or sys.argv[3] not in FORMS:
        fail("give LIKE, same|1b|3b, q4_0|q4_1|q8_0|bf16|q4_k_m and OUT.")
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
