#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets the machine up, builds the programs and opens the window on the default model.

# shellcheck source=installer/dependencies.sh
source "$(dirname "${BASH_SOURCE[0]}")/dependencies.sh"

readonly examplePrompt="Explain in two sentences why the sky is blue."

usage() {
    cat <<'TEXT'
Usage: installer/run.sh [ARGUMENT OF swift-studio ...]
       installer/run.sh --terminal [ARGUMENT OF swift-run ...]

Installs what is missing, builds the programs into build/release/bin and opens the window,
swift-studio, on the default model. Without a display the same job is done off-screen: one prompt is
answered on standard output as it streams, and the window is drawn into build/swift-studio.png.
Arguments are handed on, for example '--model PATH', '--prompt TEXT' or '--replay FILE'; see
'build/release/bin/swift-studio --help'.

With --terminal a chat starts in this terminal instead ('swift-run chat'); when standard input is
none, one example prompt is answered ('swift-run generate --chat'). Arguments go to swift-run, for
example '--max-tokens 100'.

Environment: SWIFT_STUDIO_CACHE, SWIFT_STUDIO_JOBS, SWIFT_STUDIO_CUDA, SWIFT_STUDIO_SKIP_PACKAGES,
as told by 'installer/test.sh --help'.
TEXT
}

# hasOption NAME ARGUMENT ...: whether the user gave it, as '--name' or '--name=...'.
hasOption() {
    local name="$1" argument
    shift
    for argument in "$@"; do
        [[ "$argument" == "$name" || "$argument" == "$name="* ]] && return 0
    done
    return 1
}

# Whether the X server answers that DISPLAY names: it may be gone, or let in other users only.
answersX() {
    python3 - <<'PYTHON'
import ctypes, sys
xcb = ctypes.CDLL("libxcb.so.1")
xcb.xcb_connect.restype = ctypes.c_void_p
connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
sys.exit(xcb.xcb_connection_has_error(connection) != 0)
PYTHON
}

# A display that Qt can open: X11, or Wayland where its plugin is installed.
hasDisplay() {
    case "${QT_QPA_PLATFORM:-}" in
    '') ;;
    offscreen* | minimal*) return 1 ;; # nobody sees those
    *) return 0 ;;
    esac
    [[ -n "${DISPLAY:-}" ]] && answersX && return 0
    [[ -n "${WAYLAND_DISPLAY:-}" ]] || return 1
    compgen -G '/usr/lib/*/qt6/plugins/platforms/libqwayland*.so' >/dev/null
}

# The window, or where no display is what it would have shown.
openWindow() {
    local program="$sourceDir/build/release/bin/swift-studio" option picture status=0
    # With these it draws no picture, but says what is asked for, or that it needs a display.
    for option in --screenshot --help -h --version --ask --lesson; do
        hasOption "$option" "$@" && ! hasDisplay && exec "$program" "$@"
    done
    if hasDisplay; then
        # Its files open by a double click; where that fails the window opens all the same.
        hasOption --screenshot "$@" || "$sourceDir/installer/desktop.sh" "$program" || true
        exec "$program" "$@"
    fi
    picture="$sourceDir/build/swift-studio.png"
    say "there is no display: the window is drawn into $picture"
    "$program" --screenshot "$picture" --overwrite "$@" || status=$?
    ((status == 0)) || exit "$status"
    say "the window with this answer: $picture"
}

# The example prompt gives way to a prompt of the user's own.
chatInTerminal() {
    local program="$sourceDir/build/release/bin/swift-run"
    if [[ -t 0 ]]; then
        exec "$program" chat "$@"
    elif hasOption --prompt-ids "$@"; then
        exec "$program" generate "$@" # ids are no text that a chat template could take
    elif hasOption --prompt "$@" || hasOption --prompt-file "$@"; then
        exec "$program" generate --chat "$@"
    else
        exec "$program" generate --chat --prompt "$examplePrompt" "$@"
    fi
}

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
    usage
    exit 0
fi
start=openWindow
if [[ "${1:-}" == --terminal ]]; then
    start=chatInTerminal
    shift
fi

chooseCacheFolder
say "set-up in $SWIFT_STUDIO_CACHE (the first time it takes 5 to 12 minutes on two cores, and 640 MB arrive)"
setUpDependencies packages sentencepiece cuda
if ! isTorchInPlace "$torchRecipe"; then
    # The large downloads arrive while the compiler works on what does without them.
    set -m # a process group of its own, which ends as a whole
    setUpDependencies model torch &
    downloads=$!
    set +m
    trap 'kill -- "-$downloads" 2>/dev/null; wait "$downloads"' EXIT
    configurePreset release -DSWIFT_STUDIO_TORCH=OFF
    buildPreset release app/all plugins/all
    trap - EXIT
    wait "$downloads" || true # what is missing is fetched again below, which says why it fails
fi
setUpDependencies model
set +e # not `if setUpDependencies`: there it would go on after a command that failed
(set -e && setUpDependencies torch)
hasTorch=$?
set -e
((hasTorch < 128)) || exit "$hasTorch" # interrupted
if ((hasTorch == 0)); then
    configurePreset release
    buildPreset release app/all plugins/all
else
    say "without LibTorch the program has no backend torch and does not train: run this again to add them."
fi
sayStep "starting"
"$start" "$@"
