// SPDX-License-Identifier: Apache-2.0
//
// Every reason for which a message is refused, in one place: the codes are part of the interface (problem documents,
// metrics) and do not change.
#pragma once

#include "weir/http/rejection.h"

namespace weir::http::fault {

// Lines and names.
inline constexpr Rejection kEmptyLines{400, "too-many-empty-lines", "Too many empty lines before the request."};
inline constexpr Rejection kLoneLf{400, "lone-lf", "A line ends with LF alone."};
inline constexpr Rejection kLoneCr{400, "lone-cr", "A CR is not followed by LF."};
inline constexpr Rejection kFoldedLine{400, "folded-line", "A line of the head starts with white space."};
inline constexpr Rejection kNoColon{400, "no-colon", "A field line has no colon."};
inline constexpr Rejection kFieldName{400, "bad-field-name", "A field name is not a token."};
inline constexpr Rejection kUnderscore{400, "underscore-in-name", "A field name contains an underscore."};
inline constexpr Rejection kFieldValue{400, "bad-field-value", "A field value contains a control character."};
inline constexpr Rejection kHeadTooLarge{431, "head-too-large", "The head of the message is too large."};
inline constexpr Rejection kTooManyFields{431, "too-many-fields", "The head has too many fields."};

// The request line.
inline constexpr Rejection kRequestLine{400, "bad-request-line", "The request line is malformed."};
inline constexpr Rejection kMethod{400, "bad-method", "The method is not a token."};
inline constexpr Rejection kMethodTooLong{501, "method-too-long", "The method is too long."};
inline constexpr Rejection kTarget{400, "bad-target", "The request target contains a forbidden character."};
inline constexpr Rejection kTargetForm{400, "bad-target-form",
                                       "The request target has no form that is allowed here."};
inline constexpr Rejection kTargetTooLong{414, "target-too-long", "The request target is too long."};
inline constexpr Rejection kUserinfo{400, "userinfo-in-target", "The request target contains user information."};
inline constexpr Rejection kVersion{400, "bad-version", "The protocol version is malformed."};
inline constexpr Rejection kVersionUnknown{505, "version-not-supported",
                                           "Only HTTP/1.0 and HTTP/1.1 are served here."};

// What fields say.
inline constexpr Rejection kNoHost{400, "no-host", "The Host field is missing."};
inline constexpr Rejection kHost{400, "bad-host", "The Host field is not a host with an optional port."};
inline constexpr Rejection kHostDiffers{400, "host-mismatch",
                                        "The request target and the Host field name different hosts."};
inline constexpr Rejection kRepeated{400, "repeated-field", "A field that may occur once occurs more than once."};
inline constexpr Rejection kContentLength{400, "bad-content-length",
                                          "The Content-Length is not a plain decimal number."};
inline constexpr Rejection kTransferEncoding{400, "bad-transfer-encoding", "The Transfer-Encoding is not chunked."};
inline constexpr Rejection kTransferCoding{501, "transfer-coding-not-supported",
                                           "No transfer coding but chunked is understood."};
inline constexpr Rejection kTransferEncodingOld{400, "transfer-encoding-in-http10",
                                                "HTTP/1.0 does not know Transfer-Encoding."};
inline constexpr Rejection kTwoLengths{400, "two-body-lengths",
                                       "Content-Length and Transfer-Encoding exclude each other."};
inline constexpr Rejection kExpectation{417, "expectation-failed", "Only 100-continue can be expected."};

// The status line of an upstream's answer.
inline constexpr Rejection kStatusLine{502, "bad-status-line", "The upstream's status line is malformed."};

// Chunked bodies.
inline constexpr Rejection kChunkSize{400, "bad-chunk-size", "A chunk size is malformed."};
inline constexpr Rejection kChunkExtension{400, "bad-chunk-extension", "A chunk extension is malformed."};
inline constexpr Rejection kChunkExtensions{400, "chunk-extensions-too-long", "The chunk extensions are too long."};
inline constexpr Rejection kChunkEnd{400, "bad-chunk-end", "A chunk's data does not end where its size says."};
inline constexpr Rejection kTrailersTooLarge{431, "trailers-too-large", "The trailer section is too large."};
inline constexpr Rejection kTooManyTrailers{431, "too-many-trailers", "There are too many trailer fields."};

}  // namespace weir::http::fault
