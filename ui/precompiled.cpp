// SPDX-License-Identifier: GPL-3.0-only
// Nothing: a precompiled header needs a target, and a target a file.
