// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"
#include "ui/shell/docks/view_menu.h"

#include <QSplitter>

#include <functional>
#include <string>

class QStackedWidget;

namespace ui {

class LayerMapView;

/// The centre of the Inspect workspace: the layer map, and below it one of two pages: the search
/// for a skip set, or the tables of a decoder's rounds. When a decoder is chosen or starts to
/// search, the page with something to show comes up; in between the user can switch. Thread: UI.
class InspectPage : public QSplitter {
    Q_OBJECT

public:
    enum class Face { Search, Rounds };

    InspectPage(const ViewContext& context, ViewMenu& menu, QWidget* parent = nullptr);

    LayerMapView& layerMap() const { return *m_map; }

    Face face() const;

    /// As the buttons in the titles do.
    void setFace(Face face);

    /// Switches to the other page.
    void turn();

    /// Sends faceShown(), as soon as nothing waits to be laid out.
    void tellFace();

signals:
    /// The page is on the screen and fully laid out.
    void faceShown(Face face);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void addTurn(const QWidget& part, const QString& text, Face face);
    void onEvent(const engine::EngineEvent& event);

    const ViewContext m_context;
    LayerMapView* m_map;
    QStackedWidget* m_faces;
    std::string m_decoder; ///< whose face was brought last
    bool m_hasSearched = false;
};

} // namespace ui
