// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/empty_learn.h"

#include <QPainter>
#include <QPushButton>

#include <array>

namespace ui {

namespace {

/// A draft of four tokens with alternatives beside them, all of them empty.
class DraftOutline : public QWidget {
public:
    explicit DraftOutline(const Theme& theme)
        : m_theme(theme) {
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    }

    QSize sizeHint() const override { return {m_theme.scaled(360), m_theme.scaled(150)}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setPen(m_theme.colours().border);
        const int height = m_theme.scaled(23);
        const int step = m_theme.scaled(32);
        const int first = m_theme.scaled(96);
        const int other = m_theme.scaled(64);
        constexpr std::array kAlternatives = {0, 2, 1, 3};
        int row = 0;
        for (const int alternatives : kAlternatives) {
            const int top = row++ * step;
            painter.drawRect(0, top, first, height);
            if (row > 1)
                painter.drawLine(m_theme.scaled(14), top - step + height, m_theme.scaled(14), top);
            for (int i = 0; i < alternatives; ++i)
                painter.drawRect(first + m_theme.scaled(24) + i * (other + m_theme.scaled(8)),
                                 top,
                                 other,
                                 height);
        }
    }

private:
    const Theme& m_theme;
};

} // namespace

EmptyLearn::EmptyLearn(const Theme& theme, QWidget* parent)
    : EmptyPage(theme,
                new DraftOutline(theme),
                tr("Watch how an answer is made"),
                tr("Ask something in Chat, or open a recording: its rounds can be walked "
                   "through here, one step at a time. The lessons begin at the beginning."),
                parent) {
    connect(addButton(tr("Go to Chat"), IconName::Chat),
            &QPushButton::clicked,
            this,
            &EmptyLearn::chatAsked);
    connect(addButton(tr("Open a recording..."), IconName::Folder),
            &QPushButton::clicked,
            this,
            &EmptyLearn::recordingAsked);
    connect(addButton(tr("Lessons"), IconName::Learn),
            &QPushButton::clicked,
            this,
            &EmptyLearn::lessonsAsked);
}

} // namespace ui
