// SPDX-License-Identifier: Apache-2.0
#pragma once

// The headers that nearly every test includes, and those of the session, which take two seconds to
// read, compiled once; the window's tests have their own in tests/ui/support.

#include "engine/session/engine_session.h"
#include "tests/support/patience.h"

#include <QTemporaryDir>
#include <QTest>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>
