// SPDX-License-Identifier: Apache-2.0
//
// Rows as a YAML file, with the fields of the JSON form but without stamps:
//   plans: [{name: gold}]
//   partners: [{name: acme, plan: gold}]
//   keys: [...]
//   limits: [...]
// Thread safety: plain values.
#pragma once

#include <expected>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weir/config/load.h"
#include "weir/config/source.h"
#include "weir/partners/fault.h"
#include "weir/partners/row.h"

namespace weir::partners {

// A file that was read.
struct Document {
  config::Source source;
  std::vector<Row> rows;
  std::map<std::pair<std::string, std::string>, config::Place> places;  // of row and field, as in faults
};

// In the order of kinds and of the rows given; what parse_document() takes.
std::string to_yaml(std::span<const Row> rows);

// Fails with everything that is unknown, missing, malformed, or here twice. `${NAME}` comes from the environment.
std::expected<Document, std::vector<config::Diagnostic>> parse_document(const std::string& text,
                                                                        const std::string& file,
                                                                        const config::Environment& environment);

// The faults with the places of their fields in the file.
std::vector<config::Diagnostic> diagnostics_of(const Document& document, const Faults& faults);

}  // namespace weir::partners
