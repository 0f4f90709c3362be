#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the tiny language model with a mask token that lies in space_llama/.

Usage: make_space_model.py OUTPUT_FOLDER [--check]    (needs numpy; a few minutes on one core)

The network is shaped like Llama; its language are stories of words by a small grammar, spelled
letter by letter. It is trained as semi-autoregressive fine-tuning does it (arXiv 2402.11809,
section 3.1), in the form that keeps the sequence whole: every token predicts the next one, and
behind some places hang groups of masks that see the tokens up to there and the masks before them.
A group behind the token y_i stands on the places of y_(i+1), y_(i+2), ...: its first mask stands
for the token that is not known yet and predicts the one behind it, y_(i+2), and so on.
The same seed gives the same weights, up to the rounding of the machine. --check compares some
gradients, which are written by hand, with differences instead of training.
"""
import json
import struct
import sys

import numpy as np

LETTERS = "\n .abcdefghijklmnopqrstuvwxyz"
MASK = len(LETTERS)
VOCAB = MASK + 1
HIDDEN, MLP, LAYERS, HEADS, KV_HEADS, HEAD_DIM = 64, 128, 3, 4, 2, 16
EPSILON, THETA = 1e-5, 10000.0
LENGTH, GROUPS, MASKS = 56, 6, 8  # tokens of a sample, mask groups behind them, masks of a group
BATCH, STEPS, WARM_UP, RATE = 16, 2600, 100, 4e-3

NOUNS = {"fox": ["sees", "follows"], "farmer": ["greets", "follows"],
         "teacher": ["greets", "paints"], "pigeon": ["sees", "carries"],
         "robot": ["carries", "repairs"], "child": ["paints", "sees"],
         "sailor": ["repairs", "greets"], "monkey": ["carries", "follows"]}
THINGS = {"sees": ["mountain", "lantern"], "follows": ["river", "wagon"],
          "greets": ["neighbour", "queen"], "paints": ["window", "lantern"],
          "carries": ["basket", "lantern"], "repairs": ["engine", "wagon"]}
ADJECTIVES = ["quiet", "young", "clever", "hungry", "golden"]
PLACES = ["in the garden", "near the harbour", "behind the old mill"]


def stories(random, characters):
    """At least so many characters of stories, as ids."""
    text = []
    size = 0
    while size < characters:
        sentences = []
        for _ in range(random.integers(1, 4)):
            noun = random.choice(list(NOUNS))
            verb = random.choice(NOUNS[noun])
            words = ["the", random.choice(ADJECTIVES), noun, verb]
            words += ["the", random.choice(THINGS[verb])]
            if random.random() < 0.5:
                words.append(random.choice(PLACES))
            sentences.append(" ".join(words) + ".")
        text.append(" ".join(sentences) + "\n")
        size += len(text[-1])
    return np.array([LETTERS.index(letter) for letter in "".join(text)])


def make_batch(random, text):
    """Ids, positions, who sees whom, labels (-1: none): [batch, rows], sees [batch, rows, rows]."""
    rows = LENGTH + GROUPS * MASKS
    ids = np.full((BATCH, rows), MASK)
    positions = np.zeros((BATCH, rows), int)
    labels = np.full((BATCH, rows), -1)
    sees = np.zeros((BATCH, rows, rows), bool)
    for sample in range(BATCH):
        start = random.integers(0, len(text) - LENGTH - 1)
        ids[sample, :LENGTH] = text[start:start + LENGTH]
        labels[sample, :LENGTH] = text[start + 1:start + LENGTH + 1]
        positions[sample, :LENGTH] = np.arange(LENGTH)
        sees[sample, :LENGTH, :LENGTH] = np.tril(np.ones((LENGTH, LENGTH), bool))
        for group in range(GROUPS):
            place = random.integers(0, LENGTH - MASKS - 1)  # of the token that the group is behind
            first = LENGTH + group * MASKS
            own = slice(first, first + MASKS)
            positions[sample, own] = place + 1 + np.arange(MASKS)
            labels[sample, own] = text[start + place + 2:start + place + 2 + MASKS]
            sees[sample, own, :place + 1] = True
            sees[sample, own, own] = np.tril(np.ones((MASKS, MASKS), bool))
    return ids, positions, sees, labels


def new_weights(random):
    def matrix(rows, columns):
        return random.normal(0.0, columns ** -0.5, (rows, columns))

    weights = {"model.embed_tokens.weight": random.normal(0.0, 0.5, (VOCAB, HIDDEN)),
               "model.norm.weight": np.ones(HIDDEN), "lm_head.weight": matrix(VOCAB, HIDDEN)}
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        weights[at + "input_layernorm.weight"] = np.ones(HIDDEN)
        weights[at + "self_attn.q_proj.weight"] = matrix(HEADS * HEAD_DIM, HIDDEN)
        weights[at + "self_attn.k_proj.weight"] = matrix(KV_HEADS * HEAD_DIM, HIDDEN)
        weights[at + "self_attn.v_proj.weight"] = matrix(KV_HEADS * HEAD_DIM, HIDDEN)
        weights[at + "self_attn.o_proj.weight"] = matrix(HIDDEN, HEADS * HEAD_DIM) * 0.5
        weights[at + "post_attention_layernorm.weight"] = np.ones(HIDDEN)
        weights[at + "mlp.gate_proj.weight"] = matrix(MLP, HIDDEN)
        weights[at + "mlp.up_proj.weight"] = matrix(MLP, HIDDEN)
        weights[at + "mlp.down_proj.weight"] = matrix(HIDDEN, MLP) * 0.5
    return weights


def norm(x, gain):
    scale = 1.0 / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
    return x * scale * gain, (x, scale, gain)


def norm_back(grad, kept):
    x, scale, gain = kept
    inner = grad * gain
    grad_x = scale * inner - x * scale ** 3 * (inner * x).mean(-1, keepdims=True)
    return grad_x, (grad * x * scale).reshape(-1, x.shape[-1]).sum(0)


def rotate(x, cosine, sine):
    """x [batch, heads, rows, head dim], pairs in halves; its gradient turns by -sine."""
    half = HEAD_DIM // 2
    low, high = x[..., :half], x[..., half:]
    return np.concatenate([low * cosine - high * sine, high * cosine + low * sine], -1)


def linear_back(grad, x, weight):
    flat = grad.reshape(-1, grad.shape[-1])
    return grad @ weight, flat.T @ x.reshape(-1, x.shape[-1])


def split(x, heads):
    return x.reshape(x.shape[0], x.shape[1], heads, HEAD_DIM).transpose(0, 2, 1, 3)


def join(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def attention(x, weights, at, turn, sees):
    cosine, sine = turn
    normed, kept_norm = norm(x, weights[at + "input_layernorm.weight"])
    q = rotate(split(normed @ weights[at + "self_attn.q_proj.weight"].T, HEADS), cosine, sine)
    k = rotate(split(normed @ weights[at + "self_attn.k_proj.weight"].T, KV_HEADS), cosine, sine)
    v = split(normed @ weights[at + "self_attn.v_proj.weight"].T, KV_HEADS)
    k_all = np.repeat(k, HEADS // KV_HEADS, 1)
    v_all = np.repeat(v, HEADS // KV_HEADS, 1)
    scores = q @ k_all.transpose(0, 1, 3, 2) * HEAD_DIM ** -0.5
    scores = np.where(sees[:, None], scores, -1e9)
    parts = np.exp(scores - scores.max(-1, keepdims=True))
    parts /= parts.sum(-1, keepdims=True)
    mixed = join(parts @ v_all)
    out = mixed @ weights[at + "self_attn.o_proj.weight"].T
    return x + out, (normed, kept_norm, q, k_all, v_all, parts, mixed)


def attention_back(grad, weights, at, turn, kept, grads):
    cosine, sine = turn
    normed, kept_norm, q, k_all, v_all, parts, mixed = kept
    grad_mixed, grads[at + "self_attn.o_proj.weight"] = linear_back(
        grad, mixed, weights[at + "self_attn.o_proj.weight"])
    grad_mixed = split(grad_mixed, HEADS)
    grad_parts = grad_mixed @ v_all.transpose(0, 1, 3, 2)
    grad_scores = parts * (grad_parts - (grad_parts * parts).sum(-1, keepdims=True))
    grad_scores = grad_scores * HEAD_DIM ** -0.5

    def shared(x):
        return x.reshape(x.shape[0], KV_HEADS, HEADS // KV_HEADS, *x.shape[2:]).sum(2)

    grad_q = rotate(grad_scores @ k_all, cosine, -sine)
    grad_k = rotate(shared(grad_scores.transpose(0, 1, 3, 2) @ q), cosine, -sine)
    grad_v = shared(parts.transpose(0, 1, 3, 2) @ grad_mixed)
    grad_normed = 0.0
    for name, part in (("q", grad_q), ("k", grad_k), ("v", grad_v)):
        full = at + f"self_attn.{name}_proj.weight"
        more, grads[full] = linear_back(join(part), normed, weights[full])
        grad_normed = grad_normed + more
    grad_x, grads[at + "input_layernorm.weight"] = norm_back(grad_normed, kept_norm)
    return grad + grad_x


def mlp(x, weights, at):
    normed, kept_norm = norm(x, weights[at + "post_attention_layernorm.weight"])
    gate = normed @ weights[at + "mlp.gate_proj.weight"].T
    up = normed @ weights[at + "mlp.up_proj.weight"].T
    open_part = 1.0 / (1.0 + np.exp(-gate))
    inner = gate * open_part * up
    return x + inner @ weights[at + "mlp.down_proj.weight"].T, (
        normed, kept_norm, gate, up, open_part, inner)


def mlp_back(grad, weights, at, kept, grads):
    normed, kept_norm, gate, up, open_part, inner = kept
    grad_inner, grads[at + "mlp.down_proj.weight"] = linear_back(
        grad, inner, weights[at + "mlp.down_proj.weight"])
    grad_up = grad_inner * gate * open_part
    grad_gate = grad_inner * up * open_part * (1.0 + gate * (1.0 - open_part))
    more_gate, grads[at + "mlp.gate_proj.weight"] = linear_back(
        grad_gate, normed, weights[at + "mlp.gate_proj.weight"])
    more_up, grads[at + "mlp.up_proj.weight"] = linear_back(
        grad_up, normed, weights[at + "mlp.up_proj.weight"])
    grad_x, grads[at + "post_attention_layernorm.weight"] = norm_back(
        more_gate + more_up, kept_norm)
    return grad + grad_x


def loss_and_grads(weights, batch):
    """Mean cross entropy of all labelled rows, its gradients, and the rows' most probable ids."""
    ids, positions, sees, labels = batch
    kind = weights["lm_head.weight"].dtype
    frequencies = THETA ** (-2.0 * np.arange(HEAD_DIM // 2) / HEAD_DIM)
    angles = positions[:, None, :, None] * frequencies
    turn = np.cos(angles).astype(kind), np.sin(angles).astype(kind)
    x = weights["model.embed_tokens.weight"][ids]
    kept = []
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        x, kept_attention = attention(x, weights, at, turn, sees)
        x, kept_mlp = mlp(x, weights, at)
        kept.append((kept_attention, kept_mlp))
    normed, kept_norm = norm(x, weights["model.norm.weight"])
    logits = normed @ weights["lm_head.weight"].T
    shifted = logits - logits.max(-1, keepdims=True)
    log_parts = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    count = (labels >= 0).sum()
    target = np.eye(VOCAB, dtype=kind)[labels]
    loss = -(log_parts * target).sum() / count
    grads = {}
    grad, grads["lm_head.weight"] = linear_back(
        (np.exp(log_parts) - target) / kind.type(count), normed, weights["lm_head.weight"])
    grad, grads["model.norm.weight"] = norm_back(grad, kept_norm)
    for layer in reversed(range(LAYERS)):
        at = f"model.layers.{layer}."
        grad = mlp_back(grad, weights, at, kept[layer][1], grads)
        grad = attention_back(grad, weights, at, turn, kept[layer][0], grads)
    grads["model.embed_tokens.weight"] = np.zeros_like(weights["model.embed_tokens.weight"])
    np.add.at(grads["model.embed_tokens.weight"], ids.reshape(-1), grad.reshape(-1, HIDDEN))
    return loss, grads, logits.argmax(-1)


def check_gradients():
    random = np.random.default_rng(1)
    weights = new_weights(random)
    batch = make_batch(random, stories(random, 4000))
    _, grads, _ = loss_and_grads(weights, batch)
    for name, value in weights.items():
        place = tuple(random.integers(0, size) for size in value.shape)
        if name == "model.embed_tokens.weight":
            place = (LETTERS.index("e"), place[1])
        there = value[place]
        value[place] = there + 1e-5
        above = loss_and_grads(weights, batch)[0]
        value[place] = there - 1e-5
        below = loss_and_grads(weights, batch)[0]
        value[place] = there
        found = (above - below) / 2e-5
        print(f"{name:50s} {grads[name][place]: .8f} {found: .8f}")
        assert abs(found - grads[name][place]) < 1e-6 + 1e-4 * abs(found)


def train():
    random = np.random.default_rng(20240211)
    text = stories(random, 400_000)
    weights = {name: value.astype(np.float32) for name, value in new_weights(random).items()}
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    for step in range(1, STEPS + 1):
        batch = make_batch(random, text)
        loss, grads, best = loss_and_grads(weights, batch)
        length = np.sqrt(sum(float((grad * grad).sum()) for grad in grads.values()))
        rate = RATE * min(step / WARM_UP, 0.5 * (1.0 + np.cos(np.pi * step / STEPS)))
        for name, grad in grads.items():
            grad = grad * np.float32(min(1.0, 1.0 / length))
            first[name] = 0.9 * first[name] + 0.1 * grad
            second[name] = 0.98 * second[name] + 0.02 * grad * grad
            size = np.sqrt(second[name] / (1.0 - 0.98 ** step)) + 1e-9
            weights[name] -= (rate / (1.0 - 0.9 ** step) * first[name] / size).astype(np.float32)
        if step % 100 == 0:
            right = best == batch[3]
            masks = right[:, LENGTH:].reshape(-1, MASKS).mean(0)
            print(f"step {step} loss {loss:.3f} right: next {right[:, :LENGTH].mean():.3f} masks "
                  + " ".join(f"{part:.2f}" for part in masks), flush=True)
    return weights


def write_model(folder, weights):
    header, data, at = {}, [], 0
    for name in sorted(weights):
        bits = weights[name].astype(np.float32).view(np.uint32)
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").tobytes()
        header[name] = {"dtype": "BF16", "shape": list(weights[name].shape),
                        "data_offsets": [at, at + len(rounded)]}
        data.append(rounded)
        at += len(rounded)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(f"{folder}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def write_config(folder):
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
              "num_hidden_layers": LAYERS, "hidden_size": HIDDEN, "intermediate_size": MLP,
              "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "head_dim": HEAD_DIM,
              "vocab_size": VOCAB, "max_position_embeddings": 512, "rms_norm_eps": EPSILON,
              "rope_theta": THETA, "tie_word_embeddings": False, "dtype": "bfloat16",
              "eos_token_id": LETTERS.index("\n"), "mask_token_id": MASK}
    with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
        json.dump(config, file, indent=2)
        file.write("\n")
    spelled = {"\n": "\u010a", " ": "\u0120"}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False,
             "byte_fallback": False, "ignore_merges": False, "merges": [],
             "vocab": {spelled.get(letter, letter): id for id, letter in enumerate(LETTERS)}}
    mask = {"id": MASK, "content": "<mask>", "special": True, "normalized": False,
            "single_word": False, "lstrip": False, "rstrip": False}
    tokenizer = {"version": "1.0", "added_tokens": [mask], "normalizer": None,
                 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False,
                                   "use_regex": True},
                 "post_processor": None, "decoder": {"type": "ByteLevel"}, "model": model}
    with open(f"{folder}/tokenizer.json", "w", encoding="utf-8") as file:
        json.dump(tokenizer, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    if "--check" in sys.argv:
        check_gradients()
    else:
        write_config(sys.argv[1])
        write_model(sys.argv[1], train())
