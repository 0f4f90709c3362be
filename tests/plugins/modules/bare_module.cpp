// SPDX-License-Identifier: Apache-2.0

// A shared library without the functions that a backend module exports.
extern "C" int anythingElse() { return 1; }
