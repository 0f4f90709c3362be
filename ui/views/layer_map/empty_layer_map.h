// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace ui {

class LayerSkeleton;

/// The layer map's content before there is a skip set: an outline of the picture, what it will
/// show, and what to do. Thread: UI.
class EmptyLayerMap : public QWidget {
    Q_OBJECT

public:
    struct Offer {
        int layerCount = 0;      ///< 0 = not known
        bool isSearched = false; ///< beside the answers, from the first one on
        bool canFind = false;
        bool canLoad = false;
        QString reason; ///< why there is none, unless it only takes time
        QString note;
        bool hasDraftLayer = false; ///< a layer beside the model drafts

        bool operator==(const Offer&) const = default;
    };

    explicit EmptyLayerMap(const Theme& theme, QWidget* parent = nullptr);

    void setOffer(const Offer& offer);

    /// Parts without room are left out, so it needs little.
    QSize minimumSizeHint() const override;

signals:
    void findRequested();
    void loadRequested();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange();
    void placeTitle(bool isBesideButtons);

    const Theme& m_theme;
    Offer m_offer;
    LayerSkeleton* m_skeleton;
    QLabel* m_title;
    QLabel* m_sentence;
    QPushButton* m_find;
    QPushButton* m_load;
    QHBoxLayout* m_buttons;
    QLabel* m_note;
};

} // namespace ui
