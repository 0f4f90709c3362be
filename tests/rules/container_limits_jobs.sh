#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# As many compilers run as the memory carries, and that of a container may be less than the machine's.
#   container_limits_jobs.sh CHECKOUT SCRATCH_FOLDER
set -euo pipefail

# shellcheck source=installer/common.sh
source "$1/installer/common.sh"
root="$2"

# expect MEGABYTES FILE CONTENT: a machine with 8000 MB left and with this file has that much memory.
expect() {
    local found
    rm -rf "$root"
    mkdir -p "$root/proc" "$(dirname "$root/$2")"
    printf 'MemTotal: 16384000 kB\nMemAvailable: 8192000 kB\nSwapFree: 0 kB\n' >"$root/proc/meminfo"
    printf '%s\n' "$3" >"$root/$2"
    found="$(memoryMegabytes "$root")"
    [[ "$found" == "$1" ]] || {
        printf '%s MB instead of %s with %s in %s\n' "$found" "$1" "$3" "$2"
        exit 1
    }
}

expect 8000 other 1
expect 2000 sys/fs/cgroup/memory.max 2097152000
expect 8000 sys/fs/cgroup/memory.max max
expect 8000 sys/fs/cgroup/memory.max 17179869184
expect 3000 sys/fs/cgroup/memory/memory.limit_in_bytes 3145728000
expect 8000 sys/fs/cgroup/memory/memory.limit_in_bytes 9223372036854771712
