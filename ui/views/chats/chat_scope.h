// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

namespace ui {

/// Which chats a list shows: all but archived ones, those of a folder, or the archived ones. A
/// plain value.
struct ChatScope {
    enum class Kind : std::uint8_t { All, Folder, Archived };

    Kind kind = Kind::All;
    QString folder; ///< of Kind::Folder

    /// A search through all chats finds archived ones, too.
    bool contains(const ChatRecord& chat, bool isSearch) const {
        if (kind == Kind::Folder)
            return chat.folder == folder && !chat.isArchived;
        return kind == Kind::Archived ? chat.isArchived : isSearch || !chat.isArchived;
    }

    bool operator==(const ChatScope&) const = default;
};

} // namespace ui
