// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/value.h"

namespace engine::jinja {

/// Python's a == b. Errors: the limit of steps.
Result<bool> areEqual(RenderContext& context, const Value& a, const Value& b);

Result<bool> areDifferent(RenderContext& context, const Value& a, const Value& b);

/// Python's a < b. Errors: types that have no order.
Result<bool> isLess(RenderContext& context, const Value& a, const Value& b);
Result<bool> isLessOrEqual(RenderContext& context, const Value& a, const Value& b);
Result<bool> isGreater(RenderContext& context, const Value& a, const Value& b);
Result<bool> isGreaterOrEqual(RenderContext& context, const Value& a, const Value& b);

/// Python's item in container. Errors: a container that has no items.
Result<bool> isContained(RenderContext& context, const Value& item, const Value& container);

} // namespace engine::jinja
