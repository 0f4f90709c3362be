// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>

namespace ui {

/// The absolute path without "." and "..". Behind a link to a folder, ".." leads elsewhere than the
/// text says: such a path becomes that of the file that it names, without any link. Thread: any.
QString cleanPath(const QString& path);

} // namespace ui
