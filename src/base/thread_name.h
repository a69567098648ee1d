// SPDX-License-Identifier: MIT
//
// Names the calling thread, so that top, perf and `belfry bench` can say what it costs. At most
// 15 bytes: the kernel keeps no more.

#pragma once

namespace belfry {

void name_thread(const char* name);

}  // namespace belfry
