#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Slurm's commands without a cluster: called by the name sbatch, squeue, sacct, scancel or scontrol.
It keeps its tasks in $FAKE_SLURM/world.json. Every squeue moves each task one step: from pending to
running, and from there to its end, where its script is run. $FAKE_SLURM_FATES tells what else
happens to shards, SHARD:ATTEMPT:FATE with a blank between two: FATE is a state of Slurm such as
TIMEOUT (its script is not run), "vanish" (Slurm knows nothing of it any more), "wait" (it stays
pending), "mute" (it completes, and its script is not run) or "hidden" (it fails without a log); ATTEMPT may be *. $FAKE_SLURM_FAULTS
tells what commands do instead: COMMAND=refuse, COMMAND=garbage, COMMAND=no_accounts.
$FAKE_SLURM/calls has a line for each call."""
import json
import os
import sys

folder = os.environ["FAKE_SLURM"]
command = os.path.basename(sys.argv[0])
options = dict(word[2:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--"))
words = [word for word in sys.argv[1:] if not word.startswith("--")]
fates = [fate.split(":") for fate in os.environ.get("FAKE_SLURM_FATES", "").split()]
faults = dict(fault.split("=") for fault in os.environ.get("FAKE_SLURM_FAULTS", "").split())


def fate_of(task):
    return next((fate for shard, attempt, fate in fates if int(shard) == task["index"]
                 and attempt in ("*", str(task["attempt"]))), "")


def indexes_of(text):
    for part in text.split("%")[0].split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def submit(world):
    attempts = [task["index"] for task in world["tasks"]]
    world["last"] += 1
    for index in indexes_of(options["array"]):
        world["tasks"].append({
            "job": world["last"], "index": index, "attempt": attempts.count(index) + 1,
            "name": options["job-name"], "state": "PENDING", "script": words[0],
            "log": options["output"].replace("%A", str(world["last"])).replace("%a", str(index))})
    print(world["last"])


def end(task):
    fate = fate_of(task)
    if fate == "hidden":
        task["state"] = "FAILED"
        return
    with open(task["log"], "ab") as log:
        if fate == "mute":
            task["state"] = "COMPLETED"
        elif fate:
            log.write(f"the fate of {task['index']} is {fate}\n".encode())
            task["state"] = fate
        else:
            # Not by subprocess, whose import takes longer than all else here.
            child = os.posix_spawn("/bin/sh", ["/bin/sh", task["script"]],
                                   dict(os.environ, SLURM_ARRAY_TASK_ID=str(task["index"])),
                                   file_actions=[(os.POSIX_SPAWN_DUP2, log.fileno(), 1),
                                                 (os.POSIX_SPAWN_DUP2, log.fileno(), 2)])
            task["state"] = "COMPLETED" if os.waitpid(child, 0)[1] == 0 else "FAILED"


def step(world):
    for task in world["tasks"]:
        if task["state"] == "PENDING" and fate_of(task) != "wait" and not task.get("held"):
            task["state"] = "RUNNING"
        elif task["state"] == "RUNNING" and fate_of(task) == "vanish":
            task["state"] = "GONE"
        elif task["state"] == "RUNNING":
            end(task)


def list_queue(world):
    step(world)
    for task in world["tasks"]:
        if task["state"] != "GONE" and task["name"] in options["name"].split(","):
            node = "" if task["state"] == "PENDING" else "node1"
            reason = "JobHeldUser" if task.get("held") else "None"
            print(f"{task['job']}|{task['index']}|{task['name']}|{task['state']}|{node}|{reason}")


def list_accounts(world):
    for task in world["tasks"]:
        if str(task["job"]) in options["jobs"].split(","):
            state = "OUT_OF_MEMORY" if task["state"] == "GONE" else task["state"]
            print(f"{task['job']}_{task['index']}|{task['name']}|{state}|node1|0:125")


def cancel(world):
    for task in world["tasks"]:
        if str(task["job"]) in words and task["state"] in ("PENDING", "RUNNING"):
            task["state"] = "CANCELLED"


def control(world):
    for task in world["tasks"]:
        if f"{task['job']}_{task['index']}" in words[1].split(","):
            task["held"] = words[0] == "hold"


if "version" in options:
    print("slurm-wlm 0.0-fake")
    sys.exit()
with open(f"{folder}/calls", "a", encoding="utf-8") as calls:
    calls.write(" ".join([command, *sys.argv[1:]]) + "\n")
fault = faults.get(command)
if fault == "refuse":
    sys.exit(f"{command}: error: Unable to contact slurm controller (connect failure)")
if fault == "no_accounts":
    sys.exit("Slurm accounting storage is disabled")
if fault == "garbage":
    print("7|\x1b[31mno form that Slurm has")
    sys.exit()
path = f"{folder}/world.json"
world = {"last": 0, "tasks": []}
if os.path.exists(path):
    with open(path, encoding="utf-8") as file:
        world = json.load(file)
{"sbatch": submit, "squeue": list_queue, "sacct": list_accounts, "scancel": cancel,
 "scontrol": control}[command](world)
with open(path, "w", encoding="utf-8") as file:
    json.dump(world, file)
