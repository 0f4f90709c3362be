// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/empty_page.h"

class QPushButton;

namespace ui {

/// The page before anything is chosen: the outline of a result, a sentence, and the way to begin.
/// Thread: UI.
class EmptyExperiments : public EmptyPage {
    Q_OBJECT

public:
    explicit EmptyExperiments(const Theme& theme, QWidget* parent = nullptr);

    /// At first they are not offered.
    void offerExamples(bool isOffered);

signals:
    void openDataAsked();
    void recipesAsked();
    void examplesAsked();

private:
    QPushButton* m_examples;
};

} // namespace ui
