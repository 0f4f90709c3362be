#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# desktop.sh PROGRAM: from now on the user's desktop lists SWIFT Studio among its programs and opens
# recipes (*.swiftexp) and recorded runs (*.swiftrun) with it by a double click. Writes two files
# below $XDG_DATA_HOME; without them everything is as it was.

# shellcheck source=installer/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# A path as the key Exec takes it: in quotes, with its own signs escaped twice, once for the quotes
# and once for the file.
quoted() {
    local path="$1"
    path="${path//\\/\\\\\\\\}"
    path="${path//\"/\\\\\"}"
    path="${path//\`/\\\\\`}"
    path="${path//\$/\\\\\$}"
    printf '"%s"' "${path//%/%%}"
}

# write FILE: standard input, as a whole or not at all.
write() {
    mkdir -p "$(dirname "$1")" && cat >"$1.new" && mv "$1.new" "$1"
}

(($# == 1)) || fail "name the program that opens the files: installer/desktop.sh PROGRAM"
program="$(readlink -f -- "$1")" || fail "there is no program $1: build it with installer/run.sh."
[[ -x "$program" ]] || fail "there is no program $1: build it with installer/run.sh."
[[ -n "${XDG_DATA_HOME:-}${HOME:-}" ]] || fail "neither HOME nor XDG_DATA_HOME is set."
readonly share="${XDG_DATA_HOME:-${HOME:-}/.local/share}"

entry="$(<"$sourceDir/resources/desktop/swift-studio.desktop")"
exec="$(quoted "$program")"
entry="${entry//@TRY@/"${program//\\/\\\\}"}"
entry="${entry//@PROGRAM@/"$exec"}"
entry="${entry//@ICON@/"$sourceDir/resources/app_icon/swift-studio.svg"}"
printf '%s\n' "$entry" | write "$share/applications/swift-studio.desktop" ||
    fail "$share/applications cannot be written: files are not opened by a double click."
write "$share/mime/packages/swift-studio.xml" <"$sourceDir/resources/desktop/swift-studio.xml" ||
    fail "$share/mime cannot be written: files are not opened by a double click."
# These keep indexes; desktops without them read the files themselves.
if command -v update-mime-database >/dev/null; then
    update-mime-database "$share/mime" >/dev/null 2>&1 || true
fi
if command -v update-desktop-database >/dev/null; then
    update-desktop-database "$share/applications" >/dev/null 2>&1 || true
fi
