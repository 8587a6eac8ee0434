import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerAuditShow } from "./show.ts";
import { registerAuditVerify } from "./verify.ts";

export function registerAudit(audit: Command, context: Context): void {
  registerAuditShow(audit, context);
  registerAuditVerify(audit, context);
}
