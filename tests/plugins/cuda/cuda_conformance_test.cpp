// SPDX-License-Identifier: Apache-2.0
// What every backend must do, on an emulated GPU.
#include "plugins/backend_cuda/transformer/cuda_cache.h"
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/conformance/backend_conformance.h"
#include "tests/support/programs/live_bytes.h"

namespace {

/// An emulated GPU's memory is the processor's.
std::vector<std::byte> liveBytesOf(engine::KvCache& cache) {
    const auto& storage = dynamic_cast<const backend_cuda::CudaCache&>(cache.storage());
    const std::size_t slotBytes =
        storage.planeBytes() / static_cast<std::size_t>(storage.capacity());
    std::vector<std::byte> bytes;
    for (std::size_t at = 0; at < storage.byteSize(); at += storage.planeBytes())
        bytes.insert(bytes.end(),
                     storage.data() + at,
                     storage.data() + at + static_cast<std::size_t>(cache.length()) * slotBytes);
    return bytes;
}

} // namespace

int main(int argc, char** argv) {
    const QCoreApplication application(argc, argv);
    support::liveBytesElsewhere = &liveBytesOf;
    support::BackendConformance test(
        "cuda", SWIFT_STUDIO_MODULE_DIR, [](engine::BackendRegistry& registry) {
            backend_cuda::registerBackend(
                registry, support::machineOf(std::make_shared<backend_cuda::EmulatedDevice>(1)));
        });
    test.takeFewRows();
    return QTest::qExec(&test, argc, argv);
}
