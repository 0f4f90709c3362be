// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/containers.h"

namespace engine::jinja {

/// What namespace() returns: the one thing whose attributes a template may set.
class Namespace : public Object {
public:
    explicit Namespace(Dict attributes)
        : m_attributes(std::move(attributes)) {}

    std::string_view typeName() const override { return "Namespace"; }

    std::optional<Value> attribute(std::string_view name) const override;

    void setAttribute(std::string name, Value value) {
        m_attributes.setText(std::move(name), std::move(value));
    }

    const Dict* printedEntries() const override { return &m_attributes; }

    void releaseValues() override { m_attributes = {}; }

private:
    Dict m_attributes;
};

/// range, dict, namespace, raise_exception, strftime_now, joiner and cycler, by name.
std::vector<std::pair<std::string, Value>> globalFunctions();

} // namespace engine::jinja
