#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets the machine up, builds the programs and starts a chat with the default model.

# shellcheck source=installer/dependencies.sh
source "$(dirname "${BASH_SOURCE[0]}")/dependencies.sh"

readonly examplePrompt="Explain in two sentences why the sky is blue."

usage() {
    cat <<'TEXT'
Usage: installer/run.sh [ARGUMENT OF swift-run ...]

Installs what is missing, builds the programs into build/release/bin and starts
'swift-run chat' on the default model. When standard input is no terminal, one example prompt is
answered instead ('swift-run generate --chat'). Arguments are handed on, for example
'--max-tokens 100' or '--model PATH'; see 'build/release/bin/swift-run --help'.

Environment: SWIFT_STUDIO_CACHE, SWIFT_STUDIO_JOBS, SWIFT_STUDIO_SKIP_PACKAGES, as told by
'installer/test.sh --help'.
TEXT
}

# The example prompt gives way to a prompt of the user's own.
hasPrompt() {
    local argument
    for argument in "$@"; do
        [[ "$argument" == --prompt* ]] && return 0
    done
    return 1
}

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
    usage
    exit 0
fi

setUpDependencies
chooseCacheFolder
configurePreset release
buildPreset release app/all plugins/all

program="$sourceDir/build/release/bin/swift-run"
if [[ -t 0 ]]; then
    exec "$program" chat "$@"
elif hasPrompt "$@"; then
    exec "$program" generate --chat "$@"
else
    exec "$program" generate --chat --prompt "$examplePrompt" "$@"
fi
