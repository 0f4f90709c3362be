// SPDX-License-Identifier: Apache-2.0
#pragma once

// What nearly every file of the engine and its modules includes, compiled once (see
// CMakeLists.txt). A file still includes everything it uses. No header of the project belongs here:
// every change to it would recompile everything.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>
