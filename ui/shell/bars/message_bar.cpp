// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/bars/message_bar.h"

#include <QApplication>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

MessageBar::MessageBar(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_rows(new QVBoxLayout(this)) {
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setSpacing(0);
    setAccessibleName(tr("Messages"));
    hide();
}

void MessageBar::show(Notice notice) {
    if (!notice.id.isEmpty())
        withdraw(notice.id);
    auto* banner = new Banner(m_theme, std::move(notice), this);
    connect(banner, &Banner::closed, this, [this, banner] { remove(banner); });
    m_rows->insertWidget(0, banner);
    m_banners.insert(m_banners.begin(), banner);
    if (m_banners.size() > kMostShown)
        remove(m_banners.back());
    setVisible(true);
}

void MessageBar::withdraw(const QString& id) {
    for (Banner* banner : m_banners) {
        if (banner->notice().id == id) {
            remove(banner);
            return;
        }
    }
}

bool MessageBar::isShown(const QString& id) const {
    return std::ranges::any_of(m_banners,
                               [&id](const Banner* banner) { return banner->notice().id == id; });
}

std::vector<const Notice*> MessageBar::notices() const {
    std::vector<const Notice*> notices;
    for (const Banner* banner : m_banners)
        notices.push_back(&banner->notice());
    return notices;
}

void MessageBar::remove(Banner* banner) {
    // Otherwise Qt would give the focus to the next widget in the window.
    const bool hadFocus = banner->isAncestorOf(QApplication::focusWidget());
    std::erase(m_banners, banner);
    banner->hide();
    banner->deleteLater();
    setVisible(!m_banners.empty());
    if (hadFocus)
        emit focusFreed();
}

} // namespace ui
