// SPDX-License-Identifier: Apache-2.0
#pragma once

// The headers that nearly every test includes, compiled once; the window's tests have their own in
// tests/ui/support.

#include "tests/support/patience.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>
