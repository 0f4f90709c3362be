// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/operations/access.h"

namespace engine::jinja {

/// The variable `loop`: where a for loop stands.
class LoopState : public Object, public std::enable_shared_from_this<LoopState> {
public:
    explicit LoopState(Items items);

    std::string_view typeName() const override { return "LoopContext"; }

    /// index, index0, revindex, revindex0, first, last, length, previtem, nextitem; depth and
    /// depth0, which count recursion only, so always 1 and 0; cycle and changed are functions.
    std::optional<Value> attribute(std::string_view name) const override;

    int depth() const override { return m_valueDepth; }

    void releaseValues() override { m_lastChanged.clear(); }

    void moveTo(std::size_t index) { m_index = index; }

    /// loop.cycle(...): the argument whose turn it is.
    Result<Value> cycle(const Arguments& arguments) const;

    /// loop.changed(...): whether the arguments differ from those of the last call.
    Result<Value> changed(RenderContext& context, const Arguments& arguments);

private:
    Value itemAt(std::size_t index, std::string_view missing) const;

    Items m_items;
    std::size_t m_index = 0;
    int m_valueDepth = 1;
    bool m_hasChangedBefore = false;
    std::vector<Value> m_lastChanged;
};

} // namespace engine::jinja
