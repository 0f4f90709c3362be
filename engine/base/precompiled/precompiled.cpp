// SPDX-License-Identifier: Apache-2.0
// Nothing: a precompiled header needs a target, and a target a file.
