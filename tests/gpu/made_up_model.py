#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a LLaMA of made-up bfloat16 weights, always the same ones: made_up_model.py SHAPE LAYERS FOLDER

The folder has config.json and model.safetensors, and no tokenizer. The embedding is the head too.
"""
import json
import pathlib
import random
import sys

# width, width of the MLP, heads, heads of keys and values, vocabulary
SHAPES = {
    "tiny": (256, 512, 4, 2, 512),
    "1b": (2048, 5632, 32, 4, 32000),
    "7b": (4096, 11008, 32, 32, 32000),
}
PERIOD = 1048573  # a prime: no two rows begin at the same place
ONE = b"\x80\x3f"


def made_up_period():
    """Numbers between 1/128 and 1/32 and their negatives, so that activations stay near 1."""
    source = random.Random(1)
    numbers = bytearray(2 * PERIOD)
    numbers[0::2] = source.randbytes(PERIOD)
    numbers[1::2] = source.randbytes(PERIOD).translate(bytes(0x3C | byte & 0x80 for byte in range(256)))
    return bytes(numbers)


def shapes_of_tensors(width, mlp, heads, pairs, vocabulary, layers):
    head = width // heads
    tensors = {"model.embed_tokens.weight": [vocabulary, width], "model.norm.weight": [width]}
    for layer in range(layers):
        for name, shape in {
            "input_layernorm": [width],
            "post_attention_layernorm": [width],
            "self_attn.q_proj": [heads * head, width],
            "self_attn.k_proj": [pairs * head, width],
            "self_attn.v_proj": [pairs * head, width],
            "self_attn.o_proj": [width, heads * head],
            "mlp.gate_proj": [mlp, width],
            "mlp.up_proj": [mlp, width],
            "mlp.down_proj": [width, mlp],
        }.items():
            tensors[f"model.layers.{layer}.{name}.weight"] = shape
    return tensors


def count_of(shape):
    return shape[0] * (shape[1] if len(shape) == 2 else 1)


def write_weights(path, tensors):
    header, end = {}, 0
    for name, shape in tensors.items():
        begin, end = end, end + 2 * count_of(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    period, place = made_up_period(), 0
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for shape in tensors.values():
            left = 2 * count_of(shape)
            if len(shape) == 1:
                file.write(ONE * shape[0])
                left = 0
            while left > 0:
                part = period[place : place + left]
                file.write(part)
                left -= len(part)
                place = (place + len(part)) % len(period)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in SHAPES or not sys.argv[2].isdigit():
        sys.exit(f"made_up_model.py: give {'|'.join(SHAPES)}, a number of layers, and a folder.")
    width, mlp, heads, pairs, vocabulary = SHAPES[sys.argv[1]]
    layers = int(sys.argv[2])
    folder = pathlib.Path(sys.argv[3])
    folder.mkdir()
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "bfloat16",
        "hidden_size": width,
        "intermediate_size": mlp,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": pairs,
        "head_dim": width // heads,
        "vocab_size": vocabulary,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    write_weights(folder / "model.safetensors", shapes_of_tensors(width, mlp, heads, pairs, vocabulary, layers))


main()
