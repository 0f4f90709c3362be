// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/containers.h"

#include <optional>

namespace engine::jinja {

/// A method's code: receiver and arguments in, value out.
using MethodFunction = Result<Value> (*)(RenderContext&, const Value&, const Arguments&);

struct NamedMethod {
    std::string_view name;
    MethodFunction function;
};

/// The method of a text, list, tuple or dict, ready to be called; nothing when it has none of this
/// name. Methods that would change a list or dict answer with an error when called, as in the
/// sandbox that published templates are written for.
std::optional<Value> boundMethod(const Value& receiver, std::string_view name);

/// Null when there is no such method.
MethodFunction findTextMethod(std::string_view name);
MethodFunction findSequenceMethod(std::string_view name);
MethodFunction findDictMethod(std::string_view name);

} // namespace engine::jinja
