// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/figure_table.h"
#include "ui/plots/line_plot.h"
#include "ui/plots/stacked_bars.h"
#include "ui/theme/theme.h"

#include <QAbstractItemModelTester>
#include <QImageReader>
#include <QTemporaryDir>
#include <QTest>
#include <QTextDocument>
#include <QXmlStreamReader>

#include <numeric>

using namespace ui;

namespace {

FigureTable twoRows() { return {{"step", "note"}, {{"1", "plain"}, {"2.5", "a,\"b\"\nc"}}}; }

QByteArray contentOf(const QString& path) {
    QFile file(path);
    file.open(QIODevice::ReadOnly);
    return file.readAll();
}

} // namespace

class PlotDataTest : public QObject {
    Q_OBJECT

private slots:

    void csvQuotesAsRfc4180() {
        QCOMPARE(toCsv(twoRows()),
                 QByteArray("step,note\r\n1,plain\r\n2.5,\"a,\"\"b\"\"\nc\"\r\n"));
    }

    void aNumberWithALineEndIsOneCellToo() {
        FigureTable tokens;
        tokens.header << QStringLiteral("token");
        tokens.rows.push_back({QStringLiteral("7\n")});
        QCOMPARE(toCsv(tokens), QByteArray("token\r\n\"7\n\"\r\n"));
    }

    void csvDisarmsFormulasButKeepsNegativeNumbers() {
        const FigureTable table{{"a", "b"},
                                {{"=1+2", "-3.5"}, {"+x", "-x"}, {"@x", "\tx"}, {"\rx", ""}}};
        QCOMPARE(toCsv(table),
                 QByteArray("a,b\r\n\"'=1+2\",-3.5\r\n\"'+x\",\"'-x\"\r\n\"'@x\",\"'\tx\"\r\n"
                            "\"'\rx\",\r\n"));
    }

    void aTableShowsAsManyDigitsAsAnybodyReads() {
        FigureTableModel model;
        model.setTable({{"time", "step", "word"}, {{"2.9439736869999997", "1234567890", "3.x"}}});
        const QModelIndex time = model.index(0, 0);
        QCOMPARE(time.data().toString(), QStringLiteral("2.94397"));
        QCOMPARE(time.data(Qt::ToolTipRole).toString(), QStringLiteral("2.9439736869999997"));
        QCOMPARE(model.index(0, 1).data().toString(), QStringLiteral("1234567890"));
        QVERIFY(!model.index(0, 1).data(Qt::ToolTipRole).isValid());
        QCOMPARE(model.index(0, 2).data().toString(), QStringLiteral("3.x"));
    }

    /// Words may be cut by the column, and may look like HTML, or have signs that HTML writes in
    /// another way.
    void theTipOfWordsHasThemAll() {
        for (const QString& words : {QStringLiteral("is <b> bold?"),
                                     QStringLiteral("\"yes\" & no"),
                                     QStringLiteral("x")}) {
            FigureTableModel model;
            model.setTable({{"prompt"}, {QStringList{words}}});
            const QString tip = model.index(0, 0).data(Qt::ToolTipRole).toString();
            QVERIFY2(Qt::mightBeRichText(tip), qPrintable(tip));
            QTextDocument shown;
            shown.setHtml(tip);
            QCOMPARE(shown.toPlainText(), words);
        }
    }

    void tableModelSurvivesTheTester() {
        FigureTableModel model;
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setTable(twoRows());
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.data(model.index(1, 0), Qt::DisplayRole).toString(), QString("2.5"));
        QCOMPARE(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), QString("note"));
        model.setTable({});
        QCOMPARE(model.rowCount(), 0);
    }

    void sharesAddUpToAHundred() {
        const std::vector<Bar> bars = {{"thirds", {1.0, 1.0, 1.0}},
                                       {"sevenths", {1.0, 2.0, 3.0, 1.0}},
                                       {"tiny", {0.001, 999.0, 0.002, -5.0}}};
        for (const Bar& bar : bars) {
            const auto shares = StackedBars::percentages(bar);
            QCOMPARE(std::accumulate(shares.begin(), shares.end(), 0), 100);
        }
        QCOMPARE(StackedBars::percentages({"nothing", {0.0, 0.0}}), (std::vector<int>{0, 0}));
        QCOMPARE(StackedBars::percentages({"step", {54.0, 21.0, 0.0, 2.0}}),
                 (std::vector<int>{70, 27, 0, 3}));
    }

    void barsRepaintOnlyForOtherNumbers() {
        Theme theme;
        StackedBars bars(theme, "Latency", "ms");
        bars.setParts({{"draft", &Colours::draftTime, &Colours::onDraftTime},
                       {"verify", &Colours::verifyTime, &Colours::onVerifyTime}});
        bars.setBars({{"Whole run", {3.0, 1.0}}}, "Three and one.");
        bars.show();
        QVERIFY(QTest::qWaitForWindowExposed(&bars, support::kPatienceMs));
        QTRY_VERIFY(bars.paintCount() > 0);
        QCoreApplication::processEvents();
        const auto before = bars.paintCount();
        for (int i = 0; i < 10; ++i) {
            bars.setBars({{"Whole run", {3.0, 1.0}}}, "Three and one.");
            QCoreApplication::processEvents();
        }
        QCOMPARE(bars.paintCount(), before);
        bars.setBars({{"Whole run", {2.0, 2.0}}}, "Two and two.");
        QTRY_COMPARE(bars.paintCount(), before + 1);
        QCOMPARE(bars.table().rows[0][3].toInt(), 50);
        QCOMPARE(bars.accessibleDescription(), QString("Two and two."));
    }

    void picturesAreWrittenWhole() {
        QTemporaryDir folder;
        Theme theme;
        LinePlot plot(theme, "Speed");
        plot.resize(300, 200);
        plot.addSeries({"raw"});
        plot.setReferences({{0.5, "half & half <b>"}});
        for (int i = 0; i < 50; ++i)
            plot.append(0, {i / 50.0, (i % 7) / 7.0});
        const QString png = folder.filePath("speed.png");
        QVERIFY(!savePng(plot, png, 2.0));
        QCOMPARE(QImageReader(png).size(), plot.pictureSize() * 2);

        const QString svg = folder.filePath("speed.svg");
        QVERIFY(!saveSvg(plot, svg));
        QXmlStreamReader xml(contentOf(svg));
        QString texts;
        while (!xml.atEnd()) {
            if (xml.readNext() == QXmlStreamReader::Characters)
                texts += xml.text();
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QVERIFY(texts.contains("half & half <b>"));

        const QString csv = folder.filePath("speed.csv");
        QVERIFY(!saveCsv(plot.table(), csv));
        QCOMPARE(contentOf(csv).count('\n'), 51);
    }

    void anErrorIsASentenceAndLeavesTheOldFile() {
        const auto error = saveCsv(twoRows(), "/proc/no-such-folder/table.csv");
        QVERIFY(error.has_value());
        QVERIFY(error->contains("table.csv"));
        QVERIFY(error->endsWith('.'));
        QTemporaryDir folder;
        Theme theme;
        StackedBars bars(theme, "Latency", "ms");
        bars.resize(200, 100);
        const QString path = folder.filePath("bars.png");
        QVERIFY(!savePng(bars, path, 1.0));
        const QByteArray old = contentOf(path);
        QVERIFY(savePng(bars, path, 1e6).has_value());
        QCOMPARE(contentOf(path), old);
    }
};

QTEST_MAIN(PlotDataTest)
#include "plot_data_test.moc"
