// SPDX-License-Identifier: MIT
//
// For tests: requests that must be refused. Each is a way in which some server or proxy once
// took bytes for another request than its neighbour did. Many carry a second request behind
// them, which must not be served either.

#pragma once

#include <string_view>

namespace belfry {

struct MalformedRequest {
  std::string_view name;
  std::string_view bytes;
  int status = 400;
};

using namespace std::string_view_literals;

inline constexpr MalformedRequest kMalformedRequests[] = {
    // Two lengths.
    {"LengthAndChunked",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
     "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"ChunkedAndLength",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
     "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"TwoLengthsThatDiffer",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"sv},
    {"TwoLengthsThatAgree",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\nhello"sv},
    {"ListOfLengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello"sv},
    // Lengths that are read differently.
    {"LengthWithPlus", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello"sv},
    {"LengthWithMinus", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nhello"sv},
    {"LengthInHex", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello"sv},
    {"LengthWithFraction", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5.0\r\n\r\nhello"sv},
    {"LengthWithLetters", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5a\r\n\r\nhello"sv},
    {"LengthWithSpace", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 2\r\n\r\nhello"sv},
    {"LengthWithQuotes", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \"5\"\r\n\r\nhello"sv},
    {"LengthWithUnderscore", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1_0\r\n\r\nhello"sv},
    {"EmptyLength", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\nhello"sv},
    {"LengthBeyondAnyNumber",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551621\r\n\r\nhello"sv, 413},
    {"LengthNearTheLargestNumber",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\nhello"sv, 413},
    // Transfer-Encodings that one reader ignores and another obeys.
    {"UnknownTransferEncoding",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"sv},
    {"GzipAndChunked",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"sv},
    {"ChunkedNotLast",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"sv},
    {"ChunkedTwice",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"sv},
    {"TwoTransferEncodings",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"
     "\r\n0\r\n\r\n"sv},
    {"Identity", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\nhello"sv},
    {"QuotedChunked",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"sv},
    {"ChunkedAfterVerticalTab",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0b"
     "chunked\r\n\r\n0\r\n\r\n"sv},
    {"EmptyTransferEncoding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\nhello"sv},
    {"ChunkedInHttp10",
     "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"sv},
    // Header lines.
    {"SpaceBeforeColon",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"sv},
    {"TabBeforeColon", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length\t: 5\r\n\r\nhello"sv},
    {"FoldedHeader", "GET / HTTP/1.1\r\nHost: a\r\nX: one\r\n two\r\n\r\n"sv},
    {"FoldedWithTab", "GET / HTTP/1.1\r\nHost: a\r\nX: one\r\n\ttwo\r\n\r\n"sv},
    {"FirstHeaderIndented", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"sv},
    {"HeaderWithoutColon", "GET / HTTP/1.1\r\nHost: a\r\nGET /smuggled HTTP/1.1\r\n\r\n"sv},
    {"EmptyHeaderName", "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n"sv},
    {"SpaceInHeaderName", "GET / HTTP/1.1\r\nHost: a\r\nContent Length: 5\r\n\r\n"sv},
    {"SlashInHeaderName", "GET / HTTP/1.1\r\nHost: a\r\nA/B: x\r\n\r\n"sv},
    {"NonAsciiHeaderName", "GET / HTTP/1.1\r\nHost: a\r\nX\xc3\xa4: x\r\n\r\n"sv},
    {"NulInHeaderName", "GET / HTTP/1.1\r\nHost: a\r\nX\0: x\r\n\r\n"sv},
    {"NulInHeaderValue", "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"sv},
    {"ControlInHeaderValue", "GET / HTTP/1.1\r\nHost: a\r\nX: a\x01z\r\n\r\n"sv},
    {"DeleteInHeaderValue", "GET / HTTP/1.1\r\nHost: a\r\nX: a\x7f\r\n\r\n"sv},
    {"CarriageReturnInHeaderValue", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n"sv},
    {"CarriageReturnBeforeLineEnd", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\r\n\r\n"sv},
    // Line endings.
    {"BareLineFeeds", "GET / HTTP/1.1\nHost: a\n\n"sv},
    {"BareLineFeedAfterRequestLine", "GET / HTTP/1.1\nHost: a\r\n\r\n"sv},
    {"BareLineFeedInHeader", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"sv},
    {"BareLineFeedAtEnd", "GET / HTTP/1.1\r\nHost: a\r\n\n"sv},
    {"BareCarriageReturnInRequestLine", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"TwoEmptyLinesBefore", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"LineFeedBefore", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    // Hosts.
    {"NoHost", "GET / HTTP/1.1\r\n\r\n"sv},
    {"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"sv},
    {"TwoHostsThatAgree", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"sv},
    {"TwoHostsInHttp10", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"sv},
    {"EmptyHost", "GET / HTTP/1.1\r\nHost:\r\n\r\n"sv},
    {"HostWithSpace", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"sv},
    {"HostWithPath", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"sv},
    {"HostWithUser", "GET / HTTP/1.1\r\nHost: localhost@evil\r\n\r\n"sv},
    {"ListOfHosts", "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n"sv},
    // Request lines.
    {"MethodWithParenthesis", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"MethodWithNul", "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"NoMethod", " / HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"MethodTooLong", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGH / HTTP/1.1\r\nHost: a\r\n\r\n"sv, 501},
    {"TwoSpacesBeforeTarget", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"TwoSpacesBeforeVersion", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"SpaceAfterVersion", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"sv},
    {"TabsForSpaces", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"SpaceInTarget", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"NoVersion", "GET /\r\n\r\n"sv},
    {"NoTarget", "GET HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"LowerCaseVersion", "GET / http/1.1\r\nHost: a\r\n\r\n"sv},
    {"LongVersion", "GET / HTTP/1.10\r\nHost: a\r\n\r\n"sv},
    {"ShortVersion", "GET / HTTP/1\r\nHost: a\r\n\r\n"sv},
    {"Version2", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"sv, 505},
    {"Version09", "GET / HTTP/0.9\r\nHost: a\r\n\r\n"sv, 505},
    {"PrefaceOfHttp2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"sv},
    {"AbsoluteTarget", "GET http://evil/ HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"TargetWithoutSlash", "GET index.html HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"AsteriskOfGet", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"Fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"NonAsciiTarget", "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"NulInTarget", "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"Connect", "CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n"sv, 501},
    // Something else altogether. The hello has no line feed: it is known by its first byte.
    {"TlsHello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"sv},
    {"Garbage", "\xff\xfe\xfd\r\n\r\n"sv},
    // Expectations.
    {"UnknownExpectation",
     "POST / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nContent-Length: 1\r\n\r\n"sv, 417},
    {"ExpectationOfTooLargeBody",
     "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"sv,
     413},
    // Chunks.
    {"ChunkSizeNotHex",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n"sv},
    {"ChunkSizeWithPrefix",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"sv},
    {"ChunkSizeNegative",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"sv},
    {"ChunkSizeWithPlus",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n"sv},
    {"ChunkSizeWithSpace",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n"sv},
    {"ChunkSizeOverflow",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
     "10000000000000005\r\nhello\r\n0\r\n\r\n"sv},
    {"ChunkSizeBeyondLimit",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n"sv, 413},
    {"EmptyChunkSize",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n"sv},
    {"ChunkLineWithBareLineFeed",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n"sv},
    {"ChunkExtensionWithControl",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
     "5;a=\x01\r\nhello\r\n0\r\n\r\n"sv},
    {"ChunkExtensionWithBareLineFeed",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
     "5;\nxx\r\nhello\r\n0\r\n\r\n"sv},
    {"ChunkLongerThanSaid",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n"sv},
    {"ChunkEndsWithBareLineFeed",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n"sv},
    {"TrailerFolded",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
     "0\r\nX: a\r\n b\r\n\r\n"sv},
    {"TrailerIsARequest",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
     "0\r\nGET /smuggled HTTP/1.1\r\n\r\n"sv},
    {"TrailerEndsWithBareLineFeed",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\n"sv},
};

}  // namespace belfry
