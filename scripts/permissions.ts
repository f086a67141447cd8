/** Part of `npm run generate`: writes docs/permissions.md from the roles of an installation. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../runtime/api/package-root";
import { fullInstallation, permissionsOf, permissionsPage } from "../runtime/plan/permissions";

writeFileSync(join(packageRoot(), "docs/permissions.md"), permissionsPage(permissionsOf(fullInstallation())));
