// SPDX-License-Identifier: Apache-2.0
#include "tests/support/conformance/backend_conformance.h"

BACKEND_CONFORMANCE_TEST("plain")
