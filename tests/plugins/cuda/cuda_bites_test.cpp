// SPDX-License-Identifier: Apache-2.0
// The emulated GPU finds what a GPU would do wrong: each fault is planted in the kernels, and at
// least one number or the check at load must tell it from kernels without one.
#include "tests/plugins/cuda/cuda_support.h"

#include <QTest>

using namespace engine;
using backend_cuda::EmulatedDevice;
using backend_cuda::Fault;
using backend_cuda::emulation::ThreadOrder;

namespace {

const ThreadOrder kOrders[] = {{}, {true, 0}, {false, 12345}};

/// Logits and what went wrong, as one text that differs where anything differs.
std::string outcomeOf(const ThreadOrder& order) {
    const ModelConfig config = support::unevenConfig();
    const auto loaded = support::loadOn(std::make_shared<EmulatedDevice>(3, order),
                                        config,
                                        support::randomWeights(config, 11),
                                        {{"weights", std::string("bf16")}});
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
    for (const ThreadOrder& order : kOrders)
        QVERIFY(outcomeOf(order) == outcomeOf({}));
}

void CudaBitesTest::everyFaultIsFound_data() {
    QTest::addColumn<int>("fault");
    QTest::newRow("a barrier left out") << static_cast<int>(Fault::MissingBarrier);
    QTest::newRow("a wait one copy short") << static_cast<int>(Fault::ShortWait);
    QTest::newRow("a barrier one block short") << static_cast<int>(Fault::ShortGridBarrier);
    QTest::newRow("an order that rows decide") << static_cast<int>(Fault::CutByRows);
    QTest::newRow("a sum that ends early") << static_cast<int>(Fault::EarlyFinish);
}

void CudaBitesTest::everyFaultIsFound() {
    QFETCH(const int, fault);
    const std::string expected = outcomeOf({});
    backend_cuda::emulation::plantedFault = static_cast<Fault>(fault);
    bool isFound = false;
    for (const ThreadOrder& order : kOrders)
        isFound = isFound || outcomeOf(order) != expected;
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
