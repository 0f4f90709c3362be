// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/value.h"

namespace engine::jinja {

enum class ArithmeticOperator : std::uint8_t {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power
};

/// Python's arithmetic on numbers, texts and lists; integers are 64 bits wide.
/// Errors: types that do not fit, division by zero, an integer or a text that gets too large.
Result<Value>
calculate(RenderContext& context, ArithmeticOperator op, const Value& left, const Value& right);

/// -value. Errors: no number.
Result<Value> negated(const Value& value);

} // namespace engine::jinja
