#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two runs of the installer at once: one build of a folder waits for the other, which it says, and builds of two
# folders do not wait for each other.
#   builds_take_turns.sh CHECKOUT SCRATCH_FOLDER
set -euo pipefail

scratch="$2"
rm -rf "$scratch"
mkdir -p "$scratch/installer" "$scratch/bin"
cp "$1/installer/common.sh" "$scratch/installer"
mkfifo "$scratch/go_on" "$scratch/begun" "$scratch/said"

# A build of the first run goes on when it is told to; all others are done at once.
cat >"$scratch/bin/cmake" <<'SH'
#!/usr/bin/env bash
echo "$RUN begins" >>"$SCRATCH/log"
if [[ "$RUN" == first ]]; then
    echo >"$SCRATCH/begun"
    read -r <"$SCRATCH/go_on"
fi
echo "$RUN ends" >>"$SCRATCH/log"
SH
chmod +x "$scratch/bin/cmake"
export SCRATCH="$scratch" PATH="$scratch/bin:$PATH" SWIFT_STUDIO_JOBS=1

# build RUN PRESET
build() {
    RUN="$1" bash -c 'source "$1/installer/common.sh" && buildPreset "$2"' build "$scratch" "$2"
}

build first release 2>/dev/null &
read -r <"$scratch/begun"
build other asan 2>/dev/null
build second release 2>"$scratch/said" &
# A second run that does not wait says no more than that it builds, and ends.
while read -r line; do
    [[ "$line" == waiting* ]] && break
done <"$scratch/said"
echo >"$scratch/go_on"
wait
expected="first begins other begins other ends first ends second begins second ends"
found="$(paste -sd ' ' "$scratch/log")"
[[ "$found" == "$expected" ]] || {
    echo "$found"
    exit 1
}
