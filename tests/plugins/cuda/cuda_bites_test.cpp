// SPDX-License-Identifier: Apache-2.0
// The emulated GPU finds what a GPU would do wrong: each fault is planted in the kernels, and at
// least one number or the check at load must tell it from kernels without one.
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/few_cases.h"
#include "tests/support/models/stored_weights.h"

#include <QTest>

#include <map>

using namespace engine;
using backend_cuda::EmulatedDevice;
using backend_cuda::Fault;
using backend_cuda::emulation::ThreadOrder;

namespace {

const ThreadOrder kOrders[] = {{}, {true, 0}, {false, 12345}, {.isEager = true}};

/// Logits and what went wrong, as one text that differs where anything differs. `form`: a word of
/// --weights, or "4bit", as which the file has them.
std::string outcomeOf(const ThreadOrder& order, const std::string& form = "bf16") {
    const ModelConfig config = support::unevenConfig();
    const auto device = std::make_shared<EmulatedDevice>(3, order);
    const support::MemoryWeights weights = support::randomWeights(config, 11);
    const auto loaded =
        form == "4bit"
            ? support::loadOn(device, config, support::StoredWeights(weights, TensorType::Q4_1))
            : support::loadOn(device, config, weights, {{"weights", form}});
    if (!loaded)
        return loaded.error().message;
    KvCache cache = loaded.value()->makeCache(8).value();
    const std::vector<TokenId> ids = support::someIds(3);
    const int last = 2;
    auto result = loaded.value()->forward({.plan = LayerPlan::full(config.layerCount),
                                           .layout = AttentionLayout::chain(0, 3),
                                           .tokens = ids,
                                           .logitRows = std::span(&last, 1)},
                                          cache);
    if (!result)
        return result.error().message;
    const std::vector<double> row = support::rowOf(result.value(), 0);
    return {reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double)};
}

/// That of kernels without a fault, in the order of threads that is nobody's choice.
const std::string& soundOutcomeOf(const std::string& form) {
    static std::map<std::string, std::string> known;
    std::string& outcome = known[form];
    if (outcome.empty())
        outcome = outcomeOf({}, form);
    return outcome;
}

} // namespace

class CudaBitesTest : public QObject {
    Q_OBJECT

private slots:

    void cleanup() { backend_cuda::emulation::plantedFault = Fault::None; }

    void kernelsWithoutAFaultAgree();
    void everyFaultIsFound_data();
    void everyFaultIsFound();
    void theCheckAtLoadRefusesSumsThatDependOnRows();
    void theCheckAtLoadJoinsSections();
    void threadsThatWaitForNothingAreAnError();
};

void CudaBitesTest::kernelsWithoutAFaultAgree() {
    // In a sample the first form meets all orders, and each other one two of them.
    for (const char* form : {"4bit", "int8", "bf16"}) {
        const bool isFirst = std::string(form) == "4bit";
        support::FewCases few(2, !isFirst && !support::takesAllCases());
        for (const ThreadOrder& order : kOrders)
            QVERIFY(few.skipsNext() || outcomeOf(order, form) == soundOutcomeOf(form));
        if (support::takesFewCases())
            break;
    }
}

void CudaBitesTest::everyFaultIsFound_data() {
    QTest::addColumn<int>("fault");
    QTest::addColumn<QString>("form");
    const std::pair<const char*, Fault> faults[] = {
        {"a barrier left out", Fault::MissingBarrier},
        {"a wait one copy short", Fault::ShortWait},
        {"a barrier one block short", Fault::ShortGridBarrier},
        {"an order that rows decide", Fault::CutByRows},
        {"a sum that ends early", Fault::EarlyFinish},
        {"scales of the record before", Fault::StaleScales},
        {"a scale of half of a group", Fault::HalfGroups}};
    // In a sample the forms take turns.
    std::size_t turn = 0;
    for (const auto& [name, fault] : faults) {
        std::vector<const char*> forms = {"int8", "4bit"};
        if (fault < Fault::StaleScales)
            forms.push_back("bf16");
        if (!support::takesAllCases())
            forms = {forms[turn++ % forms.size()]};
        for (const char* form : forms)
            QTest::addRow("%s, %s", name, form) << static_cast<int>(fault) << QString(form);
    }
}

void CudaBitesTest::everyFaultIsFound() {
    QFETCH(const int, fault);
    QFETCH(const QString, form);
    const std::string expected = soundOutcomeOf(form.toStdString());
    backend_cuda::emulation::plantedFault = static_cast<Fault>(fault);
    bool isFound = false;
    for (const ThreadOrder& order : kOrders)
        isFound = isFound || outcomeOf(order, form.toStdString()) != expected;
    QVERIFY(isFound);
}

void CudaBitesTest::theCheckAtLoadRefusesSumsThatDependOnRows() {
    backend_cuda::emulation::plantedFault = Fault::CutByRows;
    const ModelConfig config = support::unevenConfig();
    const auto loaded = support::loadOn(
        std::make_shared<EmulatedDevice>(), config, support::randomWeights(config, 11));
    QVERIFY(!loaded);
    QVERIFY2(loaded.error().message.find("The GPU emulated GPU computes row 0 of the last layer "
                                         "differently") != std::string::npos,
             loaded.error().message.c_str());
    QVERIFY(!loaded.error().hint.empty());
}

/// With as many rows as it has on a GPU: the first of a second section is computed beside many rows
/// in one way and beside few in another.
void CudaBitesTest::theCheckAtLoadJoinsSections() {
    backend_cuda::emulation::plantedFault = Fault::LostSections;
    backend_cuda::Machine machine = support::machineOf(std::make_shared<EmulatedDevice>());
    machine.checkedRows = backend_cuda::Machine().checkedRows;
    BackendRegistry registry("");
    backend_cuda::registerBackend(registry, machine);
    const ModelConfig config = support::tinyConfig();
    const auto loaded =
        registry.find("cuda").value()(config, support::randomWeights(config, 11), {});
    QVERIFY(!loaded);
    QVERIFY2(loaded.error().message.find("computes row 64 of the last layer") != std::string::npos,
             loaded.error().message.c_str());
}

void CudaBitesTest::threadsThatWaitForNothingAreAnError() {
    EmulatedDevice device(1);
    unsigned counter = 0;
    backend_cuda::Operation operation;
    operation.kind = backend_cuda::Kind::HeadJoin; // of no rows
    backend_cuda::PassArguments arguments;
    arguments.operations = &operation;
    arguments.end = 1;
    arguments.barrier = &counter;
    QVERIFY(device.launch(backend_cuda::Kernel::Pass8, 1, arguments).hasValue());
    arguments.barrierStart = 100; // nobody gets there
    const auto stuck = device.launch(backend_cuda::Kernel::Pass8, 1, arguments);
    QVERIFY(!stuck);
    QVERIFY(stuck.error().message.find("stuck") != std::string::npos);
}

QTEST_GUILESS_MAIN(CudaBitesTest)
#include "cuda_bites_test.moc"
