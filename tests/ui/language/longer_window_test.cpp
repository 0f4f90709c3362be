// SPDX-License-Identifier: GPL-3.0-only
// The window in a made-up language whose texts are a third longer and stand in brackets: a text
// without brackets passes every translation by, and what is too narrow would be cut in a real one.
#include "tests/ui/support/studio_stage.h"

#include <QAbstractButton>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QTest>
#include <QTextDocumentFragment>
#include <QTranslator>

using namespace support;

namespace {

/// "Chat" becomes "[Chat~~]".
class LongerTexts : public QTranslator {
public:
    QString translate(const char* /*context*/,
                      const char* english,
                      const char* /*meaning*/,
                      int /*count*/) const override {
        const QString text = QString::fromUtf8(english);
        return QLatin1Char('[') + text + QString(text.size() / 3 + 1, QLatin1Char('~')) +
               QLatin1Char(']');
    }

    bool isEmpty() const override { return false; }
};

/// Whether something of it is a word of the window: not a number, a name or a unit.
bool isTranslatable(const QString& text) {
    static const QRegularExpression kWord(QStringLiteral("[A-Za-z]{3,}"));
    static const QStringList kNames = {
        "Tiny", "SWIFT", "SWIFT Studio", "LayerSkip", "SPACE", "a question", "English", "tok/s"};
    return kWord.match(text).hasMatch() && !kNames.contains(text.trimmed());
}

QString plain(const QString& text) {
    return Qt::mightBeRichText(text) ? QTextDocumentFragment::fromHtml(text).toPlainText() : text;
}

QString whereIs(const QWidget& widget) {
    QStringList names;
    for (const QWidget* at = &widget; at != nullptr; at = at->parentWidget())
        names.prepend(at->objectName().isEmpty()
                          ? QString::fromLatin1(at->metaObject()->className())
                          : at->objectName());
    return names.mid(std::max<qsizetype>(0, names.size() - 4)).join(QLatin1Char('/'));
}

void noteIfEnglish(QStringList& english, const QString& text, const QString& where) {
    if (isTranslatable(text) && !text.contains(QLatin1Char('[')))
        english << where + QStringLiteral(": ") + text;
}

} // namespace

class LongerWindowTest : public QObject {
    Q_OBJECT

    LongerTexts m_texts;
    std::unique_ptr<StudioStage> m_stage;

private slots:

    /// One window for all: what is looked at does not change.
    void initTestCase() {
        QCoreApplication::installTranslator(&m_texts);
        m_stage = std::make_unique<StudioStage>();
        m_stage->open();
        m_stage->loadModel();
        m_stage->answer();
        m_stage->saySearch();
    }

    void cleanupTestCase() {
        m_stage.reset();
        QCoreApplication::removeTranslator(&m_texts);
    }

    void everyTextIsTranslated_data() { addWorkspaces(); }

    void everyTextIsTranslated() {
        showWorkspace();
        QStringList english;
        for (const QWidget* widget : m_stage->studio->window().findChildren<QWidget*>()) {
            if (!widget->isVisible())
                continue;
            if (const auto* label = qobject_cast<const QLabel*>(widget))
                noteIfEnglish(english, plain(label->text()), whereIs(*widget));
            if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
                noteIfEnglish(english, button->text(), whereIs(*widget));
            noteIfEnglish(english, plain(widget->toolTip()), whereIs(*widget) + " (tool tip)");
            noteIfEnglish(english, widget->accessibleName(), whereIs(*widget) + " (spoken)");
        }
        for (const QMenu* menu : m_stage->studio->window().menuBar()->findChildren<QMenu*>())
            for (const QAction* action : menu->actions())
                noteIfEnglish(english, action->text(), menu->title());
        english.removeDuplicates();
        QVERIFY2(english.isEmpty(), qPrintable(english.join(QLatin1Char('\n'))));
    }

    void noButtonIsCut_data() { addWorkspaces(); }

    void noButtonIsCut() {
        showWorkspace();
        QStringList cut;
        for (const QAbstractButton* button :
             m_stage->studio->window().findChildren<QAbstractButton*>())
            if (button->isVisible() && !button->text().isEmpty() &&
                button->width() < button->minimumSizeHint().width())
                cut << QStringLiteral("%1: %2 is %3 wide and needs %4")
                           .arg(whereIs(*button), button->text())
                           .arg(button->width())
                           .arg(button->minimumSizeHint().width());
        QVERIFY2(cut.isEmpty(), qPrintable(cut.join(QLatin1Char('\n'))));
    }

private:
    static void addWorkspaces() {
        QTest::addColumn<QString>("workspace");
        for (const char* name : {"chat", "inspect", "experiments", "learn", "tune"})
            QTest::newRow(name) << QString::fromLatin1(name) + QStringLiteral("_workspace");
    }

    void showWorkspace() {
        QFETCH(const QString, workspace);
        m_stage->studio->window().showWorkspace(workspace);
        m_stage->settle();
    }
};

QTEST_MAIN(LongerWindowTest)
#include "longer_window_test.moc"
