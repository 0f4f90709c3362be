// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QMimeData>
#include <QPlainTextEdit>

namespace ui {

/// Every field of several lines that can be written into. Qt 6.4 reads the first format of what is
/// pasted without asking whether there is one: with an empty clipboard the program would crash.
class TextField : public QPlainTextEdit {
public:
    using QPlainTextEdit::QPlainTextEdit;

protected:
    void insertFromMimeData(const QMimeData* source) override {
        if (!source->formats().isEmpty())
            QPlainTextEdit::insertFromMimeData(source);
    }
};

} // namespace ui
