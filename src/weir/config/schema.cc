// SPDX-License-Identifier: Apache-2.0
#include "weir/config/schema.h"

#include "weir/config/language.h"

namespace weir::config {

std::string json_schema() {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "weir configuration"}};
  schema.update(language().schema);
  schema["definitions"] = {{"environment",
                            {{"description", "A text in which ${NAME} is replaced by an environment variable."},
                             {"type", "string"},
                             {"pattern", "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}"}}}};
  return schema.dump(2);
}

}  // namespace weir::config
