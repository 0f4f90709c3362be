#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch makes of the same model, and how fast it is on this GPU:

    torch_figures.py logits DEVICE FOLDER IDS    every logit, in the form of "swift-run forward --json"
    torch_figures.py times                       one JSON line

FOLDER is one of made_up_model.py; it is computed in float32. The times are those of the linear layers
of a step of the shape 7b in bfloat16, replayed as a graph, and of reading and copying 4 GiB.
"""
import json
import pathlib
import sys

import torch

WIDTH, MLP, LAYERS, VOCABULARY = 4096, 11008, 32, 32000
GIB = 1 << 30


def weights_in(folder, device):
    data = bytearray((folder / "model.safetensors").read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        begin, end = entry["data_offsets"]
        stored = torch.frombuffer(data, dtype=torch.bfloat16, offset=start + begin, count=(end - begin) // 2)
        tensors[name] = stored.to(device).float().reshape(entry["shape"])
    return tensors


def logits_of(config, tensors, ids, device):
    heads, pairs, head = (config[key] for key in ("num_attention_heads", "num_key_value_heads", "head_dim"))
    count = len(ids)
    places = torch.arange(count, device=device, dtype=torch.float32)
    powers = torch.arange(0, head, 2, device=device, dtype=torch.float32) / -head
    angles = places[:, None, None] * config["rope_theta"] ** powers
    cosines, sines = angles.cos(), angles.sin()
    later = torch.full((count, count), float("-inf"), device=device).triu(1)

    def norm(rows, weight):
        return rows * torch.rsqrt((rows * rows).mean(-1, keepdim=True) + config["rms_norm_eps"]) * weight

    def turn(rows):
        left, right = rows[..., : head // 2], rows[..., head // 2 :]
        return torch.cat([left * cosines - right * sines, right * cosines + left * sines], -1)

    def split(rows, number):
        return rows.reshape(count, number, head)

    stream = tensors["model.embed_tokens.weight"][torch.tensor(ids, device=device)]
    for layer in range(config["num_hidden_layers"]):

        def weight(name):
            return tensors[f"model.layers.{layer}.{name}.weight"]

        rows = norm(stream, weight("input_layernorm"))
        query = turn(split(rows @ weight("self_attn.q_proj").T, heads))
        keys = turn(split(rows @ weight("self_attn.k_proj").T, pairs)).repeat_interleave(heads // pairs, 1)
        values = split(rows @ weight("self_attn.v_proj").T, pairs).repeat_interleave(heads // pairs, 1)
        scores = torch.einsum("ihd,jhd->hij", query, keys) / head**0.5 + later
        attended = torch.einsum("hij,jhd->ihd", torch.softmax(scores, -1), values)
        stream = stream + attended.reshape(count, heads * head) @ weight("self_attn.o_proj").T
        rows = norm(stream, weight("post_attention_layernorm"))
        gate = rows @ weight("mlp.gate_proj").T
        up = rows @ weight("mlp.up_proj").T
        stream = stream + (gate * torch.sigmoid(gate) * up) @ weight("mlp.down_proj").T
    return norm(stream, tensors["model.norm.weight"]) @ tensors["model.embed_tokens.weight"].T


def print_logits(device, folder, ids):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for place, row in enumerate(logits_of(config, weights_in(folder, device), ids, device).tolist()):
        best = sorted(range(len(row)), key=lambda token: (-row[token], token))
        top = [{"id": token, "logit": row[token]} for token in best]
        print(json.dumps({"position": place, "token": ids[place], "top": top}))


def milliseconds(work, count=20):
    """The median time of `work` on the GPU."""
    times = []
    for _ in range(count):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[count // 2]


def graph_of_linears():
    """The products of a step, each with weights of its own, captured once."""
    sizes = [(3 * WIDTH, WIDTH), (WIDTH, WIDTH), (2 * MLP, WIDTH), (WIDTH, MLP)] * LAYERS
    sizes.append((VOCABULARY, WIDTH))
    weights = [torch.full(size, 0.01, device="cuda", dtype=torch.bfloat16) for size in sizes]
    rows = {width: torch.ones((1, width), device="cuda", dtype=torch.bfloat16) for width in (WIDTH, MLP)}

    def step():
        for weight in weights:
            torch.nn.functional.linear(rows[weight.shape[1]], weight)

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph, weights, rows  # a graph keeps only addresses


def print_times():
    source = torch.ones(GIB, device="cuda", dtype=torch.float32)
    target = torch.empty_like(source)
    size = 4 * GIB / 1e6
    event = {
        "event": "torch",
        "version": torch.__version__,
        "read_gbps": size / milliseconds(source.sum),
        "copy_gbps": 2 * size / milliseconds(lambda: target.copy_(source)),
    }
    del source, target
    graph, weights, rows = graph_of_linears()
    event["linears_ms"] = milliseconds(graph.replay)
    print(json.dumps(event))


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    if len(sys.argv) == 5 and sys.argv[1] == "logits":
        print_logits(sys.argv[2], pathlib.Path(sys.argv[3]), [int(token) for token in sys.argv[4].split(",")])
    elif sys.argv[1:] == ["times"]:
        print_times()
    else:
        sys.exit("torch_figures.py: give logits DEVICE FOLDER IDS, or times.")


main()
