#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command beside a Slurm of one node with two processors, and ends with its exit code:

    one_node_slurm.py COMMAND [ARGUMENT ...]

Everything is inside a sandbox of bubblewrap, with processes, network and /tmp of its own: nothing
stays behind, not even after a kill, and two of them do not meet. The command's SLURM_CONF is the
cluster's, and the folder in ONE_NODE_SLURM has the daemons' slurmctld.pid and slurmd.pid. Where it
cannot be started, the command runs without it and finds the reason in NO_SLURM_BECAUSE."""
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import time

NODE = "/tmp/one_node_slurm"
# Accounting needs a database server: as in a small installation, there is none.
CONFIGURATION = f"""
ClusterName=one_node
SlurmctldHost=localhost(127.0.0.1)
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=1024 State=UNKNOWN
PartitionName=small Nodes=ALL Default=YES State=UP
AuthType=auth/munge
AuthInfo=socket={NODE}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={NODE}/state
SlurmdSpoolDir={NODE}/spool
SlurmctldPidFile={NODE}/slurmctld.pid
SlurmdPidFile={NODE}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
ReturnToService=2
KillWait=1
"""
daemons = {}


def go_without(why):
    os.environ["NO_SLURM_BECAUSE"] = why
    os.execvp(sys.argv[1], sys.argv[1:])


def enter_sandbox():
    for program in ("bwrap", "munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(program):
            go_without(f"{program} is missing: install Debian's bubblewrap, munge and slurm-wlm")
    if os.geteuid() != 0:
        go_without("only root can start Slurm's daemons")
    here = os.getcwd()
    sandbox = ["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-net",
               "--cap-add", "CAP_NET_ADMIN", "--ro-bind", "/", "/", "--dev", "/dev",
               "--proc", "/proc", "--tmpfs", "/tmp", "--ro-bind", here, here, "--chdir", here]
    trial = subprocess.run([*sandbox, "true"], capture_output=True, text=True)
    if trial.returncode != 0:
        go_without(f"bubblewrap makes no sandbox here: {trial.stderr.strip()}")
    os.execvp("bwrap", [*sandbox, sys.executable, os.path.abspath(__file__), "--inside",
                        *sys.argv[1:]])


def add_second_address():
    """Slurm looks names up only for kinds of addresses that the computer has besides 127.0.0.1."""
    set_interface_address = 0x8916
    request = struct.pack("16sHH4s16x", b"lo:1", socket.AF_INET, 0, bytes([127, 0, 0, 2]))
    with socket.socket() as anything:
        fcntl.ioctl(anything, set_interface_address, request)


def start(name, *arguments):
    with open(f"{NODE}/{name}.log", "ab") as log:
        daemons[name] = subprocess.Popen([name, *arguments], stdin=subprocess.DEVNULL, stdout=log,
                                         stderr=log)


def await_state(is_there):
    end = time.monotonic() + 300
    while not is_there():
        for name, daemon in daemons.items():
            if daemon.poll() is not None or time.monotonic() > end:
                with open(f"{NODE}/{name}.log", errors="replace") as log:
                    sys.exit(f"{name} has ended or does not answer; it said:\n{log.read()[-2000:]}")
        time.sleep(0.05)


def is_idle():
    answer = subprocess.run(["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True)
    return answer.stdout.strip() == "idle"


def run_inside(command):
    for folder in (NODE, f"{NODE}/state", f"{NODE}/spool"):
        os.mkdir(folder, 0o755)
    with open(f"{NODE}/munge.key", "wb") as key:
        os.fchmod(key.fileno(), 0o400)
        key.write(os.urandom(128))
    with open(f"{NODE}/slurm.conf", "w") as configuration:
        configuration.write(CONFIGURATION)
    os.environ["ONE_NODE_SLURM"] = NODE
    os.environ["SLURM_CONF"] = f"{NODE}/slurm.conf"
    add_second_address()
    start("munged", "--foreground", "--num-threads=1", f"--key-file={NODE}/munge.key",
          f"--socket={NODE}/munge.socket", f"--pid-file={NODE}/munge.pid",
          f"--seed-file={NODE}/munge.seed", f"--log-file={NODE}/munge.log")
    await_state(lambda: os.path.exists(f"{NODE}/munge.socket"))
    start("slurmctld", "-D")
    start("slurmd", "-D")
    await_state(is_idle)
    return subprocess.run(command).returncode


if len(sys.argv) > 2 and sys.argv[1] == "--inside":
    sys.exit(run_inside(sys.argv[2:]))
enter_sandbox()
