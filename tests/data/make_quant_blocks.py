# SPDX-License-Identifier: Apache-2.0
"""Makes quant_blocks/: random blocks of five GGUF types and the float32 values that gguf-py reads from them."""
import json
import pathlib

import gguf
import numpy as np

TYPES = {"Q2_K": (80, 82), "Q3_K": (108,), "IQ4_NL": (0,), "IQ4_XS": (0,), "MXFP4": ()}
BLOCKS = 3


def main():
    random = np.random.default_rng(1)
    made = {}
    for name, scales in TYPES.items():
        kind = gguf.GGMLQuantizationType[name]
        values, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
        for place in scales:
            halves = random.normal(0.0, 0.05, BLOCKS).astype(np.float16)
            blocks[:, place : place + 2] = halves.view(np.uint8).reshape(BLOCKS, 2)
        if name == "MXFP4":
            blocks[:, 0] = (0, 126, 140)
        read = gguf.quants.dequantize(blocks, kind).reshape(-1).astype(np.float32)
        assert read.size == BLOCKS * values
        made[name] = {
            "blocks": blocks.tobytes().hex(),
            "values": read.tobytes().hex(),
        }
    path = pathlib.Path(__file__).parent / "quant_blocks.json"
    path.write_text(json.dumps(made, indent=1) + "\n")


main()
