// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/stored_messages.h"
#include "ui/views/layer_map/empty_layer_map.h"

#include <QAbstractButton>
#include <QLabel>
#include <QTest>

using namespace support;
using namespace ui;

/// What a layer map without a set shows at each size of its dock.
class EmptyLayerMapTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    std::unique_ptr<EmptyLayerMap> m_map;

    void resize(const QSize& size) {
        m_map->resize(size);
        QCoreApplication::processEvents();
    }

private slots:

    void init() {
        m_map = std::make_unique<EmptyLayerMap>(m_theme);
        EmptyLayerMap::Offer offer;
        offer.layerCount = 6;
        offer.canFind = offer.canLoad = true;
        offer.note = QStringLiteral("The search begins with the next answer.");
        m_map->setOffer(offer);
        m_map->show();
    }

    void cleanup() {
        m_map.reset();
        m_theme.setTextPercent(100);
    }

    /// A file is also loaded by the menu.
    void wherePlaceIsShortASetIsFoundRatherThanLoaded() {
        const QAbstractButton* find =
            buttonNamed(*m_map, QStringLiteral("Find a skip set with this chat"));
        const QAbstractButton* load = buttonNamed(*m_map, QStringLiteral("Load a skip set..."));
        const int both = find->sizeHint().width() + load->sizeHint().width();
        resize({2 * both, 200});
        QVERIFY(find->isVisible() && load->isVisible());
        resize({both, 200});
        QVERIFY(find->isVisible() && !load->isVisible());
    }

    void noTextIsCut_data() {
        QTest::addColumn<int>("percent");
        QTest::newRow("100 %") << 100;
        QTest::newRow("150 %") << 150;
    }

    /// Whatever is shown is shown whole.
    void noTextIsCut() {
        QFETCH(int, percent);
        m_theme.setTextPercent(percent);
        QVERIFY(m_map->minimumSizeHint().width() <= m_theme.scaled(200)); // a dock may be narrow
        for (const QSize size :
             {QSize(272, 78), QSize(272, 136), QSize(396, 68), QSize(876, 276)}) {
            resize(size * percent / 100);
            for (const QWidget* part : m_map->findChildren<QWidget*>()) {
                if (!part->isVisible())
                    continue;
                const auto* label = qobject_cast<const QLabel*>(part);
                QVERIFY2(label == nullptr ||
                             label->height() >= label->heightForWidth(label->width()),
                         label == nullptr ? "" : qPrintable(label->text()));
                QVERIFY2(m_map->rect().contains(part->geometry()), part->metaObject()->className());
            }
        }
    }
};

QTEST_MAIN(EmptyLayerMapTest)
#include "empty_layer_map_test.moc"
