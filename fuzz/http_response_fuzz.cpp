// SPDX-License-Identifier: MIT
//
// Any bytes as an answer to a call. The first byte says whether it was HEAD and in pieces of
// which size the rest comes: whole or in pieces, the reader must make the same of it.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "net/http_client_response.h"

namespace belfry {
namespace {

using Step = HttpResponseReader::Step;
using Answering = HttpResponseReader::Answering;

struct Outcome {
  Step step;
  bool reusable;
  HttpReply reply;
  HttpFailureKind kind;
};

Outcome read(std::string_view bytes, std::size_t piece, Answering answering) {
  static const HttpClientLimits limits = [] {
    HttpClientLimits small;
    small.head_bytes_max = 512;
    small.body_bytes_max = 256;
    small.body_kept_bytes_max = 64;
    return small;
  }();
  HttpResponseReader reader(limits, answering);
  Step step = Step::need_bytes;
  while (!bytes.empty() && step == Step::need_bytes) {
    step = reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (step == Step::need_bytes) step = reader.end();
  ASSERT(step != Step::need_bytes);
  const bool reusable = reader.reusable() && bytes.empty();
  const HttpFailureKind kind = reader.failure().kind;
  HttpReply reply = reader.take_reply();
  ASSERT(reply.body.size() <= limits.body_kept_bytes_max);
  return {step, reusable, std::move(reply), kind};
}

void check(std::uint8_t choice, std::string_view bytes) {
  const Answering answering = (choice & 1) != 0 ? Answering::head : Answering::get;
  const std::size_t piece = (choice >> 1) + 1u;
  const Outcome whole = read(bytes, bytes.size(), answering);
  const Outcome pieces = read(bytes, piece, answering);
  ASSERT(whole.step == pieces.step);
  if (whole.step == Step::failed) {
    ASSERT(whole.kind == pieces.kind);
    return;
  }
  ASSERT(200 <= whole.reply.status && whole.reply.status <= 999);
  ASSERT(whole.reply.status == pieces.reply.status);
  ASSERT(whole.reply.header_lines == pieces.reply.header_lines);
  ASSERT(whole.reply.body == pieces.reply.body);
  ASSERT(whole.reusable == pieces.reusable);
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  belfry::check(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
