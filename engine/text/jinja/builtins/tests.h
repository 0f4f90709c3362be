// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/containers.h"

namespace engine::jinja {

/// A test's code: `value is name(arguments)`.
using TestFunction = Result<bool> (*)(RenderContext&, const Value&, const Arguments&);

/// Null when there is no such test.
TestFunction findTest(std::string_view name);

} // namespace engine::jinja
